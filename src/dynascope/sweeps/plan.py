"""The plan of a sweep: every config of every stage, in an order that never changes.

A grid is expanded stage by stage, parents first; within a stage each parent in turn, and of its
combinations the last factor varies fastest. What cannot be trained is refused here, before the
first run starts: invalid combinations, fine-tuning that does not fit, two ways to the same run,
and more runs than anyone can mean. Limits: `MAX_CONFIGS` of a stage and `MAX_SWEEP_RUNS` in all,
counted before anything is made; whether a run fits into memory is not asked here.
"""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, product
from operator import attrgetter
from typing import Any, Protocol

from dynascope.config import Config
from dynascope.errors import DynascopeError, expected
from dynascope.run_size import ends_of_record
from dynascope.sweeps.grid_values import MAX_CONFIGS, StageGrid, settings, spelt

MAX_SWEEP_RUNS = 10**7
_KEPT = ("model.dim", "model.hidden", "task.length", "model.bias")  # see trainer.fitted_start
_LONGEST_LABEL = 130  # characters: two of them still leave room for a sentence


class Described(Hashable, Protocol):
    """What a plan needs of a `Grid`, whose module imports this one: to read is to expand."""

    @property
    def seeds(self) -> tuple[int, ...]: ...
    @property
    def base(self) -> Config: ...
    @property
    def stages(self) -> tuple[StageGrid, ...]: ...
    @property
    def keep(self) -> str: ...


@dataclass(frozen=True)
class Stage:
    """The configs of a stage; `parents[i]` is the place of config i's parent in its stage."""

    name: str
    parent: str | None
    configs: tuple[Config, ...]
    parents: tuple[int, ...]  # () for the stage "base"


@dataclass(frozen=True)
class Plan:
    """Every config with every seed; parents come before the stages that fine-tune them."""

    seeds: tuple[int, ...]
    stages: tuple[Stage, ...]
    keep: str = "all"  # that was recorded; or "ends"

    def stored(self, config: Config) -> Config:
        """A config as the store has it: with what is kept of the record."""
        return ends_of_record(config) if self.keep == "ends" else config

    @property
    def runs(self) -> int:
        return len(self.seeds) * sum(len(stage.configs) for stage in self.stages)


def expand(grid: Described) -> Plan:
    """All configs of a grid, checked.

    >>> from dynascope.sweeps.grid import parse_grid
    >>> axes = {"training.lr": [0.1, 0.2], "training.batch": [8, 16]}
    >>> plan = expand(parse_grid({"seeds": 3, "grid": axes}))
    >>> [(c.training.lr, c.training.batch) for c in plan.stages[0].configs]
    [(0.1, 8), (0.1, 16), (0.2, 8), (0.2, 16)]
    >>> plan.runs
    12
    """
    return _expanded(grid)


def count_runs(grid: Described) -> int:
    """How many runs a grid plans, from the lengths of its factors alone."""
    return len(grid.seeds) * sum(_sizes(grid).values())


# Size: from lengths alone, so that a slip of the finger costs no memory.


def check_size(grid: Described) -> None:
    """Refuse what is too much, with the number and the factors that make it."""
    sizes = _sizes(grid)
    for stage in grid.stages:
        if sizes[stage.name] > MAX_CONFIGS:
            what = f"at most {MAX_CONFIGS} configs"
            number, runs = _number(sizes[stage.name]), _number(sizes[stage.name] * len(grid.seeds))
            _refuse_size(grid, stage, title(stage, "grid"), what, f"{number} ({runs} runs)")
    if count_runs(grid) > MAX_SWEEP_RUNS:
        largest = max(grid.stages, key=lambda stage: sizes[stage.name])
        what = f"at most {MAX_SWEEP_RUNS} runs"
        _refuse_size(grid, largest, "seeds", what, _number(count_runs(grid)))


def _refuse_size(grid: Described, stage: StageGrid, field: str, what: str, got: str) -> None:
    lengths = [(len(grid.seeds), "seeds"), (len(grid.stages), "stages")]
    for each in _upwards(grid, stage):
        lengths += [(len(factor.rows), " with ".join(factor.options)) for factor in each.factors]
    largest = sorted((pair for pair in lengths if pair[0] > 1), reverse=True)[:3]
    named = ", ".join(f"{name} ({length})" for length, name in largest)
    raise DynascopeError(f"{field}: expected {what}, but got {got}; the largest factors: {named}.")


def _sizes(grid: Described) -> dict[str, int]:
    """The number of configs of each stage."""
    sizes: dict[str, int] = {}
    for stage in grid.stages:
        parents = 1 if stage.parent is None else sizes[stage.parent]
        sizes[stage.name] = parents * math.prod(len(factor.rows) for factor in stage.factors)
    return sizes


def _number(count: int) -> str:
    return str(count) if count < 10**15 else f"about 10^{round(math.log10(count))}"


# Expansion.


@lru_cache(maxsize=2)  # two are compared; reading a grid has expanded it once already
def _expanded(grid: Described) -> Plan:
    check_size(grid)
    expansion = _Expansion(grid)
    for stage in grid.stages:
        expansion.add(stage)
    return Plan(grid.seeds, tuple(expansion.stages.values()), grid.keep)


class _Expansion:
    """The stages made so far, and what is remembered while making more.

    Sections repeat: a thousand learning rates with a thousand sizes have a thousand different
    `training` and as many `model`. Each is made and checked once; what spans sections is checked
    by every `Config`.
    """

    def __init__(self, grid: Described) -> None:
        self.grid = grid
        self.stages: dict[str, Stage] = {}
        self._sections: dict[tuple[object, ...], object] = {}
        self._seen: dict[tuple[object, ...], tuple[StageGrid, int]] = {}

    def add(self, stage: StageGrid) -> None:
        """Expand a stage whose parent has been expanded."""
        fresh = stage.parent is None
        sources = (self.grid.base,) if fresh else self.stages[stage.parent or ""].configs
        names = (*stage.changes, *chain.from_iterable(each.options for each in stage.factors))
        fixed = tuple(stage.changes.values())
        rows = [
            (*fixed, *chain.from_iterable(combination))
            for combination in product(*(factor.rows for factor in stage.factors))
        ]
        groups = _by_section(names)
        configs: list[Config] = []
        for number, source in enumerate(sources):
            for row in rows:
                config = self._config(stage, len(configs), source, groups, row)
                self._check_new(stage, len(configs), number, config)
                configs.append(config)
        parents = () if fresh else tuple(i for i in range(len(sources)) for _ in rows)
        self.stages[stage.name] = Stage(stage.name, stage.parent, tuple(configs), parents)

    def _config(
        self,
        stage: StageGrid,
        index: int,
        source: Config,
        groups: Sequence[tuple[str, tuple[str, ...], tuple[int, ...]]],
        row: tuple[object, ...],
    ) -> Config:
        changed: dict[str, Any] = {}
        try:
            for section, options, places in groups:
                values = tuple(row[place] for place in places)
                if section:
                    changed[section] = self._section(getattr(source, section), options, values)
                else:
                    changed.update(zip(options, values, strict=True))
            config = replace(source, **changed)
            if stage.parent is not None:
                check_fine_tuning(source, config)
        except DynascopeError as error:
            raise DynascopeError(f"{label(self.grid, stage, index)}: {error}") from None
        return config

    def _section(self, section: Any, options: tuple[str, ...], values: tuple[object, ...]) -> Any:
        key = (section, options, values)
        if key not in self._sections:
            self._sections[key] = replace(section, **dict(zip(options, values, strict=True)))
        return self._sections[key]

    def _check_new(self, stage: StageGrid, index: int, number: int, config: Config) -> None:
        """Refuse a second way to one run: its results would be counted twice."""
        key = (stage.parent, number, identity(config))
        twin, place = self._seen.setdefault(key, (stage, index))
        if (twin.name, place) == (stage.name, index):
            return
        one, two = _combination(self.grid, twin, place), _combination(self.grid, stage, index)
        here = cut(", ".join(each for each in two if each not in one))
        there = cut(", ".join(each for each in one if each not in two))
        raise DynascopeError(
            f"{here}: makes the same runs as {there}; change an option in one of them."
        )


def check_fine_tuning(parent: Config, config: Config) -> None:
    """Refuse what `trainer.fitted_start` would refuse when the parent has been trained.

    >>> check_fine_tuning(Config(), Config().replace({"task.vocab": 3}))
    >>> check_fine_tuning(Config(), Config().replace({"model.dim": 3}))
    Traceback (most recent call last):
    dynascope.errors.DynascopeError: model.dim: expected the parent's 2, which fine-tuning keeps,
    but got 3.
    """
    for name in _KEPT:
        had, has = attrgetter(name)(parent), attrgetter(name)(config)
        if had != has:
            raise expected(name, f"the parent's {spelt(had)}, which fine-tuning keeps", has)
    rows = parent.embeddings
    if config.embeddings < rows:
        what = f"at least the parent's {rows}, which fine-tuning keeps"
        raise expected("model.embeddings", what, config.embeddings, f"set model.embeddings={rows}")


def _by_section(names: Sequence[str]) -> list[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    """For each section its options and their places among the names; "" has those of none."""
    groups: dict[str, dict[str, int]] = {}
    for place, name in enumerate(names):
        section, _, option = name.rpartition(".")
        groups.setdefault(section, {})[option] = place
    return [(section, tuple(each), tuple(each.values())) for section, each in groups.items()]


def identity(config: Config) -> tuple[object, ...]:
    """Equal when `canonical_json` is, and ten times as fast."""
    model = config.model
    if model.embeddings is None:
        model = _with_embeddings(model, config.embeddings)
    return config.task, model, config.training, config.precision


@lru_cache(maxsize=4096)
def _with_embeddings(model: Any, embeddings: int) -> Any:
    return replace(model, embeddings=embeddings)


# Names of combinations, made when a sentence needs one.


def label(grid: Described, stage: StageGrid, index: int) -> str:
    """Config `index` of a stage, as a sentence names it."""
    return cut(", ".join(_combination(grid, stage, index)) or "base")


def _combination(grid: Described, stage: StageGrid, index: int) -> list[str]:
    """What makes config `index` of a stage: its own settings, then those of its parents."""
    words: list[str] = []
    for each in _upwards(grid, stage):
        own: list[str] = []
        for factor in reversed(each.factors):
            index, row = divmod(index, len(factor.rows))
            own[:0] = settings(factor.options, factor.rows[row])
        if each.parent is not None:
            own.insert(0, f"chain {each.name}")
        if each is not stage and own:
            own[0] = f"from {own[0]}"
        words += own
    return words


def _upwards(grid: Described, stage: StageGrid) -> Iterator[StageGrid]:
    """A stage, its parent, and so on up to "base"."""
    stages = {each.name: each for each in grid.stages}
    while stage.parent is not None:
        yield stage
        stage = stages[stage.parent]
    yield stage


def title(stage: StageGrid, base: str = "base") -> str:
    """A stage, as a sentence names it; `base` is the word for the one without a parent."""
    return base if stage.parent is None else f"chain {stage.name}"


def cut(text: str) -> str:
    """What a sentence can carry of a long combination."""
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 3] + "..."
