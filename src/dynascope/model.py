"""Single evaluations of a model: every intermediate value, the loss, its gradient.

All arithmetic is the kernel's. Precision is that of the parameters given.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import make_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel, catalog
from dynascope.config import Config, ModelConfig, TrainingConfig
from dynascope.config_input import ConfigLike, ModelLike, check_config, check_model
from dynascope.data import check_seed, check_targets, check_tokens
from dynascope.errors import DynascopeError, expected, none_given, unknown
from dynascope.near_misses import guided
from dynascope.option_tables import to_tables
from dynascope.parameters import Parameters, check_parameters

Array = npt.NDArray[Any]
Ablate = Mapping[str, Iterable[Any]]
Patch = Mapping[str, npt.ArrayLike | Callable[[Array], npt.ArrayLike]]


if TYPE_CHECKING:
    from dynascope._kernel import StageArrays
else:
    StageArrays = make_dataclass("StageArrays", catalog.STAGES, frozen=True)


class Activations(StageArrays):
    """Every value between tokens and probabilities, one row per sequence (n of them).

    `embedding` [n, length, dim], `normalized` [n, length, dim], `scores` [n, length], `attention`
    [n, length], `values` [n, length, dim], `sequence` [n, dim], `sequence_normalized` [n, dim],
    `hidden` [n, hidden] (after the activation), `feed_forward` [n, dim], `output` [n, dim],
    `logits` [n, embeddings], `probabilities` [n, embeddings].
    """


STAGES = tuple(catalog.STAGES)


def kernel_shape(model: ModelConfig, sizes: Mapping[str, int]) -> _kernel.Shape:
    rows = None if sizes["embeddings"] == sizes["vocab"] else sizes["embeddings"]
    options = {**to_tables(model), "embeddings": rows}
    return _kernel.Shape(vocab=sizes["vocab"], length=sizes["length"], model=options)


def kernel_training(training: TrainingConfig) -> _kernel.Training:
    return _kernel.Training(to_tables(training))


def config_shape(config: Config) -> _kernel.Shape:
    sizes = {"vocab": config.task.vocab, "length": config.task.length}
    return kernel_shape(config.model, {**sizes, "embeddings": config.embeddings})


@guided
def initial_parameters(config: ConfigLike = None, seed: int = 0) -> Parameters:
    """The weights that a run of this seed starts from.

    Each is drawn for its own place (parameter, row, column): a wider model or more embedding rows
    extend a smaller one; the scale of what is uniform follows the fan-in.
    """
    config = check_config(config)
    make = _kernel.initialize32 if config.precision == "float32" else _kernel.initialize64
    return Parameters.from_flat(make(config_shape(config), check_seed(seed)), config.shapes)


@guided
def forward(
    parameters: Parameters,
    tokens: npt.ArrayLike,
    model: ModelLike = None,
    ablate: Ablate | None = None,
    patch: Patch | None = None,
) -> Activations:
    """Run sequences [n, length] through the model and keep everything.

    `model`: norm, activation and the rest (None: the defaults); of a run, `run.config.model`. A
    dict of some options, `{"activation": "relu"}`, has the sizes of the parameters.

    `ablate`: {"positions": [...], "hidden": [...]}: these positions get no attention (the others
    share it), and these hidden units have activation 0; {"attention": [...]} gives every sequence
    this attention, by its sum, whatever the scores are. `patch`: values that replace the computed
    ones, by stage: an array of the stage's shape, or a function that maps the computed array to
    one. All later stages follow from it.

    >>> import dynascope as ds
    >>> p = ds.initial_parameters(ds.Config(), seed=0)
    >>> plain = ds.forward(p, [[0] * 12, [1] * 12])
    >>> plain.attention.sum(axis=1).round(5).tolist()
    [1.0, 1.0]
    >>> cut = ds.forward(p, [[0] * 12], ablate={"positions": [0]})
    >>> float(cut.attention[0, 0])
    0.0
    >>> same = ds.forward(p, [[0] * 12], patch={"sequence": lambda xi: xi})
    >>> bool((same.logits[0] == plain.logits[0]).all())
    True
    """
    call = Call(parameters, model)
    checked = call.sequences(tokens)
    cuts, held = call.cuts(ablate), call.held(ablate)
    patches: dict[str, Array] = {}

    def run() -> dict[str, Array]:
        return _kernel.inspect(call.flat, call.shape, checked, patches, *cuts, attention=held)

    shapes = {name: array.shape for name, array in run().items()} if patch else {}
    for name in sorted(patch or {}, key=lambda n: STAGES.index(n) if n in STAGES else -1):
        if name not in STAGES:
            raise unknown("patch", name, STAGES, kind="stage")
        assert patch is not None
        value = patch[name]
        new = np.asarray(value(run()[name].copy()) if callable(value) else value)
        if new.shape != shapes[name]:
            raise expected(f"patch.{name}", f"shape {shapes[name]}", new.shape)
        patches[name] = np.ascontiguousarray(new, dtype=call.flat.dtype)
    return Activations(**run())


@guided
def loss_and_gradient(
    parameters: Parameters,
    tokens: npt.ArrayLike,
    targets: npt.ArrayLike,
    model: ModelLike = None,
    ablate: Ablate | None = None,
) -> tuple[float, Parameters]:
    """Mean cross-entropy over the sequences, and its gradient as `Parameters`.

    >>> import dynascope as ds
    >>> config = ds.Config(precision="float64")
    >>> p = ds.initial_parameters(config)
    >>> loss, grad = ds.loss_and_gradient(p, *ds.dataset(config.task), config.model)
    >>> step = ds.loss_and_gradient(p - 1e-6 * grad, *ds.dataset(config.task), config.model)[0]
    >>> round((loss - step) / (1e-6 * grad.norm() ** 2), 3)  # the gradient predicts the change
    1.0
    """
    call = Call(parameters, model)
    checked, wanted = call.examples(tokens, targets)
    cuts, held = call.cuts(ablate), call.held(ablate)
    loss, grad = _kernel.loss_and_gradient(
        call.flat, call.shape, checked, wanted, *cuts, attention=held
    )
    return float(loss), Parameters.from_flat(grad, parameters.shapes)


class Call:
    """Parameters and model options that fit together."""

    def __init__(self, parameters: Parameters, model: ModelLike) -> None:
        check_parameters(parameters)
        rows, dim = parameters.shapes["token_embedding"]
        length = parameters.shapes["position_embedding"][0]
        hidden, bias = parameters.shapes["receptors"][0], "receptor_bias" in parameters
        sizes = {"dim": dim, "hidden": hidden, "bias": bias}
        model = check_model(model, sizes)
        for name, got in sizes.items():
            if getattr(model, name) != got:
                raise expected(
                    f"model.{name}", f"{got}, as in the parameters", getattr(model, name)
                )
        self.model = model
        self.sizes = {"vocab": rows, "embeddings": rows, "length": length, "hidden": hidden}
        self.shape = kernel_shape(model, self.sizes)
        self.flat = np.ascontiguousarray(parameters.flat)

    def sequences(self, tokens: npt.ArrayLike) -> Array:
        checked = check_tokens("tokens", tokens, self.sizes["vocab"])
        if checked.shape[1] != self.sizes["length"]:
            raise expected(
                "tokens", f"sequences of length {self.sizes['length']}", checked.shape[1]
            )
        return checked

    def examples(self, tokens: npt.ArrayLike, targets: npt.ArrayLike) -> tuple[Array, Array]:
        """At least one sequence, and the targets."""
        checked = self.sequences(tokens)
        if not len(checked):
            raise none_given("tokens", "sequence")
        classes = self.sizes["embeddings"]
        return checked, check_targets("targets", targets, len(checked), classes)

    def cuts(self, ablate: Ablate | None) -> tuple[Array | None, Array | None]:
        for name in ablate or {}:
            if name not in ("positions", "hidden", "attention"):
                raise unknown("ablate", name, ("positions", "hidden", "attention"), kind="part")
        positions = self._cut("positions", self.sizes["length"], ablate or {})
        if positions is not None and positions.all():
            raise DynascopeError("ablate.positions: at least one position must be left.")
        return positions, self._cut("hidden", self.sizes["hidden"], ablate or {})

    def held(self, ablate: Ablate | None) -> Array | None:
        """Attention that does not follow the scores: weights of all positions, by their sum."""
        if "attention" not in (ablate or {}):
            return None
        length = self.sizes["length"]
        try:
            given = np.array([*(ablate or {})["attention"]], float)
        except (TypeError, ValueError):
            given = np.zeros(0)
        sound = given.shape == (length,) and np.isfinite(given).all() and (given >= 0).all()
        if not sound or not given.sum() > 0:
            what = f"{length} weights of at least 0, and not only 0"
            raise expected("ablate.attention", what, (ablate or {})["attention"])
        return np.asarray(given / given.sum())

    @staticmethod
    def _cut(name: str, size: int, ablate: Ablate) -> Array | None:
        if name not in ablate:
            return None
        cut = np.zeros(size, np.uint8)
        for i in ablate[name]:
            if isinstance(i, bool) or not isinstance(i, int | np.integer) or not 0 <= i < size:
                raise expected(f"ablate.{name}", f"numbers from 0 to {size - 1}", i)
            cut[i] = 1
        return cut
