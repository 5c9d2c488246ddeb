"""Types of the compiled kernel (kernel/python.cpp)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_Array = npt.NDArray[Any]
_Int = npt.NDArray[np.int32]

PARAMETER_NAMES: tuple[str, ...]
CURVE_NAMES: tuple[str, ...]
STEP_CURVE_NAMES: tuple[str, ...]
TASK_GROUPINGS: dict[str, str]
MAX_MEASURED: int

class Shape:
    def __init__(
        self,
        *,
        vocab: int,
        embeddings: int,
        length: int,
        dim: int,
        hidden: int,
        bias: bool,
        activation: str,
        norm: str,
        norm_eps: float,
        norm_tau: float,
    ) -> None: ...

class Training:
    def __init__(
        self,
        *,
        optimizer: str,
        schedule: str,
        lr: float,
        momentum: float,
        beta1: float,
        beta2: float,
        eps: float,
        weight_decay: float,
        clip: float,
        mlp_lr_discount: float,
        lr_final: float,
        warmup: int,
        batch: int,
        epochs: int,
        query_limit: float,
        unit_tokens: bool,
        unit_positions: bool,
    ) -> None: ...

class _Trainer:
    def __init__(
        self,
        shape: Shape,
        training: Training,
        sets: list[tuple[_Int, _Int]],
        seed: int,
        start: _Array,
        frozen: _Array | None,
        gradients: bool,
        full_gradients: bool,
    ) -> None: ...
    def advance(
        self,
        epochs: int,
        steps: int,
        curves: _Array | None = None,
        weights: _Array | None = None,
        weights_every: int = 0,
        states: _Array | None = None,
        state_every: int = 0,
        step_curves: _Array | None = None,
        step_weights: _Array | None = None,
    ) -> None: ...
    def record_now(
        self,
        curves: _Array | None = None,
        weights: _Array | None = None,
        states: _Array | None = None,
    ) -> None: ...
    @property
    def epoch(self) -> int: ...
    @property
    def step(self) -> int: ...
    @property
    def step_in_epoch(self) -> int: ...
    @property
    def diverged(self) -> int: ...
    def parameters(self) -> _Array: ...
    def set_parameters(self, packed: _Array) -> None: ...
    def state(self) -> _Array: ...
    def set_state(self, state: _Array, epoch: int) -> None: ...

class Trainer32(_Trainer): ...
class Trainer64(_Trainer): ...

def isa() -> str: ...
def usable_isas() -> list[str]: ...
def parameter_shapes(
    *, vocab: int, length: int, dim: int, hidden: int, embeddings: int, bias: bool
) -> dict[str, tuple[int, ...]]: ...
def loss_and_gradient(
    packed: _Array,
    shape: Shape,
    tokens: _Int,
    targets: _Int,
    cut_positions: _Array | None = None,
    cut_units: _Array | None = None,
    naive: bool = False,
) -> tuple[float, _Array]: ...
def inspect(
    packed: _Array,
    shape: Shape,
    tokens: _Int,
    patch: dict[str, _Array],
    cut_positions: _Array | None = None,
    cut_units: _Array | None = None,
) -> dict[str, _Array]: ...
def evaluate(
    packed: _Array, shape: Shape, tokens: _Int, targets: _Int
) -> tuple[_Array, _Array]: ...
def circuits(
    packed: _Array,
    shape: Shape,
    task: Task,
    prefixes: _Int,
    groups: _Int,
    suffixes: _Int,
    sampled: bool,
    wanted: Sequence[str],
) -> dict[str, _Array]: ...
def hessian_products(
    packed: _Array, shape: Shape, tokens: _Int, targets: _Int, directions: _Array
) -> tuple[_Array, _Array, float]: ...
def plane(points: _Array) -> tuple[_Array, _Array, _Array]: ...
def math(name: str, x: _Array) -> _Array: ...
def initialize32(shape: Shape, seed: int) -> _Array: ...
def initialize64(shape: Shape, seed: int) -> _Array: ...

class Task:
    def __init__(self, *, name: str, length: int, vocab: int, positions: Sequence[int]) -> None: ...
    @property
    def groups(self) -> float: ...
    def targets(self, tokens: _Int) -> _Int: ...
    def canonical(self, prefixes: _Int) -> _Int: ...
    def group_names(self, prefixes: _Int) -> list[str]: ...
    def exchangeable(self) -> npt.NDArray[np.bool_]: ...
    def class_shares(self) -> npt.NDArray[np.float64]: ...
    def design(self) -> tuple[_Int, _Int, _Int, bool]: ...

def draw(count: int, length: int, vocab: int, seed: int, stream: int) -> _Int: ...
def enumerate(count: int, length: int, vocab: int) -> _Int: ...
def shuffled(count: int, seed: int, epoch: int) -> npt.NDArray[np.uint32]: ...
