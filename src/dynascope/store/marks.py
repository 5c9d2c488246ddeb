"""Tags, notes and deletions, kept in small files next to shards that never change.

Each saying is a small JSON file in `marks/` whose name is the checksum of its contents. The present
state follows from all of them in the order of their times, so stores merge by copying files.
"""

import json
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynascope.errors import DynascopeError, expected
from dynascope.store.files import write
from dynascope.store.names import MARKS, RUNS, TEMPORARY
from dynascope.store.tensors import digest

FORMAT = 1
_ACTIONS = ("tag", "untag", "note", "delete", "restore")
_TAG = re.compile(r"[\w.:+-]{1,64}")
_LONGEST_NOTE = 10_000


@dataclass
class Marks:
    """What is said of each run, by id."""

    tags: dict[str, list[str]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)

    def apply(self, action: str, run: str, value: str) -> None:
        tags = self.tags.get(run, [])
        if action == "tag" and value not in tags:
            self.tags[run] = [*tags, value]
        elif action == "untag" and value in tags:
            tags.remove(value)
        elif action == "note" and value:
            self.notes[run] = value
        elif action == "note":
            self.notes.pop(run, None)
        elif action == "delete":
            self.deleted.add(run)
        elif action == "restore":
            self.deleted.discard(run)


def mark(folder: Path, action: str, runs: Iterable[str], value: str = "") -> None:
    """Say one thing of some runs."""
    if action in ("tag", "untag") and not (isinstance(value, str) and _TAG.fullmatch(value)):
        raise expected("tag", "1 to 64 letters, digits or any of _ . : + -", value)
    if action == "note" and not (is_text(value) and len(value) <= _LONGEST_NOTE):
        raise expected("note", f"a text of at most {_LONGEST_NOTE} characters", value)
    if not (folder / RUNS).is_dir():
        raise DynascopeError(f"{folder}: expected a folder of runs, but it is gone.")
    said = {
        "format": FORMAT,
        "time": time.time_ns(),
        "action": action,
        "value": value,
        "runs": list(runs),
    }
    contents = json.dumps(said, ensure_ascii=False).encode()
    write(folder / MARKS / f"{digest(contents)}.json", contents, folder / TEMPORARY)


def read_marks(folder: Path) -> tuple[Marks, list[tuple[Path, str]]]:
    """What is said of the store's runs, and the files that are damaged, each with how."""
    said, damaged = [], []
    try:
        files = sorted(file for file in (folder / MARKS).iterdir() if file.name[0] != ".")
    except FileNotFoundError:  # nobody said anything
        files = []
    except OSError as error:
        files, damaged = [], [(folder / MARKS, _cannot(error))]
    for file in files:
        try:
            said.append(_read(file))
        except OSError as error:
            damaged.append((file, _cannot(error)))
        except (ValueError, LookupError, TypeError) as error:
            damaged.append((file, str(error)))
    marks = Marks()
    for _, action, value, runs in sorted(said):
        for run in runs:
            marks.apply(action, run, value)
    return marks, damaged


def _read(file: Path) -> tuple[int, str, str, list[str]]:
    contents = file.read_bytes()
    if file.name != f"{digest(contents)}.json":
        raise ValueError("its contents do not match its name")
    said: dict[str, Any] = json.loads(contents)
    if said["format"] != FORMAT or said["action"] not in _ACTIONS:
        raise ValueError("a newer dynascope wrote it")
    return said["time"], said["action"], said["value"], said["runs"]


def _cannot(error: OSError) -> str:
    return f"it cannot be read ({error.strerror})"


def is_text(value: object) -> bool:
    """Words, and no half of a surrogate pair among them, which no file could hold."""
    return isinstance(value, str) and value.encode(errors="replace").decode() == value
