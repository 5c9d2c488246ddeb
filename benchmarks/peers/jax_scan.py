"""The model and its training in JAX: `jit` of `vmap` over runs of `scan` over epochs and steps.

Two versions. *Plain*: the model as it reads, each token embedded, `jax.nn.gelu`, shuffles by
`jax.random` within the scan, one process with XLA's own threads: what one would write. *Tuned*, by
measurement on CPUs for p=2, d=2, h=32, and with our kernel's idea:

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


def plain_loss_and_accuracy(
    params: Tree, tokens: Array, targets: Array, eps: float
) -> tuple[Any, Any]:
    """The same from tokens [B, N], as the formulas say it."""
    E, d = params["token_embedding"], params["query"].shape[0]
    z = normalize(E[tokens] + params["position_embedding"], -1, eps)  # [B, N, d]
    attention = jax.nn.softmax(z @ params["query"] / math.sqrt(d), axis=-1)
    xi = jnp.einsum("bt,btc->bc", attention, z @ params["value"].T)
    pre = normalize(xi, -1, eps) @ params["receptors"].T + params["receptor_bias"]
    hidden = jax.nn.gelu(pre, approximate=False)
    psi = xi + hidden @ params["assemblers"].T + params["assembler_bias"]
    log_p = jax.nn.log_softmax(psi @ E.T, axis=-1)
    loss = -jnp.take_along_axis(log_p, targets[:, None], axis=-1).mean()
    return loss, (log_p.argmax(axis=-1) == targets).mean()


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


def step(
    state: State, tokens: Array, targets: Array, config: ds.Config, plain: bool = False
) -> tuple[State, Tree]:
    """One step of Adam on a batch (one-hot unless plain); also the gradient, for its norms."""
    loss = plain_loss_and_accuracy if plain else loss_and_accuracy
    params, first, second, done = state
    t, training = done + 1, config.training
    beta1, beta2 = training.beta1, training.beta2
    gradient = jax.grad(lambda p: loss(p, tokens, targets, config.model.norm_eps)[0])(params)
    first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, first, gradient)
    second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, second, gradient)
    size, root = training.lr / (1 - beta1**t), jnp.sqrt(1 - beta2**t)
    params = jax.tree.map(
        lambda p, m, v: p - size * m / (jnp.sqrt(v) / root + training.eps), params, first, second
    )
    return (params, first, second, t), gradient


def epochs_of(config: ds.Config, plain: bool) -> Callable[..., tuple[State, Any]]:
    """The function (state, data, shuffles) -> (state, records of each epoch).

    `shuffles`: orders [epochs, n], or keys [epochs, ...] to draw them from when plain.
    """
    vocab, batch = config.task.vocab, config.training.batch
    steps = config.task.train_size // batch
    assert steps * batch == config.task.train_size, "scan needs batches of one size"

    def score(params: Tree, tokens: Array, targets: Array) -> tuple[Array, Array]:
        if plain:
            return plain_loss_and_accuracy(params, tokens, targets, config.model.norm_eps)
        return loss_and_accuracy(params, one_hot(tokens, vocab), targets, config.model.norm_eps)

    def epoch(state: State, data: tuple[Array, ...], order: Array) -> tuple[State, Any]:
        tokens, targets, *test = data
        if plain:
            order = jax.random.permutation(order, config.task.train_size)

        def some(state: State, indices: Array) -> tuple[State, Tree]:
            x, y = (tokens, targets) if steps == 1 else (tokens[indices], targets[indices])
            state, gradient = step(state, x if plain else one_hot(x, vocab), y, config, plain)
            return state, jax.tree.map(lambda g: jnp.sqrt((g * g).sum()), gradient)

        state, norms = lax.scan(some, state, order.reshape(steps, batch))
        summary = jax.tree.map(lambda norm: (norm.mean(), norm.max()), norms)
        return state, (score(state[0], tokens, targets), score(state[0], *test), state[0], summary)

    def run(state: State, data: tuple[Array, ...], shuffles: Array) -> tuple[State, Any]:
        return lax.scan(lambda state, order: epoch(state, data, order), state, shuffles)

    return run


class Batch:
    """`width` runs side by side, `SCANNED_EPOCHS` epochs at a time."""

    def __init__(self, config: ds.Config, seeds: range, plain: bool) -> None:
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
        self.key = jax.random.key(seeds.start) if plain else None
        self.run = jax.jit(jax.vmap(epochs_of(config, plain)))

    def advance(self) -> Any:
        """The records, which is also what keeps XLA from leaving them out."""
        shuffles: Any = self.orders
        if self.key is not None:
            self.key, use = jax.random.split(self.key)
            shuffles = jax.random.split(use, self.orders.shape[:2])
        elif self.shuffled:
            self.random.permuted(self.orders, axis=-1, out=self.orders)
        self.state, records = self.run(self.state, self.data, shuffles)
        return jax.block_until_ready(records)  # type: ignore[no-untyped-call]  # JAX's own gap


@dataclass(frozen=True)
class Job:
    config: ds.Config
    seeds: range
    seconds: float
    plain: bool


def seconds_per_epoch(job: Job) -> float:
    batch = Batch(job.config, job.seeds, job.plain)
    batch.advance()  # compiles
    return repeat_timed(batch.advance, job.seconds)[0] / SCANNED_EPOCHS / len(job.seeds)


def measure(
    config: ds.Config,
    cores: int,
    seconds: float,
    widths: tuple[int, ...] = WIDTHS,
    plain: bool = False,
) -> Measurement:
    """The best of several widths, tried upwards until a wider one is no faster."""
    os.environ["XLA_FLAGS"] = "" if plain else ONE_THREAD  # for the processes to come
    first, *wider = widths
    found = _measure_width(config, cores, seconds, first, plain)
    for width in wider:
        other = _measure_width(config, cores, seconds, width, plain)
        if other.seconds_per_run >= found.seconds_per_run:
            break
        found = other
    return found


def _measure_width(
    config: ds.Config, cores: int, seconds: float, width: int, plain: bool
) -> Measurement:
    processes = 1 if plain else cores
    jobs = [
        Job(config, range(i * width, (i + 1) * width), seconds, plain) for i in range(processes)
    ]
    times = together(seconds_per_epoch, jobs)
    kind = "1 process, XLA's threads" if plain else f"{cores} processes of one thread"
    return Measurement(
        seconds_per_run=sum(times) / processes * EPOCHS / processes,
        how=f"{kind}, {width} runs side by side in each",
    )
