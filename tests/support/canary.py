"""A folder and a port that nobody may touch, and who did."""

import ctypes
import os
import socket
import struct
from pathlib import Path

_NONBLOCK, _CLOEXEC = 0o4000, 0o2000000
_ANYTHING = 0xFFF  # every event that inotify knows
_EVENT = struct.Struct("iIII")  # which watch, what, for renames, length of the name after it


class Canary:
    """Watches a folder (opened, read, written, listed) and a port of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._events = self._libc.inotify_init1(_NONBLOCK | _CLOEXEC)
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.setblocking(False)
        self.port = self._server.getsockname()[1]

    def watch(self) -> None:
        """From now on; folders that are made later are seen being made."""
        for path in (self.folder, *(p for p in self.folder.rglob("*") if p.is_dir())):
            watch = self._libc.inotify_add_watch(self._events, os.fsencode(path), _ANYTHING)
            assert watch >= 0, os.strerror(ctypes.get_errno())

    def touched(self) -> list[str]:
        """What was touched since the last call."""
        found = []
        try:
            data = os.read(self._events, 2**16)
            while data:
                _, what, _, length = _EVENT.unpack_from(data)
                name = data[_EVENT.size : _EVENT.size + length].rstrip(b"\0").decode()
                found.append(f"{name or 'the folder'}: {what:#x}")
                data = data[_EVENT.size + length :]
        except BlockingIOError:
            pass
        try:
            self._server.accept()[0].close()
            found.append("the port")
        except BlockingIOError:
            pass
        return found

    def close(self) -> None:
        os.close(self._events)
        self._server.close()
