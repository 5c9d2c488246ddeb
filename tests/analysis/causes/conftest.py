"""A run without a spike near its end, and how it went there step by step."""

import numpy as np
import pytest

import dynascope as ds
from dynascope.analysis.passage import TrainSet
from dynascope.analysis.replay import Replay
from dynascope.analysis.spikes import spikes


@pytest.fixture(scope="session")
def run() -> ds.Run:
    """Learning, without a spike in its last 100 epochs."""
    config = ds.Config().replace({"training.epochs": 300})
    made = ds.train(config, seeds=[25], progress=False)[0]
    assert not [s for s in spikes(made, why=False).spikes if s.peak > made.epochs - 100]
    return made


@pytest.fixture(scope="session")
def train(run) -> TrainSet:
    return TrainSet.of(run)


@pytest.fixture(scope="session")
def history(run) -> np.ndarray:
    """The weights of the last two epochs, step by step."""
    (piece,) = Replay(run).steps(run.epochs - 2, run.epochs)
    return piece.weights
