"""Gradient norms: are they high at drops of the loss and in tandem with its spikes, in any d?"""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dynascope.studies.claims import Claim
from dynascope.studies.counting import listed, of_each, share_of
from dynascope.studies.estimates import Measured, known, median
from dynascope.studies.examples import first_run
from dynascope.studies.shared_sweeps import FULL_BATCH, MINI_BATCH, WIDE_BATCH, WIDE_FULL_BATCH
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.table import Table, Tables

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


DIMS = (2, 3, 64)
_HIGH = 1.5  # times the norm around it: what the eye would call a peak
_LONG = 5000  # epochs of full batch: at 1000, few runs drop


def _mini(tables: Tables, dim: int) -> Table:
    runs = tables[WIDE_BATCH.name if dim == 64 else MINI_BATCH.name]
    return runs.where(runs["dim"] == dim)


def _full(tables: Tables, dim: int, epochs: int = _LONG) -> Table:
    runs = tables[WIDE_FULL_BATCH.name if dim == 64 else FULL_BATCH.name]
    return runs.where((runs["dim"] == dim) & (runs["epochs"] == epochs))


def _at_drops(tables: Tables, dim: int) -> Measured:
    return median(_full(tables, dim).median_of("gradient_at_drops"))


def _part_at_drops(tables: Tables, part: str) -> Measured:
    return median(_full(tables, 2).median_of(f"gradient_at_drops_{part}"))


def _at_spikes(tables: Tables, dim: int) -> Measured:
    return median(_mini(tables, dim).median_of("gradient_at_spikes"))


def _together(tables: Tables, dim: int) -> Measured:
    """Of runs with spikes: whether norm and loss change in the same epoch."""
    runs = _mini(tables, dim)
    spiky = runs.where(runs["tandem_at_spikes"] == 1)
    return share_of(known(spiky["tandem_lag"]) == 0)


def _drops_within(tables: Tables, epochs: int) -> Measured:
    runs = listed(_full(tables, 2, epochs), "gradient_at_drops")
    return share_of(~np.isnan(runs.nth("gradient_at_drops", 0)))


CLAIMS = (
    Claim(
        "high at drops",
        "in full batch, gradient norms are high when the loss drops",
        "section 4.3, figures 9 and 17",
        "gradient norm in a drop over that around it, median over runs of the run's median "
        "(5000 epochs)",
        of_each("d={}", DIMS, _at_drops),
        effect=_HIGH,
    ),
    Claim(
        "high at drops in each layer",
        "they are high for each layer",
        "section 4.3, figure 9",
        "the same by part of the model, d=2",
        of_each(
            "{}",
            ("token_embedding", "position_embedding", "query", "value", "feed_forward"),
            _part_at_drops,
        ),
        effect=_HIGH,
    ),
    Claim(
        "high at spikes",
        "in mini batches, loss spikes and high gradient norms appear in tandem",
        "section 4.4, figures 13 and 18",
        "largest gradient norm of a step in a spike over that before, median over runs of the "
        "run's median",
        of_each("d={}", DIMS, _at_spikes),
        effect=_HIGH,
    ),
    Claim(
        "at the same time",
        "loss spikes and gradient spikes occur at the same time",
        "appendix A.4, figure 18",
        "of runs with spikes, the share in which loss and norm change together without a lag",
        of_each("d={}", DIMS, _together),
        effect=0.5,
    ),
    Claim(
        "full batch learns",
        "trained in full batch, the loss drops",
        "section 4.3, figure 9 (epochs are not said)",
        "share of full-batch runs (d=2) with a drop of the loss",
        of_each("{} epochs", (1000, _LONG), _drops_within),
        effect=0.5,
    ),
)


def _draw_norms(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, axes = plots.subplots(1, 2)
    for ax, runs_of, column, title in (
        (axes[0], _full, "gradient_at_drops", "in a drop, over around it (full batch)"),
        (axes[1], _mini, "gradient_at_spikes", "in a spike, over before (batch 32)"),
    ):
        tables_by_dim = {dim: runs_of(tables, dim) for dim in DIMS}
        names = [f"d={dim}" for dim, runs in tables_by_dim.items() for _ in range(len(runs))]
        values = [runs.median_of(column) for runs in tables_by_dim.values()]
        where = [each for runs in tables_by_dim.values() for each in runs.addresses()]
        look = {"scale_y": "log", "middle": "median", "y_label": "gradient norm", "title": title}
        plots.dots(names, np.concatenate(values), ax, runs=where, **look)
    return figure


def _draw_run(full: bool, tables: Tables) -> "PublicationFigure":
    """The first run by seed, d=2, with a drop (full batch) or a spike."""
    from dynascope import plots

    runs = _full(tables, 2) if full else _mini(tables, 2)
    column = "gradient_at_drops" if full else "gradient_at_spikes"
    run = first_run(runs, ~np.isnan(runs.nth(column, 0)))
    return plots.figure("gradients", run) if run else plots.subplots()[0]


STUDY = Study(
    "gradients",
    "Are gradient norms high at drops of the loss, and in tandem with its spikes?",
    "figures 9, 13, 17 and 18",
    (MINI_BATCH, FULL_BATCH, WIDE_BATCH, WIDE_FULL_BATCH),
    CLAIMS,
    figures=(
        StudyFigure(
            "norms", "Gradient norms at drops and spikes, each run's median, by d.", _draw_norms
        ),
        StudyFigure(
            "full-batch",
            "The first full-batch run by seed whose loss drops (d=2).",
            partial(_draw_run, True),
        ),
        StudyFigure(
            "mini-batch",
            "The first run in mini batches by seed whose loss spikes (d=2).",
            partial(_draw_run, False),
        ),
    ),
    notes=(
        "The paper says neither the epochs nor the learning rate of its full-batch runs, nor h for "
        "d > 2. Here: lr 3e-3; 1000 and 5000 epochs; h = 32 for d = 2 and 3, 4d for d = 64.",
    ),
)
