"""Two runs of the authors' released code, as it wrote them."""

import pickle
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parents[1] / "data" / "authors-runs"
TWO, THREE = (
    SAMPLES / "5edc28a00c2f442797bbf940e430f7fd",
    SAMPLES / ("8023df16219b4a78a32a8ad0a6230e98"),
)


def by_torch(file: Path) -> Any:
    """A file of theirs, as their own code would read it."""
    return pickle.loads(file.read_bytes())
