"""The kernel against its naive twin: every case, both precisions. Needs no PyTorch."""

import numpy as np
import pytest
from cases import CASES, Case, largest, relative

from dynascope import _kernel
from dynascope.model import Call
from dynascope.parameters import Parameters


def both(case: Case, precision: str) -> tuple[float, Parameters, float, Parameters]:
    """Loss and gradient of the kernel in this precision, and of the twin in double precision."""
    tokens, targets = case.examples()
    parameters, config = case.parameters(precision), case.config(precision)
    call = Call(parameters, config.model)
    wide = Call(parameters.astype(np.float64), config.model)
    cuts = call.cuts(case.ablate)
    loss, grad = _kernel.loss_and_gradient(call.flat, call.shape, tokens, targets, *cuts)
    loss2, grad2 = _kernel.loss_and_gradient(
        wide.flat, wide.shape, tokens, targets, *cuts, naive=True
    )
    shapes = parameters.shapes
    return loss, Parameters.from_flat(grad, shapes), loss2, Parameters.from_flat(grad2, shapes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_double_precision(case: Case) -> None:
    loss, grad, loss2, grad2 = both(case, "float64")
    assert loss == pytest.approx(loss2, rel=1e-12)
    size = largest(grad2.values()) if case.cancels else 0.0
    for name in grad:
        assert relative(grad[name], grad2[name], size) < 1e-10, name


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_single_precision(case: Case) -> None:
    loss, grad, loss2, grad2 = both(case, "float32")
    assert loss == pytest.approx(loss2, rel=1e-5, abs=1e-6)
    size = largest(grad2.values()) if case.cancels else 0.0
    for name in grad:
        assert relative(grad[name], grad2[name], size) < 1e-4, name
