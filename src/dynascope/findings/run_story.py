"""The story of a run, from analyses that were made of it by kind: none is made twice."""

from collections.abc import Mapping
from typing import Any

from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.analysis.story import Analyses, Story, story_of
from dynascope.findings.kind import Kind
from dynascope.findings.registry import kinds
from dynascope.run import Run


def story_kinds() -> dict[str, Kind[Any]]:
    """The kinds that have a part in a story."""
    return {name: kind for name, kind in kinds().items() if kind.story_part}


def run_story(
    run: Run, found: Mapping[str, Any], notes: Mapping[str, str], epoch: int | None = None
) -> Story:
    """`found` has the results of these kinds, or None with a note; `epoch` is the one that those
    looked at which look at one. The story is about the last sound one, and leaves out others."""
    at_end = epoch in (None, last_sound_epoch(run))
    parts: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for name, kind in story_kinds().items():
        if found[name] is None and name in notes:
            left_out[name] = notes[name]
        if kind.story_part and found[name] is not None and (at_end or not kind.of_epoch):
            parts[kind.story_part] = kind.for_story(found[name])
    return story_of(run, Analyses(**parts, left_out=left_out))
