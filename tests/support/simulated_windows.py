"""Windows as far as it can be had elsewhere: a process from which the rest has been taken away.

`begin` deletes what Windows does not have (modules, functions, constants), makes what is left
refuse what Windows refuses (handles of folders, renames over something), and adds small stand-ins
for what only Windows has. Then `dynascope`, imported again, takes its Windows way.

It stays Linux underneath: paths have slashes, and open files can be renamed and removed.
"""

import ctypes
import errno
import importlib
import os
import pkgutil
import shutil
import signal
import socket
import stat
import subprocess
import sys
import types
from collections.abc import Callable
from typing import Any

MISSING = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "crypt")
# Not in https://docs.python.org/3/library/os.html for Windows. (What the interpreter's own modules
# for other systems call while they run, such as `subprocess`, may stay.)
OS = (
    *("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_SYNC", "O_PATH"),
    *("pread", "pwrite", "preadv", "pwritev", "fork", "forkpty", "statvfs", "fstatvfs", "uname"),
    *("sched_getaffinity", "sched_setaffinity", "getuid", "geteuid", "getgid", "getegid"),
    *("sysconf", "killpg", "getpgid", "setsid", "mkfifo", "mknod", "chown", "lchown", "fchown"),
    *("fchmod", "fchdir", "posix_spawn", "posix_spawnp", "POSIX_SPAWN_OPEN", "POSIX_SPAWN_DUP2"),
    *("set_blocking", "get_blocking", "getloadavg", "sendfile", "posix_fadvise", "fdatasync"),
)
SIGNALS = ("SIGHUP", "SIGKILL", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGPIPE", "SIGCHLD")
WITH_FOLDERS = ("open", "stat", "mkdir", "unlink", "rmdir", "rename", "replace", "access")
CREATE_NEW, OPEN_EXISTING, OPEN_ALWAYS = 1, 3, 4
NOT_FOUND, EXISTS, DENIED = 2, 80, 5  # errors, as Windows counts them


def begin() -> types.ModuleType:
    """From now on it is Windows; gives `dynascope`, with all that it needs already imported."""
    import_all()
    for name in [name for name in sys.modules if name.partition(".")[0] == "dynascope"]:
        if name != "dynascope._kernel":  # which an interpreter loads once
            del sys.modules[name]
    fcntl = sys.modules["fcntl"]
    sys.modules["msvcrt"] = _msvcrt(fcntl)
    _change_os(fcntl)
    _add_calls()
    signal.SIGBREAK = signal.SIGHUP  # type: ignore[attr-defined]
    socket.SO_EXCLUSIVEADDRUSE = socket.SO_REUSEADDR  # type: ignore[attr-defined]
    for name in MISSING:
        sys.modules[name] = None  # type: ignore[assignment]  # an import raises
    for name in SIGNALS:
        delattr(signal, name)
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    before, sys.platform = sys.platform, "win32"  # asked once, in one place
    try:
        importlib.import_module("dynascope.platforms")
    finally:
        sys.platform = before
    return importlib.import_module("dynascope")


def import_all() -> list[str]:
    """Every module of the package that the system at hand can import."""
    import dynascope

    names = [each.name for each in pkgutil.walk_packages(dynascope.__path__, "dynascope.")]
    others = _of_the_other_system()
    wanted = [name for name in names if name not in others and not name.endswith("__main__")]
    for name in wanted:
        importlib.import_module(name)
    return wanted


def _of_the_other_system() -> set[str]:
    posix = ("posix", "posix_program", "folder_by_handle", "full_sync")
    windows = ("windows", "windows_program", "windows_calls")
    others = posix if "msvcrt" in sys.modules else windows
    return {f"dynascope.platforms.{name}" for name in others}


def _change_os(fcntl: Any) -> None:
    """What is deleted, and what refuses."""
    for name in WITH_FOLDERS:
        setattr(os, name, _without_folders(getattr(os, name)))
    os.open = _refusing(os.open, lambda path, *_: os.path.isdir(path))
    os.listdir = _refusing(os.listdir, lambda path=".": isinstance(path, int))
    os.rename = _refusing(os.rename, lambda old, new: os.path.lexists(new))
    os.replace = _refusing(os.replace, lambda old, new: os.path.isdir(new))
    os.fsync = _refusing(os.fsync, lambda handle: _reads_only(fcntl, handle))
    os.O_BINARY = 0  # type: ignore[attr-defined]
    os.set_handle_inheritable = os.set_inheritable  # type: ignore[attr-defined]
    for name in OS:
        if hasattr(os, name):
            delattr(os, name)
    for known in (os.supports_dir_fd, os.supports_fd):
        known.clear()


def _without_folders(call: Callable[..., Any]) -> Callable[..., Any]:
    def refusing(*given: Any, **named: Any) -> Any:
        if any(named.get(name) is not None for name in named if name.endswith("dir_fd")):
            raise NotImplementedError("dir_fd unavailable on this platform")
        return call(*given, **named)

    return refusing


def _refusing(call: Callable[..., Any], when: Callable[..., bool]) -> Callable[..., Any]:
    def refusing(*given: Any, **named: Any) -> Any:
        if when(*given):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return call(*given, **named)

    return refusing


def _reads_only(fcntl: Any, handle: Any) -> bool:
    mode: int = fcntl.fcntl(handle, fcntl.F_GETFL)
    return mode & (os.O_RDWR | os.O_WRONLY) == 0


def _msvcrt(fcntl: Any) -> types.ModuleType:
    """Locks of bytes: each handle has its own, and nobody else reads or writes what is locked."""
    made = types.ModuleType("msvcrt")

    def locking(handle: int, how: int, count: int) -> None:
        at = os.lseek(handle, 0, os.SEEK_CUR)
        assert count == 1
        assert os.fstat(handle).st_size <= at < 2**31, "others could not read what the lock says"
        try:
            fcntl.flock(handle, fcntl.LOCK_UN if how == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None

    made.__dict__.update(LK_UNLCK=0, LK_LOCK=1, LK_NBLCK=2, locking=locking)
    made.__dict__.update(get_osfhandle=int, open_osfhandle=lambda handle, flags: handle)
    return made


def _add_calls() -> None:
    """kernel32, and processes that inherit handles."""
    last = [0]
    kinds = {NOT_FOUND: errno.ENOENT, EXISTS: errno.EEXIST, DENIED: errno.EACCES}
    real_open = os.open

    def create(path: str, access: int, share: int, _: None, how: int, *more: object) -> int:
        assert share == 7
        flags = {0x80000000: os.O_RDONLY, 0x40000000: os.O_WRONLY}.get(access, os.O_RDWR)
        flags |= {CREATE_NEW: os.O_CREAT | os.O_EXCL, OPEN_ALWAYS: os.O_CREAT}.get(how, 0)
        try:
            return real_open(path, flags, 0o644)
        except OSError as error:
            codes = {number: code for code, number in kinds.items()}
            last[0] = codes.get(error.errno or 0, DENIED)
            return ctypes.c_void_p(-1).value or 0

    def status(filled: Any) -> int:
        assert filled._obj.length == 64
        filled._obj.total, filled._obj.available = 2**33, 2**32
        return 1

    library = types.SimpleNamespace(CreateFileW=create, GlobalMemoryStatusEx=status)
    changed: Any = ctypes
    changed.WinDLL = lambda name, use_last_error=False: library
    changed.get_last_error = lambda: last[0]
    changed.WinError = lambda code: OSError(kinds[code], os.strerror(kinds[code]))
    _add_processes()


def _add_processes() -> None:
    changed: Any = subprocess
    changed.CREATE_NEW_PROCESS_GROUP = 0x200
    changed.STARTUPINFO = lambda lpAttributeList: lpAttributeList["handle_list"]
    real, kill = subprocess.Popen, signal.SIGKILL

    class Popen(real):  # type: ignore[type-arg,valid-type,misc]
        def __init__(
            self, command: Any, startupinfo: Any = (), creationflags: int = 0, **more: Any
        ):
            super().__init__(command, pass_fds=startupinfo, **more)

        def kill(self) -> None:
            self.send_signal(kill)

    changed.Popen = Popen


def junction(about: os.stat_result) -> Any:
    """What Windows says of a junction: to Python it is a folder, with the tag of a mount point."""
    told = types.SimpleNamespace(**{n: getattr(about, n) for n in dir(about) if n[:3] == "st_"})
    told.st_mode = stat.S_IFDIR | 0o777
    told.st_reparse_tag = 0xA0000003
    return told
