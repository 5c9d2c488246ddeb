"""The model and its training in JAX: `jit` of `vmap` over runs of `scan` over epochs and steps.

Tuned by measurement on CPUs, for p=2, d=2, h=32:

- Sequences are in the last axis, so that XLA vectorises over them and not over d = 2 numbers.
- As in our kernel, scores and values are tabulated for all (token, position) pairs; a sequence's
  sums over positions are a product with its one-hot tokens. Twice as fast as embedding each token.
- Shuffles are drawn by NumPy, within the measured time: XLA's sort is some 20 times slower. A full
  batch is not shuffled.
- GELU by `erf`: `jax.nn.gelu` uses the slower `erfc`.
- One process per core with one XLA thread each, twice as fast as one process with all cores.

Covers what the settings need: norm `rms`, gelu, biases, Adam without extras.
"""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax import Array, lax

import dynascope as ds
from processes import repeat_timed, together
from settings import EPOCHS, Measurement

Tree: TypeAlias = dict[str, Array]
State: TypeAlias = tuple[Tree, Tree, Tree, Array]  # weights, first and second moments, steps done

SCANNED_EPOCHS = 4  # per call: enough that a call's overhead does not count
WIDTHS = (4, 16, 64)  # runs per process; the best is reported
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def loss_and_accuracy(params: Tree, tokens: Array, targets: Array, eps: float) -> tuple[Any, Any]:
    """Mean cross-entropy and accuracy; tokens [p, N, B] are one-hot, targets [B]."""
    E, P, V = params["token_embedding"], params["position_embedding"], params["value"]
    d = E.shape[1]
    z = normalize(E[: tokens.shape[0], None] + P, -1, eps)  # [p, N, d]
    scores = z @ params["query"] / math.sqrt(d)
    w = jnp.exp(scores - lax.stop_gradient(scores.max()))[..., None]
    table = jnp.concatenate([w * (z @ V.T), w], axis=-1)  # [p, N, d + 1]
    sums = jnp.einsum("atc,atb->cb", table, tokens)
    xi = sums[:d] / sums[d]  # [d, B]
    pre = params["receptors"] @ normalize(xi, 0, eps) + params["receptor_bias"][:, None]
    hidden = 0.5 * pre * (1.0 + lax.erf(pre * math.sqrt(0.5)))
    psi = xi + params["assemblers"] @ hidden + params["assembler_bias"][:, None]
    logits = E @ psi  # [R, B]
    right = jnp.arange(len(E))[:, None] == targets
    losses = jax.nn.logsumexp(logits, axis=0) - jnp.where(right, logits, 0.0).sum(axis=0)
    return losses.mean(), (logits.argmax(axis=0) == targets).mean()


def normalize(x: Array, axis: int, eps: float) -> Array:
    return x / (jnp.sqrt(jnp.mean(x * x, axis=axis, keepdims=True)) + eps)


def one_hot(tokens: Array, vocab: int) -> Array:
    """[B, N] to [p, N, B]."""
    each = jnp.arange(vocab)[:, None, None]
    return (each == tokens.T).astype(jnp.float32)


def weights(params: ds.Parameters) -> Tree:
    return {name: jnp.asarray(array) for name, array in params.items()}


def arrays(
    data: tuple[npt.NDArray[Any], npt.NDArray[Any]], config: ds.Config
) -> tuple[Array, Array]:
    """Tokens, one-hot, and targets."""
    return one_hot(jnp.asarray(data[0]), config.task.vocab), jnp.asarray(data[1])


def start(params: Tree) -> State:
    zeros = jax.tree.map(jnp.zeros_like, params)
    return params, zeros, zeros, jnp.float32(0)


def step(state: State, tokens: Array, targets: Array, config: ds.Config) -> tuple[State, Tree]:
    """One step of Adam on a batch (tokens one-hot); also the gradient, for its norms."""
    params, first, second, done = state
    t, training = done + 1, config.training
    beta1, beta2 = training.beta1, training.beta2
    gradient = jax.grad(lambda p: loss_and_accuracy(p, tokens, targets, config.model.norm_eps)[0])(
        params
    )
    first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, first, gradient)
    second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, second, gradient)
    size, root = training.lr / (1 - beta1**t), jnp.sqrt(1 - beta2**t)
    params = jax.tree.map(
        lambda p, m, v: p - size * m / (jnp.sqrt(v) / root + training.eps), params, first, second
    )
    return (params, first, second, t), gradient


def epochs_of(config: ds.Config) -> Callable[..., tuple[State, Any]]:
    """The function (state, data, shuffles [epochs, n]) -> (state, records of each epoch)."""
    vocab, batch = config.task.vocab, config.training.batch
    steps = config.task.train_size // batch
    assert steps * batch == config.task.train_size, "scan needs batches of one size"

    def score(params: Tree, tokens: Array, targets: Array) -> tuple[Array, Array]:
        return loss_and_accuracy(params, one_hot(tokens, vocab), targets, config.model.norm_eps)

    def epoch(state: State, data: tuple[Array, ...], order: Array) -> tuple[State, Any]:
        tokens, targets, *test = data

        def some(state: State, indices: Array) -> tuple[State, Tree]:
            x, y = (tokens, targets) if steps == 1 else (tokens[indices], targets[indices])
            state, gradient = step(state, one_hot(x, vocab), y, config)
            return state, jax.tree.map(lambda g: jnp.sqrt((g * g).sum()), gradient)

        state, norms = lax.scan(some, state, order.reshape(steps, batch))
        summary = jax.tree.map(lambda norm: (norm.mean(), norm.max()), norms)
        return state, (score(state[0], tokens, targets), score(state[0], *test), state[0], summary)

    def run(state: State, data: tuple[Array, ...], shuffles: Array) -> tuple[State, Any]:
        return lax.scan(lambda state, order: epoch(state, data, order), state, shuffles)

    return run


class Batch:
    """`width` runs side by side, `SCANNED_EPOCHS` epochs at a time."""

    def __init__(self, config: ds.Config, seeds: range) -> None:
        sets = [[*ds.dataset(config.task, s), *ds.dataset(config.task, s, "test")] for s in seeds]
        params = [weights(ds.initial_parameters(config, seed)) for seed in seeds]
        stacked = jax.tree.map(lambda *each: jnp.stack(each), *params)
        self.data = tuple(
            jnp.asarray(np.stack(each), jnp.int32) for each in zip(*sets, strict=True)
        )
        self.state = jax.vmap(start)(stacked)
        self.random = np.random.default_rng(seeds.start)
        self.orders = np.empty((len(seeds), SCANNED_EPOCHS, config.task.train_size), np.int32)
        self.orders[:] = np.arange(config.task.train_size, dtype=np.int32)
        self.shuffled = config.training.batch < config.task.train_size
        self.run = jax.jit(jax.vmap(epochs_of(config)))

    def advance(self) -> Any:
        """The records, which is also what keeps XLA from leaving them out."""
        if self.shuffled:
            self.random.permuted(self.orders, axis=-1, out=self.orders)
        self.state, records = self.run(self.state, self.data, self.orders)
        return jax.block_until_ready(records)  # type: ignore[no-untyped-call]  # JAX's own gap


@dataclass(frozen=True)
class Job:
    config: ds.Config
    seeds: range
    seconds: float


def seconds_per_epoch(job: Job) -> float:
    batch = Batch(job.config, job.seeds)
    batch.advance()  # compiles
    return repeat_timed(batch.advance, job.seconds)[0] / SCANNED_EPOCHS / len(job.seeds)


def measure(
    config: ds.Config, cores: int, seconds: float, widths: tuple[int, ...] = WIDTHS
) -> Measurement:
    """The best of several widths, tried upwards until a wider one is no faster."""
    os.environ["XLA_FLAGS"] = ONE_THREAD  # for the processes to come
    first, *wider = widths
    found = _measure_width(config, cores, seconds, first)
    for width in wider:
        other = _measure_width(config, cores, seconds, width)
        if other.seconds_per_run >= found.seconds_per_run:
            break
        found = other
    return found


def _measure_width(config: ds.Config, cores: int, seconds: float, width: int) -> Measurement:
    jobs = [Job(config, range(i * width, (i + 1) * width), seconds) for i in range(cores)]
    times = together(seconds_per_epoch, jobs)
    return Measurement(
        seconds_per_run=sum(times) / cores * EPOCHS / cores,
        how=f"{cores} processes of one thread, {width} runs side by side in each",
    )
