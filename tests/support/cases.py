"""One table of models, by category: every option and odd sizes. Tests run over all of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dynascope as ds


@dataclass(frozen=True)
class Case:
    """A config (dotted changes of the default), a number of sequences, and what is done to it."""

    category: str
    changes: dict[str, Any] = field(default_factory=dict)
    count: int = 50
    seed: int = 1
    scale: dict[str, float] = field(default_factory=dict)  # parameters multiplied by this
    ablate: dict[str, list[int]] | None = None
    tied: bool = False  # scores depend on the token alone, up to ties; see _tie
    # Some parameter's gradient is a difference of nearly equal numbers in every implementation (one
    # position takes all attention; d=1, where a norm leaves only the sign): its error is measured
    # against the largest entry of the whole gradient.
    cancels: bool = False

    @property
    def name(self) -> str:
        told = [f"{key.split('.')[1]}={value}" for key, value in self.changes.items()]
        told += [f"{key}*{value:g}" for key, value in self.scale.items()]
        told += [f"cut {part}" for part in self.ablate or {}]
        told += ["tied scores"] if self.tied else []
        told += [f"n={self.count}"] if self.count != 50 else []
        return f"{self.category}: {' '.join(told) or 'default'}"

    def config(self, precision: str) -> ds.Config:
        return ds.Config().replace({**self.changes, "precision": precision})

    def parameters(self, precision: str) -> ds.Parameters:
        """Initial weights, the same in both precisions but for rounding; biases and all nonzero."""
        wide = ds.initial_parameters(self.config("float64"), self.seed)
        for name, factor in self.scale.items():
            wide[name][...] *= factor
        if self.tied:
            _tie(wide)
        return wide.astype(precision)

    def examples(self) -> tuple[Any, Any]:
        task = self.config("float64").replace({"task.train_size": max(self.count, 32)}).task
        tokens, targets = ds.dataset(task, self.seed, "train")
        return tokens[: self.count], targets[: self.count]


def _tie(p: ds.Parameters) -> None:
    """Scores 0 for token 0 and far below for all others, whatever the position, with values that
    differ: a sequence without token 0 has only negligible weights, all equal."""
    p.query[:] = 0
    p.query[0] = 1000
    p.position_embedding[:, 0] = 0
    p.token_embedding[:, 0] = -np.arange(len(p.token_embedding)) * 1.5


def _each(category: str, key: str, values: list[Any], **common: Any) -> list[Case]:
    changes = {name.replace("__", "."): value for name, value in common.items()}
    return [Case(category, {**changes, key: value}) for value in values]


SHORT = {"task.length": 3, "task.relevant": 2, "model.norm": "none"}
CASES = [
    Case("default"),
    Case("dimension", {"model.dim": 1}, cancels=True),
    Case("dimension", {"model.dim": 1, "model.embeddings": 20}, cancels=True),
    Case("dimension", {"model.dim": 1, "task.length": 40}, cancels=True),
    *_each("dimension", "model.dim", [3, 4, 5, 8, 16, 17, 33]),
    *_each("hidden units", "model.hidden", [1, 7, 16, 17, 33, 100]),
    *_each("hidden units, large d", "model.hidden", [1, 7, 17], model__dim=6),
    *_each("norm", "model.norm", ["unit", "smooth", "none"]),
    *_each("norm, large d", "model.norm", ["rms", "unit", "smooth", "none"], model__dim=7),
    *_each("norm, eps", "model.norm_eps", [0.0, 0.3], model__norm="unit"),
    *_each("norm, eps", "model.norm_eps", [0.0, 0.3], model__norm="rms"),
    *_each("norm, tau", "model.norm_tau", [0.2, 5.0], model__norm="smooth"),
    *_each("activation", "model.activation", ["relu", "silu"]),
    *_each("activation, large d", "model.activation", ["gelu", "relu", "silu"], model__dim=5),
    *_each("no biases", "model.dim", [2, 3, 9], model__bias=False),
    *_each("vocabulary", "task.vocab", [3, 4, 5, 10, 16, 17, 300]),
    *_each("vocabulary, large d", "task.vocab", [3, 17], model__dim=5),
    *_each("length", "task.length", [1, 2, 11, 33, 70], task__relevant=1),
    *_each("length and vocabulary", "task.length", [20, 40], task__vocab=7),
    *_each("relevant positions", "task.relevant", [1, 12, [2, 7, 11]]),
    *_each("more embeddings than tokens", "model.embeddings", [3, 5, 40]),
    *[Case("number of sequences", count=n) for n in (1, 2, 15, 16, 17, 31, 32, 33, 100)],
    *[Case("number of sequences, large d", {"model.dim": 5}, count=n) for n in (1, 17, 33)],
    *[
        Case("query far out", {"model.dim": d}, scale={"query": 1000}, cancels=True)
        for d in (2, 3, 6)
    ],
    Case("query far out", {"task.vocab": 20}, scale={"query": 1000}, cancels=True),
    Case("query far out", {"model.norm": "none"}, scale={"query": 300}, cancels=True),
    *[Case("query far out", {**SHORT, "model.dim": d}, tied=True) for d in (2, 3, 5)],
    Case("query far out", {**SHORT, "task.vocab": 20}, tied=True),
    Case("query far out", {**SHORT, "task.vocab": 3}, tied=True, ablate={"positions": [1]}),
    Case(
        "zero vectors", {"model.norm": "rms"}, scale={"token_embedding": 0, "position_embedding": 0}
    ),
    Case("zero vectors", {"model.norm": "unit", "model.norm_eps": 0.0}, scale={"value": 0}),
    Case("zero vectors", {"model.norm": "smooth"}, scale={"value": 0}),
    Case("zero vectors", {"model.norm": "smooth", "model.dim": 5}, scale={"value": 0}),
    Case("short vectors", {"model.norm": "smooth"}, scale={"value": 1e-3}),
    Case("short vectors", {"model.norm": "rms"}, scale={"value": 1e-3}),
    Case("confident", scale={"token_embedding": 30}),
    Case("steep feed-forward", scale={"receptors": 30}),
    Case("ablation", ablate={"positions": [0, 5, 11]}),
    Case("ablation", ablate={"hidden": [0, 1, 31]}),
    Case("ablation", {"model.dim": 5}, ablate={"positions": [3], "hidden": [2, 17]}),
    Case("ablation", ablate={"positions": list(range(11)), "hidden": list(range(32))}),
    Case("ablation", scale={"query": 1000}, ablate={"positions": [0, 3]}, cancels=True),
]
assert len({case.name for case in CASES}) == len(CASES)


def relative(got: Any, wanted: Any, size: float = 0.0) -> float:
    """Largest error relative to the largest entry wanted, or to `size` (1 where all are zero)."""
    size = size or float(np.abs(wanted).max(initial=0.0))
    return float(np.abs(np.asarray(got) - wanted).max(initial=0.0)) / (size or 1.0)


def largest(arrays: Iterable[Any]) -> float:
    return max(float(np.abs(array).max(initial=0.0)) for array in arrays)
