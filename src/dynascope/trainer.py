"""A run in the making: advance it by epochs or steps, inspect it, change its weights, go on."""

import copy
import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.clamped_values import clamps_of
from dynascope.config import Config
from dynascope.config_input import ConfigLike, check_config
from dynascope.data import Data, check_seed, fitted
from dynascope.edits import SLOTS, Edit, changed_options, config_at, slots_since
from dynascope.errors import Description, DynascopeError, expected
from dynascope.frozen_weights import frozen_mask
from dynascope.model import config_shape, initial_parameters, kernel_training
from dynascope.near_misses import guided_class
from dynascope.one_thread import Turn, in_turn
from dynascope.parameters import Parameters
from dynascope.run import Origin, Run
from dynascope.run_places import trainer_places
from dynascope.tape import Kernel, Tape
from dynascope.tasks import task_of

Array = npt.NDArray[Any]

_ALWAYS = 2**62  # steps or epochs: no limit
_MADE_AGAIN = ("_kernel", "_turn")  # attributes that a copy has of its own
_SLICE = 0.2  # seconds of computing between looks at Ctrl-C


@guided_class(trainer_places)
class Trainer:
    """Train one model, recording as `config.record` says.

    `start`: weights to begin with instead of the seed's own (fine-tuning: fresh moments, epoch 0);
    with fewer embedding rows than the config has, the seed's own fresh rows are appended.

    >>> import dynascope as ds
    >>> trainer = ds.Trainer(ds.Config(), seed=0)
    >>> trainer.advance(3); trainer.advance_steps(7)
    >>> trainer.epoch, trainer.step
    (3, 199)
    >>> edited = trainer.parameters
    >>> edited.query[:] = 0
    >>> trainer.parameters = edited  # a branch: moments and epoch count stay
    >>> trainer.advance(2)  # the epoch begun by the seven steps counts
    >>> trainer.run.epochs, trainer.run.origin.kind
    (5, 'branch')

    `change` makes a branch, too: from there on training has other options.

    >>> trainer.change({"training.lr": 1e-2, "training.batch": 64})
    >>> trainer.advance(1); trainer.step
    352

    A copy (`copy.copy` and `copy.deepcopy` do the same) goes on by itself, with the bits that the
    original would have had; it can be pickled, too, for another process. Only one thread at a time
    can use a trainer.
    """

    def __init__(
        self,
        config: ConfigLike = None,
        seed: int = 0,
        *,
        data: Data | None = None,
        start: Parameters | None = None,
        origin: Origin | None = None,
    ) -> None:
        self.config = fitted(check_config(config), data)
        self.seed, self.data, self.origin = check_seed(seed), data, origin
        if start is not None:
            start = fitted_start(start, self.config, self.seed)
            self.origin = origin or Origin("fine-tune", fingerprint(start))
        self._turn = Turn("trainer")
        self._kernel = make_kernel(self.config, self.seed, data, start)
        self._tape = Tape(self.config, self.origin.edits if self.origin else ())
        self._tape.begin(self._kernel)
        self._seconds = 0.0
        self._diverged: int | None = None  # known from the run that this one replays
        self._asked = 0  # epochs asked for: a run that diverges has that many rows all the same

    @classmethod
    def at(cls, run: Run, epoch: int) -> "Trainer":
        """A trainer with the history of `run` up to `epoch`, in exactly that state."""
        run.check_replayable()
        made = cls.__new__(cls)
        made.config, made.seed, made.data, made.origin = run.config, run.seed, run.data, run.origin
        start = Parameters.from_flat(run.weights[0], run.config.shapes)
        made._turn = Turn("trainer")
        made._kernel = kernel_of(run, epoch, start)
        made._tape = Tape.of(run, epoch)
        made._seconds, made._asked = run.seconds, epoch
        made._diverged = epoch if run.diverged == epoch else None
        kept = np.flatnonzero(run.state_epochs <= epoch)
        if len(kept):  # else: from the start, with fresh moments
            state = np.ascontiguousarray(run.states[kept[-1]])
            at = int(run.state_epochs[kept[-1]])
            made._kernel.set_state(state, at, run.steps_done(at))
        made._kernel.advance(epoch - made._kernel.epoch, _ALWAYS)
        return made

    def _numbers(self) -> dict[str, Any]:
        """Plain data; of the kernel its numbers, from which `__setstate__` makes another one."""
        kept = {name: value for name, value in vars(self).items() if name not in _MADE_AGAIN}
        return {**kept, "snapshot": self._kernel.snapshot()}

    @in_turn
    def __getstate__(self) -> dict[str, Any]:
        """For `copy.copy` and pickles. With a tape of its own: of two trainers with one record,
        each would write into the other's."""
        return {**self._numbers(), "_tape": copy.deepcopy(self._tape)}

    @in_turn
    def __deepcopy__(self, memo: dict[int, Any]) -> "Trainer":
        made = memo[id(self)] = type(self).__new__(type(self))
        made.__setstate__(copy.deepcopy(self._numbers(), memo))
        return made

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        rows, numbers, progress = state["snapshot"]
        vars(self).update({name: value for name, value in state.items() if name != "snapshot"})
        self._turn = Turn("trainer")
        start = Parameters.from_flat(rows[0], self.config.shapes)
        self._kernel = self._made(self._edits, progress[0], start)
        self._kernel.restore(rows, numbers, progress)

    @property
    @in_turn
    def epoch(self) -> int:
        """Epochs completed."""
        return self._kernel.epoch

    @property
    @in_turn
    def step(self) -> int:
        """Steps done, over all epochs."""
        return self._kernel.step

    @property
    @in_turn
    def diverged(self) -> int | None:
        """The epoch at which the run blew up; from then on `advance` does nothing."""
        return self._diverged if self._kernel.diverged < 0 else self._kernel.diverged

    @in_turn
    def advance(self, epochs: int = 1) -> None:
        """Train until `epochs` more epochs have ended; one begun by steps counts when it ends."""
        target = self.epoch + _count("epochs", epochs)
        self._tape.reserve(max(self._asked, target))
        self._asked = max(self._asked, target)
        slice_ = 8  # epochs in one go: between two, Python may raise what Ctrl-C asked for
        while self.epoch < target and self.diverged is None:
            began, before = time.perf_counter(), self.epoch
            stop = self._tape.until(self.epoch, min(target, self.epoch + slice_))
            self._tape.advance(self._kernel, stop, _ALWAYS)
            took = time.perf_counter() - began
            self._seconds += took
            slice_ = max(1, min(4 * slice_, int((self.epoch - before) * _SLICE / max(took, 1e-9))))

    @in_turn
    def advance_steps(self, steps: int = 1) -> None:
        """Train for this many steps (batches); may end in the middle of an epoch."""
        steps = _count("steps", steps)
        began = time.perf_counter()
        goal = self.step + steps
        while self.step < goal and self.diverged is None:
            self._tape.reserve(self.epoch + 1)
            self._tape.advance(self._kernel, 1, goal - self.step)
        self._seconds += time.perf_counter() - began

    @property
    @in_turn
    def parameters(self) -> Parameters:
        """The current weights (a copy). Assigning starts a branch that keeps moments and epoch."""
        return Parameters.from_flat(self._kernel.parameters(), self.config.shapes)

    @parameters.setter
    @in_turn
    def parameters(self, new: Parameters) -> None:
        if not isinstance(new, Parameters) or new.shapes != self.config.shapes:
            got = new.shapes if isinstance(new, Parameters) else Description(type(new).__name__)
            raise expected("parameters", f"ds.Parameters with shapes {self.config.shapes}", got)
        self._check_going_on("parameters")
        new = new.check().astype(self.config.precision)
        hashed = fingerprint(new)
        # Runs whose options never changed have no edits: their ids are those of format 1.
        more = (Edit(self.epoch, self.step, parameters=hashed),) if self._edits else ()
        self._branch(hashed, (*self._edits, *more))
        self._kernel.set_parameters(new.flat)
        self._tape.mark_edit(self._kernel)

    @in_turn
    def change(self, options: Mapping[str, object]) -> None:
        """Go on with other training options, under their dotted names, from the end of an epoch on.

        Like new weights this makes a branch: moments and epoch stay. What a new optimizer keeps and
        the old one did not begins at zero, with steps of its own. The batch may change as well;
        steps are counted on. Not `training.epochs`: how long it goes on is up to `advance`.
        """
        if not isinstance(options, Mapping):
            raise expected("options", 'a dict such as {"training.lr": 0.01}', options)
        self._check_going_on("options")
        if self._kernel.step_in_epoch:
            raise DynascopeError(
                "options: they can only change at the end of an epoch, but training is "
                f"{self._kernel.step_in_epoch} steps into one; call advance(1) first."
            )
        changes = changed_options(self.config, self._edits, self.epoch, options)
        if not changes:
            return
        edits = (*self._edits, Edit(self.epoch, self.step, options=changes))
        state, old = self._kernel.state(), config_at(self.config, self._edits, self.epoch)
        self._branch(fingerprint(self.parameters), edits)
        new = config_at(self.config, edits, self.epoch)
        kernel = self._made(edits, self.epoch, self.parameters)
        kernel.set_state(_moved(state, old, new), self.epoch, self.step)
        self._kernel = kernel
        self._tape.change(edits)
        self._tape.mark_edit(kernel)

    @property
    def _edits(self) -> tuple[Edit, ...]:
        return self.origin.edits if self.origin else ()

    def _made(self, edits: tuple[Edit, ...], epoch: int, start: Parameters) -> Kernel:
        """A kernel with the options that hold from the end of an epoch on."""
        since = slots_since(self.config, edits, epoch)
        return make_kernel(config_at(self.config, edits, epoch), self.seed, self.data, start, since)

    def _branch(self, start: str, edits: tuple[Edit, ...]) -> None:
        known = self.origin is not None and self._tape.edited  # a second edit within one epoch
        parent = self.origin.start if self.origin and known else self.run.id
        self.origin = Origin("branch", start, parent, self.epoch, self.step, edits)

    def _check_going_on(self, field: str) -> None:
        if self.diverged is not None:
            raise DynascopeError(
                f"{field}: cannot be changed, since the run diverged at epoch {self.diverged}."
            )

    @property
    @in_turn
    def run(self) -> Run:
        """Everything recorded so far, as a separate `Run` (a copy)."""
        return self._recorded(copy=True)

    @in_turn
    def finish(self) -> Run:
        """The run made of the trainer's own arrays, which ends with that: there may not be enough
        memory for a long run and its copy."""
        run = self._recorded(copy=False)
        del self._tape
        return run

    def _recorded(self, copy: bool) -> Run:
        if self._tape.edited:
            raise DynascopeError(
                "run: the weights were changed in the middle of an epoch that has not ended yet; "
                "call advance(1) first."
            )
        epochs = max(self._asked, self.epoch) if self.diverged is not None else self.epoch
        config = self.config
        ends = config_at(config, self._edits, self.epoch).training.ends
        if epochs > config.training.epochs and not ends:
            config = config.replace({"training.epochs": epochs})  # what it would be in one go
        weights, weight_epochs, states, state_epochs = self._tape.kept(self._kernel, copy)
        return Run(
            config=config,
            seed=self.seed,
            table=self._tape.curves(epochs, copy),
            weights=weights,
            weight_epochs=weight_epochs,
            states=states,
            state_epochs=state_epochs,
            diverged=self.diverged,
            origin=self.origin,
            data=self.data,
            seconds=self._seconds,
            steps=self._tape.steps(copy),
        )


def fitted_start(start: Parameters, config: Config, seed: int) -> Parameters:
    """The given weights as this config needs them: with fresh embedding rows where it has more."""
    if not isinstance(start, Parameters):
        raise expected("start", "ds.Parameters", Description(type(start).__name__))
    start = start.check("start").astype(config.precision)
    rows, wanted = len(start.token_embedding), config.embeddings
    if rows > wanted:
        raise expected(
            "start.token_embedding", f"at most {wanted} rows", rows, f"set model.embeddings={rows}"
        )
    if rows < wanted:
        fresh = initial_parameters(config, seed).token_embedding[rows:]
        if fresh.shape[1] != start.token_embedding.shape[1]:
            raise expected(
                "start.token_embedding",
                f"rows of length {fresh.shape[1]}",
                start.token_embedding.shape[1],
            )
        start = start.replace(token_embedding=np.concatenate([start.token_embedding, fresh]))
    for name, shape in config.shapes.items():
        if start.shapes.get(name) != shape:
            raise expected(f"start.{name}", f"shape {shape}", start.shapes.get(name))
    if len(start) != len(config.shapes):
        raise expected("start", "no biases (model.bias is false)", Description("receptor_bias"))
    return start


def kernel_of(run: Run, epoch: int, start: Parameters) -> Kernel:
    """What trains a run from the end of an epoch on, once it is given the state there."""
    return make_kernel(run.config_at(epoch), run.seed, run.data, start, run.slots_since(epoch))


def make_kernel(
    config: Config,
    seed: int,
    data: Data | None,
    start: Parameters | None,
    since: Sequence[int] = (0, 0),
) -> Kernel:
    """What trains a model, before its first step. `since`: steps done when the slots began."""
    task = task_of(config, data)
    train, test = task.examples(seed, "train"), task.examples(seed, "test")
    none = (train[0][:0], train[1][:0])
    sets = [train, test, task.examples(seed, "unseen") if config.record.unseen else none]
    masks = frozen_mask(config.training.frozen, config.shapes)
    frozen = np.concatenate([mask.ravel() for mask in masks.values()]).astype(np.uint8)
    if start is None:
        start = initial_parameters(config, seed)
    make = _kernel.Trainer32 if config.precision == "float32" else _kernel.Trainer64
    return make(
        config_shape(config),
        kernel_training(config.training),
        sets,
        seed,
        np.ascontiguousarray(start.flat),
        frozen if frozen.any() else None,
        config.record.gradients,
        config.record.full_gradients,
        since,
        [
            (*clamp.epochs, clamp.attention(config.task.length))
            for clamp in clamps_of(config.training.clamps, config.task.length)
        ],
    )


def _moved(state: Array, old: Config, new: Config) -> Array:
    """A state of one rule as another has it: slots by name, the rest zero."""
    had, has = SLOTS[old.training.optimizer], SLOTS[new.training.optimizer]
    moved = np.zeros_like(state)
    for row, slot in enumerate(has):
        if slot in had:
            moved[row] = state[had.index(slot)]
    return moved


def _count(field: str, value: object) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 0 <= int(value) < 2**53:  # type: ignore[call-overload]
        raise expected(field, "a whole number of at least 0", value)
    return int(value)  # type: ignore[call-overload,no-any-return]


def fingerprint(parameters: Parameters) -> str:
    return hashlib.sha256(parameters.flat.tobytes()).hexdigest()[:20]
