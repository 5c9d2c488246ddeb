"""The environment that `scripts/setup` makes, without making it: of what is installed here, only
dynascope's own dependencies, those of the extras that setup names, and what they depend on can be
imported. With the extra `CORE`, the environment of a plain `pip install dynascope`: no extras.
"""

import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from processes import environment

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = tuple(PROJECT["optional-dependencies"])
CORE = "core"  # instead of an extra: without even those of setup
_SETUP = (ROOT / "scripts/setup").read_text(encoding="utf-8")
SETUP_EXTRAS = frozenset(re.findall(r"^extras=(\S+)", _SETUP, flags=re.M)[0].split(","))


def clean_environment(folder: Path, extra: str = "") -> dict[str, str]:
    """Variables for processes that see only what `scripts/setup` installs, and that extra."""
    table = folder / "refused.json"
    refused = {each: sorted(refused_packages(each)) for each in ("", CORE, *EXTRAS)}
    table.write_text(json.dumps(refused), encoding="utf-8")
    variables = environment(CLEAN_SITE_REFUSED=str(table), CLEAN_SITE_EXTRA=extra)
    path = [str(Path(__file__).with_name("clean_site")), variables["PYTHONPATH"]]
    return {**variables, "PYTHONPATH": os.pathsep.join(path)}


@cache
def refused_packages(extra: str = "") -> set[str]:
    """Packages that can be imported here and not there."""
    there = installed_by_setup(extra)
    return {
        package
        for package, owners in packages_distributions().items()
        if not there & {canonicalize_name(owner) for owner in owners}
    } - set(sys.stdlib_module_names)


@cache
def installed_by_setup(extra: str = "") -> set[str]:
    """Distributions, by their canonical names: the closure of dynascope's requirements."""
    found: set[str] = set()
    seen = set()
    wanted = [("dynascope", frozenset() if extra == CORE else SETUP_EXTRAS | {extra})]
    while wanted:
        name, extras = wanted.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        found.add(name)
        for requirement in _requirements(name):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": e}) for e in extras | {""}):
                wanted.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    return found


def _requirements(name: str) -> Iterator[Requirement]:
    if name == "dynascope":  # as it is now, not as it was when it was installed
        yield from map(Requirement, PROJECT["dependencies"])
        for extra, lines in PROJECT["optional-dependencies"].items():
            yield from (Requirement(f"{line}; extra == '{extra}'") for line in lines)
        return
    try:
        yield from map(Requirement, distribution(name).requires or ())
    except PackageNotFoundError:  # of another platform, or another extra's
        return
