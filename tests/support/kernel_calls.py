"""A call of every function of the compiled kernel, with inputs on which rounding shows.

As a program it makes them all under hostile floating-point modes, and prints what went wrong: it is
its own process because the instruction set is chosen at import, and since a signal would end it.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from float_modes import MODES, PLAIN, SIGNALS, FloatModes

import dynascope as ds
from dynascope import _kernel
from dynascope.model import config_shape, kernel_training
from dynascope.tasks import task_of

CONFIG = ds.Config().replace(
    {
        "task.length": 6,
        "task.vocab": 3,
        "task.relevant": 3,
        "task.train_size": 64,
        "task.test_size": 32,
        "model.dim": 3,
        "model.hidden": 5,
        "model.norm": "none",
        "training.schedule": "cosine",
        "training.warmup": 2,
        "training.epochs": 4,
    }
)
TINY = {"float32": 1e-22, "float64": 1e-161}  # the product of two is subnormal


@dataclass(frozen=True)
class Call:
    """`run` calls one function of the kernel, with what `prepare` made."""

    function: str
    inputs: str
    prepare: Callable[[], tuple[Any, ...]]
    run: Callable[..., Any]


def calls() -> Iterator[Call]:
    yield from _plain_calls()
    for precision in ("float32", "float64"):
        config = CONFIG.replace({"precision": precision})
        weights = ds.initial_parameters(config, 1)
        for size, scale in {"": 1.0, ", tiny": TINY[precision]}.items():
            flat = (weights.flat * scale).astype(precision)
            yield from _evaluations(config, flat, precision + size)
            # Steps of plain descent keep tiny weights tiny.
            rule = config.replace({"training.optimizer": "sgd"}) if size else config
            yield from _trainings(rule, flat, precision + size)


def _plain_calls() -> Iterator[Call]:
    """Those that have no weights."""
    k, task = _kernel, CONFIG.task.kernel
    shape, training = config_shape(CONFIG), kernel_training(CONFIG.training)
    tokens, _ = ds.dataset(CONFIG.task, 0)
    tables = CONFIG.to_dict()
    points = np.linspace(0.1, 3, 40).reshape(10, 4) ** 3
    parts = np.array([0.1, 0.2, 0.3, 0.7])
    tasks = {"name": "products", "length": 6, "vocab": 3, "positions": [0, 1, 2, 3]}
    products = k.TaskSpec(**tasks)
    large = k.TaskSpec(name="modular-addition", length=40, vocab=50, positions=list(range(30)))
    options = {"vocab": 3, "length": 6, "model": tables["model"]}
    plain: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "isa": (k.isa, ()),
        "usable_isas": (k.usable_isas, ()),
        "catalog": (k.catalog, ()),
        "catalog_hash": (k.catalog_hash, ()),
        "symmetrize": (lambda: _symmetrized(points[:4]), ()),
        "plane": (k.plane, (points,)),
        "is_variance": (k.is_variance, (1e-9, 0.1, 1e-8)),
        "variance_shares": (k.variance_shares, (parts, 1e-12)),
        "initialize32": (k.initialize32, (shape, 3)),
        "initialize64": (k.initialize64, (shape, 3)),
        "draw": (k.draw, (50, 6, 7, 3, 1)),
        "enumerate": (k.enumerate, (27, 3, 3)),
        "shuffled": (k.shuffled, (100, 3, 1)),
        "Shape": (lambda: bool(k.Shape(**options)), ()),
        "Training": (lambda given: bool(k.Training(given)), (tables["training"],)),
        "Training.learning_rate": (training.learning_rate, (4, 9)),
        "Training.unbias": (training.unbias, (7,)),
        "TaskSpec": (lambda: bool(k.TaskSpec(**tasks)), ()),
        "TaskSpec.groups": (lambda: large.groups, ()),
        "TaskSpec.targets": (task.targets, (tokens,)),
        "TaskSpec.canonical": (task.canonical, (tokens[:, :3].copy(),)),
        "TaskSpec.group_names": (task.group_names, (tokens[:, :3].copy(),)),
        "TaskSpec.exchangeable": (task.exchangeable, ()),
        "TaskSpec.class_shares": (products.class_shares, ()),
        "TaskSpec.design": (task.design, ()),
    }
    for name, (function, arguments) in plain.items():
        yield Call(name, "", lambda arguments=arguments: arguments, function)


def _symmetrized(matrix: Any) -> Any:
    made = matrix.copy()
    _kernel.symmetrize(made)
    return made


def _evaluations(config: ds.Config, flat: Any, inputs: str) -> Iterator[Call]:
    k, shape = _kernel, config_shape(config)
    tokens, targets = ds.dataset(config.task, 0)
    directions = np.sin(np.arange(5 * flat.size, dtype=np.float64)).reshape(5, -1)
    design = task_of(config).design().arguments
    x = np.concatenate([np.linspace(-9, 9, 50), [TINY[config.precision] ** 2]])
    numbers = x.astype(config.precision)
    of_weights: dict[str, tuple[Any, ...]] = {
        "loss_and_gradient": (flat, shape, tokens, targets),
        "inspect": (flat, shape, tokens, {}),
        "evaluate": (flat[None], shape, tokens, targets),
        "circuits": (flat[None], shape, *design, []),
    }
    if config.precision == "float64":
        tiny_squares = ((flat / abs(flat).max() * 1e-80)[None], shape, *design, ["embedding"])
        yield Call("circuits", f"{inputs}, tiny squares", lambda: tiny_squares, k.circuits)
        of_weights["hessian_products"] = (flat, shape, tokens, targets, directions)
        task, counts = config.task.kernel, np.zeros((2, 6, 3, 3), np.int32)
        counts[0, :3] = np.eye(3)
        of_weights["kept_sums"] = (flat[None], shape, task, 0.98, 1e-28, False)
        of_weights["sum_shares"] = (flat[None], shape, task, counts, 1, [4], 1e-28)
    for name, arguments in of_weights.items():
        yield Call(name, inputs, lambda arguments=arguments: arguments, getattr(k, name))
    naive = of_weights["loss_and_gradient"]
    yield Call(
        "loss_and_gradient",
        f"{inputs}, naive",
        lambda: naive,
        lambda *a: k.loss_and_gradient(*a, naive=True),
    )
    for name in ("exp", "log", "erf", "gelu", "silu_slope", "tanh_bend"):
        # The kernel takes the logarithm of normal positive numbers only.
        x = abs(numbers) + numbers.dtype.type(0.1) if name == "log" else numbers
        yield Call("math", f"{inputs}, {name}", lambda name=name, x=x: (name, x), k.math)


def _trainings(config: ds.Config, flat: Any, inputs: str) -> Iterator[Call]:
    kind = "Trainer32" if config.precision == "float32" else "Trainer64"
    examples = [task_of(config).examples(0, split) for split in ("train", "test", "unseen")]
    made = (config_shape(config), kernel_training(config.training), examples, 5, flat, None)

    def make() -> Any:
        return getattr(_kernel, kind)(*made, True, True)

    def ready() -> tuple[Any]:
        trainer = make()
        trainer.advance(2, 3)
        return (trainer,)

    curves = np.empty((1, len(_kernel.CURVE_NAMES)), flat.dtype)

    def record(trainer: Any) -> Any:
        trainer.record_now(curves)
        return curves.copy()

    snapshot = ready()[0].snapshot()
    runs: dict[str, Callable[[Any], Any]] = {
        "advance": lambda trainer: trainer.advance(2, 2**40),
        "record_now": record,
        "epoch": lambda trainer: trainer.epoch,
        "step": lambda trainer: trainer.step,
        "step_in_epoch": lambda trainer: trainer.step_in_epoch,
        "diverged": lambda trainer: trainer.diverged,
        "parameters": lambda trainer: trainer.parameters(),
        "set_parameters": lambda trainer: trainer.set_parameters(flat),
        "state": lambda trainer: trainer.state(),
        "set_state": lambda trainer: trainer.set_state(snapshot[0][:3], 2, 4),
        "snapshot": lambda trainer: trainer.snapshot(),
        "restore": lambda trainer: trainer.restore(*snapshot),
    }
    yield Call(kind, inputs, lambda: (), make)
    for name, run in runs.items():
        yield Call(f"{kind}.{name}", inputs, ready, run)


def bound_functions() -> set[str]:
    """The names of all that the extension offers, methods and properties of its classes too."""
    names = set()
    for name, value in vars(_kernel).items():
        if name.startswith("_") or not callable(value):
            continue
        names.add(name)
        if isinstance(value, type):
            names |= {f"{name}.{member}" for member in vars(value) if not member.startswith("_")}
    return names


def encoded(value: Any) -> bytes:
    """Every bit of a result."""
    if isinstance(value, np.ndarray):
        return str((value.dtype, value.shape)).encode() + value.tobytes()
    if isinstance(value, dict):
        value = [part for key in sorted(value) for part in (key, value[key])]
    if isinstance(value, list | tuple):
        return b"".join(encoded(part) for part in value)
    if hasattr(value, "snapshot"):
        value = encoded(value.snapshot())
    if isinstance(value, bytes | str | int | None):
        return repr(value).encode()
    return value.hex().encode() if isinstance(value, float) else type(value).__name__.encode()


def made(call: Call, modes: FloatModes, mode: int) -> str:
    """The call under a mode, as a hash; what it worked on counts as well."""
    arguments = call.prepare()
    modes.write(mode)
    result = call.run(*arguments)
    after = modes.read()
    modes.write(PLAIN)
    if after != mode:
        return f"left the mode {mode:#x} as {after:#x}"
    return hashlib.sha256(encoded([result, *arguments[:1]])).hexdigest()


def main() -> None:
    modes = FloatModes(Path(sys.argv[1]))
    wrong, hashes = [], {}
    for call in calls():
        hashes[f"{call.function} ({call.inputs})"] = friendly = made(call, modes, PLAIN)
        for name, mode in {**MODES, **SIGNALS}.items():
            if made(call, modes, mode) != friendly:
                wrong.append([call.function, call.inputs, name])
    print(json.dumps({"isa": _kernel.isa(), "wrong": wrong, "hashes": hashes}))


if __name__ == "__main__":
    main()
