"""The model in PyTorch, written from PAPER's formulas alone and differentiated automatically."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

import dynascope as ds


def norm(x: Tensor, model: ds.ModelConfig) -> Tensor:
    """Differentiable at 0, where the derivative is its limit (0 where there is none)."""
    if model.norm == "none":
        return x
    d, square = x.shape[-1], (x * x).sum(-1, keepdim=True)
    at_zero = square == 0
    length = torch.where(at_zero, torch.ones_like(square), square).sqrt()
    length = torch.where(at_zero, torch.zeros_like(square), length)
    if model.norm == "smooth":
        t = length / model.norm_tau
        inside = t**2 * (6 * t**2 - 15 * t + 10) / model.norm_tau
        outside = 1 / torch.where(t < 1, torch.ones_like(t), length)
        return math.sqrt(d) * torch.where(t < 1, inside, outside) * x
    below = (length / math.sqrt(d) if model.norm == "rms" else length) + model.norm_eps
    return torch.where(below == 0, torch.zeros_like(x), x / torch.where(below == 0, 1.0, below))


def forward(
    p: dict[str, Tensor],
    tokens: Tensor,
    model: ds.ModelConfig,
    ablate: dict[str, Any] | None = None,
) -> dict[str, Tensor]:
    ablate = ablate or {}
    d = p["query"].shape[0]
    embedding = p["token_embedding"][tokens] + p["position_embedding"]
    z = norm(embedding, model)
    scores = z @ p["query"] / math.sqrt(d)
    cut = torch.zeros(tokens.shape[1], dtype=torch.bool)
    cut[list(ablate.get("positions", []))] = True
    attention = torch.softmax(scores.masked_fill(cut, -math.inf), dim=-1)
    values = z @ p["value"].T
    xi = (attention[..., None] * values).sum(1)
    x = norm(xi, model)
    activation = {"gelu": F.gelu, "relu": F.relu, "silu": F.silu}[model.activation]
    hidden = activation(x @ p["receptors"].T + p.get("receptor_bias", torch.zeros(1).double()))
    alive = torch.ones(hidden.shape[1], dtype=hidden.dtype)
    alive[list(ablate.get("hidden", []))] = 0
    hidden = hidden * alive
    feed_forward = hidden @ p["assemblers"].T + p.get("assembler_bias", torch.zeros(1).double())
    output = xi + feed_forward
    logits = output @ p["token_embedding"].T
    return {
        "embedding": embedding,
        "normalized": z,
        "scores": scores,
        "attention": attention,
        "values": values,
        "sequence": xi,
        "sequence_normalized": x,
        "hidden": hidden,
        "feed_forward": feed_forward,
        "output": output,
        "logits": logits,
        "probabilities": torch.softmax(logits, dim=-1),
    }


def tensors(parameters: ds.Parameters, grad: bool = False) -> dict[str, Tensor]:
    """Double-precision tensors of the parameters' exact values."""
    return {
        name: torch.tensor(array, dtype=torch.float64, requires_grad=grad)
        for name, array in parameters.items()
    }


def loss(
    p: dict[str, Tensor], tokens: Any, targets: Any, model: ds.ModelConfig, ablate: Any = None
) -> Tensor:
    logits = forward(p, torch.as_tensor(tokens).long(), model, ablate)["logits"]
    return F.cross_entropy(logits, torch.as_tensor(targets).long())
