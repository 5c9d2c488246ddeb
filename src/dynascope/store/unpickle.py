"""Tensors and plain containers out of a pickle, without torch and without running any of it.

A pickle is a program. Ours is a machine of its own, not a `pickle.Unpickler` with a guarded
`find_class`, because the library's machine does more than call what it finds: BUILD sets attributes
of whatever is on the stack, memo numbers are allocated as they come, keys are hashed however deep.
This one knows the instructions of `_STEPS` and the names of `_TENSOR_NAMES` (inside a storage:
`_STORAGE_NAMES`); any other is refused by its name. Nothing is imported, nothing looked up.

What it admits: list, tuple, dict and OrderedDict (as dict; keys are texts or small whole numbers),
str, int, float, bool, None, and tensors as torch pickles them, which become NumPy arrays of their
own. Values may be shared, containers may not: what comes out is a tree, without cycles.

Limits: protocols 2 to 5; files up to 4 GiB; for what a small file could ask to be made, `Budget`:
tensors as large as the file (or 1 MiB); all else, the memo included, 16 MiB and eight times the
file, at most 1 GiB. The authors' weights need half of their file's size, a long list of numbers
six times.
"""

import math
import os
import pickletools
import stat
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from dynascope.errors import DynascopeError, shown
from dynascope.store.pickle_budget import (
    ITEM,
    MEMO,
    SLOT,
    Budget,
    PickleSource,
    RefusedPickleError,
    cost,
)

Array = npt.NDArray[Any]

_LARGEST_FILE = 2**32
_DEEPEST = 64  # containers in containers
_MOST_AXES = 16
_LARGEST_KEY = 2**31  # whole numbers beyond it can be chosen to collide in a dict by the million
_MUDDLED = "its instructions do not fit together"


def read_pickle(path: str | os.PathLike[str]) -> object:
    """The value in a pickle file: plain containers, with NumPy arrays for tensors."""
    try:
        data = _contents(path)
        source = PickleSource(memoryview(data))
        value = _Machine(source, Budget(len(data)), _TENSOR_NAMES).run()
        if source.left:
            raise RefusedPickleError(f"there are {source.left} bytes after its end")
        _check_plain(value)
    except RefusedPickleError as refused:
        raise DynascopeError(
            f"{path}: expected tensors and plain containers, but {refused}."
        ) from None
    return value


def _contents(path: str | os.PathLike[str]) -> bytes:
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe would make us wait, a device never end
            raise RefusedPickleError("it is not a file")
        if status.st_size > _LARGEST_FILE:
            raise RefusedPickleError(f"it has more than {_LARGEST_FILE} bytes")
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = getattr(error, "strerror", None) or error
        raise DynascopeError(f"{path}: cannot be read ({reason}).") from None


def _check_plain(value: object) -> None:
    """Refuse what is left of the machinery: bytes, storages, names. Without recursion."""
    level = [value]
    for _ in range(_DEEPEST):
        inner: list[object] = []
        for item in level:
            if type(item) in (list, tuple):
                inner += item  # type: ignore[arg-type]
            elif type(item) is dict:
                inner += item.values()
            elif item is not None and type(item) not in (str, int, float, bool, np.ndarray):
                raise RefusedPickleError(f"it holds {_described(item)}")
        if not inner:
            return
        level = inner
    raise RefusedPickleError(f"its containers are more than {_DEEPEST} deep")


def _described(item: object) -> str:
    words = {memoryview: "bytes", _Storage: "a storage without a tensor", _Name: "a bare name"}
    return words.get(type(item), "something else")


class _Machine:
    """The stack, marks and memo of one pickle."""

    def __init__(self, source: PickleSource, budget: Budget, names: "dict[tuple[str, str], _Name]"):
        self.source, self.budget = source, budget
        self._names = names
        self.stack: list[Any] = []
        self._below: list[list[Any]] = []  # the stacks below the marks
        self._memo: dict[int, Any] = {}

    def run(self) -> Any:
        if not self.source.left or self.source.whole(1) != _PROTO:
            raise RefusedPickleError("it is not a pickle of protocol 2 or later")
        protocol = self.source.whole(1)
        if not 2 <= protocol <= 5:
            raise RefusedPickleError(f"it is a pickle of protocol {protocol}, not 2 to 5")
        while (code := self.source.whole(1)) != _STOP:
            self.budget.instructions -= 1
            if self.budget.instructions < 0:
                raise RefusedPickleError("it has too many instructions")
            step = _BY_CODE.get(code)
            if step is None:
                raise RefusedPickleError(f"it uses {_instruction(code)}; nothing of it was run")
            step(self)
        return self.pop(Any)

    def push(self, value: object) -> None:
        """Put a value on the stack that the instruction has made."""
        self.budget.make(cost(value))
        self.stack.append(value)

    def pop(self, kind: Any) -> Any:
        """The top of the stack, which must be of exactly this type (`Any`: of any)."""
        if not self.stack or (kind is not Any and type(self.stack[-1]) is not kind):
            raise RefusedPickleError(_MUDDLED)
        return self.stack.pop()

    def pop_many(self, count: int) -> list[Any]:
        if count > len(self.stack):
            raise RefusedPickleError(_MUDDLED)
        taken = self.stack[-count:]
        del self.stack[-count:]
        return taken

    def mark(self) -> None:
        if len(self._below) >= _DEEPEST:
            raise RefusedPickleError(f"its containers are more than {_DEEPEST} deep")
        self._below.append(self.stack)
        self.stack = []

    def pop_to_mark(self) -> list[Any]:
        if not self._below:
            raise RefusedPickleError(_MUDDLED)
        taken, self.stack = self.stack, self._below.pop()
        return taken

    def append(self, items: list[Any]) -> None:
        self.budget.make(SLOT * len(items))
        self._top(list).extend(items)

    def set_items(self, items: list[Any]) -> None:
        if len(items) % 2:
            raise RefusedPickleError(_MUDDLED)
        self.budget.make(ITEM * (len(items) // 2))
        into = self._top(dict)
        for key, value in zip(items[::2], items[1::2], strict=True):
            small = type(key) is int and abs(key) < _LARGEST_KEY
            if type(key) is not str and not small:
                raise RefusedPickleError("it has a key that is neither a text nor a small number")
            into[key] = value

    def _top(self, kind: type) -> Any:
        value = self.pop(kind)
        self.stack.append(value)
        return value

    def put(self, index: int) -> None:
        if not self.stack:
            raise RefusedPickleError(_MUDDLED)
        self.budget.make(MEMO)
        self._memo[index] = self.stack[-1]

    def memoize(self) -> None:
        self.put(len(self._memo))

    def get(self, index: int) -> None:
        if index not in self._memo:
            raise RefusedPickleError(_MUDDLED)
        value = self._memo[index]
        if type(value) in (list, dict, tuple):
            raise RefusedPickleError("it has a container in two places, or within itself")
        self.budget.make(SLOT)
        self.stack.append(value)

    def name(self, module: str, name: str) -> None:
        """A global: one of our stand-ins, found by its exact name."""
        stand_in = self._names.get((module, name))
        if stand_in is None:
            full = f"{module}.{name}"
            plain = full.isprintable() and len(full) <= 80
            full = full if plain else shown(full)
            raise RefusedPickleError(f"it asks for {full}; nothing of it was run")
        self.budget.make(SLOT)
        self.stack.append(stand_in)

    def stack_name(self) -> None:
        name = self.pop(str)
        self.name(self.pop(str), name)

    def reduce(self) -> None:
        arguments, called = self.pop(tuple), self.pop(_Name)
        self.push(called.make(self.budget, arguments))

    def persistent(self) -> None:
        """Only a storage's own pickle has ids, and they announce the data that follows it."""
        if self._names is not _STORAGE_NAMES:
            raise RefusedPickleError("it uses a persistent id; nothing of it was run")
        self.push(_Announced.of(self.pop(tuple)))


# ---- instructions -------------------------------------------------------------------------------
# The whole of what a pickle can say here. The text protocols 0 and 1, sets, objects and
# extensions are not in it, and LONG4, since no number in these files has 256 bytes.
_STEPS: dict[str, Callable[[_Machine], None]] = {
    "FRAME": lambda m: m.source.skip(8),  # only helps to read ahead
    "NONE": lambda m: m.push(None),
    "NEWTRUE": lambda m: m.push(True),
    "NEWFALSE": lambda m: m.push(False),
    "BININT": lambda m: m.push(m.source.whole(4, signed=True)),
    "BININT1": lambda m: m.push(m.source.whole(1)),
    "BININT2": lambda m: m.push(m.source.whole(2)),
    "LONG1": lambda m: m.push(int.from_bytes(m.source.blob(1), "little", signed=True)),
    "BINFLOAT": lambda m: m.push(struct.unpack(">d", m.source.take(8))[0]),
    "SHORT_BINUNICODE": lambda m: m.push(m.source.text(1)),
    "BINUNICODE": lambda m: m.push(m.source.text(4)),
    "BINUNICODE8": lambda m: m.push(m.source.text(8)),
    "SHORT_BINBYTES": lambda m: m.push(m.source.blob(1)),
    "BINBYTES": lambda m: m.push(m.source.blob(4)),
    "BINBYTES8": lambda m: m.push(m.source.blob(8)),
    "MARK": lambda m: m.mark(),
    "EMPTY_TUPLE": lambda m: m.push(()),
    "TUPLE1": lambda m: m.push(tuple(m.pop_many(1))),
    "TUPLE2": lambda m: m.push(tuple(m.pop_many(2))),
    "TUPLE3": lambda m: m.push(tuple(m.pop_many(3))),
    "TUPLE": lambda m: m.push(tuple(m.pop_to_mark())),
    "EMPTY_LIST": lambda m: m.push([]),
    "APPEND": lambda m: m.append(m.pop_many(1)),
    "APPENDS": lambda m: m.append(m.pop_to_mark()),
    "EMPTY_DICT": lambda m: m.push({}),
    "SETITEM": lambda m: m.set_items(m.pop_many(2)),
    "SETITEMS": lambda m: m.set_items(m.pop_to_mark()),
    "BINPUT": lambda m: m.put(m.source.whole(1)),
    "LONG_BINPUT": lambda m: m.put(m.source.whole(4)),
    "MEMOIZE": lambda m: m.memoize(),
    "BINGET": lambda m: m.get(m.source.whole(1)),
    "LONG_BINGET": lambda m: m.get(m.source.whole(4)),
    "GLOBAL": lambda m: m.name(m.source.line(), m.source.line()),
    "STACK_GLOBAL": lambda m: m.stack_name(),
    "REDUCE": lambda m: m.reduce(),
    "BINPERSID": lambda m: m.persistent(),
}
_CODES = {info.name: ord(info.code) for info in pickletools.opcodes}
_BY_CODE = {_CODES[name]: step for name, step in _STEPS.items()}
_PROTO, _STOP = _CODES["PROTO"], _CODES["STOP"]


def _instruction(code: int) -> str:
    names = [name for name, known in _CODES.items() if known == code]
    return f"the instruction {names[0]}" if names else f"the unknown instruction {code:#04x}"


# ---- names --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, eq=False)
class _Name:
    """What stands in for a global: `make` is what calling it means, `dtype` that of a storage."""

    make: Callable[[Budget, tuple[Any, ...]], object]
    dtype: np.dtype[Any] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Storage:
    numbers: Array  # one axis, over the file's own bytes; those of bools as they are, unchecked
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True, eq=False)
class _Announced:
    """A storage whose numbers follow its pickle."""

    dtype: np.dtype[Any]
    key: str
    count: int

    @classmethod
    def of(cls, identity: tuple[Any, ...]) -> "_Announced":
        # ("storage", type, key, device, number of elements, no view of another storage)
        if _fits(identity, (str, _Name, str, str, int, type(None))):
            kind, name, key, _, count, _ = identity
            if kind == "storage" and name.dtype is not None and count >= 0:
                return cls(name.dtype, key, count)
        raise RefusedPickleError("it has a storage of a form that torch does not write")


def _fits(values: object, kinds: tuple[type, ...]) -> bool:
    """Whether this is a tuple of exactly these types: True does not count as a number."""
    return type(values) is tuple and tuple(map(type, values)) == kinds


def _refuse_call(budget: Budget, arguments: tuple[Any, ...]) -> object:
    raise RefusedPickleError("it calls the type of a storage; nothing of it was run")


def _ordered_dict(budget: Budget, arguments: tuple[Any, ...]) -> object:
    if arguments:
        raise RefusedPickleError("it makes an OrderedDict out of something; nothing of it was run")
    return {}


_MAGIC = 0x1950A86A20F9469CFC6C  # begins what torch.save wrote before it wrote zip files
_VERSION = 1001


def _load_storage(budget: Budget, arguments: tuple[Any, ...]) -> object:
    """torch.storage._load_from_bytes: four small pickles around the storage's, then its data."""
    if not _fits(arguments, (memoryview,)):
        raise RefusedPickleError("it makes a storage out of something that is not bytes")
    source = PickleSource(arguments[0])

    def load() -> Any:
        return _Machine(source, budget, _STORAGE_NAMES).run()

    magic, version, system, storage, keys = (load() for _ in range(5))
    known = type(magic) is int and type(version) is int and (magic, version) == (_MAGIC, _VERSION)
    little = type(system) is dict and system.get("little_endian") is True
    if not known or not little or type(storage) is not _Announced:
        raise RefusedPickleError("it has a storage of a form that torch does not write")
    if not (type(keys) is list and list(map(type, keys)) == [str] and keys[0] == storage.key):
        raise RefusedPickleError("it has a storage whose data are another's")
    if source.whole(8) != storage.count or source.left != storage.count * storage.dtype.itemsize:
        raise RefusedPickleError("it has a storage with more or less data than announced")
    stored = np.dtype(np.uint8) if storage.dtype == np.bool_ else storage.dtype
    return _Storage(np.frombuffer(source.take(source.left), stored), storage.dtype)


def _rebuild_tensor(budget: Budget, arguments: tuple[Any, ...]) -> object:
    """torch._utils._rebuild_tensor_v2: a view of a storage, here copied out of it."""
    kinds = (_Storage, int, tuple, tuple, bool, dict)  # the last: hooks, which torch writes empty
    if not _fits(arguments, kinds) or arguments[5]:
        raise RefusedPickleError("it has a tensor of a form that torch does not write")
    numbers, (offset, sizes, strides) = arguments[0].numbers, arguments[1:4]
    if not _within(len(numbers), offset, sizes, strides):
        raise RefusedPickleError("it has a tensor that reaches outside its storage")
    dtype = arguments[0].dtype.newbyteorder("=")
    budget.spend(dtype.itemsize * math.prod(max(size, 1) for size in sizes))
    if 0 in sizes:
        return np.empty(sizes, dtype)
    steps = [stride * dtype.itemsize for stride in strides]
    # To NumPy a bool is 0 or 1, whatever the file says: this conversion makes it so.
    return np.array(as_strided(numbers[offset:], sizes, steps), dtype, order="C")


def _within(count: int, offset: int, sizes: tuple[Any, ...], strides: tuple[Any, ...]) -> bool:
    """Whether every element of such a view is one of `count` numbers."""
    axes = len(sizes)
    if axes > _MOST_AXES or not _fits((*sizes, *strides), (int,) * 2 * axes):
        return False
    if offset < 0 or any(size < 0 for size in sizes) or any(stride < 0 for stride in strides):
        return False
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return 0 in sizes or last < count


def _rebuild_parameter(budget: Budget, arguments: tuple[Any, ...]) -> object:
    """torch._utils._rebuild_parameter: the tensor itself."""
    if not _fits(arguments, (np.ndarray, bool, dict)) or arguments[2]:
        raise RefusedPickleError("it has a parameter of a form that torch does not write")
    return arguments[0]


_TENSOR_NAMES = {
    ("torch._utils", "_rebuild_tensor_v2"): _Name(_rebuild_tensor),
    ("torch._utils", "_rebuild_parameter"): _Name(_rebuild_parameter),
    ("torch.storage", "_load_from_bytes"): _Name(_load_storage),
    ("collections", "OrderedDict"): _Name(_ordered_dict),
}
_DTYPES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
}
_STORAGE_NAMES = {
    ("torch", name): _Name(_refuse_call, np.dtype(code)) for name, code in _DTYPES.items()
}
