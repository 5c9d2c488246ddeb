"""Random weights of random shapes, for the kernel in WebAssembly and in Python."""

from dataclasses import asdict
from typing import Any

import numpy as np

import dynascope as ds
from dynascope import _kernel
from dynascope.model import kernel_shape
from dynascope.tasks import Design, task_of


class Weights:
    """Random weights of a random shape, random sequences, and what is done to them."""

    def __init__(self, index: int) -> None:
        rng = np.random.default_rng(index)
        self.rng = rng
        pick = rng.choice
        self.precision = "float64" if index % 2 else "float32"
        self.dtype = np.dtype(self.precision)
        self.model = ds.ModelConfig(
            dim=index % 8 + 1,
            hidden=int(pick([1, 7, 16, 19, 32, 40])),
            bias=bool(index % 3),
            activation=("gelu", "relu", "silu")[index % 5 % 3],
            norm=("rms", "unit", "smooth", "none")[index % 7 % 4],
            norm_eps=float(pick([0, 1e-5, 0.3])),
            norm_tau=float(pick([0.2, 1, 5])),
        )
        self.vocab = int(pick([2, 2, 3, 5, 16, 17, 20]))
        self.rows = self.vocab + int(pick([0, 0, 1, 4]))  # of the embedding
        self.length = int(pick([1, 3, 5, 7, 11, 12, 13]))
        self.seed = int(rng.integers(2**53))
        made = [self._weights(self.seed + i) for i in (0, 1, 2)]
        self.weights, self.several = made[0], np.stack(made)
        count = int(rng.integers(1, 40))
        self.tokens = rng.integers(self.rows, size=(count, self.length), dtype=np.int32)
        self.task_tokens = self.tokens % self.vocab
        self.targets = rng.integers(self.rows, size=count, dtype=np.int32)
        self.ablate = {
            "positions": sorted({int(i) for i in rng.integers(self.length, size=2)})[
                : self.length - 1
            ],
            "hidden": [int(rng.integers(self.model.hidden))],
        }
        self.patch = self._patch(
            ("normalized", "scores", "values", "sequence", "hidden")[index % 5]
        )
        self.grid = self._grid()
        self.crossed = self._crossed()

    def shape(self, vocab: int) -> _kernel.Shape:
        sizes = {"vocab": vocab, "embeddings": self.rows, "length": self.length}
        return kernel_shape(self.model, sizes)

    def _weights(self, seed: int) -> Any:
        make = _kernel.initialize64 if self.precision == "float64" else _kernel.initialize32
        flat = make(self.shape(self.vocab), seed % 2**53)
        return flat * self.dtype.type(self.rng.choice([1, 1, 1, 0.01, 30, 1000]))

    def _patch(self, stage: str) -> dict[str, Any]:
        plain = _kernel.inspect(self.weights, self.shape(self.rows), self.tokens, {})[stage]
        return {stage: self.rng.normal(size=plain.shape).astype(self.dtype)}

    def _grid(self) -> dict[str, Any]:
        sizes = {
            "origin": self.model.dim,
            "a": self.model.dim,
            "b": self.model.dim,
            "x": 19,
            "y": 5,
        }
        return {name: self.rng.normal(size=size) for name, size in sizes.items()}

    def _crossed(self) -> Design:
        """All sequences of a short task; else a small sample."""
        k = int(self.rng.integers(1, min(3, self.length) + 1))
        positions = sorted(self.rng.choice(self.length, k, replace=False).tolist())
        task = ds.TaskConfig(length=self.length, vocab=self.vocab, relevant=positions)
        if task.sequences <= 4096:
            return task_of(task).design()
        drawn = self.rng.integers(self.vocab, size=(4, k), dtype=np.int32)
        prefixes = self.rng.permuted(np.repeat(drawn, 3, axis=0), axis=1)
        suffixes = self.rng.integers(self.vocab, size=(9, self.length - k), dtype=np.int32)
        groups = np.arange(0, 13, 3, dtype=np.int32)
        return Design(task, prefixes, groups, suffixes, sampled=True)

    def case(self) -> dict[str, Any]:
        sizes = {"vocab": self.vocab, "embeddings": self.rows, "length": self.length}
        return {
            "kind": "everything",
            "model": {**asdict(self.model), **sizes, "precision": self.precision},
            "seed": self.seed,
            "weights": self.weights,
            "rows": self.several,
            "tokens": self.tokens,
            "task_tokens": self.task_tokens,
            "targets": self.targets,
            "ablate": self.ablate,
            "patch": self.patch,
            "grid": self.grid,
            "crossed": sent(self.crossed),
        }

    def wanted(self) -> dict[str, dict[str, Any]]:
        """What Python computes, by part."""
        whole, own = self.shape(self.rows), self.shape(self.vocab)
        cuts = [np.zeros(n, np.uint8) for n in (self.length, self.model.hidden)]
        for cut, part in zip(cuts, ("positions", "hidden"), strict=True):
            cut[self.ablate[part]] = 1
        make = _kernel.initialize64 if self.precision == "float64" else _kernel.initialize32
        changed = _kernel.inspect(self.weights, whole, self.tokens, self.patch, *cuts)
        loss, accuracy = _kernel.evaluate(self.several, own, self.task_tokens, self.targets)
        found = _kernel.circuits(self.weights[None], own, *self.crossed.arguments, [])
        return {
            "inspect": _kernel.inspect(self.weights, whole, self.tokens, {}),
            "changed": {f"changed_{name}": array for name, array in changed.items()},
            "grid": {f"grid_{stage}": self._decoded(stage) for stage in ("sequence", "output")},
            "loss": {"loss": loss, "accuracy": accuracy},
            "gradient": {**self._gradient("", []), **self._gradient("cut_", cuts)},
            "circuit": {f"circuit_{name}": array for name, array in found.items()},
            "initial": {"initial": make(own, self.seed)},
        }

    def _decoded(self, stage: str) -> Any:
        g = self.grid
        x, y = g["x"][None, :, None], g["y"][:, None, None]
        points = (g["origin"] + x * g["a"] + y * g["b"]).reshape(-1, self.model.dim)
        patch = {stage: points.astype(self.dtype)}
        tokens = np.zeros((len(points), self.length), np.int32)
        return _kernel.inspect(self.weights, self.shape(self.rows), tokens, patch)["logits"]

    def _gradient(self, name: str, cuts: list[Any]) -> dict[str, Any]:
        shape, data = self.shape(self.rows), (self.tokens, self.targets)
        loss, grad = _kernel.loss_and_gradient(self.weights, shape, *data, *cuts)
        return {f"{name}mean_loss": loss, f"{name}gradient": grad}


def sent_task(task: ds.TaskConfig) -> dict[str, Any]:
    """A task as TypeScript has it."""
    names = ("name", "length", "vocab", "positions")
    return {name: getattr(task, name) for name in names}


def sent(crossed: Design) -> dict[str, Any]:
    """A design as TypeScript has it."""
    return {
        **sent_task(crossed.task),
        "positions": np.array(crossed.task.positions, np.int32),
        "prefixes": crossed.prefixes,
        "prefixCount": len(crossed.prefixes),
        "groups": crossed.groups,
        "suffixes": crossed.suffixes,
        "suffixCount": len(crossed.suffixes),
        "sampled": crossed.sampled,
    }
