"""Answers of the API as bytes that a page can hold and take apart by itself.

- 4 bytes: the length of the index, an unsigned little-endian integer
- the index, JSON: for each path `{"begin": ..., "end": ..., "coding": ...}`, where its bytes are
  after the index
- those bytes, compressed by gzip

`web/src/model/server/archive.ts` reads it. What comes out are the very bytes that went in.
"""

import gzip
import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class SeriesCoding:
    """How a table of numbers is stored so that it compresses well.

    Numbers that follow each other in time differ little. So each is stored as what has changed
    since the one before (their exclusive or), one series after the other; first the highest byte of
    all, in which few bits change, then the next.
    """

    rows: int
    columns: int
    width: int  # bytes of a number
    time: Literal["rows", "columns"]  # what runs with the epochs

    def encoded(self, contents: bytes) -> bytes:
        """The planes of a table's bytes, little-endian and row by row."""
        table = np.frombuffer(contents, np.uint8).reshape(self.rows, self.columns, self.width)
        series = table.transpose(2, 1, 0) if self.time == "rows" else table.transpose(2, 0, 1)
        planes = series[::-1].copy()  # [width, series, points], the highest byte first
        planes[..., 1:] ^= series[::-1, :, :-1]
        return planes.tobytes()


@dataclass(frozen=True)
class Stored:
    """One answer."""

    contents: bytes
    coding: SeriesCoding | None = None


def packed(answers: Mapping[str, Stored]) -> bytes:
    """All answers by their paths."""
    index: dict[str, object] = {}
    parts: list[bytes] = []
    end = 0
    for path, stored in answers.items():
        part = gzip.compress(_encoded(stored), 9, mtime=0)
        begin, end = end, end + len(part)
        coding = stored.coding and asdict(stored.coding)
        index[path] = {"begin": begin, "end": end, "coding": coding}
        parts.append(part)
    listed = json.dumps(index, separators=(",", ":")).encode()
    return b"".join([struct.pack("<I", len(listed)), listed, *parts])


def _encoded(stored: Stored) -> bytes:
    return stored.contents if stored.coding is None else stored.coding.encoded(stored.contents)
