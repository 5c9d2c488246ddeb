"""Update rules in PyTorch that torch.optim lacks, or has in another precision; and SAM."""

from collections.abc import Callable, Iterable
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor


class Lion(torch.optim.Optimizer):
    """Lion from the formulas of its paper: the sign of an interpolation, then the momentum."""

    def __init__(self, groups: Any, betas: tuple[float, float], decay: float) -> None:
        super().__init__(groups, {})
        self.betas, self.decay = betas, decay

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            for q in group["params"]:
                m = self.state[q].setdefault("m", torch.zeros_like(q))
                direction = torch.lerp(q.grad, m, self.betas[0]).sign() + self.decay * q
                q -= group["lr"] * direction
                m.copy_(torch.lerp(q.grad, m, self.betas[1]))


class MuonAndAdamW:
    """torch.optim.Muon for some parameters, torch.optim.AdamW for the others."""

    def __init__(
        self, groups: list[dict[str, Any]], matrices: list[Tensor], momentum: float, **adamw: Any
    ) -> None:
        own = {id(q) for q in matrices}

        def those(wanted: bool) -> list[dict[str, Any]]:
            parts = [[q for q in g["params"] if (id(q) in own) is wanted] for g in groups]
            return [{**g, "params": p} for g, p in zip(groups, parts, strict=True) if p]

        decay, adjust = adamw["weight_decay"], "match_rms_adamw"
        rules: list[torch.optim.Optimizer] = [torch.optim.AdamW(those(False), **adamw)]
        if matrices:
            muon = torch.optim.Muon(
                those(True), weight_decay=decay, momentum=momentum, adjust_lr_fn=adjust
            )
            rules.append(muon)
        self.rules = rules

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        return [group for rule in self.rules for group in rule.param_groups]

    def zero_grad(self) -> None:
        for rule in self.rules:
            rule.zero_grad()

    def step(self) -> None:
        """With the Newton-Schulz iteration in the precision of the weights: the one place where
        torch.optim.Muon goes to another is `Tensor.bfloat16`, on a copy that it then changes."""
        with patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone):
            for rule in self.rules:
                rule.step()


def sam(parameters: Iterable[Tensor], rho: float, gradient: Callable[[], object]) -> None:
    """SAM's gradient in place of that at the weights; `gradient` computes it where they are."""
    held = list(parameters)
    with torch.no_grad():
        stood = [q.clone() for q in held]
        ways = [q.grad for q in held if q.grad is not None]
        length = torch.cat([way.flatten() for way in ways]).norm()
        for q, way in zip(held, ways, strict=True):
            q += rho * way / (length + 1e-12)
    gradient()
    with torch.no_grad():
        for q, before in zip(held, stood, strict=True):
            q.copy_(before)
