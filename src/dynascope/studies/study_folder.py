"""The folder of studies: what was asked for, the runs by source, the report.

study.json      which studies, at which scale
runs/SOURCE/    a store for each source
report.html, claims.json
data/, figures/ of each figure its numbers as CSV, and itself as SVG
timings.json    how long each source took, over all sittings
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dynascope.errors import Description, DynascopeError, expected
from dynascope.new_file import write_new_file
from dynascope.store.files import writing
from dynascope.store.handles import read_file
from dynascope.store.writable import check_creatable

ABOUT = "study.json"
REPORT = "report.html"
RUNS = "runs"
CLAIMS = "claims.json"
DATA = "data"
FIGURES = "figures"
FORMAT = 1
_LARGEST = 2**20  # bytes of a file that is read whole


class StudyFolder:
    """One folder, for some studies at one scale."""

    def __init__(self, path: Path, studies: Sequence[str], scale: str) -> None:
        self.path, self.studies, self.scale = path, tuple(studies), scale

    def claim(self) -> None:
        """Make the folder ours, or refuse it: whatever it holds stays."""
        there = self.read()
        if there == self.about:
            return
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        write_new_file(self.path / ABOUT, (json.dumps(self.about, indent=2) + "\n").encode())

    def read(self) -> dict[str, object] | None:
        """What the folder says of itself, if it is there and agrees with what is asked for."""
        there = read_about(self.path)
        if there is None:
            self._refuse_strangers()
            return None
        if there["scale"] != self.scale:
            raise DynascopeError(
                f"{self.path}: holds studies at scale {there['scale']}, not {self.scale}; "
                "give --out another folder."
            )
        missing = [name for name in there["studies"] if name not in self.studies]  # type: ignore[attr-defined]
        if missing:
            raise DynascopeError(
                f"{self.path}: holds the study {missing[0]}, which was not asked for; name it, "
                "too, or give --out another folder."
            )
        return there

    @property
    def about(self) -> dict[str, object]:
        return {"format": FORMAT, "scale": self.scale, "studies": list(self.studies)}

    def runs(self, source: str) -> Path:
        return self.path / RUNS / source

    def _refuse_strangers(self) -> None:
        if not self.path.exists():
            check_creatable(Path(os.path.abspath(self.path)), self.path)
        elif not self.path.is_dir():
            raise expected(str(self.path), "a folder", Description("a file"))
        strangers = sorted(each.name for each in self.path.glob("[!.]*"))
        if strangers:
            what = Description(f"one with {strangers[0]}")
            raise expected(str(self.path), "a new folder or one of studies", what)


def read_about(path: Path) -> dict[str, object] | None:
    """What a folder of studies says of itself; None: it is none."""
    about = path / ABOUT
    try:
        told = read_json(about)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DynascopeError(f"{about}: cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError):
        told = None
    if not _sound(told):
        raise expected(str(about), "what `dynascope study` writes", Description("something else"))
    if told["format"] > FORMAT:
        raise DynascopeError(f"{about}: written by a later version of dynascope; update it.")
    return dict(told)


def read_json(path: Path) -> Any:
    """A small file of a folder that somebody else may have made: no link, no pipe, nothing huge."""
    return json.loads(read_file(path, _LARGEST, depth=1))


def _sound(told: object) -> bool:
    return (
        isinstance(told, dict)
        and type(told.get("format")) is int
        and isinstance(told.get("scale"), str)
        and isinstance(told.get("studies"), list)
        and all(isinstance(name, str) for name in told["studies"])
    )


def stores_of(path: Path) -> dict[str, Path]:
    """The folders of runs of a folder of studies, by source."""
    return {each.name: each for each in sorted((path / RUNS).glob("[!.]*")) if each.is_dir()}
