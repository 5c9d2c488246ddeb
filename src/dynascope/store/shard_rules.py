"""What the rows of a shard must hold, whoever wrote it: FORMAT.md in the form of checks."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from dynascope.catalog import OPTIONS
from dynascope.data import MAX_SEED
from dynascope.store.column_rules import (
    LONGEST_TEXT,
    REAL,
    Agreement,
    ColumnRule,
    Values,
    digits,
    lengths,
    text,
    whole,
)
from dynascope.store.schema import SPANS

MOST_RUNS = 1000  # of one shard
MOST_EPOCHS = int(OPTIONS["training.epochs"].high or 0)
LONGEST_EDITS = 2**24  # bytes
_MOST_STEPS = 2**53
_MOST_ROWS = 2**40  # of a tensor; a file that has them would be larger than any disk
_EPOCH = whole(0, MOST_EPOCHS)

RULES: dict[str, ColumnRule] = {
    "id": digits(20, nulls=False),
    "seed": whole(0, MAX_SEED, nulls=False),
    "precision": text(100, nulls=False),
    "learning_epoch": _EPOCH,
    "diverged": _EPOCH,
    "seconds": REAL,
    "last_epoch": whole(0, MOST_EPOCHS, nulls=False),
    "parent": text(LONGEST_TEXT),  # of an imported run what its authors called it
    "parent_epoch": _EPOCH,
    "parent_step": whole(0, _MOST_STEPS),
    "edits": text(LONGEST_EDITS),
    "config": digits(64, nulls=False),
    "data": digits(64),
    "position": whole(0, _MOST_STEPS, nulls=False),
    **{
        f"{what}_{end}": whole(0, _MOST_ROWS, nulls=False)
        for what in SPANS
        for end in ("begin", "end")
    },
    "checksum": digits(32, nulls=False),
}


def _no_less(first: Values, second: Values) -> bool:
    """Whether the second is at least the first, wherever both are there."""
    return pc.all(pc.less_equal(first, second)).as_py() is not False


def _end_to_end(begin: Values, end: Values) -> bool:
    """Whether each run's rows begin where those before have ended, and end after that: else all
    runs could claim all rows, and to read them would take for ever."""
    first, last = (np.asarray(each.to_numpy()) for each in (begin, end))
    return bool((first <= last).all() and (first[1:] >= last[:-1]).all())


def _with_start(origin: Values, start: Values) -> bool:
    return pc.all(pc.or_(pc.is_null(origin), pc.is_valid(start))).as_py() is not False


AGREEMENTS = (
    *(
        Agreement((f"{what}_begin", f"{what}_end"), _end_to_end, "rows lie over each other")
        for what in SPANS
    ),
    *(
        Agreement((name, "last_epoch"), _no_less, "it is after the last epoch")
        for name in ("diverged", "learning_epoch")
    ),
    Agreement(("origin", "origin_start"), _with_start, "an origin without its weights"),
)


def curves_fit(curves: Values, last_epochs: npt.NDArray[Any]) -> bool:
    """Whether each curve that is there has a value for each epoch, and one from before training."""
    found = lengths(curves)
    return bool(((found == last_epochs + 1) | (found == -1)).all())
