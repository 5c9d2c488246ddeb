"""Do all implementations compute the same thing? Run before anything is timed.

At the same weights and data: loss and gradient of the engine, of eager PyTorch and of JAX; then the
weights after a few steps of Adam on the same batches, PyTorch's optimizer against ours in JAX.
Differences are relative to the largest number of each parameter, and float32 rounds at 6e-8.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional as F

import dynascope as ds
from peers import eager

TOLERANCE = 1e-4
STEPS = 5

Array: TypeAlias = npt.NDArray[Any]
Batches: TypeAlias = list[tuple[Array, Array]]


class DisagreementError(Exception):
    """Two implementations differ by more than rounding: timing them would compare two things."""


def check_peers(config: ds.Config, with_jax: bool) -> dict[str, float]:
    """The greatest difference of each comparison; raises if one is too large."""
    params = ds.initial_parameters(config, seed=0)
    batches = first_batches(config)
    loss, gradient = ds.loss_and_gradient(params, *batches[0], config.model)
    ours = {"loss": np.asarray(loss), **gradient}
    found = {"eager gradient": difference(ours, eager_gradient(config, *batches[0]))}
    if with_jax:
        found["JAX gradient"] = difference(ours, jax_gradient(params, *batches[0], config, True))
        tuned = jax_gradient(params, *batches[0], config, False)
        found["tuned JAX gradient"] = difference(ours, tuned)
        steps = eager_weights(config, batches), jax_weights(params, batches, config)
        found["JAX and eager Adam"] = difference(*steps)
    for name, size in found.items():
        if not size < TOLERANCE:
            raise DisagreementError(f"{name}: differs by {size:.1e}, expected below {TOLERANCE}")
    return found


def first_batches(config: ds.Config) -> Batches:
    tokens, targets = ds.dataset(config.task)
    size = config.training.batch
    return [(tokens[i : i + size], targets[i : i + size]) for i in range(0, STEPS * size, size)]


def difference(a: Mapping[str, Array], b: Mapping[str, Array]) -> float:
    assert a.keys() == b.keys()
    return max(float(np.abs(a[name] - b[name]).max() / np.abs(a[name]).max()) for name in a)


def eager_gradient(config: ds.Config, tokens: Array, targets: Array) -> dict[str, Array]:
    model = eager.Run(config, seed=0).model
    x, y = eager.tensors((tokens, targets))
    loss = F.cross_entropy(model(x), y)
    names, weights = zip(*model.named_parameters(), strict=True)
    gradients = [gradient.numpy() for gradient in torch.autograd.grad(loss, weights)]
    return {"loss": loss.detach().numpy(), **dict(zip(names, gradients, strict=True))}


def eager_weights(config: ds.Config, batches: Batches) -> dict[str, Array]:
    run = eager.Run(config, seed=0)
    for batch in batches:
        run.step(*eager.tensors(batch))
    return dict(run.model.to_parameters())


def jax_gradient(
    params: ds.Parameters, tokens: Array, targets: Array, config: ds.Config, plain: bool
) -> dict[str, Array]:
    import jax
    import jax.numpy as jnp

    from peers import jax_scan

    x, y = jax_scan.arrays((tokens, targets), config)
    x = jnp.asarray(tokens) if plain else x
    loss_of = jax_scan.plain_loss_and_accuracy if plain else jax_scan.loss_and_accuracy
    both = jax.jit(jax.value_and_grad(loss_of, has_aux=True))
    (loss, _), gradient = both(jax_scan.weights(params), x, y, config.model.norm_eps)
    return {"loss": np.asarray(loss), **{name: np.asarray(g) for name, g in gradient.items()}}


def jax_weights(params: ds.Parameters, batches: Batches, config: ds.Config) -> dict[str, Array]:
    import jax

    from peers import jax_scan

    step = jax.jit(jax_scan.step, static_argnames="config")
    state = jax_scan.start(jax_scan.weights(params))
    for batch in batches:
        state, _ = step(state, *jax_scan.arrays(batch, config), config=config)
    return {name: np.asarray(weight) for name, weight in state[0].items()}
