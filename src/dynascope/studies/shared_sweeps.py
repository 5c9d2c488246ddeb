"""Sweeps that several studies look at."""

from dynascope.analysis_columns import KINDS
from dynascope.studies.sources import PAPER, QUICK, StudySweep

_OF_THEORY = ("saddles", "bounds")  # minutes for what these runs do not show

DEFAULT = StudySweep(
    name="default",
    grid={"analyse": [kind for kind in KINDS if kind not in _OF_THEORY]},
    seeds={QUICK: 60, PAPER: 1000},
)
"""The paper's own setting: N=12, k=5, p=2, d=2, h=32, Adam with 3e-3, batch 32, 1000 epochs."""
