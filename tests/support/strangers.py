"""Things in a store that dynascope did not put there: links, pipes, devices; and a person's own
files, which no command may touch."""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

PRECIOUS = {"thesis.tex": b"years of work", "0123456789ab.safetensors": b"another store's"}
LONG_AGO = 10**9  # 2001: older than whatever counts as left behind


class Home:
    """A person's folder beside a store, as it was; `unchanged` says whether it still is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        below = path / "chapters" / "one"
        below.mkdir(parents=True)
        for folder in (path, path / "chapters", below):
            for name, contents in PRECIOUS.items():
                (folder / name).write_bytes(contents)
                os.utime(folder / name, (LONG_AGO, LONG_AGO))
        for folder in (below, path / "chapters", path):
            os.utime(folder, (LONG_AGO, LONG_AGO))
        self._before = self._state()

    def _state(self) -> dict[str, tuple[bytes, int]]:
        return {
            str(each): (each.read_bytes() if each.is_file() else b"", each.stat().st_mtime_ns)
            for each in [self.path, *sorted(self.path.rglob("*"))]
        }

    def unchanged(self) -> bool:
        return self._state() == self._before


def _socket(place: Path, home: Home) -> None:
    before = os.getcwd()
    os.chdir(place.parent)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(place.name)
    finally:
        os.chdir(before)


def _device(place: Path, home: Home) -> None:
    """An endless one, where the system lets us make it; else a link to one."""
    try:
        os.mknod(place, 0o666 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero
    except PermissionError:
        place.symlink_to("/dev/zero")


# How something comes to stand in a place.
STRANGERS: dict[str, Callable[[Path, Home], None]] = {
    "a link to a folder": lambda place, home: place.symlink_to(home.path),
    "a link to a file": lambda place, home: place.symlink_to(home.path / "thesis.tex"),
    "a link to nowhere": lambda place, home: place.symlink_to("nowhere"),
    "a link to itself": lambda place, home: place.symlink_to(place.name),
    "a link to an endless device": lambda place, home: place.symlink_to("/dev/zero"),
    "a pipe": lambda place, home: os.mkfifo(place),
    "a socket": _socket,
    "an endless device": _device,
    "a folder": lambda place, home: place.mkdir(),
}
