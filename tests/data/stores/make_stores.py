"""Makes the committed stores of one format, and writes down what must come out of them for good.

    python tests/data/stores/make_stores.py format-2

run with the version of dynascope that writes that format. format-1 was made by 0.1.0 as it was
before formats were promised to last. A store that is committed is never made again: it is what
people have on their disks.

Two stores each: `sweep` (grid, chain, analyses), and `runs` with one of everything else. Their
`expected.json` has hashes of what the runs recorded, of all epochs, kept or not, and of how the
runs go on.
"""

import hashlib
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dynascope as ds

HERE = Path(__file__).parent
GRID: dict[str, Any] = {
    "seeds": 2,
    "base": {
        "task": {"length": 6, "relevant": 3, "train_size": 40, "test_size": 16},
        "model.hidden": 4,
        "training": {"epochs": 6, "batch": 12},
        "record": {"weights_every": 2, "state_every": 3},
    },
    "grid": {"training.optimizer": ["sgd", "adam"]},
    "chain": {"longer": {"set": {"training.epochs": 4, "training.lr": 0.01}}},
    "analyse": ["circuit", "phases", "spikes"],
}
SMALL = ds.Config().replace(
    {
        "task.length": 6,
        "task.relevant": 3,
        "task.train_size": 40,
        "task.test_size": 16,
        "model.hidden": 4,
        "training.epochs": 7,
        "training.batch": 12,
        "record.weights_every": 3,
        "record.state_every": 4,
    }
)
FULL_RECORD = {"record.unseen": True, "record.full_gradients": True, "record.steps": [2, 4]}


def trained(changes: dict[str, Any], seeds: Any = 1, **more: Any) -> list[ds.Run]:
    return list(ds.train(SMALL.replace(changes), seeds, progress=False, **more))


def branched() -> ds.Run:
    """Weights edited at an epoch's end, and in the middle of another."""
    trainer = ds.Trainer(SMALL, seed=3)
    trainer.advance(2)
    trainer.parameters = trainer.parameters * 1.5
    trainer.advance(1)
    trainer.advance_steps(2)
    trainer.parameters = trainer.parameters * 0.5
    trainer.advance(4)
    return trainer.run


def own_data(test: bool) -> ds.Run:
    """Trained on sequences of another seed, with the sum of all tokens as the target."""
    tokens = [ds.dataset(SMALL.task, 5, split)[0] for split in ("train", "test")]
    sets = [(each, (each.sum(axis=1) % 2).astype(np.int32)) for each in tokens]
    data = ds.Data(train=sets[0], test=sets[1] if test else None)
    return trained({}, [6 + test], data=data)[0]


def imported(run: ds.Run) -> ds.Run:
    """As the runs of other code are: weights and curves, but neither data nor states."""
    origin = ds.Origin("import", hashlib.sha256(run.weights[0].tobytes()).hexdigest()[:20])
    none = {"states": run.states[:0], "state_epochs": run.state_epochs[:0]}
    return replace(run, seed=9, origin=origin, **none)


def changed_on_the_way() -> list[ds.Run]:
    """Since format 2: options that change, the batch among them, and weights after that."""
    trainer = ds.Trainer(SMALL.replace({"record.steps": [3, 6]}), seed=11)
    trainer.advance(2)
    trainer.change({"training.batch": 5, "training.lr": 0.02})
    trainer.advance(3)
    first = trainer.run
    trainer.change({"training.optimizer": "adamw", "training.weight_decay": 0.01})
    trainer.advance_steps(3)
    trainer.parameters = trainer.parameters * 0.75
    trainer.advance(3)
    return [first, trainer.run]


def make_runs(folder: Path, since: int) -> None:
    plain = trained({}, 2)
    everything = [
        *plain,
        *trained({"training.optimizer": "sgd", "training.momentum": 0.9, "training.clip": 1.0}),
        *trained({"training.optimizer": "adamw", "training.weight_decay": 0.1}),
        *trained({"training.schedule": "cosine", "training.warmup": 3, "training.lr_final": 1e-4}),
        *trained({"training.frozen": ["query", "receptors[1:]"], "training.query_limit": 1.5}),
        *trained({"model.activation": "silu", "model.norm": "smooth"}),
        *trained({"training.lr": 0.01}, [0], start=plain[0]),
        *trained({}, [4], start=plain[1].parameters(3) * 0.5),
        *trained({"training.optimizer": "sgd", "training.lr": 1e8}),
        branched(),
        own_data(True),
        own_data(False),
        imported(plain[1]),
        *trained({"model.bias": False, "model.activation": "relu", "task.relevant": [1, 4]}),
        *trained({"precision": "float64", "task.vocab": 3, "model.dim": 3, **FULL_RECORD}),
        *(changed_on_the_way() if since >= 2 else ()),
    ]
    ds.Runs(everything).save(folder)
    stored = ds.load(folder)
    stored[:2].tag("plain")
    stored.where("diverged IS NOT NULL").note("too fast")
    stored[2:3].delete()
    stored.analyse(["spikes", "circuit"], progress=False)


def digest(*arrays: Any) -> str:
    total = hashlib.sha256()
    for array in arrays:
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()[:20]


def described(run: Any) -> dict[str, Any]:
    """What must stay the same of a run, as hashes."""
    last = run.epochs if run.diverged is None else run.diverged
    replayed = range(last + 1) if run.origin is None or run.origin.kind != "import" else ()
    return {
        "id": run.id,
        "seed": run.seed,
        "config": run.config.digest(),
        "epochs": run.epochs,
        "diverged": run.diverged,
        "summary": {name: value for name, value in run.summary().items() if value == value},
        "origin": run.origin and {**vars(run.origin), "edits": None},
        "data": run.data and run.data.digest(),
        "tags": run.tags,
        "note": run.note,
        "curve_names": hashlib.sha256(" ".join(run.curves).encode()).hexdigest()[:20],
        "curves": digest(*(run.curves[name].astype(np.float64) for name in run.curves)),
        "weights": digest(run.weight_epochs, run.weights),
        "states": digest(run.state_epochs, run.states),
        "steps": run.steps and digest(run.steps.weights, *run.steps.curves.values()),
        "replayed": digest(*(run.parameters(epoch).flat for epoch in replayed)),
        "resumed": resumed(run),
    }


def resumed(run: Any) -> dict[str, str] | None:
    """Three epochs more, from the run's last state."""
    if run.diverged is not None or (run.origin and run.origin.kind == "import"):
        return None
    if run.config.training.schedule == "cosine":
        return None
    longer = run.continued(run.epochs + 3)
    curves = [longer.curves[name] for name in run.curves]
    return {"id": longer.id, "weights": digest(longer.weights), "curves": digest(*curves)}


def main(name: str) -> None:
    out, since = HERE / name, int(name.removeprefix("format-"))
    make_runs(out / "runs", since)
    ds.sweep(GRID, out / "sweep", threads=1, progress=False)
    (out / "sweep" / ".lock").unlink()
    shutil.rmtree(out / "sweep" / ".partial")
    expected = {
        store: {
            "runs": [described(run) for run in ds.load(out / store)],
            "deleted": ds.load(out / store, deleted=True).ids,
            "verdicts": ds.load(out / store).table(["verdict"])["verdict"].to_pylist(),
        }
        for store in ("runs", "sweep")
    }
    (out / "expected.json").write_text(json.dumps(expected, indent=0) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
