"""What happened in a run, as the server tells it: all that analyses find, as JSON takes it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dynascope.analysis.rows import attempt, circuit_of, plain
from dynascope.engine import Status
from dynascope.run import Run

Check = Callable[[], None]  # raises when nobody wants the answer any more

_SHARES = 200  # epochs at which shares of the variance are told: a pixel or two each
_HESSIANS = 9  # epochs at which the curvature is told: each takes a second


def analysis(run: Run, check: Check) -> bytes:
    """Circuit, phases, spikes, and the shares of the variance over the run."""
    makers: dict[str, Callable[[Run], Any]] = {
        "circuit": circuit_of,
        "alias": _alias,
        "phases": _phases,
        "spikes": _spikes,
        "shares": _shares,
    }
    return _told(run.loaded(), makers, check)


def curvature(run: Run, check: Check) -> bytes:
    """The exact curvature along the run, and whether its plateaus are saddles."""

    def stopping(status: Status) -> None:
        check()

    makers: dict[str, Callable[[Run], Any]] = {
        "curvature": lambda run: _curvature(run, stopping),
        "plateaus": lambda run: _plateaus(run, stopping),
    }
    return _told(run.loaded(), makers, check)


def joined(first: bytes, second: bytes) -> bytes:
    """Two of these answers in one."""
    a, b = json.loads(first), json.loads(second)
    return json.dumps({**a, **b, "notes": {**a["notes"], **b["notes"]}}).encode()


def _told(run: Run, makers: Mapping[str, Callable[[Run], Any]], check: Check) -> bytes:
    found: dict[str, Any] = {}
    notes = {}
    for name, maker in makers.items():
        check()
        found[name], note = attempt(maker, run)
        if note is not None:
            notes[name] = note
    return json.dumps({**plain(found), "notes": notes}, allow_nan=False).encode()


def _alias(run: Run) -> Any:
    from dynascope.analysis.alias import alias
    from dynascope.analysis.follow import check_symmetries, last_sound_epoch

    check_symmetries(run)
    return alias(run.parameters(last_sound_epoch(run)), run.config)


def _phases(run: Run) -> dict[str, Any]:
    from dynascope.analysis.phases import phases

    found = phases(run)
    return {**plain(found), "told": found.describe()}


def _spikes(run: Run) -> dict[str, Any]:
    from dynascope.analysis.spikes import spikes

    found = spikes(run)
    each = [
        {**plain(spike), "rise": spike.rise, "told": spike.describe()} for spike in found.spikes
    ]
    return {**plain(found), "spikes": each}


def _shares(run: Run) -> dict[str, Any]:
    from dynascope.analysis.follow import kept_epochs, shares

    epochs = _spread(kept_epochs(run, "variance shares"), _SHARES)
    names = ("between", "permutation", "suffix")
    return {"epochs": epochs, **dict(zip(names, shares(run, epochs).T, strict=True))}


def _curvature(run: Run, report: Callable[[Status], None]) -> list[dict[str, Any]]:
    from dynascope.analysis.follow import last_sound_epoch
    from dynascope.theory import curvature

    epochs = _spread(range(last_sound_epoch(run) + 1), _HESSIANS)
    found = curvature(run, epochs, progress=report)
    return [
        {
            **plain(each),
            "spectrum": _without_vectors(each.spectrum),
            "sharpness": each.sharpness,
            "told": each.describe(),
        }
        for each in found
    ]


def _plateaus(run: Run, report: Callable[[Status], None]) -> list[dict[str, Any]]:
    from dynascope.theory import saddles

    return [
        {
            **plain(each),
            "spectrum": _without_vectors(each.spectrum),
            "verdict": each.verdict,
            "told": each.describe(),
        }
        for each in saddles(run, progress=report)
    ]


def _without_vectors(spectrum: Any) -> dict[str, Any]:
    told: dict[str, Any] = plain(spectrum)
    return {name: value for name, value in told.items() if name not in ("top", "bottom")}


def _spread(epochs: Any, most: int) -> list[int]:
    """At most so many of the epochs, evenly, the first and the last among them.

    >>> _spread(range(101), 5)
    [0, 25, 50, 75, 100]
    """
    at = np.unique(np.linspace(0, len(epochs) - 1, min(most, len(epochs))).round().astype(int))
    return [int(epochs[i]) for i in at]
