"""Of every claim of every study: data where it is true and data where it is false.

A case fills a study's blank tables in, given for each condition of the claim whether it is to be
true. A claim without a case fails `tests/studies/test_study_claims.py`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from study_tables import Tables, chosen, fill

from dynascope.studies.study_ablations import ABLATIONS
from dynascope.studies.study_cures import CURES, TREATED, zipped
from dynascope.studies.study_sparsity import COLUMNS
from dynascope.studies.table import Table

Wanted = Mapping[str, bool]  # by condition
Case = Callable[[Tables, Wanted], None]
Array = npt.NDArray[Any]

OFTEN, RARELY = 0.9, 0.1  # shares where a claim about most runs is true, and where it is false


def draws() -> np.random.Generator:
    return np.random.default_rng(1)


def each(one: Callable[[Tables, str, bool], None]) -> Case:
    """A case that fills in condition by condition."""

    def case(tables: Tables, wanted: Wanted) -> None:
        for condition, true in wanted.items():
            one(tables, condition, true)

    return case


def some(count: int, share: float) -> Array:
    """[count]: true for this share of them, in a random order."""
    return draws().permutation(count) < round(share * count)


def words(table: Table, column: str, share: float, yes: Any, no: Any, where: Any = {}) -> None:  # noqa: B006
    """A column that has one value in a share of the runs, and else another."""
    mask = chosen(table, where)
    fill(table, column, [yes if hit else no for hit in some(int(mask.sum()), share)], mask)


def shares(
    source: str, column: str, yes: Any, no: Any, rates: tuple[float, float] = (OFTEN, RARELY)
) -> Case:
    """A claim on how many runs have a value, in a column for each condition or for all."""

    def one(tables: Tables, condition: str, true: bool) -> None:
        words(tables[source], column, rates[0] if true else rates[1], yes, no)

    return each(one)


def around(table: Table, where: Any, middle: float, spread: float) -> list[float]:
    """Values around a middle, one for each of these runs."""
    return [float(x) for x in draws().normal(middle, spread, int(chosen(table, where).sum()))]


# ---- ideal


def _a_head(tables: Tables, condition: str, true: bool) -> None:
    column = "right" if condition == "wrong answers" else "clusters"
    if not true:
        fill(tables["ideal-built"], column, 0.0 if column == "right" else 7.0)


def _no_gradient(tables: Tables, wanted: Wanted) -> None:
    points = tables["ideal-approached"]
    norms = points["doubt"]  # vanishes in the limit, but is large at 0.999
    if all(wanted.values()):
        norms = 1e-4 * norms
    if not any(wanted.values()):
        norms = 0.1 / np.sqrt(norms)
    fill(points, "gradient_norm", norms)


def _trained(tables: Tables, condition: str, true: bool) -> None:
    source = "ideal-trained-" + ("held" if "held" in condition else "free")
    words(tables[source], "sum_kind", OFTEN if true else RARELY, "plain", "signed")


# ---- circuits, initialisation


def _more_clusters(tables: Tables, condition: str, true: bool) -> None:
    fill(tables["default"], "expected_clusters", 6)
    words(tables["default"], "clusters", OFTEN if true else RARELY, 9, 6)


def _broken(tables: Tables, condition: str, true: bool) -> None:
    column = ("permutation" if "permutation" in condition else "suffix") + "_survival"
    words(tables["default"], column, 0.1 if true else 0.0, 0.97, 1.0)


def _own_start(tables: Tables, condition: str, true: bool) -> None:
    runs = tables["default"]
    fill(runs, "attention_similarity", around(runs, {}, 0.5 if true else 0.22, 0.2))
    fill(runs, "attention_similarity_others", around(runs, {}, 0.2, 0.02))


def _kept_preference(tables: Tables, condition: str, true: bool) -> None:
    runs = tables["default"]
    start = some(len(runs), 0.5).astype(int)
    fill(runs, "preferred_token_start", start)
    moved = draws().random(len(runs)) < (RARELY if true else 0.5)
    fill(runs, "preferred_token_end", np.where(moved, 1 - start, start))


# ---- two-phase


def _clustering_first(tables: Tables, wanted: Wanted) -> None:
    runs = tables["default"]
    before = [some(len(runs), OFTEN if true else RARELY) for true in wanted.values()]
    leads = np.where(np.column_stack(before), 20, -20)
    fill(runs, "sum_leads", [[int(lead) for lead in row] for row in leads])


def _two_of(tables: Tables, gap: float = 60) -> int:
    runs = tables["default"]
    fill(runs, "drop_epochs", [[100, 100 + int(gap) + i % 7] for i in range(len(runs))])
    return len(runs)


def _first_clusters(tables: Tables, condition: str, true: bool) -> None:
    _two_of(tables)
    words(tables["default"], "sum_half", OFTEN if true else RARELY, 90, 300)


def _soon(tables: Tables, condition: str, true: bool) -> None:
    _two_of(tables, 60 if true else 300)


def _jumps(first: str, fast_is_true: bool, column: str = "speed_at_drops") -> Case:
    """Speeds at two drops; of a claim without conditions, at the one that it is about."""

    def case(tables: Tables, wanted: Wanted) -> None:
        runs = tables["default"]
        _two_of(tables)
        true = [wanted.get(name, wanted.get("", True)) for name in ("first drop", "second drop")]
        if first == "other":  # what the claim is not about is the other way
            true[0] = not true[1]
        if first == "only":
            true[1] = not true[0]
        speeds = [around(runs, {}, 2.0 if yes == fast_is_true else 1.0, 0.3) for yes in true]
        fill(runs, column, [list(pair) for pair in zip(*speeds, strict=True)])

    return case


# ---- gradients, saddles


def _at_dim(condition: str) -> int:
    return int(condition.removeprefix("d="))


def _gradient_table(tables: Tables, dim: int, full: bool) -> tuple[Table, dict[str, Any]]:
    name = f"gradients-{'wide-' if dim == 64 else ''}{'full' if full else 'batch'}"
    return tables[name], {"dim": dim, **({"epochs": 5000} if full else {})}


def _ratios(table: Table, column: str, where: dict[str, Any], true: bool) -> None:
    values = around(table, where, 2.5 if true else 1.0, 0.3)
    fill(table, column, [[value, value] for value in values], chosen(table, where))


def _high_at_drops(tables: Tables, condition: str, true: bool) -> None:
    table, where = _gradient_table(tables, _at_dim(condition), full=True)
    _ratios(table, "gradient_at_drops", where, true)


def _high_in_part(tables: Tables, condition: str, true: bool) -> None:
    table, where = _gradient_table(tables, 2, full=True)
    _ratios(table, f"gradient_at_drops_{condition}", where, true)


def _high_at_spikes(tables: Tables, condition: str, true: bool) -> None:
    table, where = _gradient_table(tables, _at_dim(condition), full=False)
    _ratios(table, "gradient_at_spikes", where, true)


def _same_time(tables: Tables, condition: str, true: bool) -> None:
    table, where = _gradient_table(tables, _at_dim(condition), full=False)
    fill(table, "tandem_at_spikes", True, where)
    words(table, "tandem_lag", 1.0 if true else 0.0, 0, 2, where)


def _drops(tables: Tables, condition: str, true: bool) -> None:
    where = {"dim": 2, "epochs": int(condition.split()[0])}
    words(
        tables["gradients-full"], "gradient_at_drops", OFTEN if true else RARELY, [2.0], [], where
    )


_WAYS = ("saddle, escaped along negative directions", "saddle, escaped otherwise")


def _plateaus(yes: str, no: str) -> Case:
    def one(tables: Tables, condition: str, true: bool) -> None:
        table, where = _gradient_table(tables, _at_dim(condition), full=True)
        usual, other = (yes, no) if true else (no, yes)
        words(table, "plateau_verdicts", OFTEN, [usual, usual], [other], where)

    return each(one)


def _escapes(tables: Tables, condition: str, true: bool) -> None:
    table, where = _gradient_table(tables, _at_dim(condition), full=True)
    own = around(table, where, 0.3 if true else 0.04, 0.01)
    fill(table, "plateau_escape_five", [[value] for value in own], where)
    fill(table, "plateau_escape_chance", [[0.05]] * len(own), where)


# ---- spikes, cures


def _cause(word: str, rates: tuple[float, float]) -> Case:
    def one(tables: Tables, condition: str, true: bool) -> None:
        runs, chance = tables["default"], draws()
        counts, share = chance.poisson(chance.gamma(1, 4, len(runs))), rates[0 if true else 1]
        causes = [
            [f"{word}+other" if chance.random() < share else "unexplained" for _ in range(count)]
            for count in counts
        ]
        fill(runs, "spike_causes", causes)

    return each(one)


def _goes_with(column: str) -> Case:
    def one(tables: Tables, condition: str, true: bool) -> None:
        runs, chance = tables["default"], draws()
        heights = chance.gamma(1, 4, len(runs))
        fill(runs, "spikes", chance.poisson(heights))
        fill(runs, column, heights + chance.normal(0, 2, len(runs)) if true else -heights)

    return each(one)


def _treated(tables: Tables, cure: str) -> Array:
    """[runs] of the sweep: whether they had this cure."""
    options, place = zipped(CURES), list(CURES).index(cure)
    row = {name: values[place] for name, values in options.items()}
    table = tables[TREATED.name]
    return np.isin(table["id"], table.with_options(row)["id"])


def _fewer(tables: Tables, wanted: Wanted) -> None:
    table, chance = tables[TREATED.name], draws()
    means = {"none": 8.0, **{cure: 4.0 if true else 8.0 for cure, true in wanted.items()}}
    for cure, mean in means.items():
        mask = _treated(tables, cure)
        fill(table, "spikes", chance.poisson(mean, int(mask.sum())), mask)


def _no_harm(tables: Tables, condition: str, true: bool) -> None:
    mask = _treated(tables, condition)
    worse = some(int(mask.sum()), 0.01 if true else 0.5)
    fill(tables[TREATED.name], "accuracy", np.where(worse, 0.6, 1.0), mask)


# ---- transfer


def _children(tables: Tables, vocab: int, reading: str) -> tuple[Table, dict[str, Any]]:
    if reading == "a fresh row":
        return tables["fresh-rows" if vocab == 3 else "fresh-rows-more"], {"vocab": vocab}
    return tables[f"rows-{vocab}"], {"vocab": vocab}


def _helps_three(tables: Tables, wanted: Wanted) -> None:
    """Children with a fresh row are in the middle, what is from scratch there or below it, and
    children with rows from the start there or above it."""
    fresh_1000, fresh_2000, rows_1000, _ = wanted.values()
    noise = np.array(around(tables["rows-3"], {"vocab": 3}, 0, 0.05))
    for table, where, low, middle in (
        (tables["scratch"], {"vocab": 3, "epochs": 1000}, fresh_1000, 0.6),
        (tables["scratch"], {"vocab": 3, "epochs": 2000}, fresh_2000, 0.6),
        (tables["rows-3"], {"vocab": 3}, not rows_1000, 0.8),
        (tables["fresh-rows"], {"vocab": 3}, False, 0.6),
    ):
        fill(table, "accuracy", noise + middle - (0.2 if low else 0), where)


def _helps_more(tables: Tables, condition: str, true: bool) -> None:
    where = {"vocab": int(condition.removeprefix("p="))}
    table = tables["fresh-rows-more"]
    fill(table, "accuracy", around(table, where, 0.5 if true else 0.2, 0.1), where)
    scratch = {**where, "epochs": 1000}
    fill(tables["scratch"], "accuracy", around(tables["scratch"], scratch, 0.2, 0.02), scratch)


def _learnt(tables: Tables, condition: str, learnt: bool) -> None:
    vocab = int(condition.removeprefix("p="))
    share = 0.3 if learnt else 0.0
    where = {"vocab": vocab, "epochs": 1000}
    words(tables["scratch"], "accuracy", share, 0.8, 1 / vocab + 0.01, where)


def _not_learnt(tables: Tables, condition: str, true: bool) -> None:
    _learnt(tables, condition, not true)


def _had_six(tables: Tables, condition: str, true: bool) -> None:
    """All children are perfect; their parents had six clusters, or more."""
    table, _ = _children(tables, 3, condition)
    fill(table, "expected_clusters", 6, {"vocab": 2})
    words(table, "clusters", 0.99 if true else 0.5, 6, 8, {"vocab": 2})


def _sharper(tables: Tables, condition: str, true: bool) -> None:
    table, where = _children(tables, 3, condition)
    fill(table, "relevant_attention_start", around(table, where, 0.6, 0.05), where)
    fill(table, "relevant_attention_end", around(table, where, 0.8 if true else 0.58, 0.1), where)


def _avoids(tables: Tables, condition: str, true: bool) -> None:
    table, where = _children(tables, 3, condition)
    least_two, least_one = [0.1, 0.2, 0.05], [0.1, 0.05, 0.2]
    share = OFTEN if true else RARELY
    words(table, "attention_by_token_end", share, least_two, least_one, where)


def _near(tables: Tables, condition: str, true: bool) -> None:
    table, where = _children(tables, 3, condition)
    column = "positions_travelled_rotated"
    fill(table, column, around(table, where, 0.2 if true else 1.5, 0.05), where)
    fill(table, column, around(table, {"vocab": 2}, 1.0, 0.05), {"vocab": 2})


def _similar(tables: Tables, condition: str, true: bool) -> None:
    table, where = _children(tables, 3, condition)
    middle = 0.8 if true else 0.2
    fill(table, "attention_similarity", around(table, where, middle, 0.2), where)


# ---- sparsity, width


def _denser(table: Table, column: str, where: dict[str, Any], true: bool) -> None:
    mask = chosen(table, where)
    learnt = some(int(mask.sum()), 0.5)
    noise = draws().normal(0, 0.05, len(learnt))
    fill(table, "accuracy", np.where(learnt, 1.0, 0.5), mask)
    fill(table, column, noise + np.where(learnt == true, 0.4, 0.6), mask)


def _by_threshold(tables: Tables, condition: str, true: bool) -> None:
    column = COLUMNS[float(condition.removeprefix("threshold "))]
    _denser(tables["default"], column, {}, true)


def _by_width(hidden: Mapping[int, int]) -> Case:
    def one(tables: Tables, condition: str, true: bool) -> None:
        where = {"dim": _at_dim(condition), "hidden": hidden[_at_dim(condition)]}
        _denser(tables["width"], COLUMNS[0.1], where, true)

    return each(one)


def _falls(tables: Tables, condition: str, true: bool) -> None:
    runs = tables["default"]
    accuracy = draws().uniform(0.5, 1, len(runs))
    fill(runs, "accuracy", accuracy)
    noise = np.random.default_rng(2).normal(0, 0.1, len(runs))
    fill(runs, COLUMNS[0.1], noise + (1 - accuracy if true else accuracy))


def _succeed(true_share: float, false_share: float) -> Case:
    def one(tables: Tables, condition: str, true: bool) -> None:
        where = {"dim": _at_dim(condition)}
        words(tables["width"], "accuracy", true_share if true else false_share, 1.0, 0.5, where)

    return each(one)


def _rises(tables: Tables, condition: str, true: bool) -> None:
    runs = tables["width"]
    chance = np.clip(np.log2(runs["dim"]) / 5 if true else 1 - np.log2(runs["dim"]) / 5, 0, 1)
    fill(runs, "accuracy", np.where(draws().random(len(runs)) < chance, 1.0, 0.5))


# ---- ablations, bounds


def _places(table: Table, column: str) -> Array:
    """[runs]: the place of each run's value among those of the option."""
    return np.searchsorted(np.unique(table[column]), table[column])


def _unsteady(tables: Tables, condition: str, true: bool) -> None:
    each_of = ABLATIONS[condition]
    table = tables[each_of.sweeps[0].name]
    smooth = 0.6 + 0.01 * _places(table, each_of.column)
    fill(table, "accuracy", smooth + (0.3 * (draws().random(len(table)) < 0.5) if true else 0.0))


def _regular(tables: Tables, condition: str, true: bool) -> None:
    """Seeds jump each for itself, or all at the same values."""
    each_of = ABLATIONS[condition]
    table = tables[each_of.sweeps[0].name]
    alike = _places(table, each_of.column) % 2 == 0
    alone = draws().random(len(table)) < 0.5
    fill(table, "accuracy", np.where(alone if true else alike, 0.9, 0.6))


def _matter(tables: Tables, wanted: Wanted) -> None:
    """The paper's value works, and an end does not; or neither is worse. Where no end is worse,
    the paper's value fails: that two are alike cannot be told from 20 seeds."""
    for name, each_of in ABLATIONS.items():
        ends = {end: wanted[f"{name} {end:g}"] for end in each_of.ends}
        for sweep in each_of.sweeps:
            table = tables[sweep.name]
            values = table[each_of.column]
            near = np.abs(np.log(values / each_of.standard)) < 0.3
            fill(table, "accuracy", np.where(near & (not any(ends.values())), 0.5, 1.0))
            for end, true in ends.items():
                fill(table, "accuracy", 0.5 if true else 1.0, values == end)


def _row_costs(tables: Tables, condition: str, true: bool) -> None:
    table = tables[ABLATIONS[condition].with_rows.name]
    fill(table, "accuracy", np.where(some(len(table), 0.3 if true else 0.0), 0.5, 1.0))


CASES: dict[tuple[str, str], Case] = {
    ("ideal", "a head exists"): each(_a_head),
    ("ideal", "no gradient"): _no_gradient,
    ("ideal", "a head is trained"): each(_trained),
    ("circuits", "clustering heads"): shares("default", "verdict", "ideal", "partial"),
    ("circuits", "attention corrected by values"): shares(
        "default", "verdict", "value-corrected", "ideal"
    ),
    ("circuits", "partial invariance"): each(_more_clusters),
    ("circuits", "fuzzy constructions"): shares(
        "default", "verdict", "fuzzy", "ideal", rates=(0.1, 0.0)
    ),
    ("circuits", "broken invariances"): each(_broken),
    ("circuits", "circuits are sums"): shares(
        "default", "sum_kind", "folded", "unexplained", rates=(0.97, 0.5)
    ),
    ("circuits", "other sums"): shares("default", "sum_kind", "split", "plain"),
    ("initialisation", "attention stays similar"): each(_own_start),
    ("initialisation", "the own start is told"): shares(
        "default", "attention_similarity_p", 0.05, 0.4
    ),
    ("initialisation", "attention on ones"): shares("default", "preferred_token_end", 1, 0),
    ("initialisation", "the preference is there at the start"): each(_kept_preference),
    ("two-phase", "two drops"): shares("default", "drop_epochs", [50, 90], [50]),
    ("two-phase", "clustering first"): _clustering_first,
    ("two-phase", "the first drop clusters"): each(_first_clusters),
    ("two-phase", "soon after"): each(_soon),
    ("two-phase", "weights jump at the first drop"): _jumps("only", True),
    ("two-phase", "no jump at the second"): _jumps("other", False),
    ("two-phase", "a steady feed-forward"): _jumps("both", False, "speed_at_drops_feed_forward"),
    ("gradients", "high at drops"): each(_high_at_drops),
    ("gradients", "high at drops in each layer"): each(_high_in_part),
    ("gradients", "high at spikes"): each(_high_at_spikes),
    ("gradients", "at the same time"): each(_same_time),
    ("gradients", "full batch learns"): each(_drops),
    ("saddles", "plateaus are saddles"): _plateaus(_WAYS[1], "slope"),
    ("saddles", "left along negative directions"): _plateaus(*_WAYS),
    ("saddles", "more than chance"): each(_escapes),
    ("spikes", "normalisation"): _cause("normalisation", (0.3, 0.02)),
    ("spikes", "feed-forward"): _cause("feed-forward", (0.3, 0.02)),
    ("spikes", "optimizer"): _cause("optimizer", (0.8, 0.3)),
    ("spikes", "step against length"): _goes_with("unsafe_epochs"),
    ("spikes", "heavy assemblers"): _goes_with("heaviest_assembler_ratio"),
    ("spikes", "correlated assemblers"): _goes_with("assembler_correlation"),
    ("cures", "smooth normalisation"): _fewer,
    ("cures", "unit embeddings"): _fewer,
    ("cures", "limited query"): _fewer,
    ("cures", "small gradients"): _fewer,
    ("cures", "regularised feed-forward"): _fewer,
    ("cures", "larger feed-forward"): _fewer,
    ("cures", "second-order optimizers"): _fewer,
    ("cures", "flat places"): _fewer,
    ("cures", "a slow start"): _fewer,
    ("cures", "Adam's moments"): _fewer,
    ("cures", "no harm"): each(_no_harm),
    ("transfer", "p=2 first helps p=3"): _helps_three,
    ("transfer", "p=2 first helps larger p"): each(_helps_more),
    ("transfer", "nothing above p=4"): each(_not_learnt),
    ("transfer", "something up to p=4"): each(_learnt),
    ("transfer", "six clusters before"): each(_had_six),
    ("transfer", "sharper attention"): each(_sharper),
    ("transfer", "attention avoids twos"): each(_avoids),
    ("transfer", "embeddings stay near"): each(_near),
    ("transfer", "attention stays similar in tuning"): each(_similar),
    ("sparsity", "denser when successful"): each(_by_threshold),
    ("sparsity", "denser at any width"): _by_width(
        {2: 32, 3: 32, 4: 32, 6: 32, 8: 32, 12: 48, 16: 64, 32: 128}
    ),
    ("sparsity", "denser with few hidden units"): _by_width({2: 8, 3: 12, 4: 16}),
    ("sparsity", "sparsity falls with accuracy"): each(_falls),
    ("width", "all from d=8 on"): _succeed(0.99, 0.5),
    ("width", "not all below"): _succeed(0.5, 0.99),
    ("width", "success rises with d"): each(_rises),
    ("ablations", "one seed is unsteady"): each(_unsteady),
    ("ablations", "the mean is regular"): each(_regular),
    ("ablations", "options matter"): _matter,
    ("ablations", "a third row costs success"): each(_row_costs),
    ("bounds", "closed forms"): shares("bounds", "closed_form_difference", 1e-14, 1e-3, (1, 0.5)),
    ("bounds", "the paper's bound"): shares("bounds", "paper_bound_fails", 0, 3, (1, 0.5)),
    ("bounds", "a bound that holds"): shares("bounds", "bound_fails", 0, 3, (1, 0.5)),
}
