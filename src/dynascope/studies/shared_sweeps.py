"""Sweeps that several studies look at."""

from dynascope.analysis_columns import KINDS
from dynascope.studies.sources import ENDS_ONLY, PAPER, QUICK, StudySweep

_OF_THEORY = ("saddles", "bounds")  # minutes for what these runs do not show

DEFAULT = StudySweep(
    name="default",
    grid={"analyse": [kind for kind in KINDS if kind not in _OF_THEORY]},
    seeds={QUICK: 60, PAPER: 1000},
)
"""The paper's own setting: N=12, k=5, p=2, d=2, h=32, Adam with 3e-3, batch 32, 1000 epochs."""

THREE_ROWS = StudySweep(
    "default-rows",
    {"base": {"model.embeddings": 3}, "analyse": ["kept_sum", "circuit", "phases", "spikes"]},
    {QUICK: 20, PAPER: 300},
)
"""The same with a third row of the embedding, never right, as the released code has it."""

_TWO_AND_THREE = {"grid": {"model.dim": [2, 3]}}
_FULL = {"training.batch": 2048}
_FEW = {QUICK: 8, PAPER: 100}
_FEWER = {QUICK: 1, PAPER: 20}

MINI_BATCH = StudySweep(
    "gradients-batch",
    {**_TWO_AND_THREE, "base": ENDS_ONLY, "analyse": ["tandem"]},
    _FEW,
    block="gradients",
)
FULL_BATCH = StudySweep(
    "gradients-full",
    {
        "base": _FULL,
        "grid": {"model.dim": [2, 3], "training.epochs": [1000, 5000]},
        "analyse": ["tandem", "saddles"],
    },
    _FEW,
    block="gradients",
)
_WIDE = {"model.dim": 64, "model.hidden": 256, **ENDS_ONLY}
WIDE_BATCH = StudySweep(
    "gradients-wide-batch", {"base": _WIDE, "analyse": ["tandem"]}, _FEWER, block="gradients"
)
WIDE_FULL_BATCH = StudySweep(
    "gradients-wide-full",
    {
        "base": {**_WIDE, **_FULL},
        "grid": {"training.epochs": [1000, 5000]},
        "analyse": ["tandem"],
    },
    _FEWER,
    block="gradients",
    quick={"grid": {"training.epochs": [1000]}},
)

WIDTHS = {2: 32, 3: 32, 4: 32, 6: 32, 8: 32, 12: 48, 16: 64, 32: 128}
"""The hidden units for each d; the paper gives them for d=2 alone. From 8 on h = 4d."""
NARROW = {2: 8, 3: 12, 4: 16}
"""The same with h = 4d also for small d."""
_SHAPES = [*WIDTHS.items(), *NARROW.items()]

WIDTH = StudySweep(
    "width",
    {
        "base": ENDS_ONLY,
        "zip": [{"model.dim": [d for d, _ in _SHAPES], "model.hidden": [h for _, h in _SHAPES]}],
        "analyse": ["sparsity"],
    },
    {QUICK: 6, PAPER: 300},
)
