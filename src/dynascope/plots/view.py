"""A model at one moment, with everything that panels show of it.

The kernel computes; what is here picks and projects, as the page does (web/src/model/scene/). Every
panel of points has a plane of its own, fixed over a run: for d <= 2 the space itself, for d > 2 the
kernel's plane of the panel's points at the last sound kept epoch. Coordinates are not centred, so
the origin stays at (0, 0) and arrows and circles around it mean what they show. Values are computed
when a panel first asks for them.
"""

import math
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynascope import projection
from dynascope.analysis.checks import check_fit, check_run, sound_epoch
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.cached import cached_property
from dynascope.config import Config
from dynascope.config_input import ConfigLike
from dynascope.errors import Description, DynascopeError, expected
from dynascope.model import Activations, forward
from dynascope.near_misses import guided, guided_class
from dynascope.parameters import Parameters
from dynascope.plots._extents import NOTHING, Extent, circle, extent_of
from dynascope.run import Run, Runs
from dynascope.shown_sequences import ShownSequences, sequences_of_run, sequences_of_task
from dynascope.theory import Head

Array = npt.NDArray[Any]

# Beyond these, some tokens, positions and units are chosen and stay chosen.
_MOST_TOKENS, _MOST_POSITIONS, _MOST_PAIRS, _MOST_UNITS = 256, 128, 1024, 1024
_MAP_SIDE, _MAP_LEAST = 128, 16
_MAP_NUMBERS = 2**20  # cells * classes of a map
_MAP_WORK = 2**24  # cells * hidden units * dim

# What each panel of points shows: the stage of the forward pass, or the parameter.
PAIR_STAGES = {"embeddings": "embedding", "normalized": "normalized", "values": "values"}
SEQUENCE_STAGES = ("sequence", "sequence_normalized", "feed_forward", "output")
MAPS = {"decision_map": "sequence", "output_map": "output"}

# Hidden units over what they respond to: the panel whose plane and points these share.
UNITS_OVER = "sequence_normalized"
UNIT_ENDS = ("receptors", "assemblers")


class PanelPlane(NamedTuple):
    """A point v has the coordinates (axes[0] . v, axes[1] . v)."""

    axes: Array  # [2, dim]; for d = 1 the second is 0
    origin: Array  # [dim]: the point of the plane at (0, 0); all 0 for d <= 2
    share: float | None  # of the variance, that it keeps; None: the space itself


class ClassMap(NamedTuple):
    """Logits of the classes over a rectangle, at the centres of equal cells."""

    logits: Array  # [height, width, classes]; row 0 is at the bottom
    extent: Extent

    @property
    def centres(self) -> tuple[Array, Array]:
        height, width, _ = self.logits.shape
        x0, x1, y0, y1 = self.extent
        return _centres(x0, x1, width), _centres(y0, y1, height)


class _Values:
    """What weights make of the pairs and sequences that are shown."""

    def __init__(self, shown: "ShownModel", parameters: Parameters) -> None:
        self._shown, self.parameters = shown, parameters

    @cached_property
    def pairs(self) -> Activations:
        shown = self._shown
        tokens = np.repeat(shown.pair_tokens[:, None], shown.config.task.length, axis=1)
        return forward(self.parameters, tokens, shown.config.model)

    @cached_property
    def sequences(self) -> Activations:
        return forward(self.parameters, self._shown.sequences.tokens, self._shown.config.model)

    def vectors(self, panel: str) -> Array:
        """[n, dim]: all that a panel of points shows."""
        shown, parameters = self._shown, self.parameters
        if panel in PAIR_STAGES:
            stage = getattr(self.pairs, PAIR_STAGES[panel])[:, shown.positions]
            return np.asarray(stage.reshape(-1, stage.shape[-1]))
        if panel in SEQUENCE_STAGES:
            return np.asarray(getattr(self.sequences, panel))
        return {
            "tokens": lambda: parameters.token_embedding[shown.tokens],
            "positions": lambda: parameters.position_embedding[shown.positions],
            "receptors": lambda: parameters.receptors[shown.units],
            "assemblers": lambda: parameters.assemblers.T[shown.units],
        }[panel]()


class ShownModel:
    """What stays the same over a run: which points there are, and on which planes."""

    def __init__(self, config: Config, sequences: ShownSequences, of: Run | Parameters) -> None:
        self.config, self.sequences, self._of = config, sequences, of
        self.run = of if isinstance(of, Run) else None
        task = config.task
        self.tokens = _some(config.embeddings, _MOST_TOKENS)  # rows of E
        self.positions = _some(task.length, _MOST_POSITIONS, sequences.positions or ())
        self.pair_tokens = _some(task.vocab, max(1, _MOST_PAIRS // len(self.positions)))
        self.units = _some(config.model.hidden, _MOST_UNITS)
        self._planes: dict[str, PanelPlane] = {}

    @property
    def radius(self) -> float | None:
        """The length of a normalised vector; None: they have none in common, or no circle."""
        model = self.config.model
        if model.norm == "none" or model.dim == 1:
            return None
        return 1.0 if model.norm == "unit" else math.sqrt(model.dim)

    def plane(self, panel: str) -> PanelPlane:
        """The plane of a panel of points."""
        if panel not in self._planes:
            dim = self.config.model.dim
            flat = PanelPlane(np.eye(2, dim), np.zeros(dim), None)
            self._planes[panel] = _plane_of(self._ending.vectors(panel)) if dim > 2 else flat
        return self._planes[panel]

    @cached_property
    def _ending(self) -> _Values:
        """At the kept epoch whose points decide the planes: the last one that is sound."""
        of = self._of
        if isinstance(of, Parameters):
            return _Values(self, of)
        kept = [int(each) for each in of.weight_epochs if each <= last_sound_epoch(of)]
        return _Values(self, of.parameters(kept[-1] if kept else 0))


@guided_class()
class View:
    """One model at one moment; `plots.view` makes it. Give it to as many panels as you like."""

    def __init__(self, shown: ShownModel, parameters: Parameters, epoch: int | None) -> None:
        self.shown, self.parameters, self.epoch = shown, parameters, epoch
        self._values = _Values(shown, parameters)

    @property
    def config(self) -> Config:
        return self.shown.config

    @property
    def run(self) -> Run | None:
        """The run that it is a moment of, if it is one."""
        return self.shown.run

    @property
    def sequences(self) -> ShownSequences:
        return self.shown.sequences

    @property
    def name(self) -> str:
        """What it is, in a few words."""
        return "" if self.run is None else f"seed {self.run.seed}, epoch {self.epoch}"

    def at(self, epoch: int) -> "View":
        """The same run at another epoch: the same sequences on the same planes."""
        run = self.checked_run("at")
        epoch = check_epoch(run, epoch)
        return View(self.shown, run.parameters(epoch), epoch)

    def checked_run(self, what: str) -> Run:
        """The run, for what weights alone cannot tell."""
        if self.run is None:
            raise DynascopeError(
                f"{what}: expected a run, since it shows what happened over the epochs, but got "
                "weights without one."
            )
        return self.run

    def points(self, panel: str) -> Array:
        """[n, 2]: the points of a panel on its plane; for d = 1 all y are 0."""
        return self._projected(panel, self._values.vectors(panel))

    @property
    def query(self) -> Array:
        """[1, 2]: on the plane of the normalised embeddings."""
        return self._projected("normalized", self.parameters.query[None])

    def units(self, end: str) -> Array:
        """[units, 2]: receptors or assemblers on the plane of the sequences that they meet."""
        return self._projected(UNITS_OVER, self._values.vectors(end))

    @property
    def activations(self) -> Activations:
        """Every value of the sequences that are shown."""
        return self._values.sequences

    def extent(self, panel: str) -> Extent:
        """What the axes of a panel of points need to hold."""
        if panel == "neurons":
            ends = [extent_of(self.units(end)) for end in UNIT_ENDS]
            return self.extent(UNITS_OVER).union(ends[0]).union(ends[1])
        extent, radius = extent_of(self.points(panel)), self.shown.radius
        if panel in ("normalized", "sequence_normalized") and radius is not None:
            extent = extent.union(circle(radius))
        if panel == "normalized":
            extent = extent.union(extent_of(self.query))
        around_origin = panel in ("normalized", "receptors", "assemblers")
        return extent.union(circle(0.0) if around_origin else NOTHING)

    def class_map(self, panel: str, extent: Extent) -> ClassMap:
        """What the rest of the model predicts all over a rectangle of a map's plane."""
        stage, model = MAPS[panel], self.config.model
        width = self._map_side()
        height = 2 if model.dim == 1 else width  # on a line a map is the same at every height
        x, y = _centres(*extent[:2], width), _centres(*extent[2:], height)
        plane = self.shown.plane(stage)
        places = plane.origin + x[None, :, None] * plane.axes[0] + y[:, None, None] * plane.axes[1]
        flat = places.reshape(-1, model.dim)
        tokens = np.zeros((len(flat), self.config.task.length), np.int32)
        logits = forward(self.parameters, tokens, model, patch={stage: flat}).logits
        return ClassMap(logits.reshape(height, width, -1), extent)

    def _map_side(self) -> int:
        model = self.config.model
        cells = min(
            _MAP_SIDE**2,
            _MAP_NUMBERS / self.config.embeddings,
            _MAP_WORK / (model.hidden * model.dim),
        )
        return max(_MAP_LEAST, math.isqrt(int(cells)))

    def _projected(self, panel: str, vectors: Array) -> Array:
        return np.asarray(vectors, np.float64) @ self.shown.plane(panel).axes.T

    def __repr__(self) -> str:
        return f"View({self.name or self.parameters!r})"


ModelSource = Run | Parameters | Head | View


@guided
def view(
    source: ModelSource,
    epoch: int = -1,
    *,
    config: ConfigLike = None,
    sequences: npt.ArrayLike | None = None,
) -> View:
    """A model at one moment, to be drawn by panels: computed once, whatever they show of it.

    `source`: a run (`epoch` -1: its last sound one), `Parameters` with their `config`, or what
    `ds.theory.ideal_head` gives. `sequences` [n, length]: those to show (None: chosen, as in the
    sandbox: at most 256, of every multiset).

    >>> import dynascope as ds
    >>> run = ds.train(ds.Config().replace({"training.epochs": 3}), progress=False)[0]
    >>> view(run, epoch=2).points("sequence").shape
    (144, 2)
    """
    if isinstance(source, View):
        return source if epoch == -1 else source.at(epoch)
    if isinstance(source, Head | Parameters):
        weights, known = source if isinstance(source, Head) else (source, config)
        parameters, checked = check_fit(weights, known)
        shown = ShownModel(checked, sequences_of_task(checked.task, sequences), parameters)
        return View(shown, parameters, None)
    run = _one_run(source)
    epoch = check_epoch(run, epoch)
    shown = ShownModel(run.config, sequences_of_run(run, sequences), run)
    return View(shown, run.parameters(epoch), epoch)


def check_epoch(run: Run, epoch: int) -> int:
    """The number of an epoch whose weights can be had; if they cannot, the nearest is offered."""
    checked = run.checked_epoch(sound_epoch(run, epoch))
    kept = run.weight_epochs[run.weight_epochs <= last_sound_epoch(run)]
    if checked in kept or run.replayable:
        return checked
    if not len(kept):
        raise DynascopeError(f"run {run.id}: there are no weights to draw.")
    nearest = int(kept[np.abs(kept - checked).argmin()])
    raise expected(
        "epoch",
        f"one whose weights run {run.id} kept, as it cannot be replayed",
        checked,
        f"the nearest is {nearest}",
    )


def _one_run(source: object) -> Run:
    if isinstance(source, Runs) and len(source) == 1:
        return source[0]
    if not isinstance(source, Run | Runs):
        got = Description(type(source).__name__)
        raise expected("source", "a ds.Run, ds.Parameters or an ideal head", got)
    return check_run(source, "source")


def _plane_of(vectors: Array) -> PanelPlane:
    """The plane of points; where one is not finite, that of the coordinates."""
    found = projection.plane(
        vectors if np.isfinite(vectors).all() else np.zeros((1, vectors.shape[1]))
    )
    origin = found.mean - (found.mean @ found.axes.T) @ found.axes
    return PanelPlane(found.axes, origin, float(found.shares.sum()))


def _some(count: int, most: int, first: Collection[int] = ()) -> Array:
    """All of 0..count-1, or `most` of them: those `first`, then evenly spread ones; rising."""
    if count <= most:
        return np.arange(count)
    picked = dict.fromkeys(list(first)[:most])
    for i in range(most):
        if len(picked) >= most:
            break
        picked.setdefault(i * count // most)
    return np.array(sorted(picked))


def _centres(begin: float, end: float, count: int) -> Array:
    return begin + (np.arange(count) + 0.5) * (end - begin) / count
