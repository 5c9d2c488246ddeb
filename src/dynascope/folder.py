"""Runs in a folder: `runs.json` (what they are) and `runs.safetensors` (what was recorded).

Written under a temporary name beside the folder, synced, then renamed: a folder is there whole or
not at all. The first has a checksum of the second. No pickle.
"""

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from dynascope.config import Config
from dynascope.data import Data
from dynascope.errors import DynascopeError, expected
from dynascope.run import Origin, Run, Runs, Steps

FORMAT = 1
_ARRAYS = ("table", "weights", "weight_epochs", "states", "state_epochs")


def check_new(folder: str | os.PathLike[str]) -> Path:
    """The path of a folder that can be made: a new name, or an empty one, in a place to write."""
    path = Path(os.path.abspath(folder))
    try:
        if path == Path.cwd() or (path.is_symlink() and not path.exists()):
            raise DynascopeError(f"{folder}: expected a folder of a new name.")
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise DynascopeError(
                f"{folder}: expected a new or empty folder, but it exists; choose another name."
            )
        nearest = next(parent for parent in path.parents if os.path.lexists(parent))
        if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
            raise DynascopeError(f"{folder}: expected a place to write, but got {nearest}.")
    except OSError as error:
        raise DynascopeError(f"{folder}: cannot be made ({error.strerror}).") from None
    return path


def save(runs: Runs, folder: str | os.PathLike[str]) -> None:
    """Write runs to a new folder."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    path = check_new(folder)
    arrays: dict[str, Any] = {}
    listed = []
    for i, run in enumerate(runs):
        arrays |= {f"{i}.{name}": np.ascontiguousarray(getattr(run, name)) for name in _ARRAYS}
        arrays |= _extras(i, run)
        listed.append(_described(run))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        try:
            save_file(arrays, temporary / "runs.safetensors")
            checksum = _checksum(temporary / "runs.safetensors")
            described = {"format": FORMAT, "sha256": checksum, "runs": listed}
            (temporary / "runs.json").write_text(json.dumps(described, indent=1), encoding="utf-8")
            for file in temporary.iterdir():
                _sync(file)
            temporary.chmod(0o755)
            temporary.replace(path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    except (OSError, SafetensorError) as error:  # the latter hides an OSError: a full disk, say
        reason = getattr(error, "strerror", None) or error
        raise DynascopeError(f"{path}: cannot write the runs ({reason}).") from None


def load(folder: str | os.PathLike[str]) -> Runs:
    """Read the runs of a folder that `runs.save` or `dynascope train --out` wrote."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = Path(folder)
    if not (path / "runs.json").is_file():
        raise expected(
            str(path),
            "a folder of runs (with runs.json)",
            "none" if not path.exists() else "another folder",
        )
    try:
        described = json.loads((path / "runs.json").read_text(encoding="utf-8"))
        if described.get("format") != FORMAT:
            raise expected(f"{path}/runs.json", f"format {FORMAT}", described.get("format"))
        if _checksum(path / "runs.safetensors") != described["sha256"]:
            raise DynascopeError(
                f"{path}/runs.safetensors: expected the contents that runs.json has the checksum "
                "of, but the file is damaged or another run's."
            )
        arrays = load_file(path / "runs.safetensors")
        return Runs(_restored(i, run, arrays) for i, run in enumerate(described["runs"]))
    except DynascopeError:
        raise
    except OSError as error:
        raise DynascopeError(f"{path}: cannot read the runs ({error.strerror or error}).") from None
    except (
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        RecursionError,
        SafetensorError,
    ) as error:
        raise DynascopeError(
            f"{path}: expected runs as dynascope writes them, but they are damaged ({error!r})."
        ) from None


def _described(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "seed": run.seed,
        "config": run.config.to_dict(),
        "origin": vars(run.origin) if run.origin else None,
        "diverged": run.diverged,
        "seconds": run.seconds,
        "steps": [run.steps.first_epoch, run.steps.last_epoch, list(run.steps.curves)]
        if run.steps
        else None,
        "data": run.data is not None,
    }


def _extras(i: int, run: Run) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    if run.steps:
        arrays[f"{i}.step_weights"] = run.steps.weights
        arrays[f"{i}.step_curves"] = np.stack(list(run.steps.curves.values()), axis=1)
    if run.data:
        for name, (tokens, targets) in zip(("train", "test"), run.data.sets, strict=True):
            arrays |= {f"{i}.{name}_tokens": tokens, f"{i}.{name}_targets": targets}
    return arrays


def _restored(i: int, described: dict[str, Any], arrays: dict[str, Any]) -> Run:
    steps = data = None
    if described["steps"]:
        first, last, names = described["steps"]
        table = arrays[f"{i}.step_curves"]
        curves = {name: table[:, column] for column, name in enumerate(names)}
        steps = Steps(first, last, curves, arrays[f"{i}.step_weights"])
    if described["data"]:
        data = Data(
            train=(arrays[f"{i}.train_tokens"], arrays[f"{i}.train_targets"]),
            test=(arrays[f"{i}.test_tokens"], arrays[f"{i}.test_targets"]),
        )
    run = Run(
        config=Config.from_dict(described["config"]),
        seed=described["seed"],
        diverged=described["diverged"],
        origin=Origin(**described["origin"]) if described["origin"] else None,
        data=data,
        seconds=described["seconds"],
        steps=steps,
        **{name: arrays[f"{i}.{name}"] for name in _ARRAYS},
    )
    if run.id != described["id"]:
        raise expected(f"run {i}", f"the id {run.id} that follows from its config", described["id"])
    return run


def _checksum(file: Path) -> str:
    with open(file, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _sync(file: Path) -> None:
    with open(file, "rb") as handle:
        os.fsync(handle.fileno())
