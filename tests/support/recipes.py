"""Runs as the page saves them, for tests of what opens and stores these."""

import base64
import json
from typing import Any

import dynascope as ds

SMALL = ds.Config().replace({"task.train_size": 64, "training.batch": 20, "training.epochs": 8})


def recipe(**parts: Any) -> dict[str, Any]:
    """Seed 3 of a small config, but for what is told otherwise."""
    return {
        **{"dynascope": "0.1.0", "recipe": 1, "config": SMALL.to_dict(), "seed": 3},
        **{"epochs": 8, "changes": []},
        **parts,
    }


def recipe_bytes(**parts: Any) -> bytes:
    return json.dumps(recipe(**parts)).encode()


def packed(parameters: ds.Parameters) -> str:
    return base64.b64encode(parameters.flat.tobytes()).decode()
