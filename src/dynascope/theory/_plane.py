"""The first half of an ideal head: embeddings, query and value, in the plane of two coordinates.

Relevant positions share one embedding r, irrelevant ones have its opposite, and the query points
along r: attention is on the relevant positions, whatever the suffix. Token embeddings lie on a
circle, far inside |r|, so that tokens at relevant positions get similar attention and differ
across r, which the value matrix widens. The angle of a sequence embedding then tells the multiset
of relevant tokens, if the circle's angles are chosen so that no two multisets share a mean.
"""

import math
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope.config import OPTIONS, Config, ModelConfig
from dynascope.model import forward
from dynascope.option_rules import Whole
from dynascope.parameters import Parameters

Array = npt.NDArray[Any]

REACH = 8.0  # |r| in radii of the tokens' circle: with a norm, attention is even to some 20%
BACK = 15.0  # without a norm, scores grow with length: irrelevant positions lie so much further off
SCORE_GAP = 45.0  # relevant above irrelevant: e^-45 is below the rounding of float64
SPREAD = 2.0  # tangent of the widest angle of a sequence embedding: 63 degrees either side of r
FREEDOM = 0.3  # of a sector, either way, for a token's angle: classes stay 0.4 sectors apart
ROUNDS, TRIES, SEARCH = 8, 2048, 2**24  # of the search: rounds, tries in each, and work at most
_LENGTH = OPTIONS["task.length"]
assert isinstance(_LENGTH, Whole)
LONGEST = _LENGTH.high  # positions that a sequence may have


class Seen(NamedTuple):
    """Tokens at a relevant position, with a query of a length that hides irrelevant positions."""

    normalized: Array  # [..., p, dim]
    scores: Array  # [..., p]
    query: Array  # [..., dim]


def radius(model: ModelConfig) -> float:
    """Of the tokens' circle: so large that every norm is at work, not in its centre."""
    small = {
        "rms": model.norm_eps * math.sqrt(model.dim),
        "unit": model.norm_eps,
        "smooth": model.norm_tau,
        "none": 0.0,
    }
    return max(1.0, small[model.norm])


def on_circle(angles: Array, model: ModelConfig) -> Array:
    """[..., dim]: the points of the tokens' circle at these angles from r."""
    points = np.zeros((*angles.shape, model.dim))
    points[..., 0], points[..., 1] = np.cos(angles), np.sin(angles)
    return radius(model) * points


def positions(model: ModelConfig) -> tuple[Array, Array]:
    """The embeddings of relevant and of irrelevant positions."""
    r = np.zeros(model.dim)
    r[0] = REACH * radius(model)
    return r, 0.0 - (BACK if model.norm == "none" else 1.0) * r


def seen(tokens: Array, model: ModelConfig) -> Seen:
    """How the model sees the tokens [..., p, dim], many sets of them at once.

    The sums of token and position are laid out as the positions of long sequences of a single
    token at 0: the cost is linear in their number.
    """
    axis = np.zeros(model.dim)
    axis[0] = 1.0
    sums = np.stack([tokens + place for place in positions(model)])
    flat = sums.reshape(-1, model.dim)
    looks = [_look(flat[i : i + LONGEST], axis, model) for i in range(0, len(flat), LONGEST)]
    normalized, scores = (np.concatenate(parts) for parts in zip(*looks, strict=True))
    relevant, irrelevant = scores.reshape(sums.shape[:-1])
    length = SCORE_GAP / (relevant.min(axis=-1) - irrelevant.max(axis=-1))[..., None]
    return Seen(normalized.reshape(sums.shape)[0], length * relevant, length * axis)


def _look(points: Array, axis: Array, model: ModelConfig) -> tuple[Array, Array]:
    """Points [n, dim] as one sequence: what each is normalised to, and its score."""
    looking = _bare(np.zeros((1, model.dim)), points, axis, np.eye(model.dim), model.bias)
    act = forward(looking, np.zeros((1, len(points)), np.int32), _narrow(model))
    return act.normalized.reshape(points.shape), act.scores.ravel()


def widening(z: Array, model: ModelConfig) -> Array:
    """[..., 2]: what the value matrix does along r and across it, for tokens seen as z."""
    along, across = z[..., 0], np.abs(z[..., 1])
    gain = radius(model) / along.min(axis=-1)
    return np.stack([gain, gain * SPREAD / (across / along).max(axis=-1)], axis=-1)


def attention_head(config: Config, angles: Array) -> Parameters:
    """All but the feed-forward, which has one unit that does nothing."""
    model, task = config.model, config.task
    relevant, irrelevant = positions(model)
    tokens = on_circle(angles, model)
    look = seen(tokens, model)
    value = np.zeros((model.dim, model.dim))
    value[[0, 1], [0, 1]] = widening(look.normalized, model)
    places = np.tile(irrelevant, (task.length, 1))
    places[list(task.positions)] = relevant
    rows = np.zeros((config.embeddings, model.dim))  # rows beyond the tokens: logits of 0
    rows[: task.vocab] = tokens
    return _bare(rows, places, look.query, value, model.bias)


def clear_angles(vocab: int, k: int, model: ModelConfig) -> Array:
    """[p]: angles of the tokens that keep all multisets of k of them apart.

    They are the same for every dim, since norms keep directions.
    """
    norm = ModelConfig(dim=2, norm=model.norm, norm_eps=model.norm_eps, norm_tau=model.norm_tau)
    return np.array(_searched(vocab, k, norm))


def multisets_of(vocab: int, k: int) -> Array:
    """[multisets, k]: every multiset of k tokens, each in rising order.

    >>> multisets_of(2, 3).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]
    """
    return np.array(list(combinations_with_replacement(range(vocab), k)), dtype=np.int32)


@lru_cache(maxsize=256)
def _searched(p: int, k: int, model: ModelConfig) -> tuple[float, ...]:
    """A search in a box that shrinks around the best, over points spread evenly, without chance.

    Each token has a sector of the circle, turned as a whole, so that classes stay apart too.
    """
    multisets = multisets_of(p, k)
    counts = np.stack([(multisets == token).sum(axis=1) for token in range(p)], axis=1)
    sector = 2 * math.pi / p
    regular = sector * np.arange(p) - math.pi / 2
    box = np.array([math.pi, *[FREEDOM * sector] * p])
    spread = 2 * _evenly(int(np.clip(SEARCH // counts.size, 16, TRIES)), p + 1) - 1
    best, widest = np.zeros(p + 1), 0.0
    for step in range(ROUNDS):
        tries = np.vstack([best, best + box * spread / 2.0**step])
        tries[:, 1:] = tries[:, 1:].clip(-box[1:], box[1:])
        gaps = _smallest_gaps(counts, regular + tries[:, :1] + tries[:, 1:], model)
        if gaps.max() > widest:
            best, widest = tries[gaps.argmax()], float(gaps.max())
    return tuple(regular + best[0] + best[1:])


def _smallest_gaps(counts: Array, angles: Array, model: ModelConfig) -> Array:
    """[tries]: the smallest angle between two multisets, for each set of angles [tries, p]."""
    look = seen(on_circle(angles, model), model)
    weights = np.exp(look.scores - look.scores.max(axis=-1, keepdims=True))
    wide = look.normalized * widening(look.normalized, model)[:, None, :]
    along, across = ((weights * wide[..., i]) @ counts.T for i in (0, 1))
    return np.asarray(np.diff(np.sort(np.arctan2(across, along)), axis=1).min(axis=1))


def _evenly(count: int, dim: int) -> Array:
    """[count, dim] in [0, 1): multiples of powers of the root of g^(dim+1) = g + 1, which fill the
    cube more evenly than chance (the golden ratio does so in one dimension)."""
    g = 2.0
    for _ in range(64):
        g = (1 + g) ** (1 / (dim + 1))
    return np.mod(0.5 + np.outer(np.arange(count), g ** -np.arange(1.0, dim + 1)), 1.0)


def _narrow(model: ModelConfig) -> ModelConfig:
    """The model with one hidden unit: enough where only attention is looked at."""
    return ModelConfig(
        dim=model.dim,
        hidden=1,
        bias=model.bias,
        activation=model.activation,
        norm=model.norm,
        norm_eps=model.norm_eps,
        norm_tau=model.norm_tau,
    )


def _bare(tokens: Array, places: Array, query: Array, value: Array, bias: bool) -> Parameters:
    dim = tokens.shape[1]
    biases = {"receptor_bias": np.zeros(1), "assembler_bias": np.zeros(dim)} if bias else {}
    return Parameters(
        {
            "token_embedding": tokens,
            "position_embedding": places,
            "query": query,
            "value": value,
            "receptors": np.zeros((1, dim)),
            "assemblers": np.zeros((dim, 1)),
            **biases,
        }
    )
