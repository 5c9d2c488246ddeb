"""What the trajectory and the curves of one run must be, given what its row says.

Whoever computes with a run hands its arrays to the kernel, which takes shapes as they come.
"""

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.config import Config
from dynascope.run import recorded_curves
from dynascope.store.damage import DamagedError

Array = npt.NDArray[Any]

KEPT = ("weights", "states")
# Curves that every file has had a column for, since the first. Those added later a run may lack.
_FIRST = frozenset(
    (
        *("train_loss", "test_loss", "unseen_loss"),
        *("train_accuracy", "test_accuracy", "unseen_accuracy"),
        *("min_norm_embedding", "min_norm_sequence"),
        *("grad_norm", "grad_norm_max", "update_ratio", "full_grad_norm"),
    )
)


def check_kept(tensors: Mapping[str, Array], last_epoch: int) -> None:
    """The epochs of kept weights and states: one for each row, rising, none beyond the last."""
    for what in KEPT:
        epochs = tensors.get(f"{what}/epoch")
        if epochs is None or epochs.ndim != 1 or epochs.dtype != np.int64:
            raise DamagedError(f"its tensor {what}/epoch is missing or not a list of epochs")
        within = not len(epochs) or (epochs[0] >= 0 and epochs[-1] <= last_epoch)
        if not within or (np.diff(epochs) < 0).any():
            raise DamagedError(f"its tensor {what}/epoch has epochs that the run does not have")
        for name, tensor in tensors.items():
            if name.startswith(f"{what}/") and len(tensor) != len(epochs):
                raise DamagedError(f"its tensor {name[:60]!a} does not have a row for each epoch")
    if not len(tensors["weights/epoch"]) or tensors["weights/epoch"][0] != 0:
        raise DamagedError("the weights from before training are not kept")


def check_shapes(
    tensors: Mapping[str, Array], what: str, config: Config, slots: int | None
) -> None:
    """Kept weights or states: those of the model. `slots`: rows of a state; None: any number."""
    for name, shape in config.shapes.items():
        tensor = tensors.get(f"{what}/{name}")
        if tensor is None or tensor.dtype != config.precision:
            raise DamagedError(f"its tensor {what}/{name} is missing or not {config.precision}")
        lead = 1 if what == "weights" else 2
        rows_fit = lead == 1 or slots is None or tensor.shape[1:2] == (slots,)
        if tensor.shape[lead:] != shape or not rows_fit:
            raise DamagedError(f"its tensor {what}/{name} has the shape {tensor.shape[1:]}")


def check_steps(curves: Array | None, weights: Array | None, names: int, size: int) -> None:
    """Kept steps: as many curves as have names, and weights of the model."""
    for name, tensor, columns in (("curves", curves, names), ("weights", weights, size)):
        if tensor is None or tensor.ndim != 2 or tensor.shape[1] != columns:
            raise DamagedError(f"its tensor steps/{name} is missing or not [steps, {columns}]")


def check_curves(has: Set[str], config: Config) -> None:
    """A run has the curves that it was to record; those on a test set only if it had one."""
    needed = (name for name in recorded_curves(config, None) if not name.startswith("test_"))
    for name in needed:
        if name not in has and name.partition("/")[0] in _FIRST:
            raise DamagedError(f"its curve {name} is missing")
