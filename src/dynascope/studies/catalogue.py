"""The studies that there are, in the order of the paper; each in a file of its name."""

from collections.abc import Iterable
from functools import cache
from importlib import import_module

from dynascope.errors import DynascopeError, did_you_mean, expected
from dynascope.studies.study import Study

NAMES = (
    "ideal",
    "circuits",
    "initialisation",
    "two-phase",
    "gradients",
    "saddles",
    "spikes",
    "cures",
    "transfer",
    "sparsity",
    "width",
    "ablations",
    "bounds",
)
ALL = "all"


@cache
def study_of(name: str) -> Study:
    """The study of a name; its file is imported when it is first asked for."""
    study = import_module(f"dynascope.studies.study_{name.replace('-', '_')}").STUDY
    assert isinstance(study, Study)
    return study


def check_studies(names: object) -> tuple[str, ...]:
    """The studies that were asked for, each once, in the paper's order.

    >>> check_studies(["spikes", "circuits"]), check_studies("width")
    (('circuits', 'spikes'), ('width',))
    >>> check_studies("all") == NAMES
    True
    >>> check_studies("spike")
    Traceback (most recent call last):
    dynascope.errors.DynascopeError: study: expected one of ideal, circuits, initialisation,
    two-phase, gradients, saddles, spikes, cures, transfer, sparsity, width, ablations, bounds or
    all, but got 'spike'; did you mean 'spikes'?
    """
    if not isinstance(names, str | Iterable) or isinstance(names, bytes):
        raise expected("study", "a name, or a list of names", names)
    wanted = [names] if isinstance(names, str) else list(names)
    if not wanted:
        raise DynascopeError(f"study: expected at least one of {', '.join(NAMES)} or {ALL}.")
    for name in wanted:
        if name not in (*NAMES, ALL):
            what = f"one of {', '.join(NAMES)} or {ALL}"
            raise expected("study", what, name, did_you_mean(name, [*NAMES, ALL]))
    return NAMES if ALL in wanted else tuple(name for name in NAMES if name in wanted)
