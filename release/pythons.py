"""The Pythons of this machine: on the path, of pyenv, or where PYTHON_3_12 and the like say."""

import os
from collections.abc import Iterator
from pathlib import Path


def variable(version: str) -> str:
    """What names the Python to be taken.

    >>> variable("3.12")
    'PYTHON_3_12'
    """
    return f"PYTHON_{version.replace('.', '_')}"


def pythons(version: str) -> Iterator[Path]:
    """All of a version such as "3.12"; of pyenv the real ones, since its shims may be shut."""
    if named := os.environ.get(variable(version)):
        yield Path(named)
        return
    found = [Path(folder) / f"python{version}" for folder in os.get_exec_path()]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found += sorted(pyenv.glob(f"{version}.*/bin/python{version}"))
    yield from (each for each in found if each.is_file() and "shims" not in each.parts)
