"""A run on the command line: `FOLDER#ID` or `FOLDER#seed=3`, and `@EPOCH` where one is meant.

`ID` is any beginning of the run's id that no other run of the folder shares. A folder that holds
one run needs neither. A folder whose name ends like an address is written with a slash: `odd@5/`.
"""

import re
from dataclasses import dataclass

from dynascope.errors import DynascopeError, expected
from dynascope.run import Run, Runs
from dynascope.store.stored import load

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
        raise expected("run", "FOLDER#ID or FOLDER#seed=N, with @EPOCH where one is meant", text)
    epoch = match["epoch"]
    if epoch is not None and not _EPOCH.fullmatch(epoch):
        raise expected(f"run {text}", "a whole number after @", epoch)
    return Address(match["folder"], match["which"], None if epoch is None else int(epoch))


def resolve(text: str) -> tuple[Run, int]:
    """The run that an address means, and its epoch (-1: the last)."""
    address = parse(text)
    run = _chosen(address, load(address.folder))
    last = run.epochs if run.diverged is None else run.diverged
    if address.epoch is None:
        return run, -1
    if address.epoch > last:
        why = "" if run.diverged is None else ", where it diverged"
        raise expected(f"run {text}", f"an epoch from 0 to {last}{why}", address.epoch)
    return run, address.epoch


def _chosen(address: Address, runs: Runs) -> Run:
    found = [run for run in runs if _matches(run, address.which)]
    if len(found) == 1:
        return found[0]
    if not runs:
        raise DynascopeError(f"{address.folder}: expected a run, but the folder holds none.")
    if not found:
        raise DynascopeError(
            f"{address.folder}#{address.which}: expected a run of the folder, but there is none "
            f"with this name; it holds {_listed(list(runs))}."
        )
    name = address.folder if address.which is None else f"{address.folder}#{address.which}"
    raise DynascopeError(f"{name}: expected one run, but this names {_listed(found)}; add #ID.")


def _matches(run: Run, which: str | None) -> bool:
    if which is None:
        return True
    if seed := _SEED.fullmatch(which):
        return run.seed == int(seed[1])
    return bool(_ID.fullmatch(which)) and run.id.startswith(which)


def _listed(runs: list[Run]) -> str:
    shown = ", ".join(f"#{run.id[:_SHORT]} (seed={run.seed})" for run in runs[:_SHOWN])
    rest = len(runs) - _SHOWN
    return f"{len(runs)} runs: {shown}" + (f" and {rest} more" if rest > 0 else "")
