"""Files that are safe from a power cut."""

import contextlib
import fcntl
import os
import sys

assert sys.platform != "win32"


def sync(handle: int) -> None:
    """Return when a file or folder is on the disk.

    On macOS, fsync only hands it to the disk, which may keep it in its own memory. A full sync
    waits for the disk; where a file system has none, fsync is what there is.
    """
    if sys.platform == "darwin":
        with contextlib.suppress(OSError):
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)
