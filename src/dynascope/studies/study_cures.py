"""Cures for spikes: what the paper suggests, side by side, paired by seed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dynascope.config import Config
from dynascope.studies.claims import Claim
from dynascope.studies.counting import more_success, of_each
from dynascope.studies.estimates import Measured
from dynascope.studies.paired_estimates import ratio_of_means
from dynascope.studies.sources import PAPER, QUICK, StudySweep
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.table import Table, Tables

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


NONE = "none"
CURES: dict[str, dict[str, Any]] = {  # what each changes of the default
    NONE: {},
    **{
        f"smooth norm, tau {tau:g}": {"model.norm": "smooth", "model.norm_tau": tau}
        for tau in (0.1, 0.3, 1.0, 3.0)
    },
    "unit rows": {"training.unit_rows": ["token_embedding", "position_embedding"]},
    **{f"query limit {limit:g}": {"training.query_limit": limit} for limit in (2.0, 5.0)},
    **{f"clipping {clip:g}": {"training.clip": clip} for clip in (0.1, 1.0)},
    **{
        f"decay {decay:g}": {"training.optimizer": "adamw", "training.weight_decay": decay}
        for decay in (0.01, 0.1)
    },
    **{f"discount {by:g}": {"training.mlp_lr_discount": by} for by in (3.0, 10.0)},
    "h = 128": {"model.hidden": 128},
    "warm-up": {"training.schedule": "warmup", "training.warmup": 640},  # ten epochs
    "Adam eps 1e-6": {"training.eps": 1e-6},
    "Adam beta2 0.99": {"training.beta2": 0.99},
    "Muon": {"training.optimizer": "muon"},
    "SAM": {"training.sam": 0.05},
}
_LESS = 0.8  # of the spikes of untreated runs: a cure worth the name


def zipped(variants: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Variants as a grid's `zip`: every option that one of them changes, with a value for each.

    >>> zipped({"none": {}, "fast": {"training.lr": 0.01}})
    {'training.lr': [0.003, 0.01]}
    """
    default = Config().to_dict()
    names = dict.fromkeys(name for options in variants.values() for name in options)
    return {
        name: [options.get(name, _standard(default, name)) for options in variants.values()]
        for name in names
    }


def _standard(tables: Mapping[str, Any], name: str) -> Any:
    section, _, option = name.rpartition(".")
    value = tables[section][option]
    return "none" if value is None else value


TREATED = StudySweep(
    "cures",
    {"zip": [zipped(CURES)], "analyse": ["spikes"]},
    {QUICK: 8, PAPER: 200},
)


def treated(tables: Tables, cure: str) -> Table:
    """The runs of one cure, by seed."""
    options, place = zipped(CURES), list(CURES).index(cure)
    row = {name: values[place] for name, values in options.items()}
    return tables[TREATED.name].with_options(row)


def _spikes(tables: Tables, cure: str) -> Measured:
    """Those of treated runs over those of the same seeds untreated; runs that diverged under
    either are left out, since their spikes are counted up to there only."""
    runs, others = treated(tables, cure), treated(tables, NONE)
    others = runs.matched(others)
    there = np.isnan(runs["diverged"]) & np.isnan(others["diverged"])
    return ratio_of_means(runs["spikes"][there], others["spikes"][there])


def _success(tables: Tables, cure: str) -> Measured:
    runs, others = treated(tables, cure), treated(tables, NONE)
    return more_success(runs, runs.matched(others))


def _fewer(name: str, says: str, place: str, cures: list[str]) -> Claim:
    counted = "spikes per run over those of the same seeds untreated"
    return Claim(name, says, place, counted, of_each("{}", cures, _spikes), _LESS, "below")


_SECTION = "section 4.4"
_TREATED = [cure for cure in CURES if cure != NONE]
CLAIMS = (
    _fewer(
        "smooth normalisation",
        "smoothing the normalisation removes some spikes",
        _SECTION,
        [cure for cure in CURES if cure.startswith("smooth")],
    ),
    _fewer(
        "unit embeddings",
        "unit embeddings keep clear of where normalisation bends",
        "section 4.4, on nGPT",
        ["unit rows"],
    ),
    _fewer(
        "limited query",
        "limiting attention logits, as QK-norm and MuonClip do, steadies training",
        _SECTION,
        [cure for cure in CURES if cure.startswith("query")],
    ),
    _fewer(
        "small gradients",
        "reducing gradient norms steadies training",
        _SECTION,
        [cure for cure in CURES if cure.startswith("clipping")],
    ),
    _fewer(
        "regularised feed-forward",
        "regularising the feed-forward helps against its spikes",
        _SECTION,
        [cure for cure in CURES if cure.startswith(("decay", "discount"))],
    ),
    _fewer(
        "larger feed-forward",
        "a feed-forward that is large enough needs no heavy weights",
        _SECTION,
        ["h = 128"],
    ),
    _fewer(
        "second-order optimizers",
        "second-order optimizers such as Muon control how gradients vary",
        _SECTION,
        ["Muon"],
    ),
    _fewer(
        "flat places",
        "sharpness-aware minimisation keeps to flat places",
        "section 4.4, on the Hessian",
        ["SAM"],
    ),
    _fewer(
        "a slow start",
        "a step size that a schedule keeps small at the start is safe",
        _SECTION,
        ["warm-up"],
    ),
    _fewer(
        "Adam's moments",
        "(ours) spikes come from second moments that have decayed: a longer floor (eps) or a "
        "shorter memory (beta2) prevents that",
        "not in the paper",
        ["Adam eps 1e-6", "Adam beta2 0.99"],
    ),
    Claim(
        "no harm",
        "(ours) a cure costs no success",
        "not in the paper",
        "share of treated runs that solve the task minus that of the same seeds untreated",
        of_each("{}", _TREATED, _success),
        effect=-0.1,
    ),
)


def _draw_cures(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, axes = plots.subplots(1, 2, height=3.2, sharey=True)
    spikes = [_spikes(tables, cure) for cure in _TREATED]
    gained = [_success(tables, cure) for cure in _TREATED]
    for ax, found, line, label in (
        (axes[0], spikes, 1.0, "spikes per run, over untreated"),
        (axes[1], gained, 0.0, "share solved, minus untreated"),
    ):
        lows, highs = zip(*(each.interval() for each in found), strict=True)
        values = [each.value for each in found]
        plots.effects(_TREATED, values, lows, highs, ax, reference=line, x_label=label)
    return figure


def _draw_speed(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, ax = plots.subplots(height=2.6)
    by_cure = {cure: treated(tables, cure) for cure in CURES}
    names = [cure for cure, runs in by_cure.items() for _ in range(len(runs))]
    epochs = np.concatenate([runs["learning_epoch"] for runs in by_cure.values()])
    where = [each for runs in by_cure.values() for each in runs.addresses()]
    label = "epoch at which it is learnt"
    plots.dots(names, epochs, ax, runs=where, middle="median", y_label=label)
    return figure


STUDY = Study(
    "cures",
    "Which of the cures that the paper suggests removes spikes, and at what price?",
    "suggestions of section 4.4",
    (TREATED,),
    CLAIMS,
    figures=(
        StudyFigure(
            "cures",
            "Spikes per run over those of the same seeds untreated, and success gained, with 95% "
            "intervals.",
            _draw_cures,
        ),
        StudyFigure("speed", "When runs learn the task, of those that do.", _draw_speed),
    ),
    notes=(
        "A cure acts from the first step on, so it also changes what comes before a spike: spikes "
        "are compared by run, over the same seeds, not one by one. Of the cures that have a "
        "strength, several were tried; all else is as the paper has it.",
        "Shampoo and AdaFisher, which the paper names beside Muon, were not tried. Muon moves V, W "
        "and U; embeddings, the query and biases go by AdamW.",
    ),
)
