"""Runs of few weights and epochs, and matrices with known spectra, for the tests of theory."""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import dynascope as ds

Array = npt.NDArray[Any]

TINY: dict[str, Any] = {
    "training.epochs": 6,
    "task.length": 4,
    "task.relevant": 2,
    "task.train_size": 64,
    "task.test_size": 16,
    "training.batch": 16,
    "model.hidden": 4,
}


@cache
def trained(*changes: tuple[str, Any], seed: int = 0) -> ds.Run:
    return ds.train(ds.Config().replace(TINY | dict(changes)), [seed], progress=False)[0]


def matrix_with(eigenvalues: Any, seed: int = 0) -> tuple[Array, Array]:
    """A symmetric matrix with this spectrum, and its eigenvectors as columns."""
    chance = np.random.default_rng(seed)
    basis = np.linalg.qr(chance.standard_normal((len(eigenvalues),) * 2))[0]
    return basis * np.asarray(eigenvalues) @ basis.T, basis


def oracle(run: ds.Run, epoch: int) -> Array:
    """The Hessian of a run's loss at an epoch, in double precision."""
    data = run.data.train if run.data else ds.dataset(run.config.task, run.seed)
    return ds.hessian(run.parameters(epoch).astype(np.float64), *data, run.config)
