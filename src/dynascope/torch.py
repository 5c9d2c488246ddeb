"""The model as a PyTorch module, for people who want to hook it, patch it or differentiate it.

Needs the extra `torch`. Weights go both ways (`from_parameters`, `to_parameters`); for training,
the engine is far faster. The two round differently, and training is chaotic: they agree on a
gradient, not on a run of many steps.

Each step of the forward pass is a submodule with the name that its result has in
`dynascope.Activations`, so a hook on it sees, and may replace, that result:

    model = Transformer.from_parameters(run.parameters(1000), config)
    seen = {}
    model.attention.register_forward_hook(lambda module, args, out: seen.update(attention=out))
    model(tokens)
"""

import math
from collections.abc import Mapping

from dynascope.config import Config, ModelConfig
from dynascope.errors import expected
from dynascope.extras import needing
from dynascope.parameters import Parameters

with needing("torch", "dynascope.torch", "torch"):
    import torch

from torch import Tensor, nn
from torch.nn import functional as F

ACTIVATIONS = {"gelu": nn.GELU, "relu": nn.ReLU, "silu": nn.SiLU, "tanh": nn.Tanh}


class Normalize(nn.Module):
    """The four norms, over the last axis; d is its size.

        rms     x / (|x| / sqrt(d) + eps)
        unit    x / (|x| + eps)
        smooth  sqrt(d) s(|x| / tau) x / |x|,  s(t) = 6t^5 - 15t^4 + 10t^3 up to 1, then 1
        none    x

    At x = 0 value and gradient are the limits, and 0 where there is none: never NaN.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm, self.eps, self.tau = config.norm, config.norm_eps, config.norm_tau

    def forward(self, x: Tensor) -> Tensor:
        if self.norm == "none":
            return x
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)  # its gradient at 0 is 0
        root = math.sqrt(x.shape[-1])
        if self.norm == "rms":
            return self._divide(x, length / root)
        if self.norm == "unit":
            return self._divide(x, length)
        # Both branches are kept finite everywhere: autograd multiplies the one not taken by 0,
        # and 0 times infinity is NaN. The inner one is s(t) / t, which needs no division.
        t = (length / self.tau).clamp(max=1.0)
        inside = x * (root / self.tau) * (t * t * ((6.0 * t - 15.0) * t + 10.0))
        outside = x * root / length.clamp(min=self.tau)
        return torch.where(length < self.tau, inside, outside)

    def _divide(self, x: Tensor, size: Tensor) -> Tensor:
        if self.eps >= torch.finfo(x.dtype).tiny:
            return x / (size + self.eps)
        zero = size == 0.0
        return torch.where(zero, 0.0, x / torch.where(zero, 1.0, size))

    def extra_repr(self) -> str:
        return f"{self.norm!r}, eps={self.eps}, tau={self.tau}"


class Transformer(nn.Module):
    """One block with one query: tokens [..., N] to logits [..., R], R the rows of E.

    Its weights have the names, the shapes and the order of `Parameters`.
    """

    token_embedding: nn.Parameter  # E [R, d]
    position_embedding: nn.Parameter  # P [N, d]
    query: nn.Parameter  # q [d]
    value: nn.Parameter  # V [d, d]
    receptors: nn.Parameter  # W [h, d]
    receptor_bias: nn.Parameter | None  # b1 [h]
    assemblers: nn.Parameter  # U [d, h]
    assembler_bias: nn.Parameter | None  # b2 [d]

    def __init__(self, config: Config, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self._set_up(config.model, initial_weights(config, generator))

    @classmethod
    def from_parameters(cls, params: Parameters, config: Config | ModelConfig) -> "Transformer":
        """The module with a copy of these weights, in their precision."""
        model = config.model if isinstance(config, Config) else config
        _check(params, model)
        module = cls.__new__(cls)  # the shapes are those of `params`: nothing is to be drawn
        nn.Module.__init__(module)
        module._set_up(model, {name: torch.tensor(array) for name, array in params.items()})
        return module

    def to_parameters(self) -> Parameters:
        """A copy of the weights, in the module's precision."""
        weights = self.named_parameters()
        return Parameters({name: weight.detach().cpu().numpy().copy() for name, weight in weights})

    def forward(self, tokens: Tensor) -> Tensor:
        E, P, q, V = self.token_embedding, self.position_embedding, self.query, self.value
        z = self.normalized(self.embedding(E[tokens] + P))  # [..., N, d]
        a = self.attention(self.scores(z @ q / math.sqrt(len(q))))  # [..., N]
        v = self.values(z @ V.T)  # [..., N, d]
        xi = self.sequence((a.unsqueeze(-2) @ v).squeeze(-2))  # [..., d]
        pre = F.linear(self.sequence_normalized(xi), self.receptors, self.receptor_bias)
        out = F.linear(self.hidden(pre), self.assemblers, self.assembler_bias)
        psi = self.output(xi + self.feed_forward(out))
        logits: Tensor = self.logits(psi @ E.T)
        return logits

    def _set_up(self, model: ModelConfig, weights: Mapping[str, Tensor]) -> None:
        for name, weight in weights.items():
            self.register_parameter(name, nn.Parameter(weight))
        if not model.bias:
            self.register_parameter("receptor_bias", None)
            self.register_parameter("assembler_bias", None)
        self.embedding = nn.Identity()
        self.normalized = Normalize(model)
        self.scores = nn.Identity()
        self.attention = nn.Softmax(dim=-1)
        self.values = nn.Identity()
        self.sequence = nn.Identity()
        self.sequence_normalized = Normalize(model)
        self.hidden = ACTIVATIONS[model.activation]()
        self.feed_forward = nn.Identity()
        self.output = nn.Identity()
        self.logits = nn.Identity()


def initial_weights(config: Config, generator: torch.Generator | None = None) -> dict[str, Tensor]:
    """PyTorch's defaults: N(0, 1) for embeddings, else U(-1/sqrt(fan_in), 1/sqrt(fan_in)).

    The same distribution as `dynascope.initial_parameters`, but PyTorch's random numbers.
    """
    dtype = torch.float64 if config.precision == "float64" else torch.float32
    weights = {}
    for name, shape in config.shapes.items():
        weights[name] = weight = torch.empty(shape, dtype=dtype)
        if name in ("token_embedding", "position_embedding"):
            weight.normal_(generator=generator)
        else:
            into = config.model.hidden if name.startswith("assembler") else config.model.dim
            weight.uniform_(-1 / math.sqrt(into), 1 / math.sqrt(into), generator=generator)
    return weights


def _check(params: Parameters, model: ModelConfig) -> None:
    hidden, dim = params.receptors.shape
    for name, got in (("dim", dim), ("hidden", hidden), ("bias", "receptor_bias" in params)):
        if getattr(model, name) != got:
            raise expected(f"model.{name}", f"{got}, as in the parameters", getattr(model, name))
