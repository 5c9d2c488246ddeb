"""Folders by their handles: nothing that others do to the path changes what is reached."""

import sys

assert sys.platform != "win32"  # there, folders have no handles that names can be looked up in

import os

from dynascope.platforms.full_sync import sync

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_NEVER = (
    os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
)  # follow a link, wait for a pipe, own a terminal


class FolderByHandle:
    """`FolderAccess` through the handle of the folder."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @classmethod
    def at(cls, path: str) -> "FolderByHandle":
        """The folder at a path that is followed as it is."""
        return cls(os.open(path, _FOLDER))

    def close(self) -> None:
        os.close(self._handle)

    def names(self) -> list[str]:
        return os.listdir(self._handle)

    def stat(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._handle, follow_symlinks=False)

    def make_folder(self, name: str) -> None:
        os.mkdir(name, dir_fd=self._handle)

    def folder(self, name: str) -> "FolderByHandle":
        return FolderByHandle(os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self._handle))

    def open(self, name: str, flags: int) -> int:
        return os.open(name, flags | _NEVER, 0o644, dir_fd=self._handle)

    def replace(self, name: str, to: "FolderByHandle", new_name: str) -> None:
        os.replace(name, new_name, src_dir_fd=self._handle, dst_dir_fd=to._handle)

    def remove(self, name: str) -> None:
        os.unlink(name, dir_fd=self._handle)

    def remove_folder(self, name: str) -> None:
        os.rmdir(name, dir_fd=self._handle)

    def sync(self) -> None:
        sync(self._handle)
