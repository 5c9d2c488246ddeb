"""What `/api/store` says, whoever answers: the server, an exported file, a notebook."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dynascope import version

VERSION = 1
Offer = Literal["table", "curvature", "docs", "save"]  # what not everybody who answers has


@dataclass(frozen=True)
class Shown:
    """What is to be shown first."""

    run: str | None = None
    epoch: int | None = None
    beside: str | None = None  # another run


def about_answers(name: str, shown: Shown, offers: Sequence[Offer]) -> dict[str, object]:
    """The part that is the same for all."""
    return {
        "api": VERSION,
        "dynascope": version.__version__,
        "name": name,
        "shown": vars(shown),
        "offers": offers,
    }
