"""Small pickles that ask for a lot: they cost a few times the size of the file, whatever they say.

The objects that any file may make for nothing are set to 256 KiB here, so that a bomb need not be
large to go off.
"""

import struct
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from authors_runs import SAMPLES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pickles import HOOKS, LOAD, REBUILD, Raw, dumped, plain, read, storage, stored, text, whole
from processes import environment, finished

import dynascope as ds
from dynascope.store import pickle_budget
from dynascope.store.pickle_budget import Budget
from dynascope.store.unpickle import read_pickle

FREE = 2**18
SIZE = 2**17
# Objects; tensors, which may have a mebibyte; the file, read and in the test; the machinery.
MOST = FREE + 8 * SIZE + 2**20 + 4 * SIZE + 2**18
SHARED = b"\x94"  # remembers the value, as number 0, 1, ...
BOOLS = Raw(b"ctorch\nBoolStorage\n")


def repeated(unit: bytes, before: bytes = b"", after: bytes = b"") -> bytes:
    """As often as the file has room for it."""
    return whole(before + unit * ((SIZE - len(before) - len(after)) // len(unit)) + after)


def numbered(before: bytes, make: Callable[[int], bytes], count: int) -> bytes:
    return whole(before + b"".join(map(make, range(count))))


def blob(data: bytes) -> bytes:
    return b"B" + struct.pack("<I", len(data)) + data


TENSOR = storage() + b"q\xc8" + REBUILD + b"q\xc9"  # numbers 200 and 201 of the memo
SIX = stored()
MANY_BOOLS = stored(("storage", BOOLS, "k", "cpu", 2**14, None), count=2**14, data=bytes(2**14))
# Bombs that must be refused for what they make.
BOMBS: dict[str, bytes] = {
    "empty lists": repeated(b"]"),
    "empty lists in a list": repeated(b"]", b"](", b"e"),
    "empty lists in a tuple": repeated(b"]", b"(", b"t"),
    "lists of one": repeated(b"]Na"),
    "lists of lists": repeated(b"]]]aa"),
    "empty dicts": repeated(b"}"),
    "dicts of one": repeated(b"}K\x00Ns"),
    "dict of many": numbered(b"}", lambda i: b"M" + struct.pack("<H", i) + b"Ns", SIZE // 5),
    "dict of texts": numbered(b"}", lambda i: b"\x8c\x05%05xNs" % i, SIZE // 9),
    "OrderedDicts": repeated(b"h\x00)R", b"ccollections\nOrderedDict\n" + SHARED),
    "empty tuples": repeated(b")"),
    "tuples of one": repeated(b"N\x85"),
    "tuples of three": repeated(b"NNN\x87"),
    "tuples in tuples": repeated(b"\x85", b"N"),
    "tuples by marks": repeated(b"(t"),
    "nones": repeated(b"N"),
    "trues in a list": repeated(b"\x88", b"](", b"e"),
    "small numbers": repeated(b"K\x07"),
    "numbers": repeated(b"M\xff\xff"),
    "empty long numbers": repeated(b"\x8a\x00"),
    "empty texts": repeated(b"\x8c\x00"),
    "texts": repeated(b"\x8c\x01a"),
    "wide texts": repeated(b"\x8c\x04" + "😀".encode()),
    "empty bytes": repeated(b"C\x00"),
    "memo": repeated(SHARED, b"N"),
    "memo of texts": repeated(b"\x8c\x00" + SHARED),
    "numbered memo": numbered(b"N", lambda i: b"r" + struct.pack("<I", 17 * i), SIZE // 5),
    "appended one by one": repeated(b"Na", b"]"),
    "appended in groups": repeated(b"(NNNNe", b"]"),
    "tensors of one number": repeated(b"h\xc9(h\xc8K\x00))\x89}tR", TENSOR),
    "tensors of none": repeated(b"h\xc9(h\xc8K\x00K\x00\x85K\x01\x85\x89}tR", TENSOR),
    "parameters": repeated(b"h\xc9(h\xc8K\x00))\x89" + HOOKS + b"tR", TENSOR),
    "storages of the same bytes": repeated(b"h\x00h\x01\x85R", LOAD + SHARED + blob(SIX) + SHARED),
    "storages of the same bools": repeated(
        b"h\x00h\x01\x85R", LOAD + SHARED + blob(MANY_BOOLS) + SHARED
    ),
}
# What is within bounds: little for its size.
MODEST: dict[str, bytes] = {
    "floats": repeated(b"G" + bytes(8), b"](", b"e"),
    "big numbers": repeated(b"\x8a\xff" + b"\x7f" * 255),
    "long texts, one wide letter": repeated(
        b"X" + struct.pack("<I", 6004) + b"a" * 6000 + "😀".encode()
    ),
    "shared texts": repeated(b"h\x00", text("a" * 1000) + SHARED),
    "shared bytes, below a number": repeated(b"h\x00", plain(b"a" * 200) + SHARED, b"K\x00"),
    "frames": repeated(b"\x95" + bytes(8), b"N"),
}


@pytest.fixture(autouse=True)
def small_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickle_budget, "_FREE_OBJECTS", FREE)


def peak(folder: Path, data: bytes) -> tuple[int, str]:
    """The memory that reading takes, and why it was refused."""
    tracemalloc.start()
    why = ""
    try:
        read(folder, data)
    except ds.DynascopeError as error:
        why = str(error)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most, why


@pytest.mark.parametrize("case", BOMBS)
def test_bombs_are_refused_and_cost_little(tmp_path: Path, case: str) -> None:
    most, why = peak(tmp_path, BOMBS[case])
    assert "far more objects than a file of its size" in why
    assert most < MOST


@pytest.mark.parametrize("case", MODEST)
def test_what_is_within_bounds_costs_little(tmp_path: Path, case: str) -> None:
    most, why = peak(tmp_path, MODEST[case])
    assert "objects" not in why
    assert most < MOST


PLAIN = [
    b"]",
    b"}",
    b")",
    b"N",
    b"K\x01",
    b"\x8c\x01a",
    b"C\x01a",
    b"G" + bytes(8),
    b"\x8a\x01\x01",
]
JOINED = [b"(", b"t", b"e", b"a", b"s", b"u", b"\x85", b"\x86", b"\x94", b"h\x00", b"q\x05"]
UNITS = st.sampled_from([*PLAIN, *JOINED])


@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(UNITS, min_size=1, max_size=6), st.lists(UNITS, max_size=3))
def test_any_repeated_program_costs_little(
    tmp_path: Path, unit: list[bytes], before: list[bytes]
) -> None:
    most, _ = peak(tmp_path, repeated(b"".join(unit), b"".join(before)))
    assert most < MOST


def test_eight_megabytes_of_empty_lists(tmp_path: Path) -> None:
    """With nothing changed, in a process of its own, whose memory the system counts."""
    (tmp_path / "weights.pkl").write_bytes(whole(b"](" + b"]" * (8_000_000) + b"e"))
    program = """
import resource, sys
from dynascope.store.unpickle import read_pickle
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_pickle(sys.argv[1])
except ValueError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    arguments = [sys.executable, "-c", program, str(tmp_path / "weights.pkl")]
    done = finished(arguments, env=environment())
    told, mebibytes = done.stdout.splitlines()
    assert "it makes far more objects than a file of its size should." in told
    assert int(mebibytes) < 120


def test_the_authors_files_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they take grows with them as the limit does, so longer runs have the same room."""
    left = []
    monkeypatch.setattr(Budget, "__init__", wrapped(Budget.__init__, left))
    for path in SAMPLES.rglob("weights.pkl"):
        read_pickle(path)
        budget = left.pop()
        size = path.stat().st_size
        assert FREE + 8 * size - budget.objects < size / 2 + 2**13


def wrapped(real: Callable[..., None], kept: list[Budget]) -> Callable[..., None]:
    def keep(self: Budget, size: int) -> None:
        real(self, size)
        kept.append(self)

    return keep


def test_long_lists_of_numbers_are_read(tmp_path: Path) -> None:
    numbers = [i / 7 for i in range(200_000)]
    assert read(tmp_path, dumped(numbers)) == numbers
