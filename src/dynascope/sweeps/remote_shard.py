"""What travels between a sweep and a worker of a cluster, and what the worker does with it.

A shard is a pure function of its jobs, so it has the same bits wherever it was computed. How it
comes back is the sweep's choice: as bytes, through Ray's object store, or as files that the worker
puts into a folder that all nodes share. There they are staged: only the sweep itself moves them to
where they count, so a shard that was given to two workers, because the first seemed lost, is never
there twice.
"""

import contextlib
import pickle
import secrets
import socket
from dataclasses import dataclass, field
from pathlib import Path

from dynascope import version
from dynascope.engine import Job, train_job
from dynascope.errors import DynascopeError
from dynascope.store.files import move, write
from dynascope.store.names import TEMPORARY
from dynascope.store.shard_write import ShardFiles
from dynascope.sweeps.ledger import ledger_digest
from dynascope.sweeps.shard_making import Finishing, files_of


@dataclass(frozen=True)
class SharedFolder:
    """A folder that all nodes share, and the stage of one sweep in it."""

    folder: str
    ledger: str  # digest of its sweep.json
    stage: str  # name of a folder for the files of this sweep's workers

    @classmethod
    def of(cls, folder: Path) -> "SharedFolder":
        stage = f"ray-{secrets.token_hex(6)}"
        return cls(str(folder.resolve()), ledger_digest(folder), stage)

    @property
    def store(self) -> Path:
        return Path(self.folder)

    @property
    def staging(self) -> str:
        """The stage's place in the store."""
        return f"{TEMPORARY}/{self.stage}"

    def check(self) -> None:
        """Make sure, on a worker's node, that it is the very same folder there."""
        with contextlib.suppress(OSError):
            if ledger_digest(self.store) == self.ledger:
                return
        raise DynascopeError(
            f"{self.folder}: expected a folder that all nodes share, but {_here()} does not see "
            "the sweep in it; without `--results shared` runs come back through Ray itself."
        )


@dataclass(frozen=True)
class RemoteShard:
    """What a worker is sent: everything that a shard follows from, and where it goes."""

    jobs: tuple[Job, ...]
    positions: tuple[int, ...]
    batch: int
    shared: SharedFolder | None = None
    finishing: Finishing = field(default_factory=Finishing)


@dataclass(frozen=True)
class Staged:
    """A shard that a worker has written, not yet where it counts."""

    place: str  # of its folder in the store
    files: tuple[str, ...]  # their places in the store, the one that counts last

    def adopt(self, shared: SharedFolder) -> None:
        """Move its files to where they count; doing it twice does no harm."""
        for file in self.files:
            move(shared.store, f"{self.place}/{file}", file)


def make_remotely(sent_by: str, packed: bytes) -> ShardFiles | Staged:
    """In a worker: train the shard of a packed `Parcel`.

    Packed, because only the same version is sure to understand it; the version comes first.
    """
    if sent_by != version.__version__:
        raise DynascopeError(
            f"ray: expected dynascope {sent_by} on every node, but {_here()} has "
            f"{version.__version__}."
        )
    parcel: RemoteShard = pickle.loads(packed)
    if parcel.shared:
        parcel.shared.check()
    runs = [parcel.finishing(train_job(job)) for job in parcel.jobs]
    files = files_of(runs, parcel.positions, parcel.batch)
    return files if parcel.shared is None else _stage(files, parcel.shared)


def _stage(files: ShardFiles, shared: SharedFolder) -> Staged:
    place, contents = f"{shared.staging}/{secrets.token_hex(6)}", files.contents
    for file, each in contents.items():
        write(shared.store, f"{place}/{file}", each, place)
    return Staged(place, tuple(contents))


def _here() -> str:
    return socket.gethostname()
