"""Pickles as torch writes them, and as nobody should: built from single instructions."""

import pickle
import struct
from pathlib import Path
from typing import Any

import pytest
import torch

import dynascope as ds
from dynascope.store.unpickle import read_pickle

NUMBERS = torch.arange(24.0)
TENSORS = {
    "transposed": NUMBERS.reshape(4, 6).T,
    "slice": NUMBERS.reshape(4, 6)[1:3, 2::2],
    "expanded": NUMBERS[3].expand(2, 5),
    "no axes": NUMBERS[7],
    "empty": NUMBERS[:0],
    "empty matrix": torch.zeros(3, 0),
    "parameter": torch.nn.Parameter(NUMBERS[2:5]),
    "bool": NUMBERS > 5,
    **{
        str(dtype): NUMBERS.to(dtype)[::3]
        for dtype in (torch.float16, torch.float64, torch.int8, torch.uint8, torch.int16)
    },
    **{str(dtype): NUMBERS.to(dtype)[::3] for dtype in (torch.int32, torch.int64)},
}


def read(folder: Path, data: bytes) -> object:
    (folder / "weights.pkl").write_bytes(data)
    return read_pickle(folder / "weights.pkl")


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def plain(value: object) -> bytes:
    """The instructions for a plain value, without a memo that others could mix up."""
    if isinstance(value, tuple):
        return b"(" + b"".join(map(plain, value)) + b"t"
    return b"C" + bytes([len(value)]) + value if isinstance(value, bytes) else dumped(value)[2:-1]


def dumped(value: object) -> bytes:
    return pickle.dumps(value, 2, fix_imports=False)  # the names of Python 3


def named(module: str, name: str) -> bytes:
    return text(module) + text(name) + b"\x93"


def called(function: bytes, *arguments: object) -> bytes:
    inside = (a if isinstance(a, Raw) else plain(a) for a in arguments)
    return function + b"(" + b"".join(inside) + b"tR"


class Raw(bytes):
    """Instructions, where a value is expected."""


def whole(body: bytes) -> bytes:
    return b"\x80\x04" + body + b"."


REBUILD = named("torch._utils", "_rebuild_tensor_v2")
PARAMETER = named("torch._utils", "_rebuild_parameter")
LOAD = named("torch.storage", "_load_from_bytes")
HOOKS = Raw(called(named("collections", "OrderedDict")))
FLOATS = Raw(b"ctorch\nFloatStorage\n")
MAGIC, SYSTEM = 0x1950A86A20F9469CFC6C, {"little_endian": True}


def stored(
    identity: tuple[object, ...] = ("storage", FLOATS, "k", "cpu", 6, None),
    *,
    head: tuple[object, ...] = (MAGIC, 1001, SYSTEM),
    keys: object = ("k",),
    count: int = 6,
    data: bytes = struct.pack("<6f", *range(6)),
    program: bytes | None = None,
) -> bytes:
    """What torch writes for a storage of six numbers, or something near it."""
    inside = b"".join(a if isinstance(a, Raw) else plain(a) for a in identity)
    own = whole(b"(" + inside + b"tQ") if program is None else program
    keyed = dumped(list(keys) if isinstance(keys, tuple) else keys)
    return b"".join(map(dumped, head)) + own + keyed + struct.pack("<q", count) + data


def storage(**changes: Any) -> Raw:
    data = stored(**changes)
    return Raw(LOAD + b"(B" + struct.pack("<I", len(data)) + data + b"tR")


def tensor(offset: object, sizes: object, strides: object, *rest: object, **changes: Any) -> bytes:
    return called(REBUILD, storage(**changes), offset, sizes, strides, *(rest or (False, HOOKS)))


def sentence(error: pytest.ExceptionInfo[ds.DynascopeError]) -> str:
    """What is said of a bad `weights.pkl`: one line that names it."""
    told = str(error.value)
    assert "weights.pkl: " in told
    assert told.isprintable()
    assert len(told) < 400
    return told
