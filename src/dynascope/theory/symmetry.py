"""Directions in which the loss is flat by construction, whatever the data.

Some hold for any distance, so the Hessian takes them to zero everywhere:

- E shifted by c and P by -c: embeddings stay, all logits move alike (d directions);
- the query, where there is but one position.

Others are tangents of curved orbits. There the Hessian is zero only where the gradient is: for a
generator T of the symmetry, L(exp(tT)θ) = L(θ) gives H Tθ = -Tᵀ∇L.

- What nobody reads: the decoder sees differences of rows of E only. Across them, at a right angle,
  assemblers and their bias may be anything: (d - rank) (h + 1) directions, where rank is at most
  one less than the number of classes. With two classes and d = 2 that is half of the feed-forward's
  output.
- Embeddings turned as a whole, all that reads or writes them along with them: d(d-1)/2 rotations.
  Without a norm any linear map A will do, not only a rotation: e → eA, d² of them.
- With a norm that knows no scale (rms or unit with norm_eps = 0): E and P times a; V, U and b2
  divided by it.
- relu: a receptor and its bias times a, its assembler divided by it: one for each hidden unit.

With norm_eps > 0 the scale is a symmetry only up to norm_eps over the length of what is
normalised, and does not count as one. Units that relu keeps at zero for every sequence make further
zeros, exact ones, that depend on the data: these are for the spectrum's tolerance to find.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.catalog import ACTIVATIONS
from dynascope.config import ModelConfig
from dynascope.config_input import ModelLike
from dynascope.errors import expected
from dynascope.model import Call
from dynascope.near_misses import guided
from dynascope.parameters import Parameters
from dynascope.theory import curvature_thresholds as t

Array = npt.NDArray[Any]


def shifts(parameters: Parameters, free: Array | None = None) -> Array:
    """[m, n] orthonormal: directions that every Hessian takes to zero, of weights that are free.

    >>> import dynascope as ds
    >>> shifts(ds.initial_parameters(ds.Config())).shape
    (2, 196)
    """
    made = []
    length, dim = parameters.shapes["position_embedding"]
    for c in range(dim):
        moved = _still(parameters)
        moved.token_embedding[:, c], moved.position_embedding[:, c] = 1, -1
        made.append(moved.flat)
        if length == 1:
            moved = _still(parameters)
            moved.query[c] = 1
            made.append(moved.flat)
    return orthonormal(_free_only(np.array(made), free))


@guided
def flat_directions(
    parameters: Parameters, model: ModelLike = None, free: Array | None = None
) -> Array:
    """[m, n] orthonormal: the shifts, and the tangents of all other symmetries at these weights.

    `free`: a mask over the weights; of those that are not free, none moves.

    >>> import dynascope as ds
    >>> p = ds.initial_parameters(ds.Config())
    >>> [len(flat_directions(p, ds.ModelConfig(norm=norm))) for norm in ("rms", "none")]
    [36, 39]
    """
    call = Call(parameters, model)
    if free is not None:
        free = np.asarray(free)
        if free.shape != call.flat.shape or free.dtype != np.bool_:
            what = f"an array of {free.dtype} of shape {free.shape}"
            raise expected("free", f"a mask of {len(call.flat)} truth values", what)
    exact = parameters.astype(np.float64)
    curved = [move.flat for move in _tangents(exact, call.model)]
    rows = np.array(curved).reshape(len(curved), len(exact.flat))
    return orthonormal(np.concatenate([shifts(exact, free), _free_only(rows, free)]))


def orthonormal(rows: Array) -> Array:
    """An orthonormal basis of what these rows span; short or dependent ones add nothing."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    sound = rows[lengths[:, 0] > 0] / lengths[lengths[:, 0] > 0]
    if not len(sound):
        return np.asarray(sound)
    _, sizes, basis = np.linalg.svd(sound, full_matrices=False)
    return np.asarray(basis[sizes > t.INDEPENDENT * sizes[0]])


def _free_only(rows: Array, free: Array | None) -> Array:
    """All combinations of these directions that leave everything frozen alone, on the free weights:
    two that each move what is frozen may cancel there."""
    if free is None or not len(rows):
        return rows if free is None else rows[:, free]
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(lengths > 0, lengths, 1.0)
    held = unit[:, ~free].T
    if not held.size:
        return np.asarray(unit[:, free])
    _, sizes, mixes = np.linalg.svd(held)
    rank = int((sizes > t.INDEPENDENT).sum())
    return np.asarray(mixes[rank:] @ unit[:, free])


def _still(parameters: Parameters) -> Parameters:
    return Parameters.from_flat(np.zeros(len(parameters.flat)), parameters.shapes)


def _tangents(p: Parameters, model: ModelConfig) -> Iterator[Parameters]:
    for across in _unread(p.token_embedding):
        yield from _written(p, across)
    for generator in _generators(model):
        yield _turned(p, generator)
    if model.norm in ("rms", "unit") and model.norm_eps == 0:
        yield _scaled(p)
    if ACTIVATIONS[model.activation].homogeneous:
        for unit in range(model.hidden):
            yield _rescaled(p, unit)


def _unread(decoder: Array) -> Array:
    """[m, dim]: orthonormal directions at a right angle to all differences of rows."""
    apart = decoder[1:] - decoder[0]
    _, sizes, basis = np.linalg.svd(apart)
    rank = int((sizes > t.INDEPENDENT * sizes.max(initial=0.0)).sum())
    return np.asarray(basis[rank:])


def _written(p: Parameters, across: Array) -> Iterator[Parameters]:
    """Each hidden unit, and the bias, writing along `across`."""
    for unit in range(p.shapes["assemblers"][1]):
        moved = _still(p)
        moved.assemblers[:, unit] = across
        yield moved
    if "assembler_bias" in p:
        moved = _still(p)
        moved.assembler_bias = across
        yield moved


def _generators(model: ModelConfig) -> Iterator[Array]:
    """[dim, dim] each: of rotations, or of all linear maps."""
    for i in range(model.dim):
        for j in range(model.dim if model.norm == "none" else i):
            generator = np.zeros((model.dim, model.dim))
            generator[i, j] = 1.0
            if model.norm != "none":
                generator[j, i] = -1.0
            yield generator


def _turned(p: Parameters, a: Array) -> Parameters:
    """Embeddings move by eA, so what reads them moves against it and what writes them with it."""
    moved = _still(p)
    moved.token_embedding = p.token_embedding @ a
    moved.position_embedding = p.position_embedding @ a
    moved.query = -a @ p.query
    moved.value = -a @ p.value - p.value @ a.T
    moved.receptors = p.receptors @ a
    moved.assemblers = -a @ p.assemblers
    if "assembler_bias" in p:
        moved.assembler_bias = -a @ p.assembler_bias
    return moved


def _scaled(p: Parameters) -> Parameters:
    moved = _still(p)
    for name in ("token_embedding", "position_embedding"):
        moved[name][...] = p[name]
    for name in {"value", "assemblers", "assembler_bias"} & set(p):
        moved[name][...] = -p[name]
    return moved


def _rescaled(p: Parameters, unit: int) -> Parameters:
    moved = _still(p)
    moved.receptors[unit] = p.receptors[unit]
    moved.assemblers[:, unit] = -p.assemblers[:, unit]
    if "receptor_bias" in p:
        moved.receptor_bias[unit] = p.receptor_bias[unit]
    return moved
