"""Do all implementations compute the same thing? Run before anything is timed.

At the same weights and data: loss and gradient of the engine, of eager PyTorch and of JAX; then the
weights after a few steps of Adam on the same batches, PyTorch's optimizer against ours in JAX.
Differences are relative to the largest number of each parameter, and float32 rounds at 6e-8.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional as F

import dynascope as ds
from peers import eager

TOLERANCE = 2e-4
STEPS = 5

Arrays = Mapping[str, npt.NDArray[np.float32]]


class DisagreementError(Exception):
    """Two implementations differ by more than rounding: timing them would compare two things."""


def check_peers(config: ds.Config, with_jax: bool) -> dict[str, float]:
    """The greatest difference of each comparison; raises if one is too large."""
    tokens, targets = (part[: config.training.batch] for part in ds.dataset(config.task))
    params = ds.initial_parameters(config, seed=0)
    loss, gradient = ds.loss_and_gradient(params, tokens, targets, config.model)
    ours = {"loss": np.asarray(loss), **gradient}
    found = {"eager gradient": difference(ours, eager_gradient(config, tokens, targets))}
    if with_jax:
        found["JAX gradient"] = difference(ours, jax_gradient(config, tokens, targets))
        found["JAX and eager steps"] = difference(eager_weights(config), jax_weights(config))
    for name, size in found.items():
        if not size < TOLERANCE:
            raise DisagreementError(f"{name}: differs by {size:.1e}, expected below {TOLERANCE}")
    return found


def difference(a: Arrays, b: Arrays) -> float:
    assert a.keys() == b.keys()
    return max(float(np.abs(a[name] - b[name]).max() / np.abs(a[name]).max()) for name in a)


def eager_gradient(
    config: ds.Config, tokens: npt.NDArray[np.int64], targets: npt.NDArray[np.int64]
) -> Arrays:
    model = eager.Run(config, seed=0).model
    loss = F.cross_entropy(model(torch.from_numpy(tokens)), torch.from_numpy(targets))
    names, weights = zip(*model.named_parameters(), strict=True)
    gradients = torch.autograd.grad(loss, weights)
    return {"loss": loss.detach().numpy()} | {
        name: g.numpy() for name, g in zip(names, gradients, strict=True)
    }


def jax_gradient(
    config: ds.Config, tokens: npt.NDArray[np.int64], targets: npt.NDArray[np.int64]
) -> Arrays:
    import jax

    from peers import jax_scan

    def loss(params: jax_scan.Tree) -> jax.Array:
        x = jax_scan.one_hot(jax.numpy.asarray(tokens), config.task.vocab)
        return jax_scan.loss_and_accuracy(params, x, jax.numpy.asarray(targets), 1e-5)[0]

    value, gradient = jax.value_and_grad(loss)(dict(ds.initial_parameters(config, seed=0)))
    return {"loss": np.asarray(value)} | {name: np.asarray(g) for name, g in gradient.items()}


def eager_weights(config: ds.Config) -> Arrays:
    run = eager.Run(config, seed=0)
    for tokens, targets in _batches(config):
        run.step(torch.from_numpy(tokens), torch.from_numpy(targets))
    return dict(run.model.to_parameters())


def jax_weights(config: ds.Config) -> Arrays:
    import jax

    from peers import jax_scan

    state = jax_scan.start(dict(ds.initial_parameters(config, seed=0)))
    for tokens, targets in _batches(config):
        x = jax_scan.one_hot(jax.numpy.asarray(tokens), config.task.vocab)
        state, _ = jax_scan.step(state, x, jax.numpy.asarray(targets), config)
    return {name: np.asarray(weight) for name, weight in state[0].items()}


def _batches(
    config: ds.Config,
) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    tokens, targets = ds.dataset(config.task)
    size = config.training.batch
    return [(tokens[i : i + size], targets[i : i + size]) for i in range(0, STEPS * size, size)]
