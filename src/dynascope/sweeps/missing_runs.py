"""What of a plan is done, what is missing, and what cannot be done.

A run is known by its config, its seed and its parent, which are columns of every shard; runs of a
further stage are known once their parents are there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from dynascope.config import Config, RecordConfig
from dynascope.engine import Job, fine_tuned_from
from dynascope.errors import DynascopeError
from dynascope.store.index import Index
from dynascope.store.stored import StoredRun, StoredRuns
from dynascope.sweeps.packing import Item
from dynascope.sweeps.plan import Plan, Stage

_COLUMNS = (
    *("config", "seed", "parent", "parent_epoch", "id", "diverged", "data", "origin"),
    *("seconds", "epochs", "last_epoch"),
)
_RECORD = tuple(field.name for field in fields(RecordConfig))
Key = tuple[str, int, str | None, int | None]


class Known:
    """The runs of a store that a sweep could have made, by config, seed and parent.

    Those that were deleted are among them: what a person has deleted is not computed again.
    """

    def __init__(self, index: Index, strict: bool = False) -> None:
        self._index = index
        places = {bytes(run): at for at, run in enumerate(index.ids.tolist())}
        runs = StoredRuns(index, np.arange(len(index.ids)), strict)
        table = runs.table([*_COLUMNS, *_RECORD]).to_pydict()
        self._at: dict[Key, int] = {}
        self._ids: dict[int, str] = {}
        self._last: dict[int, int] = {}
        self._record: dict[int, tuple[Any, ...]] = {}
        self._diverged: set[int] = set()
        self._seconds: dict[int, float] = {}
        for row in zip(*table.values(), strict=True):
            config, seed, parent, since, run, diverged, data, origin, *rest = row
            seconds, epochs, last, *record = rest
            at = places[run.encode()]
            self._ids[at], self._last[at], self._seconds[at] = run, last, seconds
            self._record[at] = tuple(record)
            if diverged is not None:
                self._diverged.add(at)
            # Not what was trained on other data, from other weights, or saved before its end.
            ours = origin is None or (origin == "fine-tune" and parent is not None)
            if ours and data is None and last == epochs:
                self._at[config, seed, parent, since] = at

    def find(self, config: str, seed: int, parent: int | None) -> int | None:
        """Where the run is that has this config (its digest) and seed, and goes on from the end of
        this parent."""
        if parent is None:
            return self._at.get((config, seed, None, None))
        return self._at.get((config, seed, self._ids[parent], self._last[parent]))

    def check_record(self, at: int, config: Config) -> None:
        """Refuse a run that is there with another record: it has the same id, so it would stay."""
        for name, there in zip(_RECORD, self._record[at], strict=True):
            wanted = getattr(config.record, name)
            if there != (list(wanted) if isinstance(wanted, tuple) else wanted):
                raise DynascopeError(
                    f"{self._index.folder}: expected runs with record.{name} = {wanted}, but run "
                    f"{self._ids[at]} in it has {there}; choose another folder."
                )

    def diverged(self, at: int) -> bool:
        return at in self._diverged

    def seconds(self, at: int) -> float:
        return self._seconds[at]

    def run(self, at: int) -> StoredRun:
        index = self._index
        return StoredRun(index.shards[index.shard[at]], int(index.row[at]), index)


@dataclass
class Standing:
    """How a stage of a plan stands: its items are (index of config, index of seed)."""

    stage: Stage
    missing: list[Item] = field(default_factory=list)
    done: dict[Item, int] = field(default_factory=dict)  # where it is in the store
    impossible: set[Item] = field(default_factory=set)  # its parent diverged: nothing to start from
    waiting: list[Item] = field(default_factory=list)  # its parent is not there yet


def standings(plan: Plan, known: Known) -> list[Standing]:
    """Each stage against the store, parents before children."""
    found: dict[str, Standing] = {}
    for stage in plan.stages:
        parents = None if stage.parent is None else found[stage.parent]
        found[stage.name] = _standing(plan, stage, parents, known)
    return list(found.values())


def stored(index: Index, found: Sequence[Standing], strict: bool = False) -> StoredRuns:
    """The runs of a plan that are there, but for deleted ones."""
    places = np.array(sorted(at for each in found for at in each.done.values()), np.intp)
    return StoredRuns(index, places[~index.hidden[places]], strict)


def _standing(plan: Plan, stage: Stage, parents: Standing | None, known: Known) -> Standing:
    standing = Standing(stage)
    for c, config in enumerate(stage.configs):
        digest = config.digest()
        for s, seed in enumerate(plan.seeds):
            item, parent = (c, s), None
            if parents is not None:
                before = (stage.parents[c], s)
                parent = parents.done.get(before)
                if parent is None and before not in parents.impossible:
                    standing.waiting.append(item)
                    continue
                if parent is None or known.diverged(parent):
                    standing.impossible.add(item)
                    continue
            at = known.find(digest, seed, parent)
            if at is None:
                standing.missing.append(item)
            else:
                known.check_record(at, plan.stored(config))
                standing.done[item] = at
    return standing


class PlannedJobs(Sequence[Job]):
    """The jobs of some items, made when they are asked for: parents' weights are read then."""

    def __init__(
        self,
        items: Sequence[Item],
        plan: Plan,
        stage: Stage,
        parents: Standing | None,
        known: Known,
    ) -> None:
        self._items, self._plan, self._stage = items, plan, stage
        self._parents, self._known = parents, known

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> Job:  # type: ignore[override]
        c, s = self._items[index]
        config, seed = self._stage.configs[c], self._plan.seeds[s]
        if self._parents is None:
            return Job(config, seed)
        parent = self._known.run(self._parents.done[self._stage.parents[c], s])
        start, origin = fine_tuned_from(parent, -1)
        return Job(config, seed, start=start, origin=origin)

    def configs(self) -> Iterator[Config]:
        return (self._stage.configs[c] for c, _ in self._items)
