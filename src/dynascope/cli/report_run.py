"""The report of one run: all that each kind of analysis finds, in words or as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table

from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.analysis.story import Story
from dynascope.analysis_columns import DEFAULT_KINDS
from dynascope.analysis_row import joined_notes
from dynascope.cached import cached_property
from dynascope.cli.report_table import accuracy, wrapped
from dynascope.cli.run_table import stdout
from dynascope.engine import Crew
from dynascope.findings.kind import Listing
from dynascope.findings.make_analyses import attempt, both_notes
from dynascope.findings.registry import kinds as kinds_by_name
from dynascope.findings.run_story import run_story, story_kinds
from dynascope.plain import plain
from dynascope.progress import Report, Status
from dynascope.run import Run, spelt_options


@dataclass(frozen=True)
class RunReport:
    """What was found of a run; what could not be is None, with a note."""

    run: Run
    epoch: int  # of what looks at one epoch
    found: dict[str, Any]  # by kind
    notes: dict[str, str]

    @classmethod
    def of(
        cls, run: Run, epoch: int, kinds: Sequence[str], report: Report | None = None
    ) -> "RunReport":
        """Make these analyses, at an epoch (-1: the last that can be looked at) if they look at
        one."""
        analysts = _Analysts(run, epoch, kinds)
        analysts.work(1, report)
        return cls(run, analysts.at, analysts.results, analysts.notes)

    @cached_property
    def story(self) -> Story | None:
        """Its key moments; None where what they are made of was not asked for."""
        if not {*story_kinds()} <= {*self.found}:
            return None
        return run_story(self.run, self.found, self.notes, self.epoch)

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON takes it."""
        told: dict[str, Any] = {
            "run": self.run.summary() | {"epochs": self.run.epochs},
            "epoch": self.epoch,
        }
        for name, kind in kinds_by_name((*DEFAULT_KINDS, *self.found)).items():
            told |= kind.json_of(self.found.get(name))
        told["story"] = self.story and self.story.moments
        return plain(told | {"notes": self.notes})  # type: ignore[no-any-return]

    def print(self) -> None:
        """All of it for people."""
        console = stdout()
        console.print(wrapped(_headline(self.run), console))
        if self.story:
            _print_story(self.story, console)
        for name, kind in kinds_by_name(self.found).items():
            if self.found[name] is None:
                continue
            console.print(f"\n{kind.title.format(epoch=self.epoch)}", style="bold")
            for part in kind.text(self.found[name]):
                _print_part(part, console)
        if self.notes:
            console.print(f"\n{wrapped(joined_notes(self.notes) or '', console)}")


class _Analysts(Crew):
    """Makes one analysis after the other, while the caller looks on."""

    def __init__(self, run: Run, epoch: int, kinds: Sequence[str]) -> None:
        super().__init__(len(kinds), Status(1, len(kinds), unit="analyses"))
        self._run, self._chosen, self._kinds = run, epoch != -1, [*kinds_by_name(kinds).items()]
        self.at = epoch if self._chosen else last_sound_epoch(run)
        self.results: dict[str, Any] = {}
        self.notes: dict[str, str] = {}

    def one(self, index: int) -> None:
        name, kind = self._kinds[index]
        found, note = attempt(partial(kind.make, epoch=self.at), self._run)
        self.results[name] = found
        if kind.of_epoch and self._chosen and found is not None:
            note = None  # how far it was analysed is no question then
        if why := both_notes(note, None if found is None else kind.note(found)):
            self.notes[name] = why
        self.status.advance(index, 1)


def _headline(run: Run) -> str:
    row = run.summary()
    ended = f"accuracy {accuracy(row)}"
    if run.diverged is not None:
        ended = f"diverged at epoch {run.diverged}"
    if run.unknown_options:
        options = spelt_options(run.unknown_options)
        ended += f"; not replayable, since this version does not know {options}"
    if changed := [edit.epoch for edit in run.edits if edit.options]:
        ended += f"; options changed after epoch {', '.join(map(str, changed))}"
    return f"Run {run.id}, seed {run.seed}: {run.task.describe()}, {run.epochs} epochs, {ended}"


def _print_story(story: Story, console: Console) -> None:
    """The captions: what is below has the numbers."""
    console.print("\nStory", style="bold")
    table = Table(box=None, pad_edge=False, padding=(0, 0, 0, 2), show_header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for moment in story.moments:
        table.add_row(str(moment.epoch), moment.caption)
    console.print(table)


def _print_part(part: str | Listing, console: Console) -> None:
    if isinstance(part, str):
        console.print(wrapped(part, console))
        return
    table = Table(box=None, pad_edge=False, padding=(0, 0, 0, 2), header_style="bold")
    for name in part.columns:
        table.add_column(name, justify="right", no_wrap=True)
    for row in zip(*part.columns.values(), strict=True):
        table.add_row(*row)
    console.print()
    console.print(table)
    console.print(wrapped(part.legend, console))
