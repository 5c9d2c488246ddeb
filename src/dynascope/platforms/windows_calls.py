"""The functions of Windows itself that Python does not offer."""

import ctypes
import msvcrt
import os
import sys
from typing import NamedTuple

assert sys.platform == "win32"

_READ, _WRITE = 0x80000000, 0x40000000  # GENERIC_READ, GENERIC_WRITE
_ACCESS = {os.O_RDONLY: _READ, os.O_WRONLY: _WRITE, os.O_RDWR: _READ | _WRITE}
_SHARED = 1 | 2 | 4  # FILE_SHARE_READ, _WRITE, _DELETE
_CREATE_NEW, _OPEN_EXISTING, _OPEN_ALWAYS = 1, 3, 4
_NORMAL = 0x80  # FILE_ATTRIBUTE_NORMAL
_INVALID = ctypes.c_void_p(-1).value


def open_shared(path: str, flags: int, mode: int) -> int:
    """As `os.open`, but the file can be renamed and removed while it is open.

    Tables and trajectories stay mapped into memory as long as their runs are used; a damaged one
    must be put aside all the same. Of the flags, those of reading, writing and making count.
    """
    create = ctypes.WinDLL("kernel32", use_last_error=True).CreateFileW
    create.restype = ctypes.c_void_p
    # name, access, sharing, security, disposition, attributes, template
    create.argtypes = [ctypes.c_wchar_p, *(ctypes.c_uint32,) * 2, ctypes.c_void_p]
    create.argtypes += [*(ctypes.c_uint32,) * 2, ctypes.c_void_p]
    access = _ACCESS[flags & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR)]
    handle = create(path, access, _SHARED, None, _disposition(flags), _NORMAL, None)
    if handle is None or handle == _INVALID:
        error = ctypes.WinError(ctypes.get_last_error())
        error.filename = path
        raise error
    return msvcrt.open_osfhandle(handle, os.O_RDONLY if access == _READ else 0)


def _disposition(flags: int) -> int:
    if not flags & os.O_CREAT:
        return _OPEN_EXISTING
    return _CREATE_NEW if flags & os.O_EXCL else _OPEN_ALWAYS


class MemoryStatus(NamedTuple):
    """Bytes of the machine's memory."""

    total: int
    available: int


class _MemoryStatusEx(ctypes.Structure):
    """MEMORYSTATUSEX, as GlobalMemoryStatusEx fills it."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 5),  # page file, address space
    )


def memory_status() -> MemoryStatus | None:
    """None where the system does not say."""
    status = _MemoryStatusEx(length=ctypes.sizeof(_MemoryStatusEx))
    if not ctypes.WinDLL("kernel32").GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return MemoryStatus(status.total, status.available)
