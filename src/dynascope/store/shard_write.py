"""A shard written: runs of one shape become a Parquet file and a safetensors file.

The checksums form a tree. A Parquet file's name ends with the checksum of its footer; the footer
has the checksums of its columns and of the trajectory file's header; the column `checksum` has
those of each run's trajectory. So whatever part is read can be checked without reading the rest,
and a file that is cut off, changed, renamed or exchanged is found out.

Trajectories are renamed into place first, the Parquet file second: that rename makes the runs be.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from safetensors.numpy import save as safetensors_bytes

from dynascope import version
from dynascope.analysis_row import Row
from dynascope.config import LATER
from dynascope.edits import SLOTS
from dynascope.run import Run
from dynascope.store.files import write
from dynascope.store.names import RUNS, TEMPORARY, TRAJECTORIES
from dynascope.store.parquet_file import KEY, footer_digest, parquet_bytes
from dynascope.store.schema import CONFIG, CURVES, rows
from dynascope.store.sidecar import SidecarFile, make_sidecar
from dynascope.store.tensors import digest, header_of, pack

FORMAT = 2
_RULE = "training.optimizer"


@dataclass(frozen=True)
class ShardFiles:
    """A shard as bytes: a worker of a cluster makes it, whoever keeps the store writes it."""

    name: str
    parquet: bytes
    tensors: bytes
    analyses: SidecarFile | None = None

    @property
    def parquet_name(self) -> str:
        return f"{self.name}-{footer_digest(self.parquet)}.parquet"

    @property
    def contents(self) -> dict[str, bytes]:
        """All files by their places in a store, the one that counts last."""
        files = {f"{TRAJECTORIES}/{self.name}.safetensors": self.tensors}
        if self.analyses:
            files[self.analyses.place] = self.analyses.contents
        return files | {f"{RUNS}/{self.parquet_name}": self.parquet}

    def write(self, store: Path, temporary: str = TEMPORARY) -> None:
        """Put the files into the store, the one that counts last."""
        for place, contents in self.contents.items():
            write(store, place, contents, temporary)


def make_shard(
    runs: Sequence[Run],
    positions: Sequence[int],
    batch: int,
    analyses: Mapping[str, Row] = MappingProxyType({}),
) -> ShardFiles:
    """The files of some runs of one shape.

    `positions` order them among those saved with the same `batch` (a time in nanoseconds), and
    batches come in the order of their times. `analyses`: rows of these runs, by id;
    a run may have none.
    """
    packed = pack(runs)
    name = _name(runs, packed.places["checksum"], version.__version__)
    steps = next((run.steps for run in runs if run.steps), None)
    written = {"format": FORMAT, "dynascope": version.__version__, "shard": name}
    # One key only: safetensors writes several in a random order, and equal shards must have equal
    # bytes, since one may be written where the other is.
    tensors = safetensors_bytes(packed.tensors, metadata={KEY.decode(): json.dumps(written)})
    about: dict[str, Any] = written | {
        "batch": batch,
        "tensors": {"size": len(tensors), "header": digest(header_of(tensors))},
        "steps": list(steps.curves) if steps else None,
        "curves": [name for name in CURVES if any(name in run.curves for run in runs)],
        "options": {field.name: name for name, field in CONFIG.items()},
        "as_before": dict(LATER),
        "slots": {rule: list(SLOTS[rule]) for rule in sorted(_rules(runs))},
    }
    table = rows(runs, packed.places | {"position": list(positions)})
    sums = dict(zip((run.id for run in runs), packed.places["checksum"], strict=True))
    sidecar = _sidecar(sums, analyses, batch) if analyses else None
    return ShardFiles(name, parquet_bytes(table, about), tensors, sidecar)


def _rules(runs: Sequence[Run]) -> set[str]:
    """The optimizers of some runs, also those that they changed to."""
    rules: set[str] = {run.config.training.optimizer for run in runs}
    changed = [edit.options for run in runs for edit in run.edits]
    rules |= {options[_RULE] for options in changed if _RULE in options}
    return rules & SLOTS.keys()


def _sidecar(sums: Mapping[str, str], analyses: Mapping[str, Row], batch: int) -> SidecarFile:
    ids = [run for run in sums if run in analyses]
    return make_sidecar(ids, [sums[run] for run in ids], [analyses[run] for run in ids], batch)


def _name(runs: Sequence[Run], checksums: Sequence[str], version: str) -> str:
    """Follows from all that is in the trajectory file, so that no other file can have it: which
    runs, what they recorded, every bit of it, and who wrote it."""
    record = json.dumps(runs[0].config.to_dict()["record"], sort_keys=True)
    each = (f"{run.id} {run.epochs} {of}" for run, of in zip(runs, checksums, strict=True))
    text = "\n".join([f"{FORMAT} {version} {record}", *each])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
