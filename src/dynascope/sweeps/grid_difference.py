"""What one sweep plans and another does not, in words.

Two plans are compared by lineages: a run is its config, those it was fine-tuned from, what is
recorded of it, and its seed. How the file spells them does not count. Limits: both grids are
expanded; lost configs are explained by the stage of the same name alone; long lists are cut.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter

from dynascope.config import OPTIONS
from dynascope.sweeps.grid import Grid
from dynascope.sweeps.grid_values import StageGrid, spelt
from dynascope.sweeps.plan import Plan, Stage, expand, identity, label, title

_LONGEST_LIST = 5


def difference(old: Grid, new: Grid) -> list[str]:
    """What `old` plans and `new` does not, in short phrases; empty if `new` contains all of it.

    >>> from dynascope.sweeps.grid import parse_grid
    >>> few = parse_grid({"seeds": 5, "grid": {"training.lr": [0.1]}})
    >>> many = parse_grid({"seeds": 9, "grid": {"training.lr": [0.1, 0.2]}})
    >>> difference(few, many), difference(many, few)
    ([], ['grid training.lr no longer has 0.2', 'seeds no longer has 5-8'])
    """
    phrases = _lost_configs(old, new)
    lost = sorted(set(old.seeds) - set(new.seeds))
    return [*phrases, f"seeds no longer has {_listed(_ranges(lost))}"] if lost else phrases


def _lost_configs(old: Grid, new: Grid) -> list[str]:
    before, after = expand(old), expand(new)
    numbers: dict[tuple[object, ...], int] = {}
    planned = set(chain.from_iterable(_lineages(after, numbers).values()))
    lineages = _lineages(before, numbers)
    phrases: list[str] = []
    for stage, made in zip(old.stages, before.stages, strict=True):
        lost = [i for i, lineage in enumerate(lineages[stage.name]) if lineage not in planned]
        if not lost:
            continue
        found = _changes(stage, made, new, after)
        if not found:  # every option has the values that it had, but not in all combinations
            above = lineages[stage.parent] if stage.parent is not None else []
            own = [i for i in lost if not above or above[made.parents[i]] in planned]
            found = (
                [f"it no longer has {label(old, stage, own[0])}{_more(len(own) - 1)}"]
                if own
                else []
            )
        phrases += found
    return phrases


def _lineages(plan: Plan, numbers: dict[tuple[object, ...], int]) -> dict[str, list[int]]:
    """A number for each config of each stage; `numbers` gives equal lineages equal ones."""
    found: dict[str, list[int]] = {}
    for stage in plan.stages:
        above = [found[stage.parent][i] for i in stage.parents] if stage.parent is not None else []
        keys = (
            (above[i] if above else None, identity(config), config.record)
            for i, config in enumerate(stage.configs)
        )
        found[stage.name] = [numbers.setdefault(key, len(numbers)) for key in keys]
    return found


def _changes(stage: StageGrid, made: Stage, new: Grid, after: Plan) -> list[str]:
    """How the stage of the same name in `new` lacks values that this one has."""
    names = [each.name for each in new.stages]
    if stage.name not in names:
        return [f"chain {stage.name} is gone"]
    place = names.index(stage.name)
    twin, planned = new.stages[place], after.stages[place]
    if stage.parent != twin.parent:
        return [f"chain {stage.name} came from {stage.parent} and now comes from {twin.parent}"]
    said = _said(stage) | _said(twin)
    names = [name for name in OPTIONS if stage.parent is None or name in said]
    phrases = (_change(name, stage, twin, made, planned) for name in names)
    return [phrase for phrase in phrases if phrase]


def _change(name: str, stage: StageGrid, twin: StageGrid, made: Stage, planned: Stage) -> str:
    """How one option of a stage lacks values; nothing if it lacks none.

    A value that a chain does not name is its parent's, and what became of that is said there.
    """
    get = attrgetter(name)
    had, has = dict.fromkeys(map(get, made.configs)), dict.fromkeys(map(get, planned.configs))
    lost = [value for value in had if value not in has]
    if not lost:
        return ""
    root, kinds = stage.parent is None, _said(stage)
    if len(had) > 1 and name in kinds and (root or name in _said(twin)):
        of = "" if root else f" of chain {stage.name}"
        return f"{kinds[name]} {name}{of} no longer has {_listed(map(spelt, lost))}"
    was = _listed(map(spelt, had)) if root or name in kinds else "the parent's"
    now = _listed(map(spelt, has)) if root or name in _said(twin) else "the parent's"
    of = "" if name.startswith("record.") else f" of {title(stage)}"
    return f"{name}{of} was {was} and is now {now}"


def _said(stage: StageGrid) -> dict[str, str]:
    """The options that a stage names, each with the part of the file that names it."""
    parts = dict.fromkeys(stage.changes, "set")
    for factor in stage.factors:
        parts.update(dict.fromkeys(factor.options, "grid" if len(factor.options) == 1 else "zip"))
    return parts


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    """Rising numbers as they are typed.

    >>> list(_ranges([3, 5, 6, 7, 9, 10]))
    ['3', '5-7', '9-10']
    """
    first = last = None
    for number in [*numbers, None]:
        if last is not None and number != last + 1:
            yield str(first) if first == last else f"{first}-{last}"
            last = None
        if last is None:
            first = number
        last = number


def _listed(words: Iterable[str]) -> str:
    listed = list(words)
    return ", ".join(listed[:_LONGEST_LIST]) + _more(len(listed) - _LONGEST_LIST)


def _more(rest: int) -> str:
    return f" and {rest} more" if rest > 0 else ""
