"""Pickles of somebody else's: nothing in them is run, and they cost little."""

import functools
import operator
import os
import pickle
import struct
import subprocess
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pickles import (
    FLOATS,
    HOOKS,
    LOAD,
    MAGIC,
    NUMBERS,
    PARAMETER,
    REBUILD,
    SYSTEM,
    Raw,
    called,
    dumped,
    named,
    plain,
    read,
    sentence,
    storage,
    tensor,
    text,
    whole,
)

import dynascope as ds
from dynascope.store.unpickle import read_pickle


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
    monkeypatch.setattr("dynascope.store.pickle_budget._MOST_INSTRUCTIONS", 1000)
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
