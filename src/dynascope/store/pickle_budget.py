"""The bytes of a pickle, and what it may ask to be made of them.

A few bytes can ask for a lot: each `]` is a list, each tensor with strides of zero as large as one
likes. So whatever a pickle makes is counted before it is made, in bytes and rounded up; a file may
make a few times its own size.
"""

import sys
from types import NoneType

_LONGEST_TEXT = 2**16
_LONGEST_NAME = 256
_MOST_INSTRUCTIONS = 2**23  # some 650 per epoch of the authors
_FREE_OBJECTS = 2**24  # bytes of objects that any file may make,
_OBJECTS_PER_BYTE = 8  # and for each byte of its own (a number in a list: 9 there, 56 here),
_MOST_OBJECTS = 2**30  # but never more than this
# Bytes that CPython takes, rounded up. A place on the stack, then in a container; an item of a
# dict; one of the memo.
SLOT, ITEM, MEMO = 16, 128, 128
_SIZES: dict[type, int] = {NoneType: 0, bool: 0, list: 112, dict: 304}
_MEASURED = (str, int, float, tuple, memoryview)
_ANY_OTHER = 512  # an array without its numbers, a storage


class RefusedPickleError(Exception):
    """Why a pickle is not read; follows "expected tensors and plain containers, but"."""


class Budget:
    """What a file may ask to be made, all tensors and inner pickles of it together."""

    def __init__(self, file_size: int) -> None:
        # torch writes each tensor's storage with it, so that tensors are no larger than their
        # file; a hostile one makes many, or one with zero strides, out of a few bytes.
        self.tensor_bytes = max(file_size, 2**20)
        self.objects = min(_FREE_OBJECTS + _OBJECTS_PER_BYTE * file_size, _MOST_OBJECTS)
        self.instructions = _MOST_INSTRUCTIONS

    def make(self, nbytes: int) -> None:
        """Count an object, or room for one, that stays until the end."""
        self.objects -= nbytes
        if self.objects < 0:
            raise RefusedPickleError("it makes far more objects than a file of its size should")

    def spend(self, nbytes: int) -> None:
        if nbytes > self.tensor_bytes:
            raise RefusedPickleError("its tensors are far larger than the file")
        self.tensor_bytes -= nbytes


def cost(value: object) -> int:
    """Bytes that a new value takes, with its place on the stack or in a container."""
    kind = type(value)
    own = sys.getsizeof(value) if kind in _MEASURED else _SIZES.get(kind, _ANY_OTHER)
    return SLOT + own


class PickleSource:
    """Bytes, and how far they have been read. Slicing does not copy."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, count: int) -> memoryview:
        if count > self.left:
            raise RefusedPickleError("it is cut short")
        self._at += count
        return self._data[self._at - count : self._at]

    def skip(self, count: int) -> None:
        self.take(count)

    def whole(self, size: int, *, signed: bool = False) -> int:
        return int.from_bytes(self.take(size), "little", signed=signed)

    def blob(self, size: int) -> memoryview:
        """Bytes after their number, which has `size` bytes itself."""
        return self.take(self.whole(size))

    def text(self, size: int) -> str:
        return _decoded(self.blob(size))

    def line(self) -> str:
        """A text up to the end of its line."""
        some = bytes(self._data[self._at : self._at + _LONGEST_NAME])
        length = some.find(b"\n")
        if length < 0:
            raise RefusedPickleError("it has a name without an end")
        self._at += length + 1
        return _decoded(memoryview(some)[:length])


def _decoded(data: memoryview) -> str:
    if len(data) > _LONGEST_TEXT:
        raise RefusedPickleError(f"it has a text of {len(data)} bytes")
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        raise RefusedPickleError("it has a text that is not UTF-8") from None
