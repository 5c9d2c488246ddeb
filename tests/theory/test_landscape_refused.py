"""Slices of the loss that are refused, in one sentence."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from landscapes import SIZE, SMALL, TARGETS, TOKENS, P, around, axis, one_sentence, sliced, trained

import dynascope as ds
from dynascope.theory import landscape, landscape_around

NAN = axis(0) * np.nan
WIDE = ds.initial_parameters(SMALL.replace({"model.hidden": 5}))
BAD_AROUND: dict[str, tuple[Callable[[], object], str]] = {
    "two points": (lambda: around(points=2), "points: expected a whole number from 3 to"),
    "too many points": (lambda: around(points=10**6), "points: expected a whole number from 3"),
    "points are real": (lambda: around(points=5.0), "points: expected a whole number"),
    "no extent": (lambda: around(extent=0), "extent: expected a finite number above 0"),
    "infinite extent": (lambda: around(extent=np.inf), "extent: expected a finite number"),
    "extent is text": (lambda: around(extent="1"), "extent: expected a finite number"),
    "misspelt": (lambda: around("negativ"), "but got 'negativ'; did you mean 'negative'?"),
    "no epochs here": (lambda: around("epochs"), "directions: expected one of 'negative', 'sh"),
    "directions None": (lambda: around(None), "directions: expected a name or a pair"),
    "one direction": (lambda: around((axis(0),)), "directions: expected a name or a pair"),
    "three": (lambda: around([axis(0)] * 3), "directions: expected a name or a pair"),
    "wrong length": (
        lambda: around((axis(0), [1.0, 2.0])),
        f"directions[1]: expected ds.Parameters or their {SIZE} numbers, but got an array of fl",
    ),
    "wrong shapes": (lambda: around((P, WIDE)), "directions[1]: expected shapes {'token_"),
    "text": (lambda: around((axis(0), "sharp")), "directions[1]: expected ds.Parameters or"),
    "complex": (lambda: around((axis(0), axis(1) * 1j)), "directions[1]: expected ds.Param"),
    "ragged": (lambda: around((axis(0), [[1.0], [1.0, 2.0]])), "directions[1]: expected"),
    "NaN": (lambda: around((NAN, axis(1))), "directions[0]: expected finite numbers, but got nan"),
    "NaN by name": (
        lambda: around((P, P * np.nan)),
        "directions[1].token_embedding: expected finite numbers",
    ),
    "one line": (lambda: around((axis(2), -3 * axis(2))), "directions: expected two that span"),
    "no length": (lambda: around((axis(2), 0 * axis(2))), "directions: expected two that span"),
    "too long": (lambda: around((axis(2) * 1e300, axis(3) * 1e300)), "directions: expected two"),
    "moves the frozen": (
        lambda: around((axis(0), axis(1)), frozen=["token_embedding"]),
        "directions[0]: expected no move of frozen weights",
    ),
    "unknown frozen": (lambda: around(frozen=["keys"]), "training.frozen: expected"),
    "all frozen": (
        lambda: around("sharp", frozen=list(P)),
        "training.frozen: expected at least two weights that are not frozen, but got 0",
    ),
    "all zero": (
        lambda: landscape_around(0 * P, TOKENS, TARGETS, SMALL, "random"),
        "parameters: expected weights to scale random directions by",
    ),
    "bad seed": (lambda: around(seed=-1), "seed: expected a whole number from 0"),
    "no threads": (lambda: around(threads=0), "threads: expected a whole number from 1"),
    "no data": (
        lambda: landscape_around(P, TOKENS[:0], TARGETS[:0], SMALL),
        "tokens: give at least one sequence",
    ),
    "missing targets": (
        lambda: landscape_around(P, TOKENS, TARGETS[:5], SMALL),
        "targets: expected 64 targets",
    ),
    "long sequences": (
        lambda: landscape_around(P, np.zeros((3, 9), int), [0, 1, 0], SMALL),
        "tokens: expected sequences of length 4",
    ),
    "another model": (
        lambda: landscape_around(WIDE, TOKENS, TARGETS, SMALL),
        "model.hidden: expected 5, as in the parameters",
    ),
    "no parameters": (
        lambda: landscape_around(P.flat, TOKENS, TARGETS, SMALL),  # type: ignore[arg-type]
        "parameters: expected ds.Parameters",
    ),
    "NaN weights": (
        lambda: landscape_around(P * np.nan, TOKENS, TARGETS, SMALL),
        "parameters.token_embedding: expected finite numbers",
    ),
    "overflow": (
        lambda: landscape_around(
            P.astype("float64") * 1e200, TOKENS, TARGETS, SMALL.replace({"model.norm": "none"})
        ),
        "parameters: expected weights with a finite Hessian",
    ),
}
BAD_RUN: dict[str, tuple[dict[str, Any], str]] = {
    "misspelt": ({"directions": "epoch"}, "but got 'epoch'; did you mean 'epochs'?"),
    "no toward": ({"directions": "epochs"}, "toward: expected the two other epochs of the plane"),
    "one epoch": ({"directions": "epochs", "toward": (3,)}, "toward: expected the two other"),
    "a number": ({"directions": "epochs", "toward": 3}, "toward: expected the two other epochs"),
    "toward without": ({"toward": (0, 1)}, "toward: expected nothing unless directions='epochs'"),
    "same epoch": (
        {"directions": "epochs", "toward": (3, 3)},
        "toward: expected two epochs that span a plane with epoch 30, but got 3 and 3, on one li",
    ),
    "itself": ({"directions": "epochs", "toward": (3, 30)}, "toward: expected two epochs that"),
    "beyond": ({"directions": "epochs", "toward": (0, 31)}, "epoch: expected a whole number fro"),
    "no such epoch": ({"epoch": 31}, "epoch: expected a whole number from 0 to 30, but got 31"),
    "half an epoch": ({"epoch": 1.5}, "epoch: expected a whole number from 0 to 30"),
    "no such split": ({"split": "trian"}, "but got 'trian'; did you mean 'train'?"),
    "points": ({"points": 1}, "points: expected a whole number from 3"),
    "threads": ({"threads": -2}, "threads: expected a whole number from 1"),
}


@pytest.mark.parametrize("name", BAD_AROUND)
def test_bad_input(name: str) -> None:
    one_sentence(*BAD_AROUND[name])


@pytest.mark.parametrize("name", BAD_RUN)
def test_bad_input_with_a_run(name: str) -> None:
    options, wanted = BAD_RUN[name]
    one_sentence(lambda: sliced(trained(), **options), wanted)


def test_a_run_is_needed_and_one_line_shows() -> None:
    one_sentence(lambda: landscape(P), "run: expected a ds.Run")  # type: ignore[arg-type]
    still = trained(training__lr=1e-30)
    options: dict[str, Any] = {"directions": "epochs", "toward": (0, 9)}
    one_sentence(lambda: sliced(still, **options), "toward: expected two epochs that span")
