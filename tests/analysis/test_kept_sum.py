"""The sum that a circuit keeps: built heads of every kind, an independent count, and the null."""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sum_heads import Head, built_head

import dynascope as ds
from dynascope.analysis import circuit, kept_sum
from dynascope.analysis.kept_sum import kept_sums, sum_shares
from dynascope.analysis.thresholds import SUM_SHARE
from dynascope.catalog import SUM_KINDS

Array = npt.NDArray[Any]
ONES = (1, 1, 1, 1, 1)
NONE = (0,) * 7

# What is built, and what it must be called: weights of two tokens, tokens apart, a second sum.
TWO_TOKENS = {
    "plain": (Head(weights=(*ONES, *NONE)), "plain"),
    "signed": (Head(weights=(1, -1, 1, 1, -1, *NONE)), "signed"),
    "all but the first negative": (Head(weights=(1, -1, -1, -1, -1, *NONE)), "signed"),
    "one fold": (Head(weights=(*ONES, 0, 0, 2, 0, 0, 0, 0)), "folded"),
    "folds and signs": (Head(weights=(1, -1, 1, 1, 1, 2, -2, 0, 0, 2, 0, 0)), "folded"),
    "all folds": (Head(weights=(*ONES, 2, 2, 2, 2, 2, 2, 2)), "folded"),
    "a relevant token apart": (Head(weights=(*ONES, *NONE), apart={2: 1.47}), "split"),
    "an irrelevant token apart": (Head(weights=(*ONES, *NONE), apart={9: 1.47}), "split"),
    "two tokens apart": (
        Head(weights=(1, 1, -1, 1, 1, 2, *NONE[1:]), apart={3: 0.6, 8: 1.1}),
        "split",
    ),
    "two sums": (
        Head(weights=(*ONES, *NONE), second=(1, 1, 1, -1, -1, 0, 0, 2, 0, 0, 0, 0)),
        "two",
    ),
}


@pytest.mark.parametrize(
    "dim", [2, pytest.param(4, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", TWO_TOKENS)
def test_built_heads_of_two_tokens(name: str, dim: int) -> None:
    head, kind = TWO_TOKENS[name]
    if head.second and dim == 2:
        dim = 5  # a plane has no room for another sum, as these heads are built
    parameters, config = built_head(head, dim=dim)
    found = kept_sum(parameters, config)
    assert found is not None
    assert (found.kind, found.apart) == (kind, tuple(sorted(head.apart)))
    assert found.share > 0.999
    if kind in ("plain", "signed", "folded"):
        assert found.weights == head.weights
        plain = (*ONES, *NONE)
        assert found.culprits == tuple(t for t in range(12) if head.weights[t] != plain[t])
    assert 0 < found.margin <= 1
    if dim == 4:  # it takes a second or two
        everything = kept_sum(parameters, config, exhaustive=True)
        assert everything is not None
        assert (everything.kind, everything.weights) == (found.kind, found.weights)


MORE_TOKENS = [
    pytest.param(vocab, dim, head, kind, id=f"{name}-p{vocab}-d{dim}")
    for vocab in (3, 5)
    for dim in (vocab + 2, 9)
    for name, head, kind in (
        ("plain", Head(shifts=(0, 0, 0, 0)), "plain"),
        ("shifted", Head(shifts=(0, 1, 2, 1)), "signed"),
        ("folded", Head(shifts=(0, 1, 0, 0), folds={(5, 1): (0, 2, 1, 1)}), "folded"),
        ("apart", Head(shifts=(0, 0, 1, 0), apart={6: 1.73}), "split"),
        ("two sums", Head(shifts=(0,) * 6, aside=(3, 4, 5)), "two"),
    )
]
MORE_TOKENS.append(  # a fold of four different tokens, which no other fold is like
    pytest.param(
        *(5, 7, Head(shifts=(0, 1, 0, 0), folds={(4, 2): (0, 3, 1, 2)}), "folded"), id="four-p5-d7"
    )
)


@pytest.mark.parametrize(("vocab", "dim", "head", "kind"), MORE_TOKENS)
def test_built_heads_of_more_tokens(vocab: int, dim: int, head: Head, kind: str) -> None:
    parameters, config = built_head(head, vocab=vocab, dim=dim, length=7)
    found = kept_sum(parameters, config)
    assert found is not None
    assert (found.kind, found.apart) == (kind, tuple(head.apart))
    assert found.share > 1 - 1e-9  # this very sum, not one that is like it
    if not head.apart and not head.aside:
        assert found.shifts[:4] == tuple((c - head.shifts[0]) % vocab for c in head.shifts)
    assert kind in SUM_KINDS


@pytest.mark.parametrize("kind", ["signed", "folds and signs"])
def test_noise_up_to_the_threshold(kind: str) -> None:
    """More and more noise on the weights: named while the threshold is met, and no longer."""
    parameters, config = built_head(TWO_TOKENS[kind][0])
    rng = np.random.default_rng(0)
    noise = rng.normal(size=parameters.flat.size)
    kinds = []
    for size in (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0):
        (found,) = kept_sums((parameters.flat + size * noise)[None], config)
        assert found is not None
        assert found.holds == (found.corrected >= SUM_SHARE)
        kinds.append(found.holds)
    assert kinds[0]
    assert not kinds[-1]
    assert kinds == sorted(kinds, reverse=True)


# ---- against NumPy ------------------------------------------------------------------------------
def share_by_hand(xi: Array, values: list[tuple[int, ...]]) -> float:
    """Between groups of equal values over the whole, in plain Python sums."""
    groups: dict[tuple[int, ...], list[Array]] = {}
    for value, vector in zip(values, xi, strict=True):
        groups.setdefault(value, []).append(vector)
    mean = xi.mean(axis=0)
    between = sum(len(g) * ((np.mean(g, axis=0) - mean) ** 2).sum() for g in groups.values())
    return float(between / ((xi - mean) ** 2).sum())


def values_by_hand(found: Any, tokens: Array) -> list[tuple[int, ...]]:
    """The counts that a sequence comes to, token by token, and its tokens apart."""
    vocab = found.terms.shape[-1]
    told = []
    for row in tokens.tolist():
        counts = [0] * (len(found.terms) * vocab)
        for which, table in enumerate(found.terms.tolist()):
            for t, x in enumerate(row):
                for j in range(vocab):
                    counts[which * vocab + j] += table[t][x][j]
        told.append((*counts, *(row[t] for t in found.apart)))
    return told


CASES = [
    *((ds.Config(), seed) for seed in range(4)),
    (ds.Config().replace({"model.dim": 5, "task.relevant": [1, 4, 7]}), 1),
    (ds.Config().replace({"task.vocab": 3, "task.length": 7, "task.relevant": 3}), 2),
    (ds.Config().replace({"task.vocab": 4, "task.length": 6, "task.relevant": [0, 2, 5]}), 0),
    (ds.Config().replace({"precision": "float64", "model.norm": "none"}), 3),
]


@pytest.mark.parametrize(("config", "seed"), CASES)
def test_shares_against_numpy(config: ds.Config, seed: int) -> None:
    parameters = ds.initial_parameters(config, seed=seed)
    wide = parameters.flat.astype(np.float64)
    found = kept_sum(parameters, config)
    assert found is not None
    tokens = ds.dataset(config.task, split="all")[0]
    twice = config.replace({"precision": "float64"})
    xi = ds.forward(ds.Parameters.from_flat(wide, twice.shapes), tokens, twice.model).sequence
    values = values_by_hand(found, tokens)
    assert found.share == pytest.approx(share_by_hand(xi, values), rel=0, abs=1e-12)
    assert found.values == len(set(values))
    assert len(np.unique(found.labels(tokens))) == found.values
    plain = len({tuple(sorted(row[list(config.task.positions)])) for row in tokens})
    corrected = 1 - (1 - found.share) * found.values / plain
    assert found.corrected == pytest.approx(corrected, rel=0, abs=1e-10)
    again = sum_shares(wide[None], config, found)
    assert again[0] == found.share


def test_the_exhaustive_search_finds_the_best_there_is() -> None:
    """All signs and folds by brute force, of a short task."""
    config = ds.Config().replace({"task.length": 6, "task.relevant": 3})
    tokens = ds.dataset(config.task, split="all")[0]
    for seed in range(5):
        parameters = ds.initial_parameters(config, seed=seed)
        found = kept_sum(parameters, config, exhaustive=True)
        assert found is not None
        wide = parameters.flat.astype(np.float64)
        twice = config.replace({"precision": "float64"})
        xi = ds.forward(ds.Parameters.from_flat(wide, twice.shapes), tokens, twice.model).sequence
        best = {"signed": -np.inf, "folded": -np.inf}
        for signs in itertools.product((1, -1), repeat=2):
            for folds in itertools.product((0, 2, -2), repeat=3):
                sums = (tokens @ np.array((1, *signs, *folds))).tolist()
                share = share_by_hand(xi, [(value,) for value in sums])
                corrected = 1 - (1 - share) * len(set(sums)) / 4
                kind = "folded" if any(folds) else "signed"
                if any(folds) or signs != (1, 1):
                    best[kind] = max(best[kind], corrected)
        for kind, value in best.items():
            if kind in found.best:
                assert found.best[kind] == pytest.approx(value, abs=1e-8)


# ---- the null, and what does not apply ----------------------------------------------------------
def test_untrained_models_keep_no_sum() -> None:
    """The same search, no accuracy in the rule: one of a hundred at most."""
    config = ds.Config()
    rows = np.array([ds.initial_parameters(config, seed=seed).flat for seed in range(700, 800)])
    assert sum(found is not None and found.holds for found in kept_sums(rows, config)) <= 1


@pytest.mark.parametrize("noise", [0, 0.001])
@pytest.mark.parametrize("positions", [(0, 5, 6, 7, 8), (3, 4, 5, 6, 7), (7, 8, 9, 10, 11)])
def test_a_finished_circuit_keeps_no_sum_of_other_positions(
    positions: tuple[int, ...], noise: float
) -> None:
    """Two sums of them tell every token apart from which the circuit is made, and yet it does not
    keep them: what they tell besides is not in it."""
    parameters, config = built_head(TWO_TOKENS["plain"][0])
    wrong = config.replace({"task.relevant": positions})
    off = np.random.default_rng(1).normal(size=parameters.flat.size)
    (found,) = kept_sums((parameters.flat + noise * off)[None], wrong)
    assert found is not None
    assert not found.holds


def test_a_circuit_has_its_sum() -> None:
    head = ds.theory.ideal_head(ds.Config())
    found = circuit(head.parameters, head.config)
    assert found.sum is not None
    assert (found.sum.kind, found.sum.by, found.sum.values) == ("plain", "attentive", 6)
    assert found.sum.weights == (*ONES, *NONE)
    assert found.verdict.name == "ideal"


@pytest.mark.parametrize(
    "options", [{"task.name": "most-frequent"}, {"task.vocab": 17}, {"model.dim": 1, "zero": True}]
)
def test_what_has_no_sum(options: dict[str, Any]) -> None:
    zero = options.pop("zero", False)
    config = ds.Config().replace(options)
    parameters = ds.initial_parameters(config)
    if zero:
        parameters.value[:] = 0  # all sequence embeddings are 0
    assert kept_sum(parameters, config) is None


@pytest.mark.parametrize(
    "options",
    [{"task.vocab": 3}, {"task.length": 30}, {"task.name": "products", "task.relevant": 4}],
)
def test_an_exhaustive_search_that_would_not_end_is_refused(options: dict[str, Any]) -> None:
    config = ds.Config().replace(options)
    with pytest.raises(ds.DynascopeError, match=r"^exhaustive: expected False"):
        kept_sum(ds.initial_parameters(config), config, exhaustive=True)


@pytest.mark.parametrize("given", ["yes", 1, None])
def test_exhaustive_is_yes_or_no(given: Any) -> None:
    with pytest.raises(ds.DynascopeError, match=r"^exhaustive: expected True or False, but got"):
        kept_sum(ds.initial_parameters(ds.Config()), ds.Config(), exhaustive=given)


def test_labels_rise_with_the_sum() -> None:
    head = ds.theory.ideal_head(ds.Config())
    found = kept_sum(head.parameters, head.config)
    assert found is not None
    tokens = ds.dataset(head.config.task, split="all")[0]
    assert (found.labels(tokens) == tokens[:, :5].sum(axis=1)).all()
    with pytest.raises(ds.DynascopeError, match=r"^tokens: expected sequences of length 12"):
        found.labels(tokens[:, :11])
