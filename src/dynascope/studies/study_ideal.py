"""The ideal clustering head: built, as a limit, and trained the authors' way."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynascope.config import Config
from dynascope.data import dataset
from dynascope.engine import train
from dynascope.model import forward, initial_parameters
from dynascope.parameters import Parameters
from dynascope.progress import Report
from dynascope.run import Runs
from dynascope.studies.claims import Claim, Measure
from dynascope.studies.counting import named
from dynascope.studies.estimates import Exact, Measured, known
from dynascope.studies.run_pictures import SUM_KINDS, draw_counts
from dynascope.studies.sources import ENDS_ONLY, PAPER, QUICK, MadeRuns, MadeTable
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.table import Table, Tables
from dynascope.sweeps.execution import Execution
from dynascope.theory import approach, ideal_head

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


_AS_AUTHORS = {  # who train the head of figure 1
    "model.hidden": 8,
    "training.batch": 2048,
    **ENDS_ONLY,
}
_ZERO = -6.0  # log10 of a gradient norm that one would call none, in double precision


def _start(config: Config, seed: int) -> Parameters:
    """Initial weights with relevant positions at (0, 1), the others at (0, -1)."""
    start = initial_parameters(config, seed)
    places = np.zeros_like(start.position_embedding)
    places[:, 1] = -1
    places[list(config.task.positions), 1] = 1
    return start.replace(position_embedding=places)


def _trained(name: str, held: bool) -> MadeRuns:
    frozen = ["position_embedding"] if held else []
    config = Config().replace({**_AS_AUTHORS, "training.frozen": frozen})

    def make(seeds: Sequence[int], execution: Execution, report: Report | None) -> Runs:
        starts = {seed: _start(config, seed) for seed in seeds}
        told = report or False
        return train(config, seeds, threads=execution.threads, progress=told, start=starts)

    seeds = {QUICK: 40, PAPER: 400}
    return MadeRuns(name, make, seeds, ("kept_sum", "circuit"), block="ideal-trained")


def _built() -> Table:
    """The built head on all sequences, a row each."""
    head = ideal_head(Config())
    tokens, targets = dataset(head.config.task, split="all")
    found = forward(head.parameters, tokens, head.config)
    right = found.logits.argmax(axis=1) == targets
    clusters = len(np.unique(found.sequence.round(4), axis=0))
    return Table({"right": right.astype(float), "clusters": np.full(len(right), float(clusters))})


def _approached() -> Table:
    """Ideal heads of rising confidence, a row each."""
    points = approach(Config().replace({"precision": "float64"})).points
    return Table(
        {
            "confidence": np.array([point.confidence for point in points]),
            "doubt": np.array([point.doubt for point in points]),
            "gradient_norm": np.array([point.gradient_norm for point in points]),
        }
    )


BUILT = MadeTable("ideal-built", _built)
APPROACHED = MadeTable("ideal-approached", _approached)
HELD = _trained("ideal-trained-held", held=True)
FREE = _trained("ideal-trained-free", held=False)


def _with_gradient(tables: Tables) -> Table:
    points = tables[APPROACHED.name]
    return points.where((points["gradient_norm"] > 0) & (points["doubt"] > 0))


def _slope(tables: Tables) -> Measured:
    """Of log gradient against log doubt, by least squares: 1 is "in proportion"."""
    points = _with_gradient(tables)
    if len(points) < 2:
        return Exact(float("nan"), len(points))
    x, y = np.log(points["doubt"]), np.log(points["gradient_norm"])
    return Exact(float(np.polyfit(x, y, 1)[0]), len(points))


def _at_confidence(least: float) -> Measure:
    """By how many tens the gradient norm there lies below what one would call none."""

    def measure(tables: Tables) -> Measured:
        points = _with_gradient(tables)
        norms = points["gradient_norm"][points["confidence"] >= least - 1e-12]
        return Exact(_ZERO - float(np.log10(norms[0])) if len(norms) else np.nan, len(points))

    return measure


def _errors(tables: Tables) -> Measured:
    right = known(tables[BUILT.name]["right"])
    return Exact(float(np.sum(right < 1)) if len(right) else np.nan, len(right))


def _clusters(tables: Tables) -> Measured:
    clusters = known(tables[BUILT.name]["clusters"])
    return Exact(float(abs(clusters.max() - 6)) if len(clusters) else np.nan, len(clusters))


def _plain(source: MadeRuns) -> Measure:
    return lambda tables: named(tables[source.name]["sum_kind"], "plain")


CLAIMS = (
    Claim(
        "a head exists",
        "weights in the plane (d=2) can compute the task with six clusters of embeddings",
        "section 3, figure 1",
        "of the built head, on all 4096 sequences: wrong answers, and clusters besides six",
        {"wrong answers": _errors, "clusters besides six": _clusters},
        effect=0.5,
        side="below",
    ),
    Claim(
        "no gradient",
        "a clustering head is a stationary point: it has no gradient",
        "proposition on learning clustering heads",
        "of built heads: by how many tens the gradient norm lies below 1e-6, at two confidences; "
        "and the slope of its logarithm against that of the doubt (1: it vanishes with the doubt)",
        {
            "at confidence 0.999": _at_confidence(0.999),
            "at confidence 0.99999999": _at_confidence(0.99999999),
            "in the limit of no doubt": _slope,
        },
        effect=0.0,
    ),
    Claim(
        "a head is trained",
        "with positions set to (0, 1) and (0, -1), training makes the ideal head",
        "figure 1, as the released code makes it",
        "share of runs (h=8, full batch, 1000 epochs) whose embeddings keep the plain sum of the "
        "relevant tokens",
        {"positions held": _plain(HELD), "positions free": _plain(FREE)},
        effect=0.5,
    ),
)


def _draw_head(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    head = ideal_head(Config())
    shown = "tokens,positions,normalized,attention,sequence,decision_map"
    return plots.figure("panels", head.parameters, panels=shown, config=head.config)


def _draw_approach(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, ax = plots.subplots(width="column")
    points = tables[APPROACHED.name]
    axes = {"x_label": "doubt: 1 - probability of the right class", "y_label": "gradient norm"}
    scales = {"scale_x": "log", "scale_y": "log"}
    plots.cloud(points["doubt"], points["gradient_norm"], ax, **scales, **axes)
    return figure


def _draw_trained(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, axes = plots.subplots(1, 2)
    for ax, source, how in zip(axes, (HELD, FREE), ("held", "free"), strict=True):
        draw_counts(tables[source.name], "sum_kind", SUM_KINDS, ax, f"positions {how}")
    return figure


STUDY = Study(
    "ideal",
    "Is there an ideal clustering head, is it stationary, and does training find it?",
    "figure 1, section 3",
    (BUILT, APPROACHED, HELD, FREE),
    CLAIMS,
    figures=(
        StudyFigure(
            "head", "The built head: six clusters, one for each number of ones.", _draw_head
        ),
        StudyFigure(
            "approach",
            "Built heads of rising confidence: the gradient vanishes with the doubt, never before.",
            _draw_approach,
        ),
        StudyFigure(
            "trained",
            "What the embeddings of heads trained the authors' way keep, all runs.",
            _draw_trained,
        ),
    ),
    notes=(
        "The released code sets positions to (0, 1) and (0, -1) for its figure, with h=8 and full "
        "batch. Whether they stay there or are trained on it does not say: both were tried, 1000 "
        "epochs each. The seed of its figure is not known.",
    ),
)
