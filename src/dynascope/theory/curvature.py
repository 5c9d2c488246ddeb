"""The curvature of the loss along a run: eigenvalues of its Hessian, and how much is too much.

The Hessian is that of the mean loss on the whole train set, exact and in double precision, over
the weights that the run trains. Sharpness, its top eigenvalue, is compared with the limit beyond
which the optimizer's steps would grow: 2/lr for gradient descent; see `optimizer_metric`.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar, overload

import numpy as np
import numpy.typing as npt

from dynascope.analysis.checks import check_run, is_one, sound_epoch
from dynascope.engine import Crew, count_threads
from dynascope.errors import expected
from dynascope.near_misses import guided
from dynascope.optimizer_metric import Metric, metric
from dynascope.progress import Report, Status, reporter
from dynascope.replay import Replay
from dynascope.run import Run
from dynascope.theory import curvature_thresholds as t
from dynascope.theory._surface import Place, Surface
from dynascope.theory.spectrum import Spectrum

Array = npt.NDArray[Any]
Item = TypeVar("Item")
Found = TypeVar("Found")


class Trace(NamedTuple):
    """A sum of diagonal entries; `error` is its standard error, 0 where it is exact."""

    value: float
    error: float


@dataclass(frozen=True, eq=False)
class Curvature:
    """The Hessian of the train loss after an epoch, over the `weights` that are trained.

    - `gradient_norm`: on the whole train set, as is the loss.
    - `trace`: of the diagonal block of each parameter; an estimate where the spectrum is Lanczos's.
    - `preconditioned`: the top eigenvalue in the optimizer's own metric, D^-1/2 H D^-1/2; None
      where that is the plain one (SGD without a discount) or not known (Adam before its first
      step). With weight decay in the gradient, H is that of the loss with it.
    - `sharpness_limit`: of the preconditioned sharpness if the optimizer has a metric of its own,
      else of the plain one (to which such a weight decay is added before comparing).
    - `unstable`: beyond the limit; None where that is not known.
    """

    epoch: int
    loss: float
    gradient_norm: float
    spectrum: Spectrum
    trace: Mapping[str, Trace]
    preconditioned: float | None
    sharpness_limit: float | None
    unstable: bool | None
    weights: int
    frozen: int

    @property
    def sharpness(self) -> float:
        """The top eigenvalue."""
        return self.spectrum.highest

    def describe(self) -> str:
        """The curvature in plain sentences."""
        held = f", {self.frozen} more frozen" if self.frozen else ""
        place = f"After epoch {self.epoch}: loss {self.loss:.4g}, gradient norm"
        place += f" {self.gradient_norm:.3g}, over {self.weights} weights{held}."
        return f"{place} The Hessian has {self.spectrum.describe()}. {self._stability()}"

    def _stability(self) -> str:
        if self.sharpness_limit is None:
            return "The optimizer has no sharpness limit: its steps are not linear in gradients."
        limit = f"{self.sharpness_limit:.4g}"
        if self.unstable is None:
            return (
                f"Whether the optimizer is stable (limit {limit}) is not known without its moments."
            )
        of = self.sharpness if self.preconditioned is None else self.preconditioned
        name = "Sharpness" if self.preconditioned is None else "Preconditioned sharpness"
        return f"{name} {of:.4g} is {'beyond' if self.unstable else 'within'} the limit of {limit}."


@overload
def curvature(
    run: Run,
    epochs: int = -1,
    *,
    directions: int = 5,
    threads: int | None = None,
    progress: bool | Report = True,
) -> Curvature: ...
@overload
def curvature(
    run: Run,
    epochs: Iterable[int],
    *,
    directions: int = 5,
    threads: int | None = None,
    progress: bool | Report = True,
) -> tuple[Curvature, ...]: ...
@guided
def curvature(
    run: Run,
    epochs: int | Iterable[int] = -1,
    *,
    directions: int = 5,
    threads: int | None = None,
    progress: bool | Report = True,
) -> Curvature | tuple[Curvature, ...]:
    """The curvature of a run after an epoch (-1: the last that is sound), or after several.

    Weights that were not kept are computed again, exactly. `directions`: eigenvectors that are kept
    at each end. Models of more than `DENSE_WEIGHTS` weights have the ends of their spectrum only,
    by Lanczos, and estimated traces. `threads`: over epochs; None takes all cores.

    >>> import dynascope as ds
    >>> run = ds.train(ds.Config().replace({"training.epochs": 3, "model.hidden": 4}))[0]
    >>> found = curvature(run)
    >>> found.epoch, found.weights, len(found.spectrum.eigenvalues), found.unstable
    (3, 56, 56, False)
    """
    return Follower(run).curvature(epochs, directions, threads, reporter(progress))


class Each(Crew, Generic[Item, Found]):
    """A crew that applies one function to many items."""

    def __init__(self, function: Callable[[Item], Found], items: Sequence[Item], unit: str) -> None:
        super().__init__(len(items), Status(1, len(items), unit=unit))
        self._function, self._items = function, items
        self._found: dict[int, Found] = {}

    def found(self, threads: int | None, report: Report | None) -> tuple[Found, ...]:
        """What the function makes of each item, in their order."""
        self.work(count_threads(threads, len(self._items)), report)
        return tuple(self._found[index] for index in range(len(self._items)))

    def one(self, index: int) -> None:
        self._found[index] = self._function(self._items[index])
        with self._lock:
            self.status.advance(0, 1)


class Follower:
    """A run's surface, and the state of its optimizer after any epoch."""

    def __init__(self, run: Run) -> None:
        self.run = check_run(run).loaded()
        self.surface = Surface(self.run)
        self._replay = Replay(self.run)
        self._lock = threading.Lock()  # one kernel replays for all threads

    def curvature(
        self,
        epochs: int | Iterable[int],
        directions: int,
        threads: int | None,
        report: Report | None,
    ) -> Curvature | tuple[Curvature, ...]:
        whole = isinstance(directions, int | np.integer) and not isinstance(directions, bool)
        if not whole or directions < 1:
            raise expected("directions", "a whole number of at least 1", directions)
        count_threads(threads, 1)  # refused also where there is nothing to share
        if is_one(epochs):
            return self._one(self.sound(epochs), directions)  # type: ignore[arg-type]
        wanted = [self.sound(epoch) for epoch in epochs]  # type: ignore[union-attr]
        made = Each(lambda epoch: self._one(epoch, directions), wanted, "Hessians")
        return made.found(threads, report)

    def sound(self, epoch: int) -> int:
        """The epoch, once it is sure that it is one with finite weights; -1 is the last such."""
        return self.run.checked_epoch(sound_epoch(self.run, epoch))

    def place(self, epoch: int) -> Place:
        return self.surface.at(self.run.parameters(epoch).flat)

    def metric(self, epoch: int, place: Place) -> Metric:
        """The optimizer's, over the free weights."""
        state, training = None, self.run.config.training
        has_moments = training.metric == "second_moment" or training.momentum > 0
        if epoch > 0 and has_moments:
            with self._lock:
                state = self._replay.state(epoch)
        free = self.surface.free
        gradient = np.zeros(len(free))
        gradient[free] = place.loss_and_gradient[1]
        made = metric(self.run.config, self.run.steps_done(epoch), state, gradient)
        return made._replace(
            scale=None if made.scale is None else made.scale[free],
            update=None if made.update is None else made.update[free],
        )

    def _one(self, epoch: int, directions: int) -> Curvature:
        place = self.place(epoch)
        own = self.metric(epoch, place)
        found = place.spectrum(directions)
        preconditioned = None
        if own.scale is not None:
            preconditioned = place.spectrum(1, own.scale, decay=own.decay).highest
        top = found.highest + own.decay if preconditioned is None else preconditioned
        return Curvature(
            epoch=epoch,
            loss=place.loss_and_gradient[0],
            gradient_norm=place.gradient_norm,
            spectrum=found,
            trace=_traces(place),
            preconditioned=preconditioned,
            sharpness_limit=own.limit,
            unstable=bool(top > own.limit) if own.known and own.limit is not None else None,
            weights=self.surface.size,
            frozen=int((~self.surface.free).sum()),
        )


def _traces(place: Place) -> dict[str, Trace]:
    """By parameter: from the matrix, or by Hutchinson: z·Hz, block by block, for random signs z."""
    groups = place.surface.groups
    if place.dense:
        diagonal = np.diagonal(place.hessian)
        return {name: Trace(float(diagonal[at].sum()), 0.0) for name, at in groups.items()}
    chance = np.random.Generator(np.random.PCG64(0))  # the same every time
    signs = chance.choice([-1.0, 1.0], (t.PROBES, place.surface.size))
    each = signs * place.products(signs)
    made = {}
    for name, at in groups.items():
        sums = each[:, at].sum(axis=1)
        error = float(sums.std(ddof=1)) / t.PROBES**0.5
        made[name] = Trace(float(sums.mean()), error)
    return made
