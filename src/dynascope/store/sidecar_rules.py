"""What the rows of a sidecar must hold, whoever wrote it."""

import numpy as np
import pyarrow.compute as pc

from dynascope.analysis_columns import PARTS, columns_of
from dynascope.catalog import OPTIONS
from dynascope.store.column_rules import (
    Agreement,
    ColumnRule,
    Values,
    digits,
    lengths,
    text,
    whole,
)
from dynascope.store.shard_rules import MOST_EPOCHS

MOST_ROWS = 2000  # a writer begins a new file at 1000, and threads may add a few more meanwhile
_LONGEST_KIND = 64
_LONGEST_NOTE = 10_000
_EPOCHS = whole(0, MOST_EPOCHS)
_COUNT = whole(0, 2**53)
_LARGEST_WEIGHT = 2  # of a sum that is looked for
_TOKEN = whole(0, int(OPTIONS["task.vocab"].high or 0))

RULES: dict[str, ColumnRule] = {
    "id": digits(20, nulls=False),
    "checksum": digits(32, nulls=False),
    "analysed": text(_LONGEST_KIND, nulls=False),
    "notes": text(_LONGEST_NOTE, nulls=False),
    "verdict": text(_LONGEST_KIND),
    "clusters": _COUNT,
    "expected_clusters": _COUNT,
    "culprits": whole(0, int(OPTIONS["task.length"].high or 0)),
    "sum_weights": whole(-_LARGEST_WEIGHT, _LARGEST_WEIGHT),
    "sum_kind": text(_LONGEST_KIND),
    "sum_formula": text(_LONGEST_NOTE),
    "sum_by": text(_LONGEST_KIND),
    "sum_values": _COUNT,
    "sum_apart": whole(0, int(OPTIONS["task.length"].high or 0)),
    "drops": _EPOCHS,
    "drop_epochs": _EPOCHS,
    "drop_votes": whole(1, 3),
    "clustered_epoch": _EPOCHS,
    "fitted_epoch": _EPOCHS,
    "lead": whole(-MOST_EPOCHS, MOST_EPOCHS),
    **{name: _EPOCHS for name in columns_of(["sum_progress"]) if not name.startswith("sum_lead")},
    "sum_lead": whole(-MOST_EPOCHS, MOST_EPOCHS),
    "sum_leads": whole(-MOST_EPOCHS, MOST_EPOCHS),
    "spikes": whole(0, MOST_EPOCHS),
    "spike_epochs": _EPOCHS,
    "preferred_token_start": _TOKEN,
    "preferred_token_end": _TOKEN,
    "tandem_lag": whole(-MOST_EPOCHS, MOST_EPOCHS),
    "speed_resolution": _EPOCHS,
    "heaviest_assembler": whole(0, int(OPTIONS["model.hidden"].high or 0)),
    "step_over_length_most_epoch": _EPOCHS,
    "unsafe_epochs": _EPOCHS,
    "plateau_epochs": _EPOCHS,
    "plateau_verdicts": text(_LONGEST_KIND),
    "plateau_negative": _COUNT,
    "bounds_epochs": _COUNT,
    **{f"{prefix}_fails": _COUNT for prefix in ("paper_bound", "bound", "tight_bound")},
}


def _as_many(*columns: Values) -> bool:
    """Whether lists are equally long, and all there or none."""
    return len({tuple(lengths(column)) for column in columns}) == 1


def _as_many_if_there(*columns: Values) -> bool:
    """Whether lists are equally long in each row, apart from those that are null."""
    counts = np.array([lengths(column) for column in columns])
    most = counts.max(axis=0)
    return bool(((counts == most) | (counts < 0)).all())


def _of_parts(name: str) -> tuple[str, ...]:
    """The columns of all weights and of each part of the model."""
    return name, *(f"{name}_{part}" for part in PARTS)


def _counted(count: Values, listed: Values) -> bool:
    found = pc.fill_null(count, -1).to_numpy()
    return bool(np.array_equal(found, lengths(listed)))


def _together(*columns: Values) -> bool:
    """Whether all are there or none, in each row."""
    there = [pc.is_valid(column) for column in columns]
    return all(each.equals(there[0]) for each in there[1:])


AGREEMENTS = (
    Agreement(("analysed", "notes"), _as_many, "a note for each kind"),
    Agreement(("drop_epochs", "drop_votes"), _as_many, "votes for each drop"),
    Agreement(("spike_epochs", "spike_rises"), _as_many, "a rise for each spike"),
    Agreement(("spike_epochs", "spike_causes"), _as_many, "a cause for each spike"),
    Agreement(("spike_epochs", "spike_confirmed"), _as_many, "a test for each spike"),
    Agreement(("spike_epochs", "spike_small"), _as_many, "a size for each spike"),
    Agreement(("spike_epochs", "spike_sharpness"), _as_many, "a sharpness for each spike"),
    Agreement(("spikes", "spike_epochs"), _counted, "an epoch for each spike"),
    Agreement(
        ("attention_by_token_start", "attention_by_token_end"), _as_many, "both of all tokens"
    ),
    *(
        Agreement(_of_parts(name), _as_many_if_there, "a number for each drop or spike")
        for name in ("gradient_at_drops", "gradient_at_spikes", "speed_at_drops")
    ),
    Agreement(tuple(columns_of(["saddles"])), _as_many, "a value for each plateau"),
    Agreement(("alias_weights", "alias_share"), _together, "weights and share of one sum"),
    Agreement(("alias_weights", "alias_holds"), _together, "weights and judgement of one sum"),
)
