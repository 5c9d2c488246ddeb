"""Analyses made of runs, and kept beside them: what is there already is not made again.

Rows are written in batches as they come, so whatever ends the work (Ctrl-C, a crash) loses seconds
of it, and the same call goes on from there.
"""

import threading
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from dynascope.analysis_columns import check_kinds, columns_of
from dynascope.analysis_row import Failure, Row, empty_row, raise_first
from dynascope.engine import count_threads
from dynascope.errors import DynascopeError
from dynascope.findings.make_analyses import in_threads, make_row
from dynascope.progress import Report
from dynascope.run import Runs
from dynascope.store.files import WriteError
from dynascope.store.handles import is_folder
from dynascope.store.names import RUNS
from dynascope.store.sidecar import as_table, make_sidecar
from dynascope.store.sidecar_columns import Source, columns, read_sources
from dynascope.store.stored import StoredRuns
from dynascope.store.tables import schema_of

_ABOUT = ("id", "seed", "checksum")
_BATCH_RUNS = 1000  # of one sidecar at most
_BATCH_SECONDS = 10.0  # of work that a crash may cost ...
_BATCH_SHARE = 0.05  # ... or this much of all so far: long work is not to leave thousands of files


class NotKeptWarning(UserWarning):
    """Analyses that were made but could not be written beside their runs."""


def analyse(runs: Runs, kinds: object, threads: int | None, report: Report | None) -> pa.Table:
    """A row for each run: id, seed and what analyses of these kinds found."""
    wanted = check_kinds(kinds)
    count_threads(threads, 1)  # refused before anything is read
    names = [*columns_of(wanted), "analysis_note"]
    if not isinstance(runs, StoredRuns):
        about, sources = _in_memory(runs, wanted, threads, report)
    else:
        done = complete(runs, wanted, threads, report)
        raise_first(done.failures, "all other results are saved; run it again to retry")
        about = runs.table(_ABOUT)
        # What is damaged was named when it was looked at for what is missing.
        sources = [*read_sources(Path(runs.folder), names, lambda damage: None), *done.left]
    ids, checksums = about["id"].to_pylist(), about["checksum"].to_pylist()
    for name, column in columns(ids, checksums, names, sources).items():
        about = about.append_column(name, column)
    return about.drop_columns(["checksum"])


def _in_memory(
    runs: Runs, kinds: Sequence[str], threads: int | None, report: Report | None
) -> tuple[pa.Table, list[Source]]:
    rows: dict[int, Row] = {}

    def work(i: int) -> None:
        rows[i] = make_row(runs[i], kinds)
        raise_first(rows[i].failures)

    in_threads(work, [run.epochs for run in runs], threads, report)
    ids, seeds = [run.id for run in runs], [run.seed for run in runs]
    places = [str(i) for i in range(len(runs))]  # in memory two runs may have one id
    about = pa.table({"id": ids, "seed": seeds, "checksum": places}, schema_of(_ABOUT))
    found = as_table(ids, places, [rows[i] for i in range(len(runs))])
    return about, [Source(found)]


class Lack(NamedTuple):
    """Analyses that a stored run does not have."""

    place: int  # of the run among those in question
    id: str
    checksum: str
    epochs: int
    kinds: tuple[str, ...]


def lacking(runs: StoredRuns, kinds: Sequence[str]) -> list[Lack]:
    """Which of these analyses are missing."""
    about = ["id", "checksum", "last_epoch", "analysed"]
    # All columns are looked at: a kind is there only if every one of them is whole.
    table = runs.table([*about, *columns_of(kinds)])
    places = {run: i for i, run in enumerate(runs.ids)}
    found = []
    for run, checksum, epochs, made in zip(*table.select(about).to_pydict().values(), strict=True):
        rest = tuple(kind for kind in kinds if kind not in (made or ()))
        if rest:
            found.append(Lack(places[run], run, checksum, epochs, rest))
    return found


class Completed(NamedTuple):
    """What became of analyses that were missing, besides those that are kept now."""

    left: list[Source]  # rows that are not kept, oldest first
    failures: list[Failure]


def complete(
    runs: StoredRuns,
    kinds: Sequence[str],
    threads: int | None = None,
    report: Report | None = None,
    keep: bool = False,
) -> Completed:
    """Make what is missing and keep it; one that fails does not keep the others from it.

    Rows that are not kept are those of runs that cannot be read now, and all of them where nothing
    can be written: that is a warning, or with `keep` an error.
    """
    work = lacking(runs, kinds)
    keeper = _Keeper(Path(runs.folder), work, keep)
    failures: list[Failure] = []

    def one(i: int) -> None:
        try:
            # Read first: damage may be mended tomorrow, and then must not have become a result.
            run = runs[work[i].place].loaded()
        except DynascopeError as error:
            keeper.hold(i, empty_row(work[i].kinds, str(error).removesuffix(".")))
            return
        except Exception as error:
            failures.extend(Failure(work[i].id, kind, error) for kind in work[i].kinds)
            return
        row = make_row(run, work[i].kinds)
        failures.extend(row.failures)
        if row.notes:
            keeper.add(i, row)

    try:
        in_threads(one, [each.epochs for each in work], threads, report)
    finally:
        keeper.flush()
    return Completed(keeper.held(), failures)


class _Keeper:
    """Rows come one by one, from several threads; now and then they become a sidecar."""

    def __init__(self, folder: Path, work: Sequence[Lack], strict: bool) -> None:
        self._folder, self._work, self._strict = folder, work, strict
        self._lock = threading.Lock()
        self._new: dict[int, Row] = {}
        self._held: dict[int, Row] = {}
        self._began = self._written = time.monotonic()
        self._refused = False

    def add(self, i: int, row: Row) -> None:
        with self._lock:
            self._new[i] = row
            now = time.monotonic()
            due = self._written + max(_BATCH_SECONDS, _BATCH_SHARE * (now - self._began))
            if now <= due and len(self._new) < _BATCH_RUNS:
                return
        self.flush()

    def hold(self, i: int, row: Row) -> None:
        """Take a row that is not to be kept."""
        with self._lock:
            self._held[i] = row

    def flush(self) -> None:
        """Write what has come so far."""
        with self._lock:
            rows, self._new = self._new, {}
            self._written = time.monotonic()
        if not rows:
            return
        if not self._refused:
            try:
                self._write(rows)
                return
            except WriteError as error:
                if self._strict:
                    raise
                self._refused = True
                text = f"the analyses could not be saved: {error}"
                warnings.warn(NotKeptWarning(text), stacklevel=2)
        with self._lock:
            self._held |= rows

    def _write(self, rows: dict[int, Row]) -> None:
        if not is_folder(self._folder, RUNS):
            raise DynascopeError(f"{self._folder}: expected a folder of runs, but it is gone.")
        ids, checksums, which = self._columns(rows)
        make_sidecar(ids, checksums, which, time.time_ns()).write(self._folder)

    def _columns(self, rows: dict[int, Row]) -> tuple[list[str], list[str], list[Row]]:
        order = sorted(rows)
        ids, checksums = [self._work[i].id for i in order], [self._work[i].checksum for i in order]
        return ids, checksums, [rows[i] for i in order]

    def held(self) -> list[Source]:
        """The rows that are not kept."""
        return [Source(as_table(*self._columns(self._held)))] if self._held else []
