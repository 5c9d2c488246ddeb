"""The header of a safetensors file: which tensors it has and where, checked before one is mapped.

https://github.com/huggingface/safetensors#format
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dynascope.store.damage import DamagedError
from dynascope.store.fields import Field, check_fields, list_of, text, whole
from dynascope.store.strict_json import strict_json

LARGEST = 2**22  # bytes; ours have thousands, and some more for data of the runs' own
_MOST_TENSORS = 2**14
_MOST_AXES = 8
_END = whole(0, 2**50)
_TYPES: dict[str, type[np.generic]] = {
    "F32": np.float32,
    "F64": np.float64,
    "I64": np.int64,
    "I32": np.int32,
}
_FIELDS = {
    "dtype": Field(text(20)),
    "shape": Field(list_of(_END, _MOST_AXES)),
    "data_offsets": Field(list_of(_END, 2)),
}


class Tensor(NamedTuple):
    """Where a tensor is, counted from the end of the header."""

    dtype: "type[np.generic]"
    shape: tuple[int, ...]
    begin: int

    @property
    def size(self) -> int:
        """Bytes."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def parsed(header: bytes | memoryview, room: int) -> dict[str, Tensor]:
    """The tensors that a header (without the bytes that give its length) describes; `room` bytes
    follow it. Raises `DamagedError`."""
    described = strict_json(header)
    if not isinstance(described, dict) or len(described) > _MOST_TENSORS:
        raise DamagedError(f"its header is not a table of at most {_MOST_TENSORS} tensors")
    described.pop("__metadata__", None)
    tensors = {name: _tensor(name, about, room) for name, about in described.items()}
    if sum(tensor.size for tensor in tensors.values()) > room:  # to read all would take for ever
        raise DamagedError("its tensors lie over each other")
    return tensors


def _tensor(name: str, about: Any, room: int) -> Tensor:
    where = f"its tensor {name[:60]!a}: "
    check_fields(about, _FIELDS, where=where)
    dtype = _TYPES.get(about["dtype"])
    if dtype is None:
        raise DamagedError(f"{where}dtype is not one of {', '.join(_TYPES)}")
    ends = about["data_offsets"]
    tensor = Tensor(dtype, tuple(about["shape"]), min(ends, default=0))
    if ends != [tensor.begin, tensor.begin + tensor.size] or ends[1] > room:
        raise DamagedError(f"{where}data_offsets is not where it can be")
    return tensor
