"""How much memory this process can still take: the machine's, and what limits leave of it."""

import contextlib
import mmap
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from dynascope.platforms import system

_CGROUPS = Path("/sys/fs/cgroup")
_MINE = Path("/proc/self/cgroup")
_NO_LIMIT = 2**60  # version 1 of cgroups says so with a number of that size


def available_memory() -> int | None:
    """Bytes that can be had without swapping, as far as the system tells; None: it does not."""
    found = [each for each in (_machine(), _process()) if each is not None]
    return min([*found, *_cgroups()], default=None)


def _machine() -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        if match := re.search(r"^MemAvailable: +([0-9]+) kB$", text, re.MULTILINE):
            return int(match[1]) * 1024
    return system.unused_memory()


def _process() -> int | None:
    """What `ulimit -v` leaves."""
    limit = system.address_space_limit()
    if limit is None:
        return None
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return max(0, limit - pages * mmap.PAGESIZE)
    return limit


def _cgroups() -> Iterator[int]:
    """What the limit of each group that this process is in leaves (containers, job schedulers).

    The groups of a path are those of all its beginnings. In a container the path may be the
    host's, of which only the end is mounted here: the mount's own top counts in any case.
    """
    try:
        lines = _MINE.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, kinds, path = (*line.split(":", 2), "", "")[:3]
        if kinds and "memory" not in kinds.split(","):
            continue
        top = _CGROUPS / kinds
        inside = PurePosixPath(path.lstrip("/"))
        for folder in dict.fromkeys([top / inside, *(top / each for each in inside.parents)]):
            if (left := _left(folder)) is not None:
                yield left


def _left(group: Path) -> int | None:
    """Its limit less what is in use; files that are only cached make room when it is needed."""
    limit = _number(group / "memory.max", group / "memory.limit_in_bytes")
    used = _number(group / "memory.current", group / "memory.usage_in_bytes")
    if limit is None or used is None or limit >= _NO_LIMIT:
        return None
    return max(0, limit - max(0, used - _cached(group)))


def _cached(group: Path) -> int:
    values = {}
    with contextlib.suppress(OSError, ValueError):
        for line in (group / "memory.stat").read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(" ")
            values[name] = int(value)
    # Version 1 counts the groups below only in the values that begin so.
    before = "total_" if "total_inactive_file" in values else ""
    return sum(values.get(f"{before}{kind}_file", 0) for kind in ("inactive", "active"))


def _number(*files: Path) -> int | None:
    for file in files:
        with contextlib.suppress(OSError, ValueError):  # "max" is no limit
            return int(file.read_text(encoding="ascii"))
    return None
