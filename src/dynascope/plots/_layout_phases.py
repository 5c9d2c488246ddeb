"""The two-phase strip: maps at the run's own snapshots, and where these are on the loss."""

from dynascope.analysis import phases as phases_of
from dynascope.near_misses import guided
from dynascope.plots._curves import lines_of, show_epochs
from dynascope.plots._look import PublicationFigure, size_of, style, width_in_inches
from dynascope.plots._page import LEGEND, FigurePage, Sheet, columns_for, legend_of
from dynascope.plots.figure_sources import FigureSource, one_run
from dynascope.plots.palette import palette_of
from dynascope.plots.panel_registry import PANELS, no_groups
from dynascope.plots.view import View, view
from dynascope.run import Run

_BEYOND, _LEAST = 2.5, 20  # the loss is shown up to so many times the last snapshot's epoch
_DIGIT = 4.0  # points


@guided
def phases(
    *sources: FigureSource, width: str | float = "page", theme: str = "light"
) -> PublicationFigure:
    """Four snapshots of a run as its analysis dates them (before, clustered, partly classified,
    fitted; what never happened is left out), and the loss on a linear and a logarithmic scale."""
    run, _ = one_run(sources, "phases")
    first, palette, inches = view(run, 0), palette_of(theme), width_in_inches(width)
    if first.sequences.positions is None:
        raise no_groups("phases", first)
    views = [first.at(epoch) for epoch in snapshot_epochs(run)]
    panel = PANELS["decision_map"]
    columns = max(2, columns_for(inches, len(views)))
    rows = -(-len(views) // columns)
    sheet = Sheet(
        inches, rows + 1, columns, legend=legend_of([panel], views, palette), curves={rows: LEGEND}
    )
    with style(palette):
        page = FigurePage(sheet, palette)
        for i, each in enumerate(views):
            title = f"({i + 1}) epoch {each.epoch}"
            page.draw(panel, each, page.axes(i // columns, i % columns), title)
        half = columns / 2
        for i, scale in enumerate(("linear", "log")):
            _loss(page, views, scale, (rows, i * half, half))
    return page.figure


def snapshot_epochs(run: Run) -> list[int]:
    """The epochs of the snapshots that there are, rising; at least the first and the last."""
    found = phases_of(run)
    epochs = {each for each in found.snapshots if each is not None}
    return sorted(epochs if len(epochs) > 1 else {*epochs, found.measured_to})


def _loss(page: FigurePage, views: list[View], scale: str, place: tuple[int, float, float]) -> None:
    ax = page.axes(*place)
    epochs = [each.epoch for each in views if each.epoch is not None]
    page.draw(PANELS["loss"], views[0], ax, f"Loss, {scale}", scale=scale, marked=[])
    run = views[0].checked_run("phases")
    last = min(run.epochs, max(_LEAST, int(_BEYOND * epochs[-1])))
    show_epochs(ax, lines_of("loss", run, page.palette), 0, last)
    for numbers, at in numbered_marks(epochs, size_of(ax)[0] / ax.get_xlim()[1]):
        ax.annotate(
            numbers,
            (at, 1.0),
            (1.5, -1.5),
            ("data", "axes fraction"),
            "offset points",
            fontsize=5.5,
            va="top",
            color=page.palette["query"],
        )
    for epoch in epochs:
        ax.axvline(epoch, color=page.palette["query"], lw=0.7, ls=(0, (3, 2)), zorder=4)


def numbered_marks(epochs: list[int], scale: float) -> list[tuple[str, int]]:
    """The numbers of marks, and after which epoch each is written: of marks too near to each other
    for a number between them, those of all after the last. `scale`: points for an epoch.

    >>> numbered_marks([0, 62, 64, 79], 1.0)
    [('1', 0), ('2 3 4', 79)]
    """
    made: list[tuple[str, int]] = []
    waiting = ""
    for i, epoch in enumerate(epochs):
        waiting = f"{waiting} {i + 1}".strip()
        if i + 1 == len(epochs) or (epochs[i + 1] - epoch) * scale >= _DIGIT * (len(waiting) + 1):
            made.append((waiting, epoch))
            waiting = ""
    return made
