"""Runs of the authors' released code: read as torch reads them, and never more than read."""

import functools
import json
import math
import operator
import os
import pickle
import shutil
import struct
import subprocess
import sys
import tracemalloc
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import dynascope as ds
from dynascope._kernel import CURVE_NAMES
from dynascope.store.authors import find_authors_runs, read_authors_run
from dynascope.store.unpickle import read_pickle

SAMPLES = Path(__file__).parents[1] / "data" / "authors-runs"
TWO, THREE = (
    SAMPLES / "5edc28a00c2f442797bbf940e430f7fd",
    SAMPLES / ("8023df16219b4a78a32a8ad0a6230e98"),
)
RUNS = [pytest.param(TWO, id="p=2"), pytest.param(THREE, id="p=3")]
LEAVES = (str, int, float, bool, type(None), np.ndarray)


def by_torch(file: Path) -> Any:
    return pickle.loads(file.read_bytes())


def same(ours: object, theirs: object) -> bool:
    """Equal values; our arrays for their tensors."""
    if isinstance(theirs, torch.Tensor):
        array = theirs.detach().numpy()
        assert isinstance(ours, np.ndarray)
        assert ours.flags.c_contiguous
        assert (ours.dtype, ours.shape) == (array.dtype, array.shape)
        return np.array_equal(ours, array)
    if isinstance(theirs, dict):
        assert isinstance(ours, dict)
        return list(ours) == list(theirs) and all(same(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, list | tuple):
        assert type(ours) is type(theirs)
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and ours == theirs


# ---- the samples --------------------------------------------------------------------------------
@pytest.mark.parametrize("folder", RUNS)
def test_pickles_hold_what_torch_finds_in_them(folder: Path) -> None:
    files = sorted(folder.glob("*.pkl"))
    assert len(files) == 5
    for file in files:
        assert same(read_pickle(file), by_torch(file))


@pytest.mark.parametrize("folder", RUNS)
def test_weights_are_those_of_their_state_dicts(folder: Path) -> None:
    run, states = read_authors_run(folder), by_torch(folder / "weights.pkl")
    assert run.weight_epochs.tolist() == list(range(len(states)))
    for epoch, state in enumerate(states):
        params = run.parameters(epoch)
        assert params == ds.Parameters.from_state_dict(state)
        assert same(params.to_state_dict(), state)


CURVES = {
    "train_loss": "losses",
    "train_accuracy": "accs",
    "test_loss": "test_losses",
    "test_accuracy": "test_accs",
}


@pytest.mark.parametrize("folder", RUNS)
def test_curves_are_theirs_and_nothing_is_invented(folder: Path) -> None:
    run = read_authors_run(folder)
    assert run.table.shape == (6, len(CURVE_NAMES))
    assert np.isnan(run.table[0]).all()
    for i, name in enumerate(CURVE_NAMES):
        if name in CURVES:
            theirs = by_torch(folder / f"{CURVES[name]}.pkl").numpy()
            np.testing.assert_array_equal(run.curves[name][1:], theirs)
        else:
            assert np.isnan(run.table[:, i]).all()


@pytest.mark.parametrize("folder", RUNS)
def test_curves_are_of_the_weights_after_the_epoch(folder: Path) -> None:
    """Their sets are not saved: 2048 draws from all sequences, within four standard errors."""
    run = read_authors_run(folder)
    config, size = run.config, run.config.task.test_size
    tokens, targets = ds.dataset(config.task, split="all")
    tokens, targets = tokens[:: 1 + len(tokens) // 50_000], targets[:: 1 + len(tokens) // 50_000]
    for epoch in range(1, 6):
        probabilities = ds.forward(run.parameters(epoch), tokens, config.model).probabilities
        losses = -np.log(probabilities[np.arange(len(targets)), targets])
        right = probabilities.argmax(axis=1) == targets
        for split in ("train", "test"):
            loss = run.curves[f"{split}_loss"][epoch] - losses.mean()
            accuracy = run.curves[f"{split}_accuracy"][epoch] - right.mean()
            assert abs(loss) < 4 * losses.std() / math.sqrt(size)
            assert abs(accuracy) < 4 * 0.5 / math.sqrt(size)


def test_options_are_ours() -> None:
    run = read_authors_run(THREE)
    expected = {
        "task.vocab": 3,
        "model.embeddings": 4,
        "model.hidden": 12,
        "training.epochs": 5,
        "record.state_every": 0,
        "record.gradients": False,
    }
    assert run.config == ds.Config().replace(expected)
    assert read_authors_run(TWO).config.model.embeddings is None
    assert (run.seed, run.epochs, run.diverged, run.data) == (1, 5, None, None)
    assert run.states.shape == (0, 3, run.weights.shape[1])


def test_the_origin_says_where_it_is_from() -> None:
    run = read_authors_run(TWO)
    assert run.origin is not None
    assert (run.origin.kind, run.origin.parent, run.origin.epoch) == ("import", TWO.name, None)
    assert len({run.id, read_authors_run(THREE).id, ds.Trainer(run.config, run.seed).run.id}) == 3


def test_runs_are_found_below_a_folder_and_by_themselves(tmp_path: Path) -> None:
    assert find_authors_runs(SAMPLES) == [TWO, THREE]
    assert find_authors_runs(TWO) == [TWO]
    with pytest.raises(ds.DynascopeError, match="but got none"):
        find_authors_runs(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ds.DynascopeError, match="1 without weights"):
        find_authors_runs(tmp_path)
    with pytest.raises(ds.DynascopeError, match="expected a folder"):
        find_authors_runs(tmp_path / "missing")


def test_torch_is_not_needed() -> None:
    code = "import sys; sys.modules['torch'] = None\n"
    code += "from dynascope.store.authors import read_authors_run as read\n"
    code += f"print(read({str(TWO)!r}).epochs)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "5\n"


# ---- what torch can write -----------------------------------------------------------------------
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
PLAIN = [None, True, 0, -5, 2**40, -(2**900), 1.5, "naïve", "x" * 300, (), (1,), (1, 2, 3, 4)]
PLAIN += [[], {}, [[], {"a": [1, (2, "b")]}], {1: {"x": ()}}, list(range(3000))]


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize("tensor", [pytest.param(t, id=name) for name, t in TENSORS.items()])
def test_every_kind_of_tensor(tmp_path: Path, tensor: torch.Tensor, protocol: int) -> None:
    nested = [tensor, OrderedDict(a=tensor, b=(tensor, 1))]
    assert same(read(tmp_path, pickle.dumps(nested, protocol)), nested)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("value", PLAIN, ids=lambda value: repr(value)[:20])
def test_plain_values(tmp_path: Path, value: object, protocol: int) -> None:
    assert same(read(tmp_path, pickle.dumps(value, protocol)), value)


def read(folder: Path, data: bytes) -> object:
    (folder / "weights.pkl").write_bytes(data)
    return read_pickle(folder / "weights.pkl")


# ---- hostile pickles ----------------------------------------------------------------------------
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


class Call:
    """Pickled as a call of a function."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call

    def __call__(self) -> None:
        """Never called; only what can be is pickled as a function."""


def touching(sentinel: str) -> dict[str, Call]:
    """Calls that make the sentinel appear, by the name that they are refused for."""
    command, python = f"touch {sentinel}", f"open({sentinel!r}, 'w').close()"
    return {
        "posix.system": Call(os.system, command),
        "subprocess.Popen": Call(subprocess.Popen, ["touch", sentinel]),
        "builtins.eval": Call(eval, python),
        "builtins.exec": Call(exec, python),
        f"{open.__module__}.open": Call(open, sentinel, "w"),
        "builtins.getattr": Call(Call(getattr, Path, "touch"), Path(sentinel)),
        "builtins.map": Call(list, Call(map, os.system, [command])),
        "functools.partial": Call(functools.partial(os.system, command)),
        "operator.methodcaller": Call(operator.methodcaller("touch"), Path(sentinel)),
        "pathlib.Path.touch": Call(Path.touch, Path(sentinel)),
        "torch.serialization.load": Call(torch.load, sentinel),
    }


WAYS: dict[str, Callable[[Call], bytes]] = {
    "protocol 2": dumped,
    "protocol 4": lambda call: pickle.dumps(call, 4),
    "in a list": lambda call: pickle.dumps([NUMBERS, {"a": call}], 4),
    "as a storage": lambda call: whole(storage(program=pickle.dumps(call, 4))),
    "as a magic number": lambda call: whole(storage(head=(call, 1001, SYSTEM))),
    "as an id": lambda call: whole(storage(identity=(raw(call), FLOATS, "k", "cpu", 6, None))),
    "as a size": lambda call: whole(tensor(0, raw(call), (1,))),
    "as hooks": lambda call: whole(tensor(0, (6,), (1,), False, raw(call))),
}


def raw(call: Call) -> Raw:
    return Raw(dumped(call)[2:-1])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", touching(""))
def test_nothing_is_run_and_the_name_is_told(tmp_path: Path, name: str, way: str) -> None:
    sentinel = tmp_path / "sentinel"
    with pytest.raises(ds.DynascopeError) as error:
        read(tmp_path, WAYS[way](touching(str(sentinel))[name]))
    told = sentence(error)
    if name == "builtins.map":  # the list around it is asked for first
        name = "builtins.list"
    if name == "pathlib.Path.touch" and "getattr" in told:  # how protocol 2 writes a method
        name = "builtins.getattr"
    assert f"but it asks for {name}; nothing of it was run." in told
    assert not sentinel.exists()


@pytest.mark.parametrize("name", [name for name in touching("") if "torch" not in name])
def test_the_calls_would_do_harm(tmp_path: Path, name: str) -> None:
    """Else the test above would show nothing."""
    sentinel = tmp_path / "sentinel"
    made = pickle.loads(pickle.dumps(touching(str(sentinel))[name]))
    if isinstance(made, subprocess.Popen):
        made.wait()
    if hasattr(made, "close"):
        made.close()
    assert sentinel.exists()


def sentence(error: pytest.ExceptionInfo[ds.DynascopeError]) -> str:
    told = str(error.value)
    assert "weights.pkl: " in told
    assert told.isprintable()
    assert len(told) < 400
    return told


NAMES = {
    "dotted": ("collections", "OrderedDict.__init__"),
    "dotted module": ("torch.storage._load_from_bytes", "__globals__"),
    "globals of ours": ("torch._utils", "_rebuild_tensor_v2.__globals__"),
    "other case": ("Collections", "OrderedDict"),
    "old name": ("__builtin__", "eval"),
    "ours": ("dynascope.store.unpickle", "read_pickle"),
    "main": ("__main__", "x"),
    "empty": ("", ""),
    "codecs": ("_codecs", "encode"),
    "reconstructor": ("copyreg", "_reconstructor"),
    "numpy": ("numpy._core.multiarray", "_reconstruct"),
    "dtype": ("numpy", "dtype"),
    "storage elsewhere": ("torch.storage", "FloatStorage"),
    "module": ("torch.nn.modules.linear", "Linear"),
    "bytearray": ("builtins", "bytearray"),
}


@pytest.mark.parametrize("ways", ["GLOBAL", "STACK_GLOBAL", "within"])
@pytest.mark.parametrize("case", NAMES)
def test_other_names_are_refused(tmp_path: Path, case: str, ways: str) -> None:
    module, name = NAMES[case]
    body = f"c{module}\n{name}\n".encode() if ways == "GLOBAL" else named(module, name)
    within = whole(storage(program=whole(body)))
    with pytest.raises(ds.DynascopeError) as error:
        read(tmp_path, within if ways == "within" else whole(body))
    assert f"asks for {module}.{name};" in sentence(error)


ODD = "of a form that torch does not write"
OUTSIDE = "reaches outside its storage"
LARGE = "far larger than the file"
MUDDLED = "do not fit together"
INSTRUCTIONS = {
    "BUILD": REBUILD + b"}b",
    "BUILD slots": REBUILD + b"N}\x86b",
    "BUILD tensor": tensor(0, (6,), (1,)) + b"(K\x01)NK\x00tb",
    "NEWOBJ": named("collections", "OrderedDict") + b")\x81",
    "NEWOBJ_EX": named("collections", "OrderedDict") + b")}\x92",
    "INST": b"(icollections\nOrderedDict\n",
    "OBJ": b"(" + named("collections", "OrderedDict") + b"o",
    "EXT1": b"\x82\x01",
    "EXT2": b"\x83\x01\x00",
    "EXT4": b"\x84\x01\x00\x00\x00",
    "PERSID": b"Pname\n",
    "DUP": b"]2",
    "FROZENSET": b"(\x91",
    "EMPTY_SET": b"\x8f",
    "BYTEARRAY8": b"\x96" + b"\xff" * 7 + b"\x7f",
    "NEXT_BUFFER": b"\x97",
    "LONG4": b"\x8b\xff\xff\xff\x7f",
    "INT": b"I" + b"9" * 10_000 + b"\n",
}
SHAPES = {
    "offset": (1, (6,), (1,)),
    "negative offset": (-1, (6,), (1,)),
    "huge offset": (2**63, (1,), (1,)),
    "stride": (0, (2,), (6,)),
    "negative stride": (5, (6,), (-1,)),
    "huge stride": (0, (2,), (2**62,)),
    "overflowing": (2**63, (3,), (2**63 - 1,)),
    "negative size": (0, (-1,), (1,)),
    "huge size": (0, (2**62,), (1,)),
    "fewer strides": (0, (2, 3), (1,)),
    "bool": (0, (True,), (1,)),
    "text": (0, ("6",), (1,)),
    "axes": (0, (1,) * 40, (1,) * 40),
}
BODIES: dict[str, tuple[bytes, str]] = {
    **{name: (body, f"instruction {name.split()[0]}") for name, body in INSTRUCTIONS.items()},
    **{f"{name} of a view": (tensor(*shape), OUTSIDE) for name, shape in SHAPES.items()},
    "persistent id": (b"K\x00Q", "persistent id"),
    "unknown instruction": (b"\xff", "unknown instruction 0xff"),
    "zero strides": (tensor(0, (2**40,), (0,)), LARGE),
    "zero strides, many axes": (tensor(0, (2**20,) * 8, (0,) * 8), LARGE),
    "empty but huge": (tensor(0, (0, 2**62), (1, 1)), LARGE),
    "many tensors": (b"(" + tensor(0, (2**17,), (0,)) * 20 + b"l", LARGE),
    "bool as offset": (tensor(True, (6,), (1,)), ODD),
    "list as size": (tensor(0, [6], (1,)), ODD),
    "no arguments": (called(REBUILD), ODD),
    "too many arguments": (tensor(0, (6,), (1,), False, HOOKS, None, None), ODD),
    "hooks": (tensor(0, (6,), (1,), False, {"a": 1}), ODD),
    "no storage": (called(REBUILD, b"abc", 0, (1,), (1,), False, HOOKS), ODD),
    "parameter of nothing": (called(PARAMETER, None, True, HOOKS), ODD),
    "call of a text": (called(text("os.system"), 1), MUDDLED),
    "arguments in a list": (REBUILD + b"]R", MUDDLED),
    "call of a tensor": (called(tensor(0, (6,), (1,))), MUDDLED),
    "call of a storage": (storage(program=whole(called(FLOATS, 2**40))), "calls the type"),
    "OrderedDict of items": (called(named("collections", "OrderedDict"), ((1, 2),)), "OrderedDict"),
    "storage of a text": (called(LOAD, "abc"), "not bytes"),
    "storage alone": (storage(), "a storage without a tensor"),
    "type alone": (FLOATS, "torch.FloatStorage"),
    "name alone": (REBUILD, "a bare name"),
    "bytes alone": (plain(b"abc"), "bytes"),
    "bytes in a list": (b"]" + plain(b"abc") + b"a", "bytes"),
    "magic": (storage(head=(1, 1001, SYSTEM)), ODD),
    "version": (storage(head=(MAGIC, 1002, SYSTEM)), ODD),
    "big-endian": (storage(head=(MAGIC, 1001, {"little_endian": False})), ODD),
    "type of a storage": (storage(identity=("storage", "f", "k", "cpu", 6, None)), ODD),
    "module": (storage(identity=("module", FLOATS, "k", "cpu", 6, None)), ODD),
    "view of a storage": (storage(identity=("storage", FLOATS, "k", "cpu", 6, (1,))), ODD),
    "negative count": (storage(identity=("storage", FLOATS, "k", "cpu", -6, None)), ODD),
    "huge count": (storage(identity=("storage", FLOATS, "k", "cpu", 2**62, None)), "announced"),
    "huge count twice": (
        storage(identity=("storage", FLOATS, "k", "cpu", 2**62, None), count=2**62),
        "announced",
    ),
    "missing data": (storage(data=b"1234"), "announced"),
    "another key": (storage(keys=("j",)), "another's"),
    "no keys": (storage(keys=()), "another's"),
    "storage in a storage": (storage(program=whole(storage())), "torch.storage._load_from_bytes"),
    "list in itself": (b"]\x94h\x00a", "within itself"),
    "dict in itself": (b"}\x94X\x01\x00\x00\x00ah\x00s", "within itself"),
    "list in its tuple": (b"](h\x00\x94h\x00", MUDDLED),
    "doubled lists": (b"]\x94" + b"".join(b"]\x94(h%ch%ce" % (i, i) for i in range(60)), "places"),
    "doubled tuples": (b")\x85\x94" + b"h\x00h\x00\x86\x94", "places"),
    "deep lists": (b"]" * 20_000 + b"a" * 19_999, "deep"),
    "deep tuples": (b")" + b"\x85" * 20_000, "deep"),
    "deep marks": (b"(" * 1_000_000, "deep"),
    "tuple as a key": (b"})Ns", "key"),
    "colliding keys": (b"}\x8a\x08" + b"\xff" * 7 + b"\x1fNs", "key"),
    "tensor as a key": (b"}" + tensor(0, (6,), (1,)) + b"Ns", "key"),
    "item of a tensor": (tensor(0, (6,), (1,)) + b"K\x00K\x07s", MUDDLED),
    "append to a tuple": (b")Na", MUDDLED),
    "odd items": (b"}(Nu", MUDDLED),
    "empty stack": (b"a", MUDDLED),
    "no mark": (b"Nt", MUDDLED),
    "no value": (b"", MUDDLED),
    "memo of nothing": (b"\x94", MUDDLED),
    "unknown memo": (b"h\x07", MUDDLED),
    "long text": (b"X" + struct.pack("<I", 2**17) + b"a" * 2**17, "a text of 131072 bytes"),
    "text of 2**63 bytes": (b"\x8d" + b"\xff" * 8 + b"abc", "cut short"),
    "bytes of 2**62 bytes": (b"\x8e" + b"\xff" * 7 + b"\x3f" + b"abc", "cut short"),
    "text that is none": (b"\x8c\x01\xff", "UTF-8"),
    "endless name": (b"c" + b"a" * 1000, "without an end"),
}
FILES: dict[str, tuple[bytes, str]] = {
    **{name: (whole(body), why) for name, (body, why) in BODIES.items()},
    "no bytes": (b"", "not a pickle"),
    "a text": (b"hello\n", "not a pickle"),
    "protocol 0": (pickle.dumps([1], 0), "not a pickle"),
    "protocol 6": (b"\x80\x06N.", "protocol 6"),
    "a zip": (b"PK\x03\x04", "not a pickle"),
    "no end": (b"\x80\x04N", "cut short"),
    "two pickles": (dumped(1) + dumped(2), "after its end"),
}


@pytest.mark.parametrize("case", FILES)
def test_hostile_files_are_refused_and_cost_little(tmp_path: Path, case: str) -> None:
    data, why = FILES[case]
    tracemalloc.start()
    with pytest.raises(ds.DynascopeError, match=why) as error:
        read(tmp_path, data)
    assert tracemalloc.get_traced_memory()[1] < 2**20 + 2**27
    tracemalloc.stop()
    sentence(error)


def test_a_program_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynascope.store.unpickle._MOST_INSTRUCTIONS", 1000)
    assert read(tmp_path, whole(b"N" * 1000)) is None
    for body in (b"N" * 1001, tensor(0, (6,), (1,)) * 30):  # a storage's instructions count too
        with pytest.raises(ds.DynascopeError, match="too many instructions"):
            read(tmp_path, whole(body))


def test_stand_ins_are_as_they_were(tmp_path: Path) -> None:
    """After all of the above, a tensor of six numbers is read; a huge memo number is only one."""
    good = tensor(1, (2, 2), (3, 1)) + b"r\xff\xff\xff\xff"
    assert np.array_equal(np.asarray(read(tmp_path, whole(good))), [[1, 2], [4, 5]])


@pytest.mark.parametrize("name", [".", "missing.pkl", "pipe", "nul\0"])
def test_what_is_no_file(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ds.DynascopeError, match=r"cannot be read|is not a file"):
        read_pickle(tmp_path / name)


# ---- damage -------------------------------------------------------------------------------------
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


# ---- folders that contradict themselves ---------------------------------------------------------
@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TWO, tmp_path / "run"))


def change_config(folder: Path, changes: dict[str, object]) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


OPTIONS: list[tuple[dict[str, object], str]] = [
    ({"vocab_size": 1}, "vocab_size: expected a whole number from 2"),
    ({"vocab_size": "2"}, "vocab_size: expected a whole number"),
    ({"seq_length": 12.0}, "seq_length: expected a whole number"),
    ({"sparsity_index": 13}, "sparsity_index: expected at most seq_length = 12"),
    ({"sparsity_index": [0, 1]}, "sparsity_index: expected a whole number"),
    ({"nb_data": -1}, "nb_data: expected"),
    ({"batch_size": 4096}, "batch_size: expected at most nb_data = 2048"),
    ({"nb_epochs": None}, "nb_epochs: expected"),
    ({"nb_epochs": 10**9}, "nb_epochs: expected"),
    ({"lr": float("nan")}, "lr: expected a finite number"),
    ({"lr": "fast"}, "lr: expected a finite number"),
    ({"mlp_lr_discount": 0}, "mlp_lr_discount: expected"),
    ({"emb_dim": True}, "emb_dim: expected a whole number"),
    ({"nb_emb": None}, "nb_emb: expected a whole number"),
    ({"vocab_size": 3, "nb_emb": 2}, "nb_emb: expected none or at least vocab_size = 3"),
    ({"ffn_dim": 0}, "ffn_dim: expected"),
    ({"ffn_bias": 1}, "ffn_bias: expected true or false"),
    ({"ffn_dropout": 0.1}, "ffn_dropout: expected 0, since dynascope has no dropout, but got 0.1"),
    ({"activation": "tanh"}, "activation: expected one of"),
    ({"activation": None}, "activation: expected one of"),
    ({"seed": -1}, "seed: expected"),
    ({"id": 7}, "id: expected a text"),
    ({"id": "a\nb"}, "id: expected a text"),
]


@pytest.mark.parametrize(("changes", "why"), OPTIONS, ids=[why for _, why in OPTIONS])
def test_bad_options(folder: Path, changes: dict[str, object], why: str) -> None:
    change_config(folder, changes)
    with pytest.raises(ds.DynascopeError) as error:
        read_authors_run(folder)
    assert f"config.json: {why}" in str(error.value)


FIELDS = ["vocab_size", "seq_length", "sparsity_index", "nb_data", "batch_size", "nb_epochs", "lr"]
FIELDS += ["mlp_lr_discount", "emb_dim", "nb_emb", "ffn_dim", "ffn_bias", "ffn_dropout"]
FIELDS += ["activation", "seed", "id"]


@pytest.mark.parametrize("field", FIELDS)
def test_missing_options(folder: Path, field: str) -> None:
    file = folder / "config.json"
    given = json.loads(file.read_text())
    del given[field]
    file.write_text(json.dumps(given))
    with pytest.raises(ds.DynascopeError, match=f"config.json: expected the field {field}, but"):
        read_authors_run(folder)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff", b"[" * 100_000, b"[]", b'{"a": ' + b"9" * 9999 + b"}", b" " * 2**21],
)
def test_configs_that_are_none(folder: Path, data: bytes) -> None:
    (folder / "config.json").write_bytes(data)
    with pytest.raises(ds.DynascopeError, match=r"config\.json: expected"):
        read_authors_run(folder)


CONTRADICTIONS: list[tuple[dict[str, object], str]] = [
    ({"ffn_dim": 9}, "receptors: expected shape (9, 2), as config.json says, but got (8, 2)"),
    ({"emb_dim": 3}, "token_embedding: expected shape (2, 3), as config.json says"),
    ({"seq_length": 11}, "position_embedding: expected shape (11, 2)"),
    ({"nb_emb": 3}, "token_embedding: expected shape (3, 2)"),
    ({"ffn_bias": False}, "mlp: expected no biases, as ffn_bias in config.json says"),
    ({"nb_epochs": 10}, "expected 11 state dicts (the start and each of nb_epochs = 10), but got"),
    ({"nb_epochs": 0}, "expected 1 state dicts"),
]


@pytest.mark.parametrize(
    ("changes", "why"), CONTRADICTIONS, ids=[str(changes) for changes, _ in CONTRADICTIONS]
)
def test_options_against_weights(folder: Path, changes: dict[str, object], why: str) -> None:
    change_config(folder, changes)
    with pytest.raises(ds.DynascopeError) as error:
        read_authors_run(folder)
    assert "weights.pkl: " in str(error.value)
    assert why in str(error.value)


def put(name: str, value: object) -> Callable[[list[Any]], object]:
    """State dicts with an entry of epoch 2 exchanged."""
    return lambda states: [*states[:2], {**states[2], name: value}, *states[3:]]


ONE_NAN = torch.tensor([[0, 1], [float("nan"), 2]])
WEIGHTS: dict[str, tuple[Callable[[list[Any]], object], str]] = {
    "no list": (lambda states: states[0], "expected a list of state dicts, but got 'dict'"),
    "no dict": (lambda states: [*states[:5], 3], "epoch 5: expected a state dict of tensors"),
    "no tensor": (put("pos_emb.weight", [1.0]), "epoch 2: expected a state dict of tensors"),
    "odd name": (put("a\nb", ONE_NAN), "epoch 2: expected a state dict of tensors"),
    "unknown name": (put("head.weight", ONE_NAN[:1]), "epoch 2: state_dict.head.weight: unknown"),
    "nan": (put("token_emb.weight", ONE_NAN), "token_emb.weight: expected finite numbers, but got"),
    "untied": (put("output.weight", torch.ones(2, 2)), "epoch 2: state_dict.output.weight"),
    "shape": (put("mlp.fc1.bias", torch.zeros(9)), "epoch 2: parameters.receptor_bias"),
    "whole numbers": (
        lambda states: [{k: v.long() for k, v in state.items()} for state in states],
        "epoch 0: parameters: expected arrays of float32 or float64",
    ),
    "mixed": (
        lambda states: [{k: v.double() for k, v in states[0].items()}, *states[1:]],
        "epoch 1: expected float64, as at epoch 0, but got 'float32'",
    ),
    "missing": (
        lambda states: [{k: v for k, v in states[0].items() if "query" not in k}, *states[1:]],
        "epoch 0: parameters: expected all of",
    ),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_bad_weights(folder: Path, case: str) -> None:
    change, why = WEIGHTS[case]
    file = folder / "weights.pkl"
    file.write_bytes(pickle.dumps(change(by_torch(file))))
    with pytest.raises(ds.DynascopeError) as error:
        read_authors_run(folder)
    assert why in sentence(error)


BAD_CURVES: list[tuple[str, object, str]] = [
    ("losses", torch.zeros(4), "losses.pkl: expected 5 numbers, one for each of nb_epochs"),
    ("losses", torch.zeros(5, 1), "losses.pkl: expected 5 numbers"),
    ("losses", torch.zeros(5).long(), "losses.pkl: expected a tensor of real numbers"),
    ("accs", [0.5] * 5, "accs.pkl: expected a tensor of real numbers"),
    ("accs", torch.arange(5.0), "accs.pkl: expected numbers from 0 to 1, but got '2.0 after epoch"),
    ("test_losses", ONE_NAN[1].expand(5, 2)[:, 0], "test_losses.pkl: expected finite numbers"),
    (
        "test_losses",
        torch.full((5,), 1e300, dtype=torch.float64),
        "test_losses.pkl: expected finite numbers",
    ),
    ("test_accs", -torch.ones(5), "test_accs.pkl: expected numbers from 0 to 1"),
]


@pytest.mark.parametrize(("name", "value", "why"), BAD_CURVES)
def test_bad_curves(folder: Path, name: str, value: object, why: str) -> None:
    (folder / f"{name}.pkl").write_bytes(pickle.dumps(value))
    with pytest.raises(ds.DynascopeError) as error:
        read_authors_run(folder)
    assert why in str(error.value)


def test_what_may_be_missing(folder: Path) -> None:
    (folder / "test_accs.pkl").unlink()
    change_config(folder, {"seed": None, "activation": "GELU"})
    run = read_authors_run(folder)
    assert np.isnan(run.curves["test_accuracy"]).all()
    assert (run.seed, run.config.model.activation) == (0, "gelu")
    (folder / "weights.pkl").unlink()
    with pytest.raises(ds.DynascopeError, match=r"weights\.pkl: expected .* save_weights is true"):
        read_authors_run(folder)


def test_double_precision_is_kept(folder: Path) -> None:
    file = folder / "weights.pkl"
    states = [{k: v.double() / 3 for k, v in state.items()} for state in by_torch(file)]
    file.write_bytes(pickle.dumps(states))
    run = read_authors_run(folder)
    assert run.config.precision == "float64"
    assert run.parameters(5) == ds.Parameters.from_state_dict(states[5])
