"""What theory finds of the curvature of a run, as JSON takes it; eigenvectors are left out."""

from typing import Any

from dynascope.plain import plain
from dynascope.theory import Curvature, Plateau


def curvature_json(found: Curvature) -> dict[str, Any]:
    """The curvature after an epoch, and in words."""
    return {
        **plain(found),
        "spectrum": _without_vectors(found.spectrum),
        "sharpness": plain(found.sharpness),
        "told": found.describe(),
    }


def plateau_json(found: Plateau) -> dict[str, Any]:
    """A plateau, what it is, and in words."""
    judged = {name: plain(getattr(found, name)) for name in ("verdict", "confirmed", "growth")}
    return {
        **plain(found),
        **judged,
        "spectrum": _without_vectors(found.spectrum),
        "told": found.describe(),
    }


def _without_vectors(spectrum: Any) -> dict[str, Any]:
    parts: dict[str, Any] = plain(spectrum)
    return {name: value for name, value in parts.items() if name not in ("top", "bottom")}
