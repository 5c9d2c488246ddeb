"""The model as a PyTorch module: weights both ways, hook points, and norms at the origin."""

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from dynascope import Config, DynascopeError, ModelConfig, Parameters, catalog
from dynascope.torch import Normalize, Transformer

NORMS = catalog.OPTIONS["model.norm"].words
DTYPES = [torch.float32, torch.float64]
SMALL = Config().replace({"model.dim": 3, "model.hidden": 5, "model.embeddings": 4})
TOKENS = torch.tensor([[0, 1] * 6, [1, 1, 0] * 4])


def small(**changes: object) -> Transformer:
    config = SMALL.replace({f"model.{name}": value for name, value in changes.items()})
    return Transformer(config, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_survive_a_round_trip(bias: bool, dtype: torch.dtype) -> None:
    config = SMALL.replace({"model.bias": bias})
    first = small(bias=bias).to(dtype)
    params = first.to_parameters()
    second = Transformer.from_parameters(params, config.model)
    assert isinstance(params, Parameters)
    assert list(params) == list(config.shapes) == list(first.state_dict())
    assert torch.equal(first(TOKENS), second(TOKENS))
    assert second(TOKENS).dtype == dtype
    for name, array in second.to_parameters().items():
        np.testing.assert_array_equal(array, params[name])


def test_parameters_are_copies() -> None:
    model = small()
    params = model.to_parameters()
    before = params["query"].copy()
    other = Transformer.from_parameters(params, SMALL)
    with torch.no_grad():
        model.query.add_(1.0)
        other.query.add_(1.0)
    np.testing.assert_array_equal(params["query"], before)


def test_weights_that_do_not_fit_the_config_are_refused() -> None:
    params = small().to_parameters()
    with pytest.raises(DynascopeError, match=r"model\.bias: expected True, as in the parameters"):
        Transformer.from_parameters(params, ModelConfig(dim=3, hidden=5, bias=False))
    with pytest.raises(DynascopeError, match=r"model\.hidden: expected 5, .* but got 6"):
        Transformer.from_parameters(params, ModelConfig(dim=3, hidden=6))


def test_initial_weights_are_the_generators_and_in_their_range() -> None:
    weights = small().state_dict()
    assert all(torch.equal(weight, weights[name]) for name, weight in small().state_dict().items())
    for name in ("query", "value", "receptors", "receptor_bias"):
        assert weights[name].abs().max() <= 1 / math.sqrt(3)
    assert weights["assemblers"].abs().max() <= 1 / math.sqrt(5)
    assert small().double().query.dtype == torch.float64


def test_a_hook_sees_each_step() -> None:
    model = small()
    shapes: dict[str, tuple[int, ...]] = {}
    for name, module in model.named_children():
        module.register_forward_hook(
            lambda module, args, out, name=name: shapes.update({name: tuple(out.shape)})
        )
    model(TOKENS)
    each = {"embedding": 3, "normalized": 3, "values": 3}
    whole = {"sequence": 3, "sequence_normalized": 3, "hidden": 5, "feed_forward": 3, "output": 3}
    assert shapes == {
        **{name: (2, 12, size) for name, size in each.items()},
        **{name: (2, size) for name, size in whole.items()},
        "scores": (2, 12),
        "attention": (2, 12),
        "logits": (2, 4),
    }


def test_a_hook_can_replace_a_step() -> None:
    model = small()
    model.attention.register_forward_hook(lambda module, args, a: torch.full_like(a, 1 / 12))
    seen: dict[str, torch.Tensor] = {}
    for name in ("values", "sequence"):
        model.get_submodule(name).register_forward_hook(
            lambda module, args, out, name=name: seen.update({name: out})
        )
    model(TOKENS)
    torch.testing.assert_close(seen["sequence"], seen["values"].mean(dim=1))


def norm(kind: str, **options: Any) -> Normalize:
    return Normalize(ModelConfig(norm=kind, **options))  # type: ignore[arg-type]  # from a list


@pytest.mark.parametrize("kind", NORMS)
@pytest.mark.parametrize("eps", [1e-5, 0.0])
@pytest.mark.parametrize("dtype", DTYPES)
def test_norms_are_finite_at_and_near_the_origin(kind: str, eps: float, dtype: torch.dtype) -> None:
    for size in (0.0, 1e-30, 1e-15, 1.0, 1e15):
        x = torch.tensor([[size, -size, 0.0]], dtype=dtype, requires_grad=True)
        y = norm(kind, norm_eps=eps)(x)
        (slope,) = torch.autograd.grad(y.sum(), x)
        assert y.isfinite().all()
        assert slope.isfinite().all()
        assert size > 0 or not y.any()


@pytest.mark.parametrize(("kind", "length"), [("rms", math.sqrt(3)), ("unit", 1.0)])
def test_normalised_lengths(kind: str, length: float) -> None:
    x = torch.tensor([[3.0, -4.0, 12.0]], dtype=torch.float64)
    assert norm(kind, norm_eps=0.0)(x).norm().item() == pytest.approx(length)


def test_smooth_is_rms_from_tau_on_and_half_of_it_halfway() -> None:
    x = torch.tensor([0.0, 0.6, 0.8], dtype=torch.float64)  # of length 1; s(1/2) = 1/2
    smooth, rms = norm("smooth", norm_tau=1.0), norm("rms", norm_eps=0.0)
    torch.testing.assert_close(smooth(x), rms(x))
    torch.testing.assert_close(smooth(x / 2), rms(x) / 2)


def test_without_pytorch_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['torch'] = None; import dynascope.torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith(
        "dynascope.torch: torch is not installed; run: pip install 'dynascope[torch]'."
    )
