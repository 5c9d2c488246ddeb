"""What is measured: the named settings, and the unit in which everything is reported.

The unit is *seconds per run of 1000 epochs, all cores busy*: when P workers each finish a run in t
seconds, that is t / P. A worker that is timed over fewer epochs is scaled to 1000.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import dynascope as ds

EPOCHS = 1000  # of the run that times are given for

SETTINGS: Mapping[str, ds.Config] = {
    "default": ds.Config(),
    "full batch": ds.Config().replace({"training.batch": 2048}),
    "d=64 h=256": ds.Config().replace({"model.dim": 64, "model.hidden": 256}),
    "batch 1": ds.Config().replace({"training.batch": 1}),
    "h=1000": ds.Config().replace({"model.hidden": 1000}),
}
"""Every option that is not named is the paper's: p=2, N=12, d=2, h=32, batch 32, Adam, 2048
sequences to train on and 2048 to test on. Recorded are, at each epoch, loss and accuracy on both
sets and all weights; and the gradient norm of each parameter over the epoch's steps."""


@dataclass(frozen=True)
class Measurement:
    """How long one implementation takes, and how that was found."""

    seconds_per_run: float
    how: str


def available_cores() -> int:
    """The cores this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
