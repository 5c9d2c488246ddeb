"""Run the examples of a page in their order, in this process and this folder: a program of its own,
so that it runs in whatever environment the reader is said to have.

The page's blocks come as JSON on the standard input: language, code, line, extra.
"""

import json
import os
import subprocess
import sys
from types import ModuleType


def run(page: str, blocks: list[tuple[str, str, int, str]]) -> None:
    namespace = {"__name__": "__main__"}
    hidden: dict[str, ModuleType] = {}
    for language, code, line, extra in blocks:
        allow(extra, hidden)
        if language == "python":
            placed = "\n" * line + code  # so that a traceback names the page's line
            exec(compile(placed, page, "exec"), namespace)
        elif subprocess.run(["bash", "-euo", "pipefail", "-c", code], check=False).returncode:
            sys.exit(f"{page}, line {line}: the commands failed")
    allow("all", hidden)


def allow(extra: str, hidden: dict[str, ModuleType]) -> None:
    """From here on only this extra's packages can be imported beside those of `scripts/setup`; also
    not those that an earlier block has imported."""
    if "CLEAN_SITE_REFUSED" not in os.environ:
        return
    from sitecustomize import refused

    sys.modules.update(hidden)
    hidden.clear()
    if extra == "all":
        return
    os.environ["CLEAN_SITE_EXTRA"] = extra
    for name in refused() & sys.modules.keys():
        hidden[name] = sys.modules[name]
        sys.modules[name] = None  # type: ignore[assignment]


if __name__ == "__main__":
    run(sys.argv[1], json.load(sys.stdin))
