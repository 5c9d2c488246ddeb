"""`sweep.json`: what a folder's sweep is to contain, and the check of what is asked against it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynascope import version
from dynascope.errors import DynascopeError
from dynascope.store.clock import is_time, later_than
from dynascope.store.files import write
from dynascope.store.handles import read_file
from dynascope.store.names import OWN_TEMPORARY, SWEEP
from dynascope.store.tensors import digest
from dynascope.sweeps.grid import Grid
from dynascope.sweeps.grid_difference import difference

FORMAT = 1
_LARGEST = 2**26  # bytes of the file; ours have thousands
_SHOWN = 5  # differences that a sentence can name


@dataclass(frozen=True)
class Ledger:
    """The grid of a folder, and when it was first asked for and extended (in nanoseconds)."""

    grid: Grid
    batches: tuple[int, ...]


def read_ledger(folder: Path) -> Ledger | None:
    """What the folder's sweep is; None where there is none."""
    path = folder / SWEEP
    try:
        return _parsed(json.loads(_contents(folder)))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DynascopeError(f"{path}: cannot be read ({error.strerror}).") from None
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise DynascopeError(
            f"{path}: damaged: {error}. The runs are safe: move this file away and run the same "
            "sweep again, which writes a new one."
        ) from None


def _contents(folder: Path) -> bytes:
    return read_file(folder / SWEEP, _LARGEST, depth=1)


def ledger_digest(folder: Path) -> str:
    """Says whether two processes see the same ledger."""
    return digest(_contents(folder))


def _parsed(described: object) -> Ledger:
    if not isinstance(described, dict) or not isinstance(described.get("sweep"), dict):
        raise ValueError("it is not as dynascope writes it")
    body = described["sweep"]
    if described.get("sha256") != _checksum(body):
        raise ValueError("its contents have changed")
    if type(body["format"]) is not int or body["format"] != FORMAT:
        raise ValueError(f"it has format {body['format']}, and this dynascope reads {FORMAT}")
    batches = body["batches"]
    if not isinstance(batches, list) or not batches or not all(map(is_time, batches)):
        raise ValueError("its batches are not times")
    return Ledger(Grid.from_dict(body["grid"]), tuple(batches))


def check_agreement(folder: Path, grid: Grid) -> Ledger | None:
    """The folder's ledger, if it has one; refused where `grid` leaves out runs that it has."""
    old = read_ledger(folder)
    lost = difference(old.grid, grid) if old else []
    if lost:
        more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
        raise DynascopeError(
            f"{folder}: expected a grid that contains the one it was started with, but "
            f"{'; '.join(lost[:_SHOWN])}{more}; choose another folder for a different sweep."
        )
    return old


def agree(folder: Path, grid: Grid) -> Ledger:
    """The folder's ledger for this grid: a new one, the same, or extended; else refused."""
    old = check_agreement(folder, grid)
    batches = old.batches if old else ()
    if old is None or difference(grid, old.grid):  # there are runs to add
        batches = (*batches, later_than(batches))
    elif (grid.analyse, grid.keep) == (old.grid.analyse, old.grid.keep):
        return old
    ledger = Ledger(grid, batches)
    _write(folder, ledger)
    return ledger


def _write(folder: Path, ledger: Ledger) -> None:
    body = {
        "format": FORMAT,
        "dynascope": version.__version__,
        "batches": list(ledger.batches),
        "grid": ledger.grid.to_dict(),
    }
    text = json.dumps({"sha256": _checksum(body), "sweep": body}, indent=1)
    write(folder, SWEEP, text.encode(), OWN_TEMPORARY)


def _checksum(body: Any) -> str:
    return digest(json.dumps(body, sort_keys=True).encode())
