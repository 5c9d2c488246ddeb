"""A run on the command line: `FOLDER#ID` or `FOLDER#seed=3`, with an optional `@EPOCH`.

`ID` is any beginning of the run's id that no other run of the folder shares. A folder that holds
one run needs neither. A folder whose name ends like an address is written with a slash: `odd@5/`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dynascope.errors import Description, DynascopeError, expected

if TYPE_CHECKING:  # what reads a folder imports Arrow, which `dynascope --help` need not wait for
    from dynascope.run import Run
    from dynascope.store.stored import StoredRuns

_FORM = re.compile(r"(?P<folder>[^#].*?)(#(?P<which>[^#@/]*))?(@(?P<epoch>[^#@/]*))?", re.DOTALL)
_SEED = re.compile(r"seed=([0-9]{1,16})", re.ASCII)
_EPOCH = re.compile(r"[0-9]{1,9}", re.ASCII)
_ID = re.compile(r"[0-9a-f]+")
_SHOWN = 6  # runs that a sentence can list and still be read
_SHORT = 8  # digits of an id that people are shown


@dataclass(frozen=True)
class Address:
    """What an address says, before a folder is looked at."""

    folder: str
    which: str | None = None  # beginning of an id, or `seed=N`; None: the only run there is
    epoch: int | None = None  # None: the last


def parse(text: str) -> Address:
    """The parts of an address.

    >>> parse("runs/first#seed=3@250")
    Address(folder='runs/first', which='seed=3', epoch=250)
    >>> parse("runs/one")
    Address(folder='runs/one', which=None, epoch=None)
    """
    match = _FORM.fullmatch(text)
    if match is None or match["which"] == "":
        raise expected("run", "FOLDER#ID or FOLDER#seed=N, optionally with @EPOCH", text)
    epoch = match["epoch"]
    if epoch is not None and not _EPOCH.fullmatch(epoch):
        raise expected(text, "a whole number after @", epoch)
    return Address(match["folder"], match["which"], None if epoch is None else int(epoch))


def resolve(text: str) -> "tuple[Run, int]":
    """The run that an address means, and its epoch (-1: the last)."""
    from dynascope.store.stored import load

    address = parse(text)
    run = _one(address, load(address.folder))
    last = run.epochs if run.diverged is None else run.diverged
    if address.epoch is None:
        return run, -1
    if address.epoch > last:
        why = "" if run.diverged is None else ", where it diverged"
        raise expected(text, f"an epoch from 0 to {last}{why}", address.epoch)
    return run, address.epoch


def resolve_many(text: str, deleted: bool = False) -> "StoredRuns":
    """All runs that an address means: FOLDER means every one; of the deleted ones if asked."""
    from dynascope.store.stored import load

    address = parse(text)
    if address.epoch is not None:
        raise expected(text, "runs without an epoch", Description(f"an epoch, @{address.epoch}"))
    kind = "deleted run" if deleted else "run"
    return _matching(address, load(address.folder, deleted=deleted), kind)


def _one(address: Address, runs: "StoredRuns") -> "Run":
    found = _matching(address, runs)
    if len(found) == 1:
        return found[0]
    name = address.folder if address.which is None else f"{address.folder}#{address.which}"
    raise DynascopeError(f"{name}: expected one run, but this names {_listed(found)}; add #ID.")


def _matching(address: Address, runs: "StoredRuns", kind: str = "run") -> "StoredRuns":
    """The runs that the address names; there is at least one."""
    if not len(runs):
        raise DynascopeError(f"{address.folder}: expected a {kind}, but there are none here.")
    which = address.which
    if which is None:
        return runs
    if seed := _SEED.fullmatch(which):
        found = _selected(runs, "seed", lambda value: value == int(seed[1]))
    elif _ID.fullmatch(which):
        found = _selected(runs, "id", lambda value: value.startswith(which))
    else:
        found = runs[:0]
    if not len(found):
        raise DynascopeError(
            f"{address.folder}#{which}: no such {kind} in the folder; it holds {_listed(runs)}."
        )
    return found


def _selected(runs: "StoredRuns", column: str, holds: Callable[[Any], bool]) -> "StoredRuns":
    """The runs for whose value in this column it holds: no SQL, which is an extra."""
    rows = runs.table(["id", column] if column != "id" else ["id"]).to_pylist()
    return runs.with_ids(row["id"] for row in rows if holds(row[column]))


def _listed(runs: "StoredRuns") -> str:
    shown = ", ".join(f"#{run.id[:_SHORT]} (seed={run.seed})" for run in runs[:_SHOWN])
    rest = len(runs) - _SHOWN
    return f"{len(runs)} runs: {shown}" + (f" and {rest} more" if rest > 0 else "")
