"""Damaged pickles: refused in one sentence, or read as plain data."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from authors_runs import TWO
from hypothesis import given, settings
from hypothesis import strategies as st
from pickles import TENSORS, tensor, whole

import dynascope as ds
from dynascope.store.unpickle import read_pickle

LEAVES = (str, int, float, bool, type(None), np.ndarray)


BASES = [
    (TWO / "losses.pkl").read_bytes(),
    whole(tensor(1, (2, 2), (3, 1))),
    pickle.dumps([{"a": TENSORS["slice"], "b": (1, 2.5, "x")}, TENSORS["parameter"]], 4),
    pickle.dumps([{"a": TENSORS["bool"], "b": [None, True, 2**70]}], 2 + 1),
]
CODES = b"\x80.(0123FGIJKLMNQRSTUXabcdefghijlopqrstu})]\x81\x82\x85\x86\x87\x88\x8a\x8c\x93\x94\x95"
Edit = tuple[str, float, float, bytes]
EDITS = st.tuples(
    st.sampled_from(["flip", "cut", "drop", "insert", "splice", "repeat"]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.one_of(st.binary(max_size=8), st.lists(st.sampled_from(list(CODES)), max_size=6).map(bytes)),
)


def edited(data: bytes, edit: Edit) -> bytes:
    """One change at a place (a share of the length), with something of the bytes."""
    kind, where, other, some = edit
    at, end = sorted(int(share * len(data)) for share in (where, other))
    if kind == "flip":
        bit = 1 << int(other * 7)
        return data[:at] + bytes(byte ^ bit for byte in data[at : at + 1]) + data[at + 1 :]
    if kind == "cut":
        return data[:at]
    if kind == "drop":
        return data[:at] + data[at + 1 + len(some) :]
    if kind == "insert":
        return data[:at] + some + data[at:]
    if kind == "repeat":
        return data[:end] + data[at:]
    return data[:at] + BASES[len(some) % len(BASES)][end:]


def check_read(file: Path, data: bytes) -> None:
    """A refusal in one sentence, or plain data."""
    file.write_bytes(data)
    values: list[object] = []
    told = "weights.pkl: fine"
    try:
        values.append(read_pickle(file))
    except ds.DynascopeError as error:
        told = str(error)
    assert "weights.pkl: " in told
    assert told.isprintable()
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values += value.values()
        elif isinstance(value, list | tuple):
            values += value
        else:
            assert type(value) in LEAVES


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "weights.pkl"


DAMAGED = given(st.sampled_from(BASES), st.lists(EDITS, min_size=1, max_size=4))


def check_damaged(scratch: Path, data: bytes, edits: list[Edit]) -> None:
    for edit in edits:
        data = edited(data, edit)
    check_read(scratch, data)


@settings(max_examples=300, deadline=None)
@DAMAGED
def test_damaged_pickles(scratch: Path, data: bytes, edits: list[Edit]) -> None:
    check_damaged(scratch, data, edits)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None)
@DAMAGED
def test_damaged_pickles_at_length(scratch: Path, data: bytes, edits: list[Edit]) -> None:
    check_damaged(scratch, data, edits)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(list(CODES)), st.integers(0, 255)), max_size=60))
def test_random_programs(scratch: Path, codes: list[int]) -> None:
    check_read(scratch, whole(bytes(codes)))


@settings(max_examples=200, deadline=None)
@given(st.lists(EDITS, min_size=1, max_size=3))
def test_damaged_weights(scratch: Path, edits: list[Edit]) -> None:
    data = (TWO / "weights.pkl").read_bytes()
    for kind, where, other, some in edits:
        data = edited(data, (kind, where**4, other**4, some))  # most often where instructions are
    check_read(scratch, data)


@pytest.mark.parametrize("base", range(len(BASES)))
def test_every_byte_changed_and_every_end(scratch: Path, base: int) -> None:
    data = BASES[base]
    for i in range(len(data)):
        check_read(scratch, data[:i])
        for other in (0xFF, data[i] ^ 1):
            check_read(scratch, data[:i] + bytes([other]) + data[i + 1 :])
