"""Slices of the loss landscape: loss and accuracy on a grid in a plane of weight space.

A slice shows two directions out of hundreds. How much of training happens in them is part of the
result: `path_share` for each step of a run, `path_distance` for each of its points. Everything is
float64. Where numbers overflow the loss is inf, or very large, never NaN, and where no logits are
left the accuracy is 0. Frozen weights do not move; of what else training imposes (`unit_rows`,
`query_limit`) a slice knows nothing.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dynascope.analysis.checks import check_run, sound_epoch
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.config_input import ModelLike
from dynascope.data import Examples, Split, check_seed
from dynascope.engine import count_threads
from dynascope.errors import Description, expected
from dynascope.frozen_weights import frozen_mask
from dynascope.near_misses import guided
from dynascope.number_text import percent
from dynascope.option_rules import Choice, Real, Whole
from dynascope.parameters import Parameters
from dynascope.progress import Report, reporter
from dynascope.run import Run
from dynascope.second_order import hessian, hessian_products
from dynascope.theory import _directions as planes
from dynascope.theory._survey import Centre, Survey, Window
from dynascope.theory.curvature_thresholds import DENSE_WEIGHTS
from dynascope.theory.spectrum import Spectrum, spectrum, spectrum_by_products

Array = npt.NDArray[Any]
Named = Literal["negative", "sharp", "random"]
Pair = tuple[Parameters | npt.ArrayLike, Parameters | npt.ArrayLike]

NAMES = ("negative", "sharp", "random")
MAX_POINTS = 1024  # along an axis: a million models, some minutes
NEARBY = 10  # epochs on both sides whose distance is the default extent along eigenvectors
MARGIN = 0.25  # of the box around three epochs, to spare on each side


@dataclass(frozen=True, eq=False)
class Landscape:
    """Loss and accuracy at `centre + x * directions[0] + y * directions[1]`.

    `loss[i, j]` is at `along_y[i]` and `along_x[j]`, as contour plots take it. Along eigenvectors
    and through epochs the axes have unit length and right angles: coordinates are distances
    between weights. Random ones are as long as the model's own weights, filter by filter. Given
    ones are as they are. What belongs to a run is None, or empty, without one.
    """

    kind: str  # negative, sharp, random, epochs or given
    centre: Parameters
    directions: tuple[Parameters, Parameters]
    along_x: Array  # [points]
    along_y: Array  # [points]
    loss: Array  # [points, points]
    accuracy: Array  # [points, points]
    centre_loss: float
    sequences: int  # that loss and accuracy are means over
    eigenvalues: tuple[float, float] | None = None  # of the directions, where they have any
    epoch: int | None = None  # of the centre
    toward: tuple[int, int] | None = None  # the other two epochs, of kind "epochs"
    split: str | None = None
    path_epochs: Array = field(default_factory=lambda: np.zeros(0, np.int64))  # [kept]
    path: Array = field(default_factory=lambda: np.zeros((0, 2)))  # [kept, 2]: projected weights
    path_distance: Array = field(default_factory=lambda: np.zeros(0))  # [kept]: from the plane
    path_share: Array = field(default_factory=lambda: np.zeros(0))  # [kept - 1]: of a step's length

    def at(self, x: float, y: float) -> Parameters:
        """The weights at a point of the plane."""
        return self.centre + x * self.directions[0] + y * self.directions[1]

    def describe(self) -> str:
        """The slice in plain sentences."""
        where = "At the centre" if self.epoch is None else f"At epoch {self.epoch}"
        sequences = f"{self.sequences} {f'{self.split} ' if self.split else ''}sequences"
        row, column = np.unravel_index(self.loss.argmin(), self.loss.shape)
        text = (
            f"{where} the loss on {sequences} is {self.centre_loss:.4g}. In the plane "
            f"{self._plane()}, x from {_span(self.along_x)} and y from {_span(self.along_y)}, it "
            f"goes from {self.loss.min():.4g}, at ({self.along_x[column]:.3g}, "
            f"{self.along_y[row]:.3g}), to {self.loss.max():.4g}."
        )
        if len(self.path_share):
            share = percent(float(np.median(self.path_share)))
            text += f" Half the steps between kept epochs have at least {share} of their length"
            text += " in it."
        return text

    def _plane(self) -> str:
        if self.toward is not None:
            return f"through epochs {self.epoch}, {self.toward[0]} and {self.toward[1]}"
        if self.eigenvalues is None:
            return f"of two {self.kind} directions"
        which = "lowest eigenvalues" if self.kind == "negative" else "eigenvalues of largest size"
        first, second = self.eigenvalues
        return f"of the Hessian's two {which} ({first:.3g} and {second:.3g})"


@guided
def landscape_around(
    parameters: Parameters,
    tokens: npt.ArrayLike,
    targets: npt.ArrayLike,
    model: ModelLike = None,
    directions: Named | Pair = "negative",
    *,
    extent: float | None = None,
    points: int = 41,
    seed: int = 0,
    frozen: Collection[str] = (),
    threads: int | None = None,
    progress: bool | Report = True,
) -> Landscape:
    """Loss and accuracy around given weights.

    `directions`: "negative", the eigenvectors of the Hessian's two lowest eigenvalues; "sharp", of
    the two largest in size; "random", Gaussian ones of this `seed` (NumPy's PCG64) with filter
    normalisation; or your own pair, `Parameters` or flat. The grid has `points` x `points`
    points, from -`extent` to `extent` (None: 1) on both axes; of an odd number, one is the centre.
    `frozen` is written as in `training.frozen`.

    >>> import dynascope as ds
    >>> config = ds.Config(task=ds.TaskConfig(length=3, relevant=2), model=ds.ModelConfig(hidden=2))
    >>> p = ds.initial_parameters(config)
    >>> found = landscape_around(p, *ds.dataset(config.task), config.model, "random", points=5)
    >>> bool(found.loss[2, 2] == found.centre_loss)
    True
    """
    window, points = Window((0.0, 0.0), _extent(extent) or 1.0), _points(points)
    centre = Centre(parameters, tokens, targets, model)
    plane = _plane(directions, centre, frozen, seed, NAMES)
    return _slice(centre, plane, window, points, threads, progress)


@guided
def landscape(
    run: Run,
    epoch: int = -1,
    *,
    directions: Named | Literal["epochs"] | Pair = "negative",
    toward: tuple[int, int] | None = None,
    extent: float | None = None,
    points: int = 41,
    split: Split = "train",
    seed: int = 0,
    path: bool = True,
    threads: int | None = None,
    progress: bool | Report = True,
) -> Landscape:
    """Loss and accuracy around the weights of a run after an epoch (-1: the last sound one).

    `directions` as in `landscape_around`, or "epochs": the plane through this epoch's weights and
    those of the two epochs of `toward`. With `path`, all kept epochs (and these three) are
    projected onto the plane.

    `extent` reaches from the centre to each side. None takes, along eigenvectors, the farthest
    that the run is from the centre within ten epochs before and after: the scale on which it
    moves there. Through epochs it takes a square around the three, with a quarter of it to spare
    on each side. Otherwise, and where no epoch nearby was kept, it is 1.

    >>> import dynascope as ds
    >>> config = ds.Config().replace({"training.epochs": 4, "task.train_size": 64})
    >>> run = ds.train(config, progress=False)[0]
    >>> found = landscape(run, directions="epochs", toward=(0, 2), points=3)
    >>> found.path.shape, found.path_share.shape
    ((5, 2), (4,))
    >>> bool(found.path_distance[[0, 2, 4]].max() < 1e-9)  # these three span the plane
    True
    """
    reach, points = _extent(extent), _points(points)
    count_threads(threads, 1)  # refused before anything is computed
    epochs = (_sound(check_run(run), epoch), *_toward(run, directions, toward))
    centre = Centre(run.parameters(epochs[0]), *_examples(run, split), run.config.model)
    known = {each: _weights(run, each) for each in epochs}
    if len(epochs) > 1:
        plane = _through(epochs, [known[each] for each in epochs])
    else:
        frozen = run.config_at(epochs[0]).training.frozen
        plane = _plane(directions, centre, frozen, seed, (*NAMES, "epochs"))
    middle = (0.0, 0.0)
    window = _window(run, epochs, known, plane) if reach is None else Window(middle, reach)
    found = _slice(centre, plane, window, points, threads, progress)
    others = (epochs[1], epochs[2]) if len(epochs) > 1 else None
    found = replace(found, epoch=epochs[0], toward=others, split=split)
    return _with_path(found, run, known, plane) if path else found


def _slice(
    centre: Centre,
    plane: planes.SlicePlane,
    window: Window,
    points: int,
    threads: int | None,
    progress: bool | Report,
) -> Landscape:
    x, y = (window.along(axis, points) for axis in (0, 1))
    survey = Survey(centre, plane.axes, x, y)
    survey.run(threads, reporter(progress))
    first, second = (Parameters.from_flat(axis, centre.parameters.shapes) for axis in plane.axes)
    return Landscape(
        kind=plane.kind,
        centre=centre.parameters,
        directions=(first, second),
        along_x=x,
        along_y=y,
        loss=survey.loss,
        accuracy=survey.accuracy,
        centre_loss=float(centre.evaluate(centre.parameters.flat[None])[0][0]),
        sequences=len(centre.examples[1]),
        eigenvalues=plane.eigenvalues,
    )


# ---- which plane --------------------------------------------------------------------------------
def _plane(
    directions: object, centre: Centre, frozen: Collection[str], seed: int, names: tuple[str, ...]
) -> planes.SlicePlane:
    parameters = centre.parameters
    masks = frozen_mask(frozen, parameters.shapes)
    free = ~np.concatenate([mask.ravel() for mask in masks.values()])
    if not isinstance(directions, str):
        return planes.given_directions(directions, parameters, free)
    kind = Choice(names).check("directions", directions)
    if free.sum() < 2:
        raise expected(
            "training.frozen", "at least two weights that are not frozen", int(free.sum())
        )
    if kind != "random":
        return planes.eigenvectors(kind, _spectrum(centre, free), free)
    plane = planes.random_directions(parameters, free, check_seed(seed))
    if not plane.spanned:
        raise expected(
            "parameters", "weights to scale random directions by", Description("too many zeros")
        )
    return plane


def _spectrum(centre: Centre, free: Array) -> Spectrum:
    """Both ends of the Hessian's spectrum, over the free weights."""
    data = (*centre.examples, centre.model)
    if len(free) <= DENSE_WEIGHTS:
        matrix = hessian(centre.parameters, *data)
        return spectrum(matrix[np.ix_(free, free)], directions=2)

    def products(rows: Array) -> Array:
        wide = np.zeros((len(rows), len(free)))
        wide[:, free] = rows
        return hessian_products(centre.parameters, wide, *data)[:, free]

    return spectrum_by_products(products, int(free.sum()), directions=2)


def _through(epochs: Sequence[int], weights: Sequence[Array]) -> planes.SlicePlane:
    plane = planes.through(*weights)
    if not plane.spanned:
        got = Description(f"{epochs[1]} and {epochs[2]}, on one line with it")
        raise expected("toward", f"two epochs that span a plane with epoch {epochs[0]}", got)
    return plane


def _window(
    run: Run, epochs: Sequence[int], known: dict[int, Array], plane: planes.SlicePlane
) -> Window:
    """The default window of the picture."""
    centre = known[epochs[0]]
    if plane.kind == "epochs":
        rows = np.stack([known[each] for each in epochs])
        corners = planes.project(rows, centre, plane.axes).points
        low, high = corners.min(axis=0), corners.max(axis=0)
        x, y = (low + high) / 2
        return Window((float(x), float(y)), float((high - low).max()) * (0.5 + MARGIN))
    if plane.eigenvalues is None:
        return Window((0.0, 0.0), 1.0)
    near = np.abs(run.weight_epochs - epochs[0]) <= NEARBY
    rows = run.weights[near & (run.weight_epochs <= last_sound_epoch(run))]
    farthest = np.linalg.norm(rows - centre, axis=1).max(initial=0.0)
    return Window((0.0, 0.0), float(farthest) or 1.0)


# ---- what a run knows ---------------------------------------------------------------------------
def _sound(run: Run, epoch: object) -> int:
    """The number of an epoch with finite weights."""
    return run.checked_epoch(sound_epoch(run, epoch))  # type: ignore[arg-type]


def _toward(run: Run, directions: object, toward: object) -> tuple[int, ...]:
    """The two other epochs of a plane through three; none for other planes."""
    if not isinstance(directions, str) or directions != "epochs":
        if toward is not None:
            raise expected("toward", "nothing unless directions='epochs'", toward)
        return ()
    if not isinstance(toward, tuple | list) or len(toward) != 2:
        raise expected("toward", "the two other epochs of the plane, such as (0, 100)", toward)
    return tuple(_sound(run, each) for each in toward)


def _weights(run: Run, epoch: int) -> Array:
    return run.parameters(epoch).check().flat.astype(np.float64)


def _examples(run: Run, split: Split) -> Examples:
    """The sequences and targets of a run's set."""
    chosen = run.examples(split)
    if not len(chosen[1]):
        raise expected("split", "one with sequences", Description(f"{split}, which has none"))
    return chosen


def _with_path(
    found: Landscape, run: Run, known: dict[int, Array], plane: planes.SlicePlane
) -> Landscape:
    """The slice with the run's kept epochs, and those `known`, projected onto its plane."""
    kept = run.weight_epochs <= last_sound_epoch(run)
    missing = [each for each in known if each not in run.weight_epochs[kept]]
    epochs = np.concatenate([run.weight_epochs[kept], np.array(missing, np.int64)])
    rows = np.concatenate([run.weights[kept], *(known[each][None] for each in missing)])
    order = np.argsort(epochs, kind="stable")
    seen = planes.project(rows[order].astype(np.float64), found.centre.flat, plane.axes)
    return replace(
        found,
        path_epochs=epochs[order],
        path=seen.points,
        path_distance=seen.distance,
        path_share=seen.share,
    )


# ---- small checks -------------------------------------------------------------------------------
def _points(points: object) -> int:
    return Whole(3, MAX_POINTS).check("points", points)


def _extent(extent: object) -> float | None:
    return None if extent is None else Real(0, above=True).check("extent", extent)


def _span(along: Array) -> str:
    return f"{along[0]:.3g} to {along[-1]:.3g}"
