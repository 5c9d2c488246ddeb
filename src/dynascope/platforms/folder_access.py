"""What can be done in an open folder without leaving it: the promise of both ways to do so."""

import os
from typing import Protocol, Self


class FolderAccess(Protocol):
    """An open folder. Names are single names, and no method follows a link."""

    def close(self) -> None: ...

    def names(self) -> list[str]: ...

    def stat(self, name: str) -> os.stat_result:
        """About the name itself, also if it is a link."""

    def make_folder(self, name: str) -> None: ...

    def folder(self, name: str) -> Self:
        """The folder of this name, open."""

    def open(self, name: str, flags: int) -> int:
        """A handle of the file of this name; does not wait for one that is a pipe."""

    def replace(self, name: str, to: Self, new_name: str) -> None:
        """Rename, over what had the new name."""

    def remove(self, name: str) -> None: ...

    def remove_folder(self, name: str) -> None: ...

    def sync(self) -> None:
        """What was made, renamed and removed in it is safe from a power cut."""
