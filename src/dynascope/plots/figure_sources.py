"""What a layout is given, as views: runs at one epoch or at several, weights, or views."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.config_input import ConfigLike
from dynascope.errors import DynascopeError, expected, none_given
from dynascope.plots.view import ModelSource, View, view
from dynascope.run import Run, Runs

FigureSource = ModelSource | Runs | tuple[Run, int]


def views_of(
    given: Sequence[FigureSource],
    epochs: int | Iterable[int] = -1,
    config: ConfigLike = None,
    sequences: npt.ArrayLike | None = None,
) -> list[View]:
    """A view of each source at each epoch, in this order; those of one run share their planes."""
    wanted = list(epochs) if isinstance(epochs, Iterable) else [epochs]
    if not wanted:
        raise none_given("epochs", "epoch")
    made: list[View] = []
    for each in _spread_out(given):
        source, at = each, wanted
        if _is_pair(each):
            source, at = each[0], [each[1]]
        own = isinstance(source, View) and (source.run is None or at == [-1])  # stays as it is
        if own or not isinstance(source, Run | View):
            made.append(view(source, config=config, sequences=sequences))
            continue
        first = _known(source, made) or view(source, at[0], config=config, sequences=sequences)
        made += [first if _is_at(first, epoch) else first.at(epoch) for epoch in at]
    return made


def one_run(given: Sequence[FigureSource], layout: str) -> tuple[Run, int | None]:
    """The run that a layout is about, and the epoch that was named with it, if one was."""
    sources = _spread_out(given)
    if len(sources) != 1:
        raise DynascopeError(f"{layout}: expected one run, but got {len(sources)}.")
    source: Any = sources[0]
    source, epoch = source if _is_pair(source) else (source, None)
    if isinstance(source, View):
        source, epoch = source.checked_run(layout), source.epoch
    if not isinstance(source, Run):
        raise DynascopeError(
            f"{layout}: expected a run, since it shows what happened over the epochs, but got "
            "weights without one."
        )
    return source, None if epoch == -1 else epoch


def _spread_out(given: Sequence[FigureSource]) -> list[Any]:
    sources: list[Any] = []
    for each in given:
        if isinstance(each, Runs) or (isinstance(each, list) and each):
            sources += each
        else:
            sources.append(each)
    if not sources:
        raise none_given("runs", "run")
    return sources


def _is_pair(each: Any) -> bool:
    """A run, and an epoch of it. (An ideal head is a tuple of two, too.)"""
    return isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], Run)


def _known(source: object, made: Sequence[View]) -> View | None:
    """A view of the same run: another epoch of it has the same planes."""
    if isinstance(source, View):
        return source
    return next((each for each in made if each.run is source), None)


def _is_at(seen: View, epoch: object) -> bool:
    if isinstance(epoch, bool) or not isinstance(epoch, int | np.integer):
        raise expected("epochs", "whole numbers", epoch)
    return bool(seen.epoch == epoch) or (epoch == -1 and _is_last(seen))


def _is_last(seen: View) -> bool:
    from dynascope.analysis.run_epochs import last_sound_epoch

    return seen.run is not None and seen.epoch == last_sound_epoch(seen.run)
