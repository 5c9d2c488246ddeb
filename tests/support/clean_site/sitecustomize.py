"""Every Python process with this folder in PYTHONPATH refuses to import packages that
`scripts/setup` does not install: `clean_environment` says which these are.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any


class Refused:
    """A finder, the first to be asked: of refused packages it says that there are none."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in refused():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def refused() -> set[str]:
    """The packages that are refused now; what is allowed may change on the way."""
    tables = json.loads(Path(os.environ["CLEAN_SITE_REFUSED"]).read_text(encoding="utf-8"))
    return set(tables[os.environ.get("CLEAN_SITE_EXTRA", "")])


if "CLEAN_SITE_REFUSED" in os.environ:
    sys.meta_path.insert(0, Refused())  # type: ignore[arg-type]
