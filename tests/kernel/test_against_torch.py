"""The kernel against PyTorch's automatic differentiation, in double precision, over all cases."""

import numpy as np
import pytest
import reference
import torch
from cases import CASES, Case, largest, relative

import dynascope as ds
from dynascope.model import STAGES
from dynascope.torch import Transformer

IDS = [case.name for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_forward(case: Case) -> None:
    _check_stages(case, "float64", 1e-10)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_forward_in_single_precision(case: Case) -> None:
    _check_stages(case, "float32", 1e-4)


def _check_stages(case: Case, precision: str, limit: float) -> None:
    tokens, _ = case.examples()
    p, model = case.parameters(precision), case.config(precision).model
    got = ds.forward(p, tokens, model, ablate=case.ablate)
    wanted = reference.forward(
        reference.tensors(p), torch.as_tensor(tokens).long(), model, case.ablate
    )
    for name in STAGES:
        assert relative(getattr(got, name), wanted[name].numpy()) < limit, name


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_gradient(case: Case) -> None:
    tokens, targets = case.examples()
    p, model = case.parameters("float64"), case.config("float64").model
    loss, grad = ds.loss_and_gradient(p, tokens, targets, model, ablate=case.ablate)
    leaves = reference.tensors(p, grad=True)
    wanted = reference.loss(leaves, tokens, targets, model, case.ablate)
    wanted.backward()
    assert loss == pytest.approx(wanted.item(), rel=1e-12)
    _assert_close(grad, {name: leaf.grad for name, leaf in leaves.items()}, case)


@pytest.mark.parametrize("case", [case for case in CASES if not case.ablate], ids=lambda c: c.name)
def test_our_module(case: Case) -> None:
    """`dynascope.torch` is the same model: logits and gradients."""
    tokens, targets = case.examples()
    p, config = case.parameters("float64"), case.config("float64")
    module = Transformer.from_parameters(p, config).double()
    logits = module(torch.as_tensor(tokens).long())
    loss = torch.nn.functional.cross_entropy(logits, torch.as_tensor(targets).long())
    loss.backward()
    want, grad = ds.loss_and_gradient(p, tokens, targets, config.model)
    assert loss.item() == pytest.approx(want, rel=1e-12)
    _assert_close(grad, {name: p.grad for name, p in module.named_parameters()}, case)


def _assert_close(grad: ds.Parameters, wanted: dict[str, torch.Tensor | None], case: Case) -> None:
    arrays = {name: tensor.numpy() for name, tensor in wanted.items() if tensor is not None}
    assert set(arrays) == set(grad)
    size = largest(arrays.values()) if case.cancels else 0.0
    for name in grad:
        assert relative(grad[name], arrays[name], size) < 1e-10, name


PATCHED = [stage for stage in STAGES if stage != "probabilities"]


@pytest.mark.parametrize("stage", PATCHED)
@pytest.mark.parametrize("dim", [2, 5])
def test_a_patch_reaches_all_later_stages(stage: str, dim: int) -> None:
    """Earlier stages stay, later ones follow, whether the patch is an array or a function."""
    config = ds.Config(model=ds.ModelConfig(dim=dim), precision="float64")
    tokens, _ = ds.dataset(config.task, 0)
    p = ds.initial_parameters(config, 0)
    plain = ds.forward(p, tokens[:20], config.model)
    doubled = ds.forward(p, tokens[:20], config.model, patch={stage: lambda value: 2 * value})
    given = ds.forward(p, tokens[:20], config.model, patch={stage: 2 * getattr(plain, stage)})
    for name in STAGES:
        np.testing.assert_array_equal(getattr(doubled, name), getattr(given, name))
    before = STAGES[: STAGES.index(stage)]
    for name in before:
        np.testing.assert_array_equal(getattr(doubled, name), getattr(plain, name))
    np.testing.assert_array_equal(getattr(doubled, stage), 2 * getattr(plain, stage))
    rebuilt = _from(stage, doubled, p, config.model)
    assert relative(doubled.probabilities, rebuilt) < 1e-12


def _from(stage: str, act: ds.Activations, p: ds.Parameters, model: ds.ModelConfig) -> np.ndarray:
    """Probabilities recomputed by PyTorch from the patched stage on."""
    t = {name: torch.tensor(getattr(act, name)) for name in STAGES}
    q = reference.tensors(p)
    later = STAGES[STAGES.index(stage) + 1 :]
    if "normalized" in later:
        t["normalized"] = reference.norm(t["embedding"], model)
    if "scores" in later:
        t["scores"] = t["normalized"] @ q["query"] / model.dim**0.5
    if "attention" in later:
        t["attention"] = torch.softmax(t["scores"], -1)
    if stage in ("embedding", "normalized"):
        t["values"] = t["normalized"] @ q["value"].T
    if "sequence" in later:
        t["sequence"] = (t["attention"][..., None] * t["values"]).sum(1)
    if "sequence_normalized" in later:
        t["sequence_normalized"] = reference.norm(t["sequence"], model)
    if "hidden" in later:
        pre = t["sequence_normalized"] @ q["receptors"].T + q["receptor_bias"]
        t["hidden"] = torch.nn.functional.gelu(pre)
    if "feed_forward" in later:
        t["feed_forward"] = t["hidden"] @ q["assemblers"].T + q["assembler_bias"]
    if "output" in later:
        t["output"] = t["sequence"] + t["feed_forward"]
    if "logits" in later:
        t["logits"] = t["output"] @ q["token_embedding"].T
    return torch.softmax(t["logits"], -1).numpy()
