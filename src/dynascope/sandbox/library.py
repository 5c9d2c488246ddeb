"""The store as the server has it open: looked at again when it has changed, as in a sweep."""

import hashlib
import threading
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pyarrow as pa

from dynascope.cached import cached_property
from dynascope.errors import DynascopeError
from dynascope.sandbox.security import RequestError
from dynascope.store.handles import Stamp, stamps
from dynascope.store.index import Index, open_index
from dynascope.store.names import ANALYSES, MARKS, RUNS, TRAJECTORIES
from dynascope.store.sidecar_columns import SHOWN
from dynascope.store.stored import StoredRun, StoredRuns
from dynascope.store.tables import COLUMNS

MOST_RUNS = 200_000  # in the table: 100 MB of JSON
_KEPT_RUNS = 64  # whose checksums need not be checked again for each of their bytes
_HIDDEN = ("config", "origin_start")  # digests that say nothing to a person
NAMES = tuple(name for name in COLUMNS if name not in _HIDDEN)


class Opened:
    """A store in one state. Runs that are added later belong to another one."""

    def __init__(self, folder: Path, state: str) -> None:
        self.folder, self.state = folder, state
        self.index: Index = open_index(folder)
        self.chosen = np.flatnonzero(~self.index.hidden)
        self.runs = StoredRuns(self.index, self.chosen)
        self._kept: OrderedDict[str, StoredRun] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def places(self) -> dict[str, int]:
        """Where among the runs each id is."""
        return {name: i for i, name in enumerate(self.runs.ids)}

    @cached_property
    def table(self) -> pa.Table:
        """A row for each run that can be read, without curves."""
        return self.runs[:MOST_RUNS].table(NAMES).combine_chunks()

    @cached_property
    def rows(self) -> dict[str, int]:
        """Where in the table each id is: rows of damaged shards are not in it."""
        return {name: i for i, name in enumerate(self.table["id"].to_pylist())}

    def run(self, name: str) -> StoredRun | None:
        """The run with this id."""
        place = self.places.get(name)
        if place is None:
            return None
        with self._lock:
            found = self._kept.pop(name, None) or self.runs[place]
            self._kept[name] = found
            if len(self._kept) > _KEPT_RUNS:
                self._kept.popitem(last=False)
        return found

    def found(self, name: str) -> dict[str, object]:
        """What analyses that are kept beside the store found of a run, by column."""
        row = self.rows.get(name)
        return {each: None if row is None else self.table[each][row].as_py() for each in SHOWN}


class Library:
    """One folder of runs, for as long as it is served."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._opened = Opened(folder, _state(folder))
        if not len(self._opened.runs):
            raise DynascopeError(
                f"{folder}: expected runs to show, but the folder holds none; train or sweep some "
                "first (`dynascope restore` brings deleted ones back)."
            )

    @property
    def opened(self) -> Opened:
        """The store as it was last looked at."""
        return self._opened

    def fresh(self) -> Opened:
        """The store as it is now."""
        with self._lock:
            state = _state(self._folder)
            if state != self._opened.state:
                self._opened = Opened(self._folder, state)
            return self._opened

    def run(self, name: str) -> tuple[Opened, StoredRun]:
        """A run by its id, also one that has only just been written."""
        opened = self._opened
        found = opened.run(name)
        if found is None:
            opened = self.fresh()
            found = opened.run(name)
        if found is not None:
            return opened, found
        raise RequestError(404, f"The store has no run {name}.")


def _state(folder: Path) -> str:
    """Another one whenever a file of the store is added, changed or gone."""
    total = hashlib.sha256()
    for name in (RUNS, TRAJECTORIES, MARKS, ANALYSES):
        for file, stamp in _stamps(folder, name):
            total.update(f"{name}/{file} {stamp}\n".encode(errors="surrogateescape"))
    return total.hexdigest()[:16]


def _stamps(store: Path, place: str) -> list[tuple[str, Stamp]]:
    try:
        return stamps(store, place)
    except OSError:  # a store has not always all of its folders; opening it says what is wrong
        return []
