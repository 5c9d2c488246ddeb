"""The sequences that the smaller measures take means over, in pieces that fit in memory."""

from collections.abc import Iterator
from dataclasses import replace

import numpy.typing as npt

from dynascope.catalog import LIMITS
from dynascope.config import Config, named_task
from dynascope.data import Tokens, check_tokens, dataset
from dynascope.errors import expected, none_given
from dynascope.model import Activations, forward
from dynascope.parameters import Parameters
from dynascope.run import Run

_AT_ONCE = 2**20  # numbers of one stage that are in memory together


def sequences(config: Config, most: int = LIMITS["measured"], sample: int | None = None) -> Tokens:
    """Every sequence of the task while there are at most so many, else the first `sample` of the
    test sequences of seed 0 (None: as many as a run has)."""
    task = named_task(config.task)
    if task.sequences <= most:
        return dataset(task, split="all")[0]
    if sample is not None:
        task = replace(task, test_size=sample)
    return dataset(task, seed=0, split="test")[0]


def own_sequences(run: Run) -> Tokens | None:
    """The train set of a run with data of its own, whose other sequences mean nothing; None of any
    other run, which is measured on `sequences`."""
    return None if run.data is None else run.data.train[0]


def given(tokens: npt.ArrayLike, config: Config) -> Tokens:
    """Sequences that somebody wants a model of this config measured on, checked."""
    rows = check_tokens("tokens", tokens, config.task.vocab)
    if not len(rows):
        raise none_given("tokens", "sequence")
    if rows.shape[1] != config.task.length:
        raise expected("tokens", f"sequences of length {config.task.length}", rows.shape[1])
    return rows


def activations(parameters: Parameters, tokens: Tokens, config: Config) -> Iterator[Activations]:
    """What the model makes of the sequences, some at a time, in their order."""
    widest = max(config.task.length * config.model.dim, config.model.hidden, config.embeddings)
    size = max(1, _AT_ONCE // widest)
    for start in range(0, len(tokens), size):
        yield forward(parameters, tokens[start : start + size], config.model)
