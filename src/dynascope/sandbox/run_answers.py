"""One run as the server tells of it: what it is, and its record as bytes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.analysis.thresholds import CLEAR_GAP, RELEVANT_ATTENTION, ROUNDING, SUM_SHARE
from dynascope.errors import DynascopeError
from dynascope.plain import plain
from dynascope.run import SOLVED_ACCURACY, Run
from dynascope.run_size import weight_count
from dynascope.sandbox.contents import Blob
from dynascope.sandbox.security import RequestError
from dynascope.shown_sequences import own_sequences
from dynascope.store.stored import StoredRun

Array = npt.NDArray[Any]

# What the client judges by where it cannot wait for an analysis: while the playhead moves.
THRESHOLDS = {
    "solved_accuracy": SOLVED_ACCURACY,
    "clear_gap": CLEAR_GAP,
    "rounding": ROUNDING,
    "sum_share": SUM_SHARE,
    "relevant_attention": RELEVANT_ATTENTION,
}


def about(run: Run, found: dict[str, object]) -> dict[str, Any]:
    """What `/api/run/ID` says. Of a run whose trajectory is damaged the rest is still there."""
    notes: list[str] = []
    config, summary = run.config, run.summary()
    if run.unknown_options:
        _if_there(run.check_replayable, notes)
    return plain(  # type: ignore[no-any-return]
        {
            "id": run.id,
            "seed": run.seed,
            "epochs": run.epochs,
            "diverged": run.diverged,
            "last_sound_epoch": last_sound_epoch(run),
            "precision": config.precision,
            "config": config.to_dict(),
            "task": _if_there(lambda: _task(run), notes),
            "positions": config.task.positions,
            "embeddings": config.embeddings,
            "shapes": config.shapes,
            "size": weight_count(config),
            "weight_epochs": _if_there(lambda: run.weight_epochs, notes),
            "state_epochs": _if_there(lambda: run.state_epochs, notes),
            "not_replayable": _why_not_replayable(run),
            "curves": list(run.curves),
            "sets": {split: _if_there(partial(_count, run, split), notes) for split in SPLITS},
            "origin": None if run.origin is None else run.origin.to_dict(),
            "tags": run.tags if isinstance(run, StoredRun) else [],
            "note": run.note if isinstance(run, StoredRun) else None,
            "summary": {name: summary[name] for name in _SUMMARY},
            "found": found,
            "thresholds": THRESHOLDS,
            "notes": list(dict.fromkeys(notes)),
        }
    )


SPLITS = ("train", "test")
_SUMMARY = ("accuracy", "learning_epoch", "lowest_loss", "seconds")


def _task(run: Run) -> dict[str, Any]:
    """What the run was to learn; of data of its own neither positions nor groups are known."""
    task = run.task
    return {
        "name": task.name,
        "told": task.describe(),
        "classes": task.classes,
        "chance": task.chance,
        "positions": task.positions,
        "symmetries": task.symmetries,
        "groups": None if task.groups is None else task.groups.kind,
    }


def _if_there(read: Callable[[], Any], notes: list[str]) -> Any:
    try:
        return read()
    except DynascopeError as error:
        notes.append(str(error))
        return None


def _why_not_replayable(run: Run) -> str | None:
    """Why epochs between the kept ones cannot be computed again; None: they can."""
    try:
        run.check_replayable()
    except DynascopeError as error:
        return str(error)
    return None


def _count(run: Run, split: str) -> int:
    """How many sequences a set has; those of the task need not be drawn for that."""
    if run.data is None and run.origin is None:
        task = run.config.task
        return task.train_size if split == "train" else task.test_size
    return len(run.examples(split)[1])  # type: ignore[arg-type]


def _etag(run: Run, what: str) -> str:
    """The name of the run's file says what is in it; a run in memory is what its id says."""
    place = f"{run.file.stem}-" if isinstance(run, StoredRun) else ""
    return f'"{run.id}-{place}{what}"'


def curves(run: Run) -> Blob:
    """[curves, epochs + 1]."""
    table = np.stack([run.curves[name] for name in run.curves])
    return Blob.of(little_endian(table), _etag(run, "curves"))


def state(run: Run, epoch: int) -> Blob:
    """[3, size] after a kept epoch."""
    kept = np.flatnonzero(run.state_epochs == epoch)
    if not len(kept):
        raise RequestError(404, f"Run {run.id} keeps no state after epoch {epoch}.")
    row = int(kept[-1])
    return Blob.of(little_endian(run.rows("states", row, row + 1)), _etag(run, f"state-{epoch}"))


def examples(run: Run, split: str) -> Blob:
    """int32 tokens [count, length], then targets [count]."""
    tokens, targets = run.examples(split)  # type: ignore[arg-type]
    return Blob.of(little_endian(tokens) + little_endian(targets), _etag(run, split))


def sequences(run: Run, most: int) -> dict[str, Any]:
    """Different sequences of the test set, or of the train set where there is no other."""
    split, tokens, targets = own_sequences(run, most)
    return {"set": split, "tokens": tokens.tolist(), "targets": targets.tolist()}


def weights(run: Run) -> Blob:
    """[kept epochs, size]. A trajectory can be larger than memory: only rows asked for are read."""
    row = weight_count(run.config) * np.dtype(run.config.precision).itemsize

    def read(begin: int, end: int) -> bytes:
        first, last = begin // row, -(-end // row)
        found = little_endian(run.rows("weights", first, last))
        return found[begin - first * row : end - first * row]

    return Blob(len(run.weight_epochs) * row, _etag(run, "weights"), read)


def little_endian(array: Array) -> bytes:
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
