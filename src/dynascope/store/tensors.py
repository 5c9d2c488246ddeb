"""Trajectories: what of a shard's runs is too large for a table, in one safetensors file.

The runs of a shard have one shape, so their rows lie one after another in a tensor per parameter:
`weights/query` is [rows, d], and run i has the rows `weights_begin[i]` to `weights_end[i]` of it,
at the epochs `weights/epoch` says. FORMAT.md lists all tensors.
"""

import hashlib
import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.data import Data
from dynascope.platforms import system
from dynascope.run import Run, Steps
from dynascope.store import tensor_header
from dynascope.store.damage import DamagedError, reading
from dynascope.store.handles import open_file, stamp
from dynascope.store.schema import SPANS

Array = npt.NDArray[Any]
_DIGITS = 32  # hexadecimal digits kept of a SHA-256


@dataclass(frozen=True)
class Packed:
    """The tensors of some runs, and the columns that say which rows are whose."""

    tensors: dict[str, Array]
    places: dict[str, list[Any]]


def pack(runs: Sequence[Run]) -> Packed:
    """Lay the trajectories of runs of one shape end to end."""
    tensors: dict[str, Array] = {}
    for what in SPANS:
        tensors |= _joined(what, runs)
    for run in runs:
        if run.data:
            tensors |= _data_tensors(run.data)
    places: dict[str, list[Any]] = {"checksum": []}
    for what in SPANS:
        ends = np.cumsum([0] + [_length(what, run) for run in runs]).tolist()
        places |= {f"{what}_begin": ends[:-1], f"{what}_end": ends[1:]}
    for i, run in enumerate(runs):
        spans = {what: (places[f"{what}_begin"][i], places[f"{what}_end"][i]) for what in SPANS}
        digest = run.data.digest() if run.data else None
        places["checksum"].append(checksum(_of_run(tensors, spans, digest)))
    return Packed(tensors, places)


def _joined(what: str, runs: Sequence[Run]) -> dict[str, Array]:
    if what == "steps":
        return _joined_steps([run.steps for run in runs if run.steps])
    kept, epochs = ("weights", "weight_epochs") if what == "weights" else ("states", "state_epochs")
    packed = np.concatenate([getattr(run, kept) for run in runs])  # [rows, (3,) packed]
    joined = {f"{what}/epoch": np.concatenate([getattr(run, epochs) for run in runs])}
    return joined | _split(what, packed, runs[0])


def _joined_steps(steps: list[Steps]) -> dict[str, Array]:
    if not steps:
        return {}
    columns = [np.stack(list(each.curves.values()), axis=1) for each in steps]
    return {
        "steps/weights": np.concatenate([each.weights for each in steps]),
        "steps/curves": np.concatenate(columns),
    }


def _split(what: str, packed: Array, run: Run) -> dict[str, Array]:
    """A tensor for each parameter: [rows, *shape], of states [rows, 3, *shape]."""
    found, at = {}, 0
    for name, shape in run.config.shapes.items():
        size = int(np.prod(shape))
        part = packed[..., at : at + size].reshape(*packed.shape[:-1], *shape)
        found[f"{what}/{name}"] = np.ascontiguousarray(part)
        at += size
    return found


def _length(what: str, run: Run) -> int:
    if what == "steps":
        return len(run.steps.weights) if run.steps else 0
    return len(run.weights if what == "weights" else run.states)


def _data_tensors(data: Data) -> dict[str, Array]:
    sets = zip(("train", "test"), data.sets, strict=True)
    prefix = f"data/{data.digest()}"
    return {
        f"{prefix}/{name}_{part}": array
        for name, examples in sets
        for part, array in zip(("tokens", "targets"), examples, strict=True)
    }


def _of_run(
    tensors: Mapping[str, Array], spans: Mapping[str, tuple[int, int]], digest: str | None
) -> Iterator[tuple[str, Array]]:
    """Each tensor's rows that are the run's, in the order of the tensors' names."""
    for name in sorted(tensors):
        what = name.partition("/")[0]
        if what in spans:
            begin, end = spans[what]
            yield name, tensors[name][begin:end]
        elif digest and name.startswith(f"data/{digest}/"):
            yield name, tensors[name]


def _check_spans(tensors: Mapping[str, Array], spans: Mapping[str, tuple[int, int]]) -> None:
    """Refuse rows that a tensor does not have: a slice would be shorter, and nobody notice."""
    for name, tensor in tensors.items():
        what = name.partition("/")[0]
        if what in spans and (not tensor.ndim or spans[what][1] > len(tensor)):
            raise DamagedError(f"its tensor {name[:60]!a} has fewer rows than its runs")


def checksum(parts: Iterator[tuple[str, Array]]) -> str:
    """SHA-256 over name, shape and bytes of each part; the first 32 digits."""
    total = hashlib.sha256()
    for name, array in parts:
        total.update(f"{name}{list(array.shape)}".encode())
        total.update(np.ascontiguousarray(array).data.cast("B") if array.size else b"")
    return total.hexdigest()[:_DIGITS]


def digest(contents: bytes | memoryview) -> str:
    """SHA-256, the first 32 digits."""
    return hashlib.sha256(contents).hexdigest()[:_DIGITS]


def header_of(contents: bytes | memoryview) -> bytes:
    """The beginning of a safetensors file up to its first tensor."""
    length = int.from_bytes(contents[:8], "little")
    if length > tensor_header.LARGEST or 8 + length > len(contents):
        raise DamagedError("it is truncated or not a safetensors file")
    return bytes(contents[: 8 + length])


@dataclass(frozen=True)
class TensorFile:
    """A trajectory file that is not read until somebody asks; `size` and `header` as written."""

    path: Path
    size: int
    header: str  # digest

    def check(self) -> None:
        """The cheap part: size and header."""
        with reading(), open_file(self.path) as handle:
            if os.fstat(handle).st_size != self.size:
                raise DamagedError("its length has changed")
            start = system.read_at(handle, 8, 0)
            length = int.from_bytes(start, "little")
            if length > tensor_header.LARGEST:
                raise DamagedError("it is not a safetensors file")
            if digest(start + system.read_at(handle, length, 8)) != self.header:
                raise DamagedError("its header has changed")

    def stamp(self) -> tuple[int, int, int]:
        """Another one when the file is not what it was."""
        with reading():
            return stamp(self.path)

    def tensors(self) -> Mapping[str, Array]:
        """All tensors, mapped into memory: what is not looked at is not read."""
        self.check()  # each time: to touch a map of a file that was cut off ends the process
        with reading():
            return _mapped(self.path, self.header, self.stamp())

    def run(
        self, spans: Mapping[str, tuple[int, int]], digest: str | None, expected: str
    ) -> dict[str, Array]:
        """The tensors' rows that belong to a run, once its checksum has been found right."""
        tensors = self.tensors()
        _check_spans(tensors, spans)
        parts = dict(_of_run(tensors, spans, digest))
        if checksum(iter(parts.items())) != expected:
            raise DamagedError("its contents have changed")
        return parts


@lru_cache(maxsize=32)  # a map holds a file open, and a process may not hold many
def _mapped(path: Path, header: str, changed: tuple[int, int, int]) -> Mapping[str, Array]:
    with open_file(path) as handle:
        mapped = memoryview(mmap.mmap(handle, 0, access=mmap.ACCESS_READ))
    start = header_of(mapped)
    described = tensor_header.parsed(start[8:], len(mapped) - len(start))
    return {
        name: np.ndarray(shape, dtype, buffer=mapped, offset=len(start) + begin)
        for name, (dtype, shape, begin) in described.items()
    }
