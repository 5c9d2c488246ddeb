"""What killed writers leave behind, and what of it may go.

Files in the making are deleted. Trajectories without a table are not: a table may have been
renamed, or be on its way from another machine. They are put aside, and only where every file in
`runs/` is understood. What has a name that dynascope does not give is left alone and named in a
warning.
"""

import contextlib
import os
import stat
import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from dynascope.platforms.links import is_link
from dynascope.store.damage import DamageWarning
from dynascope.store.files import writing
from dynascope.store.handles import Folder, store_folder
from dynascope.store.names import (
    LOCK,
    OWN_TEMPORARY,
    RUNS,
    TEMPORARY,
    TRAJECTORIES,
    is_file_of_ours,
    is_shard_file,
    is_workshop,
)
from dynascope.store.quarantine import put_aside

_OLD = 600.0  # seconds after which a file in the making has no maker any more
Aged = Callable[[os.stat_result], bool]


class StrangerWarning(UserWarning):
    """Something in a store that dynascope did not put there; it was left alone."""


def clear_leftovers(store: Path, tables: Collection[str], trajectories: Collection[str]) -> None:
    """Delete dead files in the making, and put trajectories aside that belong to no run.

    Only for the holder of the lock. What sweeps of this kind were making is dead for sure; anything
    else only after ten minutes: a worker of a cluster may be about to finish a shard.
    `tables`, `trajectories`: the names of those that make up the runs.
    """
    aged = _ten_minutes_old(store)
    with writing(store / TEMPORARY):
        clear_workshop(store, OWN_TEMPORARY)
        _clear(store, TEMPORARY, aged)
        _put_orphans_aside(store, tables, trajectories, aged)


def clear_workshop(store: Path, place: str) -> None:
    """Delete a writer's folder with all files in the making, whatever their age."""
    above, _, name = place.rpartition("/")
    with contextlib.suppress(FileNotFoundError):
        _clear(store, place, lambda about: True)
        with store_folder(store, above) as folder, contextlib.suppress(OSError):
            folder.remove_folder(name)  # unless something is left in it


def _ten_minutes_old(store: Path) -> Aged:
    """Judged by the file system's own clock, which need not be this machine's: it has just dated
    the lock."""
    with store_folder(store) as folder:
        lock = folder.stat(LOCK)
    now = lock.st_mtime if lock else 0.0
    return lambda about: now - about.st_mtime > _OLD


def _clear(store: Path, place: str, aged: Aged) -> None:
    with contextlib.suppress(FileNotFoundError), store_folder(store, place) as folder:
        for stranger in _cleared(folder, aged):
            said = f"{stranger}: not a file that dynascope makes; it was left alone."
            warnings.warn(StrangerWarning(said), stacklevel=2)


def _cleared(folder: Folder, aged: Aged) -> Iterator[Path]:
    """Delete what is ours and old enough; gives what is not ours."""
    for name in folder.names():
        about = folder.stat(name)
        if about is None:  # gone meanwhile
            continue
        if stat.S_ISDIR(about.st_mode) and not is_link(about) and is_workshop(name):
            with folder.folder(name) as below:
                yield from _cleared(below, aged)
            if aged(about):
                with contextlib.suppress(OSError):  # unless something is left in it
                    folder.remove_folder(name)
        elif not stat.S_ISREG(about.st_mode) or not is_file_of_ours(name):
            yield folder.path / name
        elif aged(about):
            with contextlib.suppress(FileNotFoundError):
                folder.remove(name)


def _put_orphans_aside(
    store: Path, tables: Collection[str], trajectories: Collection[str], aged: Aged
) -> None:
    with contextlib.ExitStack() as opened:
        try:
            runs = opened.enter_context(store_folder(store, RUNS))
            folder = opened.enter_context(store_folder(store, TRAJECTORIES))
        except FileNotFoundError:  # nothing was ever saved
            return
        orphans = [
            name
            for name in folder.names()
            if is_shard_file(name) and name not in trajectories and _is_old(folder, name, aged)
        ]
        if not orphans:
            return
        # Any of them might be the table of one, under another name or not yet whole.
        unexplained = [name for name in runs.names() if name not in tables]
        if unexplained:
            said = (
                f"{runs.path / unexplained[0]}: not a table of runs that can be read; so "
                f"trajectories without a table stay where they are ({orphans[0]})."
            )
            warnings.warn(StrangerWarning(said), stacklevel=3)
            return
        for name in orphans:
            there = put_aside(store, f"{TRAJECTORIES}/{name}")
            said = f"{folder.path / name}: no table of runs belongs to it; moved to {there}."
            warnings.warn(DamageWarning(said), stacklevel=3)


def _is_old(folder: Folder, name: str, aged: Aged) -> bool:
    about = folder.stat(name)
    return about is not None and stat.S_ISREG(about.st_mode) and aged(about)
