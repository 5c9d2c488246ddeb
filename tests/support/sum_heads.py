"""Heads that keep a sum of one's choice, built by hand.

Attention is uniform (the query is 0), so a sequence embedding is the mean of V z(x_t, t). Token x
is the unit vector e_x, and every position adds P_t to it. V sees only one or two further
coordinates, in which all tokens are 0: there z is P_t times the factor by which the norm shortens
e_x + P_t, and that factor can be chosen for each token through P_t's coordinate x. So each token at
each position adds a number of one's choice, times a direction of the position. It takes d >= p + 2.

Two tokens in a plane (d = 2): z = (u, b) / |(u, b)| sqrt(2) with u = a - 1 or a + 1, and V sees the
second coordinate. With a = 1 the two tokens differ by b/2 / sqrt(1 + (b/2)^2) - 1, times the sign
of b; with a = 0 by nothing.
"""

import math
from dataclasses import dataclass, field

import numpy as np

import dynascope as ds


@dataclass(frozen=True)
class Head:
    """The sum: of two tokens by weights, of more by shifts; a token apart has a weight that is in
    no sum."""

    weights: tuple[int, ...] = ()  # [length]
    shifts: tuple[int, ...] = ()  # [relevant]
    folds: dict[tuple[int, int], tuple[int, int, int, int]] = field(default_factory=dict)
    # (position, token) -> a, b instead of c, d
    apart: dict[int, float] = field(default_factory=dict)
    second: tuple[int, ...] = ()  # [length]: the weights of another sum
    aside: tuple[int, ...] = ()  # relevant positions that are counted in a sum of their own


def built_head(
    head: Head, vocab: int = 2, dim: int = 4, length: int = 12
) -> tuple[ds.Parameters, ds.Config]:
    """Weights that keep this sum, and their config."""
    relevant = len(head.shifts) or 5
    config = ds.Config().replace(
        {
            "task.length": length,
            "task.vocab": vocab,
            "task.relevant": relevant,
            "model.dim": dim,
            "model.norm_eps": 0.0,
            "precision": "float64",
        }
    )
    adds, directions = _adds(head, vocab, length), _directions(head, length)
    parameters = ds.initial_parameters(config).copy()
    parameters.query[:] = 0
    if dim == 2:
        parameters.token_embedding[:] = [[-1, 0], [1, 0]]
        parameters.position_embedding[:] = [_in_a_plane(one[1] - one[0]) for one in adds]
        parameters.value[:] = [[0, 1], [0, 0]]
        return parameters, config
    parameters.token_embedding[:] = np.eye(vocab, dim)
    parameters.position_embedding[:] = 0
    for t in range(length):
        parameters.position_embedding[t, : vocab + 2] = _position(adds[t], directions[t], dim)
    parameters.value[:] = 0
    parameters.value[:2, vocab : vocab + 2] = np.eye(2)
    return parameters, config


def _adds(head: Head, vocab: int, length: int) -> np.ndarray:
    """[length, vocab]: what each token adds along its position's direction."""
    counts = np.array([0, 1, -1.62, 2.31, 0.47])[:vocab]  # of j: no few add up to what others do
    adds = np.zeros((length, vocab))
    for t, shift in enumerate(head.shifts):
        adds[t] = counts[(np.arange(vocab) + shift) % vocab]
    for (t, token), (a, b, c, d) in head.folds.items():
        adds[t, token] = counts[a] + counts[b] - counts[c] - counts[d]
    for t, weight in enumerate(head.weights):
        longer = math.hypot(weight, head.second[t]) if head.second else weight
        adds[t] = 0, longer
    for t, weight in head.apart.items():
        adds[t] = weight * np.sqrt(np.arange(vocab))
    return adds


def _directions(head: Head, length: int) -> np.ndarray:
    """[length, 2]: along which tokens add; the second coordinate is that of a second sum."""
    if not head.second:
        along = np.tile([1.0, 0.0], (length, 1))
        along[list(head.aside)] = 0, 1
        return along
    both = np.array([head.weights, head.second], float).T
    sizes = np.linalg.norm(both, axis=1, keepdims=True)
    return np.where(sizes > 0, both / np.where(sizes > 0, sizes, 1), [1.0, 0.0])


def _position(adds: np.ndarray, direction: np.ndarray, dim: int) -> np.ndarray:
    """P_t [vocab + 2] with z(x) = (20 + adds[x]) / 20 along `direction`, times a constant.

    With h the length of P_t along it: sqrt(d) h / |e_x + P_t| is to be T_x, so
    1 + 2 P_x + R = d h^2 / T_x^2 with R = |P_t|^2 = h^2 + sum_x P_x^2, a quadratic equation for R.
    """
    goal = 1 + (adds - adds.mean()) / 20
    h = 1.0
    scale = math.sqrt(dim * h**2 / (1 + h**2))  # so that adds of 0 need no P_x
    m = dim * h**2 / (scale * goal) ** 2 - 1  # 2 P_x = m_x - R
    vocab = len(adds)
    # sum_x (m_x - R)^2 / 4 + h^2 = R
    a, b, c = vocab / 4, -m.sum() / 2 - 1, (m**2).sum() / 4 + h**2
    root = (-b - math.sqrt(b * b - 4 * a * c)) / (2 * a)
    return np.concatenate([(m - root) / 2, h * direction])


def _in_a_plane(add: float) -> tuple[float, float]:
    if add == 0:
        return 0.0, 1.0
    steep = 1 - abs(add) / 4  # of b / sqrt(4 + b^2)
    b = 2 * steep / math.sqrt(1 - steep**2)
    return (1.0, -b) if add > 0 else (1.0, b)
