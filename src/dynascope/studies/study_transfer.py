"""Transfer: does a model that learnt p=2 learn larger p, and what of it stays?"""

from typing import TYPE_CHECKING

import numpy as np

from dynascope.studies.claims import Claim
from dynascope.studies.counting import of_each, share_of, solved, solved_runs
from dynascope.studies.estimates import Measured, known, median, paired
from dynascope.studies.run_pictures import ACCURACIES
from dynascope.studies.sources import ENDS_ONLY, PAPER, QUICK, StudySweep
from dynascope.studies.study import Study, StudyFigure
from dynascope.studies.table import Table, Tables

if TYPE_CHECKING:
    from dynascope.plots import PublicationFigure


BLOCK = "transfer"
TUNED_ON = tuple(range(3, 11))
_SEEDS = {QUICK: 16, PAPER: 250}
_LOOK = ["circuit", "attention", "travelled"]
_PERFECT = 1 - 1e-9  # the paper's 100% of 2048 test sequences
_NOTHING = 0.05  # of accuracy above chance, or of runs

SCRATCH = StudySweep(
    "scratch",
    {
        "base": ENDS_ONLY,
        "grid": {"task.vocab": list(range(2, 11)), "training.epochs": [1000, 2000]},
    },
    _SEEDS,
    BLOCK,
    quick={"grid": {"task.vocab": [2, 3, 4, 5, 7, 10], "training.epochs": [1000, 2000]}},
)
FRESH = StudySweep(
    "fresh-rows",
    {"base": ENDS_ONLY, "chain": {"tuned": {"grid": {"task.vocab": [3]}}}, "analyse": _LOOK},
    _SEEDS,
    BLOCK,
)
FRESH_MORE = StudySweep(
    "fresh-rows-more",
    {"base": ENDS_ONLY, "chain": {"tuned": {"grid": {"task.vocab": list(TUNED_ON[1:])}}}},
    _SEEDS,
    BLOCK,
    quick={"chain": {"tuned": {"grid": {"task.vocab": [4, 5, 7, 10]}}}},
)


def _rows_from_start(vocab: int) -> StudySweep:
    """Trained on p=2 with all rows of the embedding from the start."""
    grid = {
        "base": {**ENDS_ONLY, "model.embeddings": vocab},
        "chain": {"tuned": {"set": {"task.vocab": vocab}}},
    }
    analyses = {"analyse": _LOOK} if vocab == 3 else {}
    return StudySweep(f"rows-{vocab}", {**grid, **analyses}, _SEEDS, BLOCK)


ROWS = {vocab: _rows_from_start(vocab) for vocab in TUNED_ON}
READINGS = ("a fresh row", "rows from the start")
_AGAINST = {
    f"{reading}, against {epochs} epochs from scratch": (reading, epochs)
    for reading in READINGS
    for epochs in (1000, 2000)
}


def tuned(tables: Tables, vocab: int, reading: str) -> Table:
    """The children, fine-tuned on p = `vocab`."""
    if reading == READINGS[1]:
        runs = tables[ROWS[vocab].name]
    else:
        runs = tables[FRESH.name if vocab == 3 else FRESH_MORE.name]
    return runs.where(runs["vocab"] == vocab)


def parents(tables: Tables, reading: str) -> Table:
    """The parents of those on p=3, child by child."""
    runs = tables[FRESH.name if reading == READINGS[0] else ROWS[3].name]
    return tuned(tables, 3, reading).matched(runs, "parent", "id")


def scratch(tables: Tables, vocab: int, epochs: int = 1000) -> Table:
    runs = tables[SCRATCH.name]
    return runs.where((runs["vocab"] == vocab) & (runs["epochs"] == epochs))


def _better(tables: Tables, vocab: int, reading: str, epochs: int) -> Measured:
    """Accuracy gained over the same seed from scratch; pairs of which one diverged are left out."""
    ones = tuned(tables, vocab, reading)
    others = ones.matched(scratch(tables, vocab, epochs))
    return paired(ones["accuracy"], others["accuracy"])


def _better_on_three(tables: Tables, against: str) -> Measured:
    return _better(tables, 3, *_AGAINST[against])


def _better_with_fresh(tables: Tables, vocab: int) -> Measured:
    return _better(tables, vocab, READINGS[0], 1000)


def _learns(tables: Tables, vocab: int) -> Measured:
    """Above chance by more than nothing."""
    return share_of(known(scratch(tables, vocab)["accuracy"]) > 1 / vocab + _NOTHING)


def _had_six(tables: Tables, reading: str) -> Measured:
    """Of perfect children, those whose parents had all six clusters and no more."""
    perfect = tuned(tables, 3, reading)["accuracy"] >= _PERFECT
    before = parents(tables, reading).where(perfect)
    return share_of(known(before["clusters"] - before["expected_clusters"]) == 0)


def _solved_children(tables: Tables, reading: str) -> Table:
    return solved_runs(tuned(tables, 3, reading))


def _sharper(tables: Tables, reading: str) -> Measured:
    runs = _solved_children(tables, reading)
    return paired(runs["relevant_attention_end"], runs["relevant_attention_start"])


def _avoids_two(tables: Tables, reading: str) -> Measured:
    """Attention on a relevant position is least where the token is 2; one in three by chance."""
    runs = _solved_children(tables, reading)
    by_token = np.column_stack([runs.nth("attention_by_token_end", token) for token in range(3)])
    told = by_token[~np.isnan(by_token).any(axis=1)]
    return share_of(told.argmin(axis=1) == 2)


def _shorter_way(tables: Tables, reading: str) -> Measured:
    """The way of a child's positions over its parent's, after the best rotation."""
    children = tuned(tables, 3, reading)
    learnt = solved(children)
    way, before = (
        each.where(learnt)["positions_travelled_rotated"]
        for each in (children, parents(tables, reading))
    )
    return median(way / np.where(before == 0, np.nan, before))


def _similar(tables: Tables, reading: str) -> Measured:
    runs = _solved_children(tables, reading)
    return median(runs["attention_similarity"])


CLAIMS = (
    Claim(
        "p=2 first helps p=3",
        "training on p=2 first makes p=3 much easier",
        "appendix A.2, figure 14",
        "test accuracy on p=3 after fine-tuning minus that of the same seed from scratch, mean",
        of_each("{}", _AGAINST, _better_on_three),
        effect=0.05,
    ),
    Claim(
        "p=2 first helps larger p",
        "fine-tuned models are better for p up to 10",
        "appendix A.2, figure 14",
        "the same with a fresh row for each new token, for each p",
        of_each("p={}", TUNED_ON[1:], _better_with_fresh),
        effect=0.02,
    ),
    Claim(
        "nothing above p=4",
        "from scratch, 1000 epochs do not result in any learning for p above 4",
        "appendix A.2",
        "share of runs whose test accuracy is above chance by more than 0.05",
        of_each("p={}", range(5, 11), _learns),
        effect=_NOTHING,
        side="below",
    ),
    Claim(
        "something up to p=4",
        "for p = 3 and 4 something is learnt from scratch",
        "appendix A.2, figure 14",
        "share of runs whose test accuracy is above chance by more than 0.05",
        of_each("p={}", (3, 4), _learns),
        effect=_NOTHING,
    ),
    Claim(
        "six clusters before",
        "the only models that reach 100% on p=3 had all six clusters after p=2",
        "appendix A.2",
        "of children with 100% test accuracy, the share whose parents had six clusters",
        of_each("{}", READINGS, _had_six),
        effect=0.9,
    ),
    Claim(
        "sharper attention",
        "tuning sharpens attention on the relevant positions",
        "figure 6",
        "attention on relevant positions after tuning minus before, mean of solved children",
        of_each("{}", READINGS, _sharper),
        effect=0.02,
    ),
    Claim(
        "attention avoids twos",
        "after tuning, attention is on relevant tokens other than 2",
        "appendix A.2, figure 15",
        "share of solved children whose attention on a relevant position is least for token 2",
        of_each("{}", READINGS, _avoids_two),
        effect=0.5,
    ),
    Claim(
        "embeddings stay near",
        "after tuning, embeddings are not far from where they were",
        "appendix A.2, figure 15",
        "way of the position embeddings in tuning over their way in the first stage, after the "
        "best rotation, median of solved children",
        of_each("{}", READINGS, _shorter_way),
        effect=0.5,
        side="below",
    ),
    Claim(
        "attention stays similar in tuning",
        "attention after tuning resembles that before",
        "figure 6",
        "rank correlation of the attention maps before and after tuning, median of solved children",
        of_each("{}", READINGS, _similar),
        effect=0.5,
    ),
)


def _draw_accuracies(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, axes = plots.subplots(1, 2, sharey=True)
    parts = {
        "from scratch, 1000 epochs": [scratch(tables, p) for p in (2, *TUNED_ON)],
        "from scratch, 2000 epochs": [scratch(tables, p, 2000) for p in (2, *TUNED_ON)],
        **{f"after p=2, {how}": [tuned(tables, p, how) for p in TUNED_ON] for how in READINGS},
    }
    for name, runs in parts.items():
        some = [each for each in runs if len(each)]
        x = np.concatenate([each["vocab"] for each in some])
        accuracy = np.concatenate([each["accuracy"] for each in some])
        where = [address for each in some for address in each.addresses()]
        look = {"label": name, "x_label": "p", "y_label": "test accuracy"}
        plots.dots(x, accuracy, axes[0], runs=where, title="all", **look)
        best = [float(each["accuracy"].max()) for each in some]
        of_best = [each.addresses()[int(each["accuracy"].argmax())] for each in some]
        first = [float(each["vocab"][0]) for each in some]
        plots.dots(first, best, axes[1], runs=of_best, title="largest", **look)
    axes[0].set_ylim(*ACCURACIES)
    return figure


def _draw_parents(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, axes = plots.subplots(1, 2, sharey=True)
    for ax, how in zip(axes, READINGS, strict=True):
        children, before = tuned(tables, 3, how), parents(tables, how)
        names = [str(int(each)) if each <= 12 else "more" for each in before["clusters"]]
        ordered = sorted(set(names), key=lambda name: (name == "more", name.zfill(3)))
        order = np.argsort([ordered.index(name) for name in names], kind="stable")
        plots.dots(
            [names[i] for i in order],
            children["accuracy"][order],
            ax,
            runs=[children.addresses()[i] for i in order],
            x_label="clusters of the parent",
            y_label="test accuracy on p=3",
            title=how,
        )
        ax.set_ylim(*ACCURACIES)
    return figure


def _draw_changes(tables: Tables) -> "PublicationFigure":
    from dynascope import plots

    figure, axes = plots.subplots(1, 2)
    for how in READINGS:
        runs = _solved_children(tables, how)
        names = ["before"] * len(runs) + ["after"] * len(runs)
        ends = [runs["relevant_attention_start"], runs["relevant_attention_end"]]
        label = "attention on relevant positions"
        where = runs.addresses() * 2
        plots.dots(names, np.concatenate(ends), axes[0], runs=where, label=how, y_label=label)
        before = parents(tables, how).where(solved(tuned(tables, 3, how)))
        ways = [each["positions_travelled_rotated"] for each in (before, runs)]
        stages = ["first stage"] * len(before) + ["tuning"] * len(runs)
        where = before.addresses() + runs.addresses()
        label = "way of positions, over their length"
        plots.dots(stages, np.concatenate(ways), axes[1], runs=where, label=how, y_label=label)
    return figure


STUDY = Study(
    "transfer",
    "Does a model that learnt p=2 learn larger p more easily, and what of it stays?",
    "figures 6, 14 and 15, appendix A.2",
    (SCRATCH, FRESH, FRESH_MORE, *ROWS.values()),
    CLAIMS,
    figures=(
        StudyFigure(
            "accuracies", "Test accuracy by p: means with deviations, and maxima.", _draw_accuracies
        ),
        StudyFigure(
            "parents", "Test accuracy on p=3 by the number of clusters after p=2.", _draw_parents
        ),
        StudyFigure(
            "changes",
            "Solved children: attention on relevant positions before and after tuning, and how far "
            "position embeddings travel in each stage (after the best rotation).",
            _draw_changes,
        ),
    ),
    notes=(
        "Adding a token can be read in two ways: the text adds a row to the embedding before "
        "tuning, the released code trains p=2 with three rows from the start, of which one is "
        "never right. Both were tried.",
        "A tuned model has seen 2000 epochs in all, so it is also compared with 2000 from scratch.",
    ),
)
