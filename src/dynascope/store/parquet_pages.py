"""The pages of a Parquet column, as far as their headers tell: how large they are once decoded.

A column of a few bytes may stand for gigabytes, since equal values are counted and zeros shrink to
nothing. The footer says how large columns are, but nothing holds it to that; whoever decodes
believes the headers of the pages. So they are read here first, without decoding anything.

A header is a struct in Thrift's compact protocol:
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from collections.abc import Iterator
from typing import NamedTuple

from dynascope.store.damage import DamagedError

_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
_MOST_PAGES = 2**14  # of one column; ours have a megabyte each
_LONGEST_HEADER = 2**13  # bytes, with the least and the largest value of the page
_NESTED = 4  # structs in structs; a header has three
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT = 0, 1, 2, 3, 7, 8, 12
_NUMBERS = (4, 5, 6)  # of 16, 32 and 64 bits
# Where a header says how many values a page has: the field of the struct for each kind of page.
_VALUES = {_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}


class Page(NamedTuple):
    """A page of a column."""

    dictionary: bool
    size: int  # bytes once it is no longer compressed
    values: int


class ColumnSize(NamedTuple):
    """What the pages of a column come to."""

    values: int
    decoded: int  # bytes of all pages
    dictionary: int  # bytes of those that hold a dictionary


def column_size(chunk: memoryview) -> ColumnSize:
    """What decoding a column takes; raises `DamagedError` where that cannot be told."""
    values = decoded = dictionary = 0
    for page in _pages(chunk):
        decoded += page.size
        if page.dictionary:
            dictionary += page.size
        else:
            values += page.values
    return ColumnSize(values, decoded, dictionary)


def _pages(chunk: memoryview) -> Iterator[Page]:
    at = count = 0
    while at < len(chunk):
        count += 1
        if count > _MOST_PAGES:
            raise DamagedError(f"a column of it has more than {_MOST_PAGES} pages")
        try:
            page, length = _page(bytes(chunk[at : at + _LONGEST_HEADER]))
        except IndexError:
            raise DamagedError("a page of it is cut off") from None
        at += length
        if at > len(chunk):
            raise DamagedError("a page of it is cut off")
        yield page


def _page(header: bytes) -> tuple[Page, int]:
    """A page, and how long it is together with its header."""
    numbers, structs, at = _struct(header, 0)
    kind, size, stored = (numbers.get(field, -1) for field in (1, 2, 3))
    values = structs.get(_VALUES.get(kind, 0), {}).get(1, -1)
    if size < 0 or stored < 0 or values < 0:
        raise DamagedError("a page of it has no size")
    return Page(kind == _DICTIONARY, size, values), at + stored


Numbers = dict[int, int]


def _struct(data: bytes, at: int, nested: int = 0) -> tuple[Numbers, dict[int, Numbers], int]:
    """The numbers of a struct by field, those of the structs in it, and where it ends."""
    if nested > _NESTED:
        raise DamagedError("a page of it is not as dynascope writes it")
    numbers: Numbers = {}
    structs: dict[int, Numbers] = {}
    field = 0
    while (head := data[at]) != _STOP:
        at += 1
        kind, step = head & 15, head >> 4
        if step:
            field += step
        else:
            field, at = _number(data, at)
        if kind in _NUMBERS:
            numbers[field], at = _number(data, at)
        elif kind == _STRUCT:
            structs[field], _, at = _struct(data, at, nested + 1)
        else:
            at = _skipped(kind, data, at)
    return numbers, structs, at + 1


def _skipped(kind: int, data: bytes, at: int) -> int:
    """Where a value ends that says nothing about sizes."""
    if kind in (_TRUE, _FALSE):
        return at
    if kind == _BYTE:
        return at + 1
    if kind == _DOUBLE:
        return at + 8
    if kind == _BINARY:
        length, at = _varint(data, at)
        return at + length
    raise DamagedError("a page of it is not as dynascope writes it")


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number with a sign, and where it ends."""
    value = data[at]
    at += 1
    if value > 127:
        value, at = _varint(data, at - 1)
    return (value >> 1) ^ -(value & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise DamagedError("a page of it is not as dynascope writes it")
