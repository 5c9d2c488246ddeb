"""The perfect clustering head: weights that solve the task by design, wherever it is in reach.

All sequences with the same multiset of relevant tokens have one sequence embedding, and each of the
C(k+p-1, k) multisets its own. Attention does that (`_plane`), a staircase along the angle of the
sequence embedding finds the class (`_steps`). What comes out has been tried, never only designed.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.config import Config, named_task
from dynascope.config_input import ConfigLike, check_config
from dynascope.errors import DynascopeError, expected
from dynascope.model import Activations, forward
from dynascope.near_misses import guided
from dynascope.parameters import Parameters
from dynascope.theory._plane import attention_head, clear_angles, multisets_of, radius
from dynascope.theory._steps import staircase

Array = npt.NDArray[Any]

MAX_MULTISETS = 4096  # a dense linear system is solved, of this size
NEGLIGIBLE = 1e-9  # total attention on irrelevant positions
_AT_ONCE = 2**22  # numbers per stage, of sequences that are tried together


class Head(NamedTuple):
    """Weights and the config they belong to."""

    parameters: Parameters
    config: Config


@guided
def ideal_head(config: ConfigLike = None, confidence: float = 0.999) -> Head:
    """A perfect clustering head: every sequence gets its class with at least this probability.

    The config's `hidden` is kept if it is enough (spare units are zero), else raised to two for
    each multiset but one (and one more without biases). Relevant positions share one position
    embedding, irrelevant ones have another: exchange rows to damage it.

    >>> import dynascope as ds
    >>> head = ideal_head(ds.Config())
    >>> tokens, targets = ds.dataset(head.config.task, split="all")
    >>> got = ds.forward(head.parameters, tokens, head.config.model)
    >>> bool((got.logits.argmax(axis=1) == targets).all())
    True
    >>> len(np.unique(got.sequence.round(4), axis=0))  # zero to five ones
    6
    """
    config = _checked(check_config(config))
    confidence = _checked_confidence(confidence, config.embeddings)
    multisets = multisets_of(config.task.vocab, len(config.task.positions))
    try:
        with np.errstate(all="ignore"):  # what is out of reach shows when the head is tried
            head = _built(config, multisets, confidence)
            if _works(head, multisets, confidence):
                return head
    except (np.linalg.LinAlgError, DynascopeError):  # angles that coincide; numbers not finite
        pass
    raise DynascopeError(
        f"config: expected one within reach of an ideal head, but {len(multisets)} multisets of "
        f"relevant tokens, embeddings of length {radius(config.model):g} and more (as model.norm "
        f"asks for) and a confidence of {confidence!r} are too much for {config.precision}; take "
        f"{'precision float64' if config.precision == 'float32' else 'a smaller task'}."
    )


def _checked(config: Config) -> Config:
    if named_task(config.task).name != "modular-addition":
        raise expected("task.name", "modular-addition for an ideal head", config.task.name)
    if config.model.dim < 2:
        raise expected("model.dim", "at least 2 for an ideal head", config.model.dim)
    k, p = len(config.task.positions), config.task.vocab
    count = math.comb(k + p - 1, k)
    if count > MAX_MULTISETS:
        what = f"at most {MAX_MULTISETS} multisets of relevant tokens for an ideal head"
        raise expected("task", what, count, "take a smaller task.vocab or fewer relevant positions")
    return config


def _checked_confidence(confidence: object, classes: int) -> float:
    real = isinstance(confidence, int | float | np.floating) and not isinstance(confidence, bool)
    if not real or not 1 / classes < float(confidence) < 1:  # type: ignore[arg-type]
        raise expected("confidence", f"a number above 1/{classes} and below 1", confidence)
    return float(confidence)  # type: ignore[arg-type]


def _built(config: Config, multisets: Array, confidence: float) -> Head:
    """Designed in float64, on sequences without irrelevant positions."""
    angles = clear_angles(config.task.vocab, multisets.shape[1], config.model)
    bare = attention_head(config, angles)
    places = bare.position_embedding
    short = bare.replace(position_embedding=places[list(config.task.positions)])
    outputs = _outputs(config, angles, confidence)[_targets(multisets, config)]
    head = staircase(short, multisets, outputs, config.model).replace(position_embedding=places)
    return _padded(head.astype(config.precision), config)


def _targets(multisets: Array, config: Config) -> Array:
    return np.asarray(multisets.sum(axis=1) % config.task.vocab)


def _outputs(config: Config, angles: Array, confidence: float) -> Array:
    """[p, dim]: psi for each class, in its own direction, so long that it wins clearly.

    A lead of `log(2 (classes-1) / (1-confidence))` over every other class halves the doubt that is
    allowed: room for rounding. No shorter than half the circle's radius, the scale of the sequence
    embedding, which the feed-forward has to cancel.
    """
    lead = math.log(2 * (config.embeddings - 1) / (1 - confidence))
    cosines = np.cos(angles[:, None] - angles)
    np.fill_diagonal(cosines, -1.0)
    margin = 1 - float(cosines.max())
    if config.embeddings > config.task.vocab:
        margin = min(margin, 1.0)  # rows of zeros: logits of 0
    rho = radius(config.model)
    length = max(lead / (rho * margin), rho / 2)
    made = np.zeros((config.task.vocab, config.model.dim))
    made[:, 0], made[:, 1] = length * np.cos(angles), length * np.sin(angles)
    return made


def _padded(wide: Parameters, config: Config) -> Head:
    """The head with as many hidden units as the config has, or as many as it needs."""
    needed = wide.shapes["receptors"][0]
    hidden = max(needed, config.model.hidden)
    if hidden > needed:
        spare = hidden - needed
        more = {
            "receptors": np.pad(wide.receptors, ((0, spare), (0, 0))),
            "assemblers": np.pad(wide.assemblers, ((0, 0), (0, spare))),
        }
        if config.model.bias:
            more["receptor_bias"] = np.pad(wide.receptor_bias, (0, spare))
        wide = wide.replace(**more)
    return Head(wide, config.replace({"model.hidden": hidden}))


def _works(head: Head, multisets: Array, confidence: float) -> bool:
    """Tried in its own precision on every multiset, in two orders and with several suffixes."""
    parameters, config = head
    if not np.isfinite(parameters.flat).all():
        return False
    targets = _targets(multisets, config)
    irrelevant = np.setdiff1d(np.arange(config.task.length), config.task.positions)
    for rows, got in _tried(head, multisets):
        right = got.probabilities[np.arange(len(rows)), targets[rows]]
        first = got.logits.argmax(axis=1) == targets[rows]
        aside = got.attention[:, irrelevant].sum(axis=1)
        if not (first & (right >= confidence) & (aside < NEGLIGIBLE)).all():
            return False
    return True


def _tried(head: Head, multisets: Array) -> Iterator[tuple[Array, Activations]]:
    """Pieces: which multisets, and what the head makes of one sequence of each."""
    parameters, config = head
    task, relevant = config.task, list(config.task.positions)
    size = max(1, _AT_ONCE // max(task.length * config.model.dim, config.model.hidden))
    counting = np.arange(task.length) % task.vocab
    suffixes = [np.zeros_like(counting), np.full_like(counting, task.vocab - 1), counting]
    for suffix, order in zip(suffixes, (1, -1, 1), strict=True):
        for start in range(0, len(multisets), size):
            rows = np.arange(start, min(start + size, len(multisets)))
            tokens = np.tile(suffix, (len(rows), 1))
            tokens[:, relevant] = multisets[rows, ::order]
            yield rows, forward(parameters, tokens, config.model)
