"""What theory says in the report of one run: stationarity, bounds, curvature, plateaus, a slice."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from dynascope.analysis.checks import sound_parameters
from dynascope.analysis_row import joined_notes
from dynascope.cli.report_table import wrapped
from dynascope.cli.run_table import stdout
from dynascope.findings.curvature_json import curvature_json, plateau_json
from dynascope.findings.make_analyses import attempt
from dynascope.plain import plain
from dynascope.run import Run
from dynascope.theory import (
    BoundCurves,
    Bounds,
    Curvature,
    Landscape,
    Plateau,
    Stationarity,
    bounds,
    bounds_along,
    curvature,
    landscape,
    saddles,
    stationarity,
)

Show = Callable[[str, Any], None]
TITLES = {
    "stationarity": "Stationarity after epoch {epoch}",
    "bounds": "Bounds on the gradient",
    "curvature": "Curvature",
    "plateaus": "Plateaus",
    "landscape": "Landscape",
}
POINTS = 21  # of the slice along each axis: enough for where it falls and rises


@dataclass(frozen=True)
class Theory:
    """What theory says of a run; what could not be found is None, with a note."""

    epoch: int
    stationarity: Stationarity | None
    bounds: Bounds | None
    bounds_along: BoundCurves | None
    curvature: Curvature | None
    plateaus: tuple[Plateau, ...] | None
    landscape: Landscape | None
    notes: Mapping[str, str]

    @classmethod
    def of(
        cls, run: Run, epoch: int, threads: int | None = None, show: "Show | None" = None
    ) -> "Theory":
        """Everything, at an epoch of the run where it is about one; `show` is called with the name
        of each and what was found, as soon as it is."""
        makers: dict[str, Callable[[Run], Any]] = {
            "stationarity": lambda run: stationarity(*_place(run, epoch)),
            "bounds": lambda run: bounds(*_place(run, epoch)),
            "bounds_along": bounds_along,
            "curvature": lambda run: curvature(run, epoch, threads=threads),
            "plateaus": lambda run: saddles(run, threads=threads),
            "landscape": lambda run: landscape(run, epoch, points=POINTS, threads=threads),
        }
        found, notes = {}, {}
        for name, maker in makers.items():
            found[name], note = attempt(maker, run)
            if note is not None and found[name] is None:  # how far it went, the report says above
                notes[name.replace("_", " ")] = note
            if show is not None and found[name] is not None:
                show(name, found[name])
        return cls(epoch=epoch, notes=notes, **found)

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it. Eigenvectors and weights are left out: they are for programs."""
        return {
            "epoch": self.epoch,
            "stationarity": plain(self.stationarity),
            "bounds": plain(self.bounds),
            "bounds_along": plain(self.bounds_along),
            "curvature": self.curvature and curvature_json(self.curvature),
            "plateaus": None if self.plateaus is None else list(map(plateau_json, self.plateaus)),
            "landscape": _landscape_dict(self.landscape),
            "notes": dict(self.notes),
        }


def print_theory(run: Run, epoch: int, threads: int | None) -> None:
    """All of it for people, section by section."""
    console = stdout()

    def show(name: str, found: Any) -> None:
        if name in TITLES:
            console.print(f"\n{TITLES[name].format(epoch=epoch)}", style="bold")
        told = found if isinstance(found, tuple) else (found,)
        for line in "\n".join(each.describe() for each in told).splitlines():
            console.print(wrapped(line, console))
        if isinstance(found, Curvature):
            _print_traces(found, console)

    notes = Theory.of(run, epoch, threads, show).notes
    if notes:
        console.print(f"\n{wrapped(joined_notes(notes) or '', console)}")


def _place(run: Run, epoch: int) -> tuple[Any, ...]:
    return sound_parameters(run, epoch), *run.examples(), run.config


def _landscape_dict(found: Landscape | None) -> dict[str, Any] | None:
    if found is None:
        return None
    without = ("centre", "directions", "path", "path_epochs", "path_distance", "path_share")
    return {name: value for name, value in plain(found).items() if name not in without}


def _print_traces(found: Curvature, console: Console) -> None:
    """How much of the trace each parameter has."""
    table = Table(box=None, pad_edge=False, padding=(0, 0, 0, 2), header_style="bold")
    table.add_column("trace of", no_wrap=True)
    table.add_column("", justify="right", no_wrap=True)
    for name, trace in found.trace.items():
        error = f" ± {trace.error:.2g}" if trace.error else ""
        table.add_row(name.replace("_", " "), f"{trace.value:.4g}{error}")
    console.print()
    console.print(table)
