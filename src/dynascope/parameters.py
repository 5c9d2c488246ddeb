"""The weights of one model: a small mapping of NumPy arrays over one flat vector.

Names and order are the kernel's (`PARAMETER_NAMES`). The arrays are views of `.flat`, so changing
one in place changes the whole; arithmetic makes new objects.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import catalog
from dynascope._kernel import PARAMETER_NAMES
from dynascope.errors import Description, DynascopeError, expected, unknown
from dynascope.near_misses import guided_class, no_attribute
from dynascope.notebook_display import ShownInNotebooks

Array = npt.NDArray[Any]

# Names in the authors' released code. The decoder is the token embedding: tied weights.
_STATE_DICT = {
    "token_emb.weight": "token_embedding",
    "pos_emb.weight": "position_embedding",
    "softmax.query.weight": "query",
    "softmax.value.weight": "value",
    "mlp.fc1.weight": "receptors",
    "mlp.fc1.bias": "receptor_bias",
    "mlp.fc2.weight": "assemblers",
    "mlp.fc2.bias": "assembler_bias",
    "output.weight": "token_embedding",
}


_PLACES = {  # where people find what they call so
    "state_dict": "to_state_dict()",
    "load_state_dict": "ds.Parameters.from_state_dict(state)",
    **dict.fromkeys(("numpy", "data", "ravel", "flatten", "parameters"), "flat"),
    **dict.fromkeys(("shape", "size"), "shapes"),
    **dict.fromkeys(("W_E", "embedding", "wte"), "token_embedding"),
    **dict.fromkeys(("W_pos", "positional_embedding", "wpe"), "position_embedding"),
    **dict.fromkeys(("W_in", "fc1"), "receptors"),
    **dict.fromkeys(("W_out", "fc2"), "assemblers"),
    "dtype": "flat.dtype",
    "grad": "ds.loss_and_gradient(parameters, tokens, targets)",
}


@guided_class()
class Parameters(Mapping[str, Array], ShownInNotebooks):
    """Named weights, all float32 or all float64.

    >>> import dynascope as ds
    >>> p = ds.initial_parameters(ds.Config(), seed=0)
    >>> p.token_embedding.shape, p["receptors"].shape, p.flat.shape
    ((2, 2), (32, 2), (196,))
    >>> (p - p).norm()
    0.0
    """

    def __init__(self, arrays: Mapping[str, npt.ArrayLike]) -> None:
        given = {name: np.asarray(array) for name, array in arrays.items()}
        for name in given:
            if name not in PARAMETER_NAMES:
                raise unknown("parameters", name, PARAMETER_NAMES, kind="parameter")
        shapes = _shapes_of(given)
        dtype = np.result_type(*(array.dtype for array in given.values()))
        if dtype not in (np.float32, np.float64):
            raise expected("parameters", "arrays of float32 or float64", str(dtype))
        for name, shape in shapes.items():
            if given[name].shape != shape:
                raise expected(f"parameters.{name}", f"shape {shape}", given[name].shape)
        flat = np.concatenate([given[name].astype(dtype).ravel() for name in shapes])
        self._adopt(flat, shapes)

    @classmethod
    def from_flat(cls, flat: Array, shapes: Mapping[str, tuple[int, ...]]) -> "Parameters":
        """Parameters over this very vector (no copy)."""
        made = cls.__new__(cls)
        made._adopt(flat, dict(shapes))
        return made

    def _adopt(self, flat: Array, shapes: dict[str, tuple[int, ...]]) -> None:
        self.flat = flat
        self.shapes = shapes
        self._views: dict[str, Array] = {}
        start = 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            self._views[name] = flat[start : start + size].reshape(shape)
            start += size
        if start != flat.size:
            raise expected("parameters.flat", f"{start} numbers", flat.size)

    # ---- a mapping ------------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Array:
        return self._views[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    def __getattr__(self, name: str) -> Array:
        if name != "_views" and name in self._views:
            return self._views[name]
        if name.startswith("_"):
            raise AttributeError(f"'Parameters' object has no attribute {name!r}")
        raise no_attribute("Parameters", name, (*self.shapes, *dir(type(self))), _PLACES)

    def __setattr__(self, name: str, value: object) -> None:
        """Assigning to a parameter changes the weights; anything else would only hide them."""
        if name in PARAMETER_NAMES:
            if name not in self._views:
                raise expected("parameters", f"one of {', '.join(self.shapes)}", name)
            new = np.asarray(value)
            if new.shape != self.shapes[name]:
                raise expected(f"parameters.{name}", f"shape {self.shapes[name]}", new.shape)
            self._views[name][...] = new
        elif name in ("shapes", "_views") or (name == "flat" and "flat" not in self.__dict__):
            super().__setattr__(name, value)
        else:
            raise expected("parameters", f"one of {', '.join(self.shapes)} to assign to", name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._views]

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}{list(shape)}" for name, shape in self.shapes.items())
        return f"Parameters({inside}; {self.flat.dtype})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Parameters.from_flat, (self.flat, self.shapes))

    # ---- arithmetic -----------------------------------------------------------------------------
    __array_ufunc__ = None  # NumPy scalars leave arithmetic with Parameters to Parameters

    def _combine(self, other: object, operation: Callable[[Array, Any], Array]) -> "Parameters":
        if isinstance(other, Parameters):
            if other.shapes != self.shapes:
                raise expected("parameters", f"shapes {self.shapes}", other.shapes)
            return Parameters.from_flat(operation(self.flat, other.flat), self.shapes)
        if not isinstance(other, int | float | np.number):
            raise expected("parameters", "a number or ds.Parameters to combine with", other)
        return Parameters.from_flat(operation(self.flat, float(other)), self.shapes)

    def __add__(self, other: object) -> "Parameters":
        return self._combine(other, operator.add)

    def __sub__(self, other: object) -> "Parameters":
        return self._combine(other, operator.sub)

    def __mul__(self, other: object) -> "Parameters":
        return self._combine(other, operator.mul)

    def __truediv__(self, other: object) -> "Parameters":
        return self._combine(other, operator.truediv)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> "Parameters":
        return Parameters.from_flat(-self.flat, self.shapes)

    def __eq__(self, other: object) -> bool:
        """The same shapes and the same numbers, bit for bit but for the sign of 0."""
        if not isinstance(other, Parameters):
            return NotImplemented
        return self.shapes == other.shapes and np.array_equal(self.flat, other.flat, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def norm(self) -> float:
        """Euclidean length of the whole vector."""
        return float(np.linalg.norm(self.flat))

    def copy(self) -> "Parameters":
        return Parameters.from_flat(self.flat.copy(), self.shapes)

    def astype(self, dtype: npt.DTypeLike) -> "Parameters":
        """A copy in float32 or float64."""
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise expected("dtype", "float32 or float64", str(np.dtype(dtype)))
        return Parameters.from_flat(self.flat.astype(dtype), self.shapes)

    def replace(self, **arrays: npt.ArrayLike) -> "Parameters":
        """A copy with some arrays exchanged; their number of rows may differ."""
        return Parameters({**self, **{name: np.asarray(a) for name, a in arrays.items()}})

    def check(self, field: str = "parameters") -> "Parameters":
        """Itself, or an error that names where a number is not finite."""
        for name, array in self.items():
            bad = np.argwhere(~np.isfinite(array))
            if len(bad):
                where = ", ".join(str(i) for i in bad[0])
                raise expected(
                    f"{field}.{name}",
                    "finite numbers",
                    Description(f"{array[tuple(bad[0])]} at [{where}]"),
                )
        return self

    # ---- the authors' names ---------------------------------------------------------------------
    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> "Parameters":
        """From the names of the authors' code; tensors or arrays."""
        arrays: dict[str, Array] = {}
        for key, value in state.items():
            if key not in _STATE_DICT:
                raise unknown("state_dict", key, _STATE_DICT, kind="name")
            name = _STATE_DICT[key]
            array = np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
            array = array.reshape(-1) if name == "query" else array
            if name in arrays and not np.array_equal(arrays[name], array):
                raise DynascopeError(
                    "state_dict.output.weight: expected the weights of token_emb.weight (they are "
                    "tied), but got other ones."
                )
            arrays[name] = array
        return cls(arrays)

    def to_state_dict(self) -> dict[str, Array]:
        """Copies under the names of the authors' code."""
        return {
            key: self[name].copy().reshape((1, -1) if name == "query" else self.shapes[name])
            for key, name in _STATE_DICT.items()
            if name in self
        }


def _shapes_of(given: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
    """The shapes that fit together, read off the embeddings and the receptors."""
    required = [row.name for row in catalog.PARAMETERS.values() if not row.bias]
    missing = [name for name in required if name not in given]
    if missing:
        raise expected(
            "parameters", f"all of {', '.join(required)}", Description(f"none called {missing[0]}")
        )
    biases = [row.name for row in catalog.PARAMETERS.values() if row.bias and row.name in given]
    if len(biases) == 1:
        raise expected("parameters", "both biases or neither", Description(f"only {biases[0]}"))
    for name in ("token_embedding", "position_embedding", "receptors"):
        if given[name].ndim != 2 or 0 in given[name].shape:
            raise expected(
                f"parameters.{name}",
                "a non-empty matrix",
                Description(f"shape {given[name].shape}"),
            )
    sizes = {axis: 0 for row in catalog.PARAMETERS.values() for axis in row.shape}
    for name in ("token_embedding", "position_embedding", "receptors"):
        sizes |= zip(catalog.PARAMETERS[name].shape, given[name].shape, strict=True)
    sizes["dim"] = given["token_embedding"].shape[1]
    return catalog.parameter_shapes(sizes, bool(biases))


def check_parameters(given: object, field: str = "parameters") -> Parameters:
    """What a function is given as parameters, once it is sure that they are, and finite."""
    if not isinstance(given, Parameters):
        hint = "pass its .parameters()" if hasattr(given, "parameters") else ""
        raise expected(field, "ds.Parameters", Description(type(given).__name__), hint)
    return given.check(field)
