"""Small studies in the place of the paper's, with short runs; also as a command of its own:

python tests/support/small_studies.py study width bounds --out FOLDER

is `dynascope study` with these.
"""

import sys
from types import ModuleType
from typing import Any

import numpy as np

from dynascope.studies.catalogue import NAMES, study_of
from dynascope.studies.claims import Claim
from dynascope.studies.estimates import Exact, Share, mean
from dynascope.studies.sources import PAPER, QUICK, MadeTable, StudySweep
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.table import Table, Tables

HOSTILE = "</script><img src=x onerror=\"window.hacked=1\"> & 'quoted' \u202e"
EPOCHS = 20
_SHORT = {"training.epochs": EPOCHS, "training.batch": 256}
SHARED = StudySweep(
    "default",
    {"base": {**_SHORT, "training.lr": 0.05}, "analyse": ["spikes"]},
    {QUICK: 8, PAPER: 12},
)
WIDTHS = StudySweep("width", {"base": _SHORT, "grid": {"model.dim": [2, 4]}}, {QUICK: 4, PAPER: 6})
SQUARES = MadeTable("squares", lambda: Table({"x": np.arange(4.0)}, "squares"))


def _points(column: str, source: str = "default") -> Any:
    """A point for each run, in two panels that use the same marker."""

    def draw(tables: Tables) -> object:
        from dynascope.plots._look import new_figure, style
        from dynascope.plots.numbers import PanelNumbers
        from dynascope.plots.palette import palette_of

        runs, palette = tables[source], palette_of("light")
        with style(palette):
            figure = new_figure(6.75, 2.5, palette)
            for ax, name in zip(figure.subplots(1, 2), (column, "lowest_loss"), strict=True):
                dots = ax.scatter(runs["seed"] - runs["seed"].min(), runs[name], s=14)
                dots.set_urls([f"#run={address}" for address in runs.addresses()])
                ax.set(xlabel="seed", ylabel=name, title="A < B & C")
        columns = {"seed": runs["seed"], column: runs[column], "run": list(runs["id"])}
        figure.show_numbers(lambda: PanelNumbers(column, columns))
        return figure

    return draw


def _claim(name: str, measure: Any, effect: float, side: Any = "above") -> Claim:
    says = f"it is {name}, {HOSTILE}"
    return Claim(name, says, "section 3", "how often", measure, effect, side)


def _better(tables: Tables, dim: float) -> object:
    runs = tables["width"]
    return mean(runs.where(runs["dim"] == dim)["accuracy"])


STUDIES = {
    "width": Study(
        "width",
        f"Are wider models better? {HOSTILE}",
        "section 4, figure 7",
        (SHARED, WIDTHS),
        (
            _claim("always so", lambda t: Share(len(t["default"]), len(t["default"])), 0.01),
            _claim("never so", lambda t: Share(0, 400), 0.5),
            _claim(
                "so for some",
                {"all": lambda t: Share(900, 900), "none": lambda t: Share(0, 900)},
                0.5,
            ),
            _claim("hard to tell", {f"d={d}": lambda t, d=d: _better(t, d) for d in (2, 4)}, 0.1),
        ),
        (
            StudyFigure(
                "Accuracy, by seed",
                f"Each point is a run. {HOSTILE}",
                _points("accuracy", "default"),
            ),  # type: ignore[arg-type]
            StudyFigure("by width", "Narrow and wide ones.", _points("dim", "width")),  # type: ignore[arg-type]
        ),
        (f"The paper leaves h open. {HOSTILE}",),
    ),
    "bounds": Study(
        "bounds",
        "Do the bounds hold?",
        "theorem 2",
        (SHARED, SQUARES),
        (_claim("bounded", lambda t: Exact(float(t["squares"]["x"].max())), 5.0, "below"),),
    ),
}


def install() -> None:
    """From now on these are the studies of their names; the others have neither runs nor claims."""
    for name in NAMES:
        module = ModuleType(f"dynascope.studies.study_{name.replace('-', '_')}")
        module.STUDY = STUDIES.get(name) or Study(name, "?", "-", (), ())  # type: ignore[attr-defined]
        sys.modules[module.__name__] = module
    study_of.cache_clear()


def uninstall() -> None:
    for name in NAMES:
        sys.modules.pop(f"dynascope.studies.study_{name.replace('-', '_')}", None)
    study_of.cache_clear()


if __name__ == "__main__":
    from dynascope.cli import main

    install()
    sys.exit(main(sys.argv[1:]))
