"""Tags, notes and deletions, kept in small files next to shards that never change.

Each mark is a JSON file in `marks/` whose name is the checksum of its contents. The present state
follows from all of them in the order of their times, so stores merge by copying files.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dynascope.errors import DynascopeError, expected
from dynascope.store.clock import LAST, is_time, later_than
from dynascope.store.damage import Damage, DamagedError, reading
from dynascope.store.files import WriteError, write
from dynascope.store.handles import is_folder, names_in, read_file
from dynascope.store.names import MARKS, RUNS
from dynascope.store.tensors import digest

FORMAT = 1
_ACTIONS = ("tag", "untag", "note", "delete", "restore")
_TAG = re.compile(r"[\w.:+-]{1,64}")
_RUN = re.compile(r"[0-9a-f]{20}")
_LONGEST_NOTE = 10_000
_LARGEST_FILE = 2**26  # bytes: a mark on some 2.5 million runs


@dataclass(frozen=True, order=True)
class Mark:
    """One thing said of some runs; later ones count for more."""

    time: int
    action: str
    value: str
    runs: tuple[str, ...]

    def contents(self) -> bytes:
        """Its file."""
        said = {"format": FORMAT} | asdict(self)
        return json.dumps(said, ensure_ascii=False).encode()

    @property
    def file_name(self) -> str:
        return f"{digest(self.contents())}.json"


@dataclass
class Marks:
    """What is said of each run, by id."""

    tags: dict[str, list[str]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, said: Iterable[Mark]) -> "Marks":
        marks = cls()
        for each in sorted(said):
            for run in each.runs:
                marks.apply(each.action, run, each.value)
        return marks

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

    def show(self, action: str, run: str, value: str) -> bool:
        """Whether this has its effect."""
        if action == "note":
            return self.notes.get(run, "") == value
        if action in ("delete", "restore"):
            return (run in self.deleted) == (action == "delete")
        return (value in self.tags.get(run, [])) == (action == "tag")


def mark(folder: Path, action: str, runs: Iterable[str], value: str = "") -> None:
    """Say one thing of some runs."""
    mark_each(folder, [(action, value, tuple(runs))])


def mark_each(folder: Path, sayings: Sequence[tuple[str, str, tuple[str, ...]]]) -> None:
    """Say several things: action, value and runs of each. When this returns they hold."""
    for action, value, _ in sayings:
        _check(action, value)
    if not is_folder(folder, RUNS):
        raise DynascopeError(f"{folder}: expected a folder of runs, but it is gone.")
    known = read_all(folder)[0]
    begin = later_than(each.time for each in known)
    if begin + len(sayings) > LAST + 1:
        raise DynascopeError(
            f"{folder / MARKS / max(known).file_name}: it is dated at the end of time, so nothing "
            "later can be said; move this file away."
        )
    new = [Mark(begin + i, *saying) for i, saying in enumerate(sayings)]
    for each in new:
        write(folder, f"{MARKS}/{each.file_name}", each.contents())
    _confirm(folder, {*known}, new)


def _check(action: str, value: str) -> None:
    if action in ("tag", "untag") and not is_tag(value):
        raise expected("tag", "1 to 64 letters, digits or any of _ . : + -", value)
    if action == "note" and not is_note(value):
        raise expected("note", f"a text of at most {_LONGEST_NOTE} characters", value)


def _confirm(folder: Path, known: set[Mark], new: Sequence[Mark]) -> None:
    """Read back what was said, and that it holds; unless somebody else has spoken meanwhile."""
    said = {*read_all(folder)[0]}
    others = said - known - {*new}
    marks = Marks.of(said)
    holds = others or all(
        marks.show(action, run, value) for (run, _), (action, value) in _last_words(new).items()
    )
    if not {*new} <= said or not holds:
        raise WriteError(f"{folder / MARKS}: what was written does not hold when it is read back.")


def _last_words(said: Sequence[Mark]) -> dict[tuple[str, str], tuple[str, str]]:
    """The last action and value for each run and subject: a tag, the note, its deletion."""
    subjects = {"tag": "tag ", "untag": "tag ", "note": "note", "delete": "", "restore": ""}
    last: dict[tuple[str, str], tuple[str, str]] = {}
    for each in sorted(said):
        subject = subjects[each.action]
        subject += each.value if subject == "tag " else ""
        last |= {(run, subject): (each.action, each.value) for run in each.runs}
    return last


def read_marks(folder: Path) -> tuple[Marks, list[Damage]]:
    """What is said of the store's runs, and the files that are damaged."""
    said, damage = read_all(folder)
    return Marks.of(said), damage


def read_all(folder: Path) -> tuple[list[Mark], list[Damage]]:
    """Every mark of a store, and the files that are damaged."""
    said, damage = [], []
    try:
        with reading():
            names = names_in(folder, MARKS)
    except DamagedError as error:
        return [], [Damage.of(folder / MARKS, error)]
    for name in names:
        if name[0] == ".":
            continue
        path = folder / MARKS / name
        try:
            with reading():
                said.append(_parsed(path.name, read_file(path, _LARGEST_FILE)))
        except DamagedError as error:
            damage.append(Damage.of(path, error))
    return said, damage


def _parsed(name: str, contents: bytes) -> Mark:
    if name != f"{digest(contents)}.json":
        raise DamagedError("its contents do not match its name")
    try:
        said: Any = json.loads(contents)
    except (ValueError, RecursionError):
        raise DamagedError("it is not the JSON that dynascope writes") from None
    if not isinstance(said, dict):
        raise DamagedError("it is not the JSON that dynascope writes")
    if _is_newer(said):
        raise DamagedError("a newer dynascope wrote it")
    for key, (what, takes) in _FIELDS.items():
        if not takes(said.get(key)):
            raise DamagedError(f"its field {key} is not {what}")
    action, value = said["action"], said["value"]
    if not _VALUES[action](value):
        raise DamagedError(f"its value is not one of the action {action}")
    return Mark(said["time"], action, value, tuple(said["runs"]))


def _is_newer(said: dict[str, Any]) -> bool:
    """Whether it is of a later format, or says what this version cannot."""
    form, action = said.get("format"), said.get("action")
    later = isinstance(form, int) and form > FORMAT
    return later or (form == FORMAT and isinstance(action, str) and action not in _ACTIONS)


def is_text(value: object) -> bool:
    """Words, and no half of a surrogate pair among them, which no file could hold."""
    return isinstance(value, str) and value.encode(errors="replace").decode() == value


def _are_runs(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(run, str) and _RUN.fullmatch(run) for run in value
    )


def is_tag(value: object) -> bool:
    return isinstance(value, str) and bool(_TAG.fullmatch(value))


def is_note(value: object) -> bool:
    return is_text(value) and len(str(value)) <= _LONGEST_NOTE


# What each field of a mark takes, and what each action takes as its value.
_FIELDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "format": ("1", lambda value: value is not True and value == FORMAT),
    "time": (f"a whole number from 0 to {LAST}", is_time),
    "action": ("a known one", lambda value: isinstance(value, str) and value in _ACTIONS),
    "value": ("a text", is_text),
    "runs": ("a list of ids", _are_runs),
}
_VALUES: dict[str, Callable[[object], bool]] = {
    "tag": is_tag,
    "untag": is_tag,
    "note": is_note,
    "delete": lambda value: value == "",
    "restore": lambda value: value == "",
}
