"""One training run as it was recorded, and many of them."""

import hashlib
import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from dynascope import catalog
from dynascope._kernel import CURVE_NAMES, STEP_CURVE_NAMES
from dynascope.analysis_columns import DEFAULT_KINDS
from dynascope.cached import cached_property
from dynascope.catalog import CURVES, PARAMETERS, Curve
from dynascope.config import Config
from dynascope.curves import Curves
from dynascope.data import SPLITS, Data, Examples, Split, own_digest
from dynascope.edits import SLOTS, Edit, config_at, slots_since, steps_done, why_not_replayable
from dynascope.errors import Description, DynascopeError, OutOfRangeError, expected
from dynascope.extras import needing
from dynascope.near_misses import guided_class
from dynascope.notebook_display import ShownInNotebooks
from dynascope.number_text import fraction
from dynascope.option_rules import Choice
from dynascope.parameters import Parameters
from dynascope.progress import Report, reporter
from dynascope.run_places import run_places, runs_places
from dynascope.run_size import ends_of_record
from dynascope.services import services
from dynascope.tasks import Task, task_of

if TYPE_CHECKING:
    import os

    import pandas
    import pyarrow

    from dynascope.trainer import Trainer

Array = npt.NDArray[Any]


class IndexTypeError(DynascopeError, TypeError):
    """What is no place in a list."""


# Summary thresholds; one place for the demo's table and whatever sorts runs by success.
SOLVED_ACCURACY = 0.9


@dataclass(frozen=True)
class Origin:
    """Where a run started, if not from the initial weights of its seed.

    `kind`: "fine-tune" (given weights, fresh moments, epoch 0), "branch" (weights changed in the
    middle: moments and epochs go on) or "import" (trained by other code). `parent` and `epoch` name
    the run it came from, where known; `step` is the number of steps done by then; `start` is a hash
    of the given weights. `edits` are there once an option has changed on the way: from then on all
    changes, the last one of which is at `epoch` and `step`.
    """

    kind: str
    start: str
    parent: str | None = None
    epoch: int | None = None
    step: int | None = None
    edits: tuple[Edit, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; an origin without edits does not mention them."""
        values = {**vars(self), "edits": [edit.to_dict() for edit in self.edits]}
        return values if self.edits else {k: v for k, v in values.items() if k != "edits"}


@dataclass(frozen=True, eq=False)
class Steps:
    """Every step between two epochs: curves of the batch before each step, weights after it."""

    first_epoch: int
    last_epoch: int
    curves: Mapping[str, Array]
    weights: Array  # [steps, packed]

    def __post_init__(self) -> None:
        vars(self)["curves"] = Curves(self.curves)


@guided_class(run_places)
@dataclass(frozen=True, eq=False)
class Run(ShownInNotebooks):
    """A recorded run. Index 0 of curves and weights is before training.

    A run that blew up has `diverged`, the first epoch with a non-finite weight or loss or a train
    loss above 1e4; later values are NaN.

    Of a run that another version recorded, `unrecorded` names curves that came later, and
    `unknown_options` has options that this one does not know.
    """

    config: Config
    seed: int
    table: Array  # [epochs + 1, all curves of the kernel]; `curves` names those that mean something
    weights: Array  # [kept, packed]
    weight_epochs: npt.NDArray[np.int64]
    states: Array  # [kept, 3, packed]: weights, first and second moments
    state_epochs: npt.NDArray[np.int64]
    diverged: int | None = None
    origin: Origin | None = None
    data: Data | None = None
    seconds: float = 0.0
    steps: Steps | None = None
    unrecorded: frozenset[str] = frozenset()
    unknown_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for array in (self.table, self.weights, self.states):
            array.flags.writeable = False  # a record, under an id: copy to change
        if self.data is not None:
            object.__setattr__(self, "config", self.config.for_own_data())

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Of a copy, or from a pickle: as much a record, though NumPy's copies can be changed."""
        vars(self).update(state)
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @property
    def epochs(self) -> int:
        """The last epoch."""
        return len(self.table) - 1

    def ends_only(self) -> "Run":
        """The same run as if only its ends had been kept; whatever lies between can be replayed."""
        weights, states = _ends(self.weight_epochs), _ends(self.state_epochs)
        return replace(
            self,
            config=ends_of_record(self.config),
            weights=self.weights[weights],
            weight_epochs=self.weight_epochs[weights],
            states=self.states[states],
            state_epochs=self.state_epochs[states],
            steps=None,
        )

    @cached_property
    def id(self) -> str:
        """A name that follows from what the run is: config (not recording), seed, origin, data."""
        return run_id(self.config, self.seed, self.origin, own_digest(self.data))

    @cached_property
    def task(self) -> Task:
        """What it was to learn."""
        return task_of(self.config, self.data)

    @cached_property
    def curves(self) -> Mapping[str, Array]:
        """What was recorded each epoch, by name: arrays of length epochs + 1."""
        has = recorded_curves(self.config, self.data) - self.unrecorded
        names = [(i, name) for i, name in enumerate(CURVE_NAMES) if name in has]
        return Curves({name: self.table[:, i] for i, name in names})

    def parameters(self, epoch: int = -1) -> Parameters:
        """The weights after an epoch (0: before training; -1: the last).

        An epoch that was not kept is computed again, exactly, from the nearest kept state.
        """
        epoch = self.checked_epoch(epoch)
        kept = np.flatnonzero(self.weight_epochs == epoch)
        if len(kept):
            return Parameters.from_flat(self.weights[kept[-1]].copy(), self.config.shapes)
        return services().trainer_at(self, epoch).parameters

    def examples(self, split: Split = "train") -> Examples:
        """Tokens and targets of the run's own train, test or unseen set, or of all sequences.

        >>> import dynascope as ds
        >>> run = ds.train(ds.Config().replace({"training.epochs": 1}), progress=False)[0]
        >>> loss, _ = ds.loss_and_gradient(run.parameters(), *run.examples(), run.config)
        >>> bool(abs(loss - run.curves["train_loss"][-1]) < 1e-6)
        True
        """
        Choice(SPLITS).check("split", split)
        if self.data is None and self.origin and self.origin.kind == "import" and split != "all":
            raise DynascopeError(
                f"run {self.id}: its {split} set is not known, since it was imported without data; "
                "fine-tune from it, or take all sequences with examples('all')."
            )
        return self.task.examples(self.seed, split)

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What changed on the way, if an option did."""
        return self.origin.edits if self.origin else ()

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the rows of a state; further rows are not used."""
        return SLOTS[self.config.training.optimizer]

    def config_at(self, epoch: int) -> Config:
        """The config with the options that hold from the end of an epoch on."""
        return config_at(self.config, self.edits, _counted(epoch))

    @property
    def has_fixed_length(self) -> bool:
        """Whether its schedule ends with the planned last epoch: then a longer run is another."""
        return self.config_at(self.epochs).training.ends

    def steps_done(self, epoch: int) -> int:
        """Steps at the end of an epoch, over all epochs."""
        return steps_done(self.config, self.edits, _counted(epoch))

    def slots_since(self, epoch: int) -> tuple[int, ...]:
        """Steps that were done when each slot of the state at the end of an epoch began."""
        return slots_since(self.config, self.edits, _counted(epoch))

    @property
    def replayable(self) -> bool:
        """Whether training can be repeated and continued from what was kept."""
        return self._why_not_replayable() is None

    def check_replayable(self) -> None:
        """Refuse a run that is not replayable, in a sentence that says why."""
        why = self._why_not_replayable()
        if why is not None:
            raise DynascopeError(f"run {self.id}: cannot be replayed, since {why}")

    def _why_not_replayable(self) -> str | None:
        if self.origin and self.origin.kind == "import":
            return (
                "it was imported without data and moments; use a kept epoch, or fine-tune from it."
            )
        if self.unknown_options:
            return (
                "it was made with options that this version of dynascope does not know "
                f"({spelt_options(self.unknown_options)}); use a newer one."
            )
        if edit := why_not_replayable(self.edits):
            return f"this version of dynascope cannot repeat {edit}; use a newer one."
        return None

    def trainer(self, epoch: int = -1) -> "Trainer":
        """A `Trainer` in the exact state of an epoch, replayed from the nearest kept state."""
        epoch, origin = self.checked_epoch(epoch), self.origin
        self.check_replayable()
        if origin and origin.kind == "branch" and origin.step is not None:
            first = origin.epoch or 0
            first += origin.step > self.steps_done(first)  # in the middle of the next one
            if epoch < first:
                what = f"at least {first}, where this branch of run {origin.parent} begins"
                raise expected("epoch", what, epoch, "for earlier epochs, use that run")
        return services().trainer_at(self, epoch)

    def continued(self, epochs: int) -> "Run":
        """This run, trained further to `epochs` epochs in total: the same bits as in one go."""
        if not _is_whole(epochs) or epochs <= self.epochs:
            raise expected("epochs", f"more than the {self.epochs} that the run has", epochs)
        if self.diverged is not None:
            raise DynascopeError(
                f"run: it diverged at epoch {self.diverged} and cannot be continued."
            )
        self.check_replayable()
        if self.has_fixed_length and epochs != self.config.training.epochs:
            raise DynascopeError(
                "training.schedule: expected constant or warmup to continue a run, but got "
                "'cosine', whose length is part of the run; fine-tune from it instead."
            )
        self.config.replace({"training.epochs": epochs})  # refuses what no run can have
        trainer = self.trainer()
        trainer.advance(epochs - trainer.epoch)
        return trainer.finish()

    def rows(
        self, what: Literal["weights", "states"], begin: int = 0, end: int | None = None
    ) -> Array:
        """Rows of `weights` or `states`: a stored run reads no others."""
        found: Array = getattr(self, what)[begin:end]
        return found

    def loaded(self) -> "Run":
        """The run with its whole record in memory, as all but stored runs have it already."""
        return self

    def summary(self) -> dict[str, float | int | str | None]:
        """The run's row in tables, one value per column."""
        accuracy = self.curves.get("test_accuracy", self.curves["train_accuracy"])
        above = np.flatnonzero(accuracy > self.task.learning_accuracy)
        loss = self.curves["train_loss"]
        return {
            "id": self.id,
            "seed": self.seed,
            "accuracy": float(accuracy[-1]),
            "learning_epoch": int(above[0]) if len(above) else None,
            "lowest_loss": float(np.nanmin(loss)) if not np.isnan(loss).all() else float("nan"),
            "diverged": self.diverged,
            "seconds": self.seconds,
        }

    def sandbox(
        self, epoch: int = -1, beside: "Run | None" = None, height: int = 720, saved: bool = True
    ) -> Any:
        """The sandbox in a notebook, at an epoch (-1: the last); `beside` puts another run there.

        What it returns shows itself. Its `epoch` and `marked` follow what is done on the page, and
        the page follows them. With `saved`, a copy that needs no Python is saved with the notebook.
        """
        return services().sandbox(self, epoch, beside, height, saved)

    def checked_epoch(self, epoch: int) -> int:
        last = self.epochs if self.diverged is None else self.diverged
        if not _is_whole(epoch) or not -1 <= epoch <= last:
            why = "" if self.diverged is None else f" (the run diverged at epoch {self.diverged})"
            raise expected("epoch", f"a whole number from 0 to {last}{why}", epoch)
        return last if epoch == -1 else int(epoch)

    def __repr__(self) -> str:
        state = (
            f"diverged at {self.diverged}"
            if self.diverged is not None
            else (f"accuracy {fraction(float(self.summary()['accuracy'] or 0))}")
        )
        return f"Run({self.id}, seed={self.seed}, epochs={self.epochs}, {state})"


Run.__doc__ = f"{inspect.cleandoc(Run.__doc__ or '')}\n\n{catalog.curve_listing()}\n"


@guided_class(runs_places)
class Runs(Sequence[Run], ShownInNotebooks):
    """Runs in the order of their seeds; a list that can be saved.

    `runs + more` has those of both, each once: of two with the same id, the one that got further.
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs = tuple(runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> "Runs": ...
    def __getitem__(self, index: int | slice) -> "Run | Runs":
        if isinstance(index, slice):
            return Runs(self._runs[index])
        return self._runs[checked_index(index, len(self))]

    def __add__(self, other: "Runs | Run | Iterable[Run]") -> "Runs":
        more = [other] if isinstance(other, Run) else other
        if not isinstance(more, Iterable):
            return NotImplemented
        together: dict[str, Run] = {}
        for run in (*self, *more):
            if not isinstance(run, Run):
                raise expected("runs", "ds.Runs or a list of ds.Run to add", run)
            known = together.get(run.id)
            if known is None or run.epochs > known.epochs:
                together[run.id] = run
        return Runs(together.values())

    def __radd__(self, other: object) -> "Runs":
        return self if isinstance(other, int) and other == 0 else NotImplemented  # for sum()

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def __repr__(self) -> str:
        return f"Runs({len(self)}, {self.solved()} above {SOLVED_ACCURACY} test accuracy)"

    def by_seed(self, seed: int) -> Run:
        """The run with this seed."""
        for run in self:
            if run.seed == seed:
                return run
        seeds = ", ".join(str(run.seed) for run in self[:20])
        raise expected("seed", f"one of {seeds}{' ...' if len(self) > 20 else ''}", seed)

    @property
    def seeds(self) -> list[int]:
        """The runs' seeds, in order."""
        return [run.seed for run in self]

    def curve(self, name: str) -> Array:
        """One curve of all runs: [runs, epochs + 1]."""
        curves = [run.curves[name] for run in self]
        lengths = {len(curve) for curve in curves}
        if len(lengths) != 1:
            got = f"{min(lengths) - 1} to {max(lengths) - 1} epochs" if lengths else "no runs"
            raise expected("runs", "some, and as many epochs of each", Description(got))
        return np.stack(curves)

    def solved(self, accuracy: float = SOLVED_ACCURACY) -> int:
        """How many runs end above this test accuracy."""
        return sum(float(run.summary()["accuracy"] or 0) > accuracy for run in self)

    def table(self, columns: Sequence[str] | None = None, curves: bool = False) -> "pyarrow.Table":
        """A row per run: options, seed, summary; with `curves`, these too, as lists.

        `columns` names the ones that are wanted instead. `.to_pandas()` makes a data frame of it.
        """
        return services().table(self, columns, curves)

    def frame(
        self, columns: Sequence[str] | None = None, curves: bool = False
    ) -> "pandas.DataFrame":
        """`table`, as a pandas data frame; needs pandas, which dynascope does not install."""
        table = self.table(columns, curves)
        with needing("pandas", "frame", "pandas", "use table(), which is an Arrow table"):
            import pandas  # noqa: F401
        return table.to_pandas()

    def where(self, condition: str) -> "Runs":
        """The runs for which an SQL condition holds, such as "lr > 0.01 AND accuracy > 0.9"."""
        matching = set(services().matching(self, condition))
        return Runs(run for run in self if run.id in matching)

    def analyse(
        self,
        kinds: str | Iterable[str] = DEFAULT_KINDS,
        threads: int | None = None,
        progress: bool | Report = True,
    ) -> "pyarrow.Table":
        """What happened in each run: its id and seed, and the columns of these analyses ("all": of
        every one that there is).

        For stored runs, earlier results are read and new ones are saved next to the runs: `table`
        and `where` have the columns from then on. If an analysis is not possible for a run, its
        columns are null and `analysis_note` says why.
        """
        return services().analyse(self, kinds, threads, reporter(progress))

    def save(self, folder: "str | os.PathLike[str]", append: bool = False) -> None:
        """Write the runs to a new folder; `ds.load` reads it.

        With `append`, the folder may hold runs already; only runs that it does not have, or has
        only up to an earlier epoch, are added.
        """
        services().save(self, folder, append)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _counted(epoch: int) -> int:
    if not _is_whole(epoch) or epoch < 0:
        raise expected("epoch", "a whole number of at least 0", epoch)
    return int(epoch)


def checked_index(index: object, count: int) -> int:
    """A place among so many runs, from the beginning or, negative, from the end."""
    if not _is_whole(index):
        hint = "runs.by_seed(3) finds a run by its seed, runs.where('seed < 3') several"
        what = "a place in the list, such as runs[0], or a slice"
        got = index if isinstance(index, str) else Description(type(index).__name__)
        raise IndexTypeError(str(expected("runs", what, got, hint)))
    at: int = int(index)  # type: ignore[call-overload]
    if not -count <= at < count:
        there = f"there are {count} runs" if count != 1 else "there is 1 run"
        raise OutOfRangeError(f"runs[{at}]: {there}, counted from 0; for a seed, use by_seed.")
    return at


def spelt_options(options: Mapping[str, Any]) -> str:
    """Options for a sentence.

    >>> spelt_options({"training.lr": 0.1, "model.norm": "rms"})
    'training.lr = 0.1, model.norm = "rms"'
    """
    return ", ".join(f"{name} = {json.dumps(value)}" for name, value in options.items())


def run_id(config: Config, seed: int, origin: Origin | None, data: str | None) -> str:
    """The id of a run, known before it is trained: a hash of this JSON, keys sorted, no spaces.

    `data` is the digest of data of its own.
    """
    what = {
        "data": json.dumps(data),
        "origin": json.dumps(
            origin.to_dict() if origin else None, sort_keys=True, separators=_CLOSE
        ),
        "seed": str(seed),
    }
    rest = ",".join(f'"{name}":{value}' for name, value in what.items())
    text = f'{{"config":{_canonical(config)},{rest}}}'
    return hashlib.sha256(text.encode()).hexdigest()[:20]


_CLOSE = (",", ":")


@lru_cache(maxsize=4096)  # a sweep has many seeds of one config
def _canonical(config: Config) -> str:
    return config.canonical_json()


def _ends(epochs: Array) -> list[int]:
    """Which of so many kept rows are the first and the last."""
    return sorted({0, len(epochs) - 1}) if len(epochs) else []


def recorded_curves(config: Config, data: Data | None) -> frozenset[str]:
    """The curves that a run with this config has values for."""
    return _recorded(config, data is None or len(data.sets[1][1]) > 0)


@lru_cache(maxsize=4096)
def _recorded(config: Config, tested: bool) -> frozenset[str]:
    def has(curve: Curve) -> bool:
        if not curve.needs:
            return True
        return tested if curve.needs == "test" else bool(getattr(config.record, curve.needs))

    absent = PARAMETERS.keys() - config.shapes.keys()
    names = (name for curve in CURVES if has(curve) for name in curve.names)
    return frozenset(name for name in names if name.partition("/")[2] not in absent)


def step_curves(table: Array, config: Config) -> dict[str, Array]:
    has = {f"grad_norm/{name}" for name in config.shapes} | set(STEP_CURVE_NAMES[:3])
    return {name: table[:, i] for i, name in enumerate(STEP_CURVE_NAMES) if name in has}
