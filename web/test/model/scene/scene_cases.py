"""Writes scene_cases.json: what Python computes of some models, for scene.test.ts to compare with.

Run it again only when the model's arithmetic changes: python web/test/model/scene/scene_cases.py
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

import dynascope as ds

CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "line": {"model.dim": 1, "model.hidden": 3, "task.length": 4, "task.relevant": 2},
    "spare class": {
        "model.hidden": 5,
        "model.embeddings": 4,
        "task.vocab": 3,
        "task.length": 5,
        "task.relevant": [1, 4],
        "precision": "float64",
    },
    "eight dimensions": {
        "model.dim": 8,
        "model.hidden": 6,
        "model.bias": False,
        "model.norm": "unit",
        "task.vocab": 3,
        "task.length": 6,
        "task.relevant": 3,
        "precision": "float64",
    },
}
ROWS = 12
STAGES = ("scores", "attention", "hidden", "probabilities")


def plane(points: np.ndarray) -> dict[str, Any]:
    """Two principal axes by singular values, the largest entry of each positive."""
    centred = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    top = np.abs(axes[:2]).argmax(axis=1)
    axes = axes[:2] * np.sign(axes[[0, 1], top])[:, None]
    shares = sizes[:2] ** 2 / (sizes**2).sum()
    return {"axes": axes.tolist(), "shares": shares.tolist(), "mean": points.mean(axis=0).tolist()}


def case(name: str, changes: dict[str, Any]) -> dict[str, Any]:
    config = ds.Config().replace({"training.epochs": 3, "training.batch": 2048, **changes})
    p = ds.initial_parameters(config, seed=5)
    task, length = config.task, config.task.length
    tokens = ds.dataset(task, seed=1, split="test")[0][:ROWS]
    prefixes = np.sort(tokens[:, list(task.positions)], axis=1)
    order = np.lexsort((*prefixes.T[::-1], prefixes.sum(axis=1)))
    tokens = tokens[order]
    found = ds.forward(p, tokens, config.model)
    pairs = ds.forward(p, [[token] * length for token in range(task.vocab)], config.model)
    d = config.model.dim
    panels = {
        "tokens": p["token_embedding"],
        "positions": p["position_embedding"],
        "embeddings": pairs.embedding.reshape(-1, d),
        "normalized": pairs.normalized.reshape(-1, d),
        "values": pairs.values.reshape(-1, d),
        "sequence": found.sequence,
        "sequence_normalized": found.sequence_normalized,
        "receptors": p["receptors"],
        "assemblers": p["assemblers"].T,
        "feed_forward": found.feed_forward,
        "output": found.output,
    }
    wide = {name: np.asarray(each, np.float64) for name, each in panels.items()}
    planes = {name: plane(each) for name, each in wide.items()} if d > 2 else None
    return {
        "name": name,
        "config": config.to_dict(),
        "positions": list(task.positions),
        "embeddings": config.embeddings,
        "shapes": {name: list(shape) for name, shape in config.shapes.items()},
        "weights": p.flat.astype(np.float64).tolist(),
        "tokens": tokens.tolist(),
        "query": np.asarray(p["query"], np.float64).tolist(),
        "panels": {name: each.tolist() for name, each in wide.items()},
        "planes": planes,
        "stages": {s: getattr(found, s).astype(np.float64).ravel().tolist() for s in STAGES},
    }


if __name__ == "__main__":
    written = [case(name, changes) for name, changes in CASES.items()]
    path = Path(__file__).with_name("scene_cases.json")
    path.write_text(json.dumps(written) + "\n")
