"""Phases of a run: planted drops and rises are found where they are, and nothing in mere noise."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import product
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dynascope as ds
from dynascope._kernel import CURVE_NAMES
from dynascope.analysis import follow
from dynascope.analysis import thresholds as t
from dynascope.analysis.drops import Drop, Method, loss_drops
from dynascope.analysis.phases import Counts, Phases, _matched, phases, phases_from
from dynascope.analysis.rises import Series
from dynascope.analysis.smoothing import noise_deviation, running_median

Array = npt.NDArray[Any]
METHODS: tuple[Method, ...] = get_args(Method)


def curve(*drops: tuple[float, float, float], epochs: int = 1000) -> Array:
    """A loss with drops (centre, size of the log, width from 12% to 88% in quarters)."""
    time = np.arange(epochs + 1)
    log = np.zeros(epochs + 1)
    for centre, size, width in drops:
        log -= size / (1 + np.exp(np.clip(-(time - centre) / width, -500, 500)))
    result: Array = np.exp(log) * np.log(2)
    return result


def white(deviation: float, seed: int, epochs: int = 1000) -> Array:
    return np.exp(deviation * np.random.default_rng(seed).standard_normal(epochs + 1))


def drifting(deviation: float, seed: int, memory: float, epochs: int = 1000) -> Array:
    """AR(1) noise with this standard deviation."""
    kicks = deviation * np.sqrt(1 - memory**2) * np.random.default_rng(seed).standard_normal(5001)
    log = np.zeros(5001)
    for i in range(1, 5001):
        log[i] = memory * log[i - 1] + kicks[i]
    return np.exp(log[-epochs - 1 :])


def spiky(loss: Array, seed: int, count: int = 8, length: int = 3) -> Array:
    """The curve with short spikes, up to 30 times the loss, away from drops."""
    rng, result = np.random.default_rng(seed), loss.copy()
    for start in rng.choice(np.flatnonzero(np.abs(np.gradient(loss)) < 1e-4), count):
        result[start : start + length] *= 1.5 + 30 * rng.random()
    return result


# ---- drops ---------------------------------------------------------------------------------------

PLANTED = [
    [(500.3, 0.3, 0.1)],
    [(500.0, 2.0, 8.0)],
    [(120.0, 0.7, 3.0), (410.0, 1.5, 5.0)],
    [(120.0, 1.5, 5.0), (410.0, 0.3, 3.0)],
    [(200.0, 1.0, 2.0), (260.0, 1.0, 2.0)],
    [(100.0, 0.4, 1.0), (400.0, 1.0, 6.0), (800.0, 2.5, 3.0)],
    [(60.0, 0.25, 0.5), (300.0, 0.25, 2.0), (930.0, 3.0, 4.0)],
]
DISTURBED: dict[str, Callable[[Array], Array]] = {
    "smooth": lambda loss: loss,
    "noisy": lambda loss: loss * white(0.02, seed=1),
    "spiky": lambda loss: spiky(loss, seed=2),
    "noisy and spiky": lambda loss: spiky(loss, seed=3) * white(0.01, seed=3),
    "drifting": lambda loss: loss * drifting(0.005, seed=4, memory=0.98),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("disturbed", DISTURBED)
@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: f"{planted}")
def test_planted_drops_are_found(
    planted: list[tuple[float, float, float]], disturbed: str, method: Method
) -> None:
    found = loss_drops(DISTURBED[disturbed](curve(*planted)), method)
    assert len(found) == len(planted)
    for drop, (centre, size, width) in zip(found, planted, strict=True):
        assert abs(drop.epoch - centre) <= 2
        assert drop.size == pytest.approx(size, rel=0.1, abs=0.05)
        assert drop.factor == pytest.approx(np.exp(drop.size))
        assert centre - 5 * width - 8 <= drop.start <= drop.epoch <= drop.end
        assert drop.end <= centre + 5 * width + 8


@pytest.mark.parametrize("method", METHODS)
def test_the_middle_half_of_drops_of_many_widths(method: Method) -> None:
    for size, width in product((0.2, 0.5, 1.0, 3.0), (0.05, 1.0, 4.0, 12.0)):
        if size / (4 * width) > 4 * t.DROP_RATE:  # well above what is called drift
            (found,) = loss_drops(curve((300, size, width), epochs=600), method)
            assert abs(found.epoch - 300) <= 2
            assert found.end - found.start >= 3 * width  # logistic: 5.9 widths from 5% to 95%


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("deviation", [0.002, 0.02, 0.1])
def test_white_noise_has_no_drops(deviation: float, method: Method) -> None:
    for seed in range(20):
        assert loss_drops(0.69 * white(deviation, seed), method) == ()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("deviation", "memory"), [(0.01, 0.9), (0.01, 0.99), (0.02, 0.98)])
def test_drifting_noise_has_no_drops(deviation: float, memory: float, method: Method) -> None:
    for seed in range(10):
        assert loss_drops(0.69 * drifting(deviation, seed, memory), method) == ()


@pytest.mark.parametrize("method", METHODS)
def test_what_is_no_drop(method: Method) -> None:
    time = np.arange(1001.0)
    assert loss_drops(np.full(1001, 0.6931), method) == ()
    assert loss_drops(np.zeros(1001), method) == ()
    assert loss_drops(np.exp(-0.9 * t.DROP_RATE * time), method) == ()  # drift, to 40%
    assert loss_drops(curve((500, 0.09, 2)), method) == ()  # too small
    assert loss_drops(np.exp(0.001 * time), method) == ()  # a rise


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("decay", [1.0, 10.0, 60.0])
def test_the_recovery_from_a_spike_is_no_drop(decay: float, method: Method) -> None:
    time = np.arange(1001)
    spike = 1 + 5 * np.where(time >= 400, np.exp(-(time - 400) / decay), 0.0)
    assert loss_drops(0.69 * spike, method) == ()
    (found,) = loss_drops(curve((200, 1.0, 3.0)) * spike, method)
    assert abs(found.epoch - 200) <= 2


@pytest.mark.parametrize("method", METHODS)
def test_only_the_part_below_the_old_low_counts(method: Method) -> None:
    levels = np.repeat([1.0, 0.4, 0.9, 0.2], 150)  # falls by 2.5, rises, falls by 4.5: by 2 in all
    sizes = [drop.size for drop in loss_drops(levels, method)]
    np.testing.assert_allclose(sizes, np.log([2.5, 2.0]), rtol=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_a_shoulder_parts_two_drops_and_a_short_halt_does_not(method: Method) -> None:
    def staged(halt: int, rate: float) -> Array:
        fall, flat = np.full(30, 0.03), np.zeros(100)
        rates = np.concatenate([flat, fall, np.full(halt, rate), fall, flat])
        return np.asarray(np.exp(-np.cumsum(rates)))

    assert len(loss_drops(staged(60, 0.003), method)) == 2
    assert len(loss_drops(staged(60, 0.02), method)) == 1
    assert len(loss_drops(staged(14, 0.0), method)) == 1  # 14 less what smoothing takes of it
    assert len(loss_drops(staged(30, 0.0), method)) == 2


@pytest.mark.parametrize("method", METHODS)
def test_ceiling_and_floor(method: Method) -> None:
    start = curve((20, 0.5, 2.0), (300, 1.0, 3.0))
    assert [round(d.epoch, -1) for d in loss_drops(start, method)] == [20, 300]
    (found,) = loss_drops(start, method, ceiling=0.69 * np.exp(-0.5))  # the first leads to chance
    assert abs(found.epoch - 300) <= 2
    forever = np.exp(-0.05 * np.maximum(np.arange(1001) - 200, 0))  # to 1e-17
    (found,) = loss_drops(forever, method)
    assert found.end < 200 + np.log(100) / 0.05 + 5


@pytest.mark.parametrize("method", METHODS)
def test_thresholds_scale(method: Method) -> None:
    loss = curve((200, 0.14, 1.0), (500, 0.07, 1.0), (800, 0.5, 1.0))
    assert [len(loss_drops(loss, method, scale)) for scale in (0.5, 1.0, 2.0)] == [3, 2, 1]


@pytest.mark.parametrize("method", METHODS)
def test_the_threshold_for_noise_does_not_scale(method: Method) -> None:
    for seed in range(8):
        hidden = curve((500, 0.09, 1.0)) * white(0.04, seed)  # 2 deviations
        clear = curve((500, 0.4, 1.0)) * white(0.08, seed)  # 5
        for scale in (0.5, 1.0, 2.0):
            assert loss_drops(hidden, method, scale) == ()
            assert len(loss_drops(clear, method, scale)) == 1


@pytest.mark.parametrize("method", METHODS)
def test_long_curves_are_judged_in_blocks(method: Method) -> None:
    loss = curve((3e4, 1.0, 300.0), (7e4, 0.5, 50.0), epochs=10**5) * white(0.01, 0, 10**5)
    found = loss_drops(loss, method)
    assert [drop.epoch for drop in found] == pytest.approx([3e4, 7e4], abs=2 * 49)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epochs", [*range(0, 40, 3), 20])
def test_short_curves(epochs: int, method: Method) -> None:
    assert loss_drops(np.full(epochs + 1, 0.7), method) == ()
    found = loss_drops(np.geomspace(1, 0.1, epochs + 1), method)
    assert len(found) == (epochs + 1 >= t.DROP_LEAST)
    assert loss_drops([], method) == ()


two_drops = st.tuples(
    st.floats(80, 140), st.floats(0.25, 1.2), st.floats(0.5, 4),
    st.floats(220, 280), st.floats(0.25, 1.2), st.floats(0.5, 4),
)  # fmt: skip


def planted_curve(values: Sequence[float]) -> Array:
    return curve((values[0], values[1], values[2]), (values[3], values[4], values[5]), epochs=360)


def same(first: Sequence[Drop], second: Sequence[Drop], shift: int = 0) -> bool:
    """The same drops, `shift` epochs later; the edge of a stair may move when a stair grows."""
    return len(first) == len(second) and all(
        abs(a.epoch - b.epoch - shift) <= 1 and abs(a.size / b.size - 1) < 0.01
        for a, b in zip(first, second, strict=True)
    )


@settings(max_examples=40, deadline=None)
@given(two_drops, st.floats(1e-6, 1e6), st.sampled_from(METHODS))
def test_units_do_not_matter(values: Sequence[float], unit: float, method: Method) -> None:
    loss = planted_curve(values) * white(0.01, 0, 360)
    assert same(loss_drops(loss * unit, method), loss_drops(loss, method))


@settings(max_examples=40, deadline=None)
@given(two_drops, st.integers(1, 600), st.sampled_from(METHODS))
def test_a_longer_plateau_at_the_end_changes_nothing(
    values: Sequence[float], more: int, method: Method
) -> None:
    loss = planted_curve(values)
    longer = np.concatenate([loss, np.full(more, loss[-1])])
    assert same(loss_drops(longer, method), loss_drops(loss, method))


@settings(max_examples=40, deadline=None)
@given(two_drops, st.integers(1, 600), st.sampled_from(METHODS))
def test_a_later_start_moves_the_drops(values: Sequence[float], by: int, method: Method) -> None:
    loss = planted_curve(values)
    later = np.concatenate([np.full(by, loss[0]), loss])
    assert same(loss_drops(later, method), loss_drops(loss, method), by)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, np.nan],), "loss: expected one finite number of at least 0 for each epoch"),
        (([0.5, -1.0],), "loss: expected one finite number"),
        (([[0.5]],), "loss: expected one finite number"),
        ((["a"],), "loss: expected a curve of numbers, but got ['a']"),
        (([0.5], "slopes"), "did you mean 'slope'?"),
        (([0.5], "slope", 0), "scale: expected a finite number above 0, but got 0"),
        (([0.5], "slope", "1"), "scale: expected a finite number above 0"),
        (([0.5], "slope", 1, np.inf), "ceiling: expected a finite number above 0"),
    ],
)
def test_bad_curves(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ds.DynascopeError) as error:
        loss_drops(*arguments)
    assert message in str(error.value)


# ---- agreement -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "pairs"),
    [
        ([], [], 0),
        ([100], [], 0),
        ([100], [110], 1),
        ([100], [111], 0),
        ([100, 300], [95, 305], 2),
        ([100, 300], [200, 301], 1),
        ([100, 105], [103], 1),
        ([90, 100], [100, 110], 2),
    ],
)
def test_matched(first: list[int], second: list[int], pairs: int) -> None:
    def sharp(epochs: list[int]) -> list[Drop]:
        return [Drop(epoch, epoch - 2, epoch + 2, 1.0) for epoch in epochs]

    assert _matched(sharp(first), sharp(second)) == _matched(sharp(second), sharp(first)) == pairs


def test_wide_drops_match_when_each_lies_within_the_other() -> None:
    wide = [Drop(200, 150, 250, 1.0)]
    assert _matched(wide, [Drop(240, 190, 290, 1.0)]) == 1
    assert _matched(wide, [Drop(240, 230, 290, 1.0)]) == 0


# ---- rises ---------------------------------------------------------------------------------------


def passage_by_definition(values: Array, part: float) -> int | None:
    """The definition, read literally, with every value known."""
    n = len(values)
    tail = max(int(n * t.RISE_TAIL), min(5, n))
    places = np.linspace(n - tail, n - 1, min(tail, t.RISE_TAIL_VALUES)).round().astype(int)
    final = float(np.median(values[places]))
    if final - values[0] < t.RISE_SIZE:
        return None
    level = values[0] + part * (final - values[0])
    reach = min(t.RISE_REACH, n // 20)
    for place in range(n - tail, 0, -1):
        r = min(reach, place - 1, n - place)
        if np.median(values[place - 1 - r : place + r]) <= level:
            return place
    return 0


def risen(values: Array, part: float = 0.5) -> tuple[int | None, int]:
    """The passage, and how many values it took."""
    asked: list[int] = []

    def ask(places: Sequence[int]) -> Array:
        asked.extend(places)
        return values[list(places)]

    found = Series(ask, len(values)).passed(part)
    assert len(asked) == len(set(asked))
    return found, len(asked)


def sigmoid(centre: float, width: float, epochs: int = 1000) -> Array:
    result: Array = 1 / (1 + np.exp(-(np.arange(epochs + 1) - centre) / width))
    return result


@pytest.mark.parametrize("centre", [37, 300, 301, 640, 900])
def test_a_planted_step_gives_its_epoch(centre: int) -> None:
    values = np.where(np.arange(1001) < centre, 0.5, 0.98)
    found, cost = risen(values)
    assert found == centre
    assert cost <= 110


@pytest.mark.parametrize("part", [0.5, t.RISE_DONE])
def test_the_search_finds_what_the_whole_series_says(part: float) -> None:
    rng = np.random.default_rng(0)
    for centre, width, noise in product((100.5, 420.2, 777.7), (2.0, 20.0), (0.0, 0.02)):
        values = sigmoid(centre, width) + noise * rng.standard_normal(1001)
        found, cost = risen(values, part)
        assert found == passage_by_definition(values, part)
        assert cost <= 150


@pytest.mark.parametrize("count", [1, 2, 3, 5, 20, 21, 101])
def test_where_all_is_known_the_passage_is_exact(count: int) -> None:
    for seed in range(20):
        values = np.cumsum(np.random.default_rng(seed).standard_normal(count)) + 0.05
        series = Series(values.take, count, coarse=count)
        assert series.passed(0.5) == passage_by_definition(values, 0.5)


def test_dips_and_spikes_do_not_move_the_passage() -> None:
    values = np.where(np.arange(1001) < 300, 0.5, 1.0)
    for start in (100, 400, 600, 635, 998):
        values[start : start + 5] = 0.5 if start > 300 else 1.0
    assert risen(values)[0] == passage_by_definition(values, 0.5) == 300


def test_what_is_lost_again_was_no_final_rise() -> None:
    time = np.arange(1001)
    assert risen(np.where((time > 200) & (time < 500), 0.9, 0.5))[0] is None
    again = np.where((time > 200) & (time < 500) | (time >= 700), 0.9, 0.5)
    assert risen(again)[0] == 700


def test_no_rise_no_passage() -> None:
    assert risen(np.full(1001, 0.5))[0] is None
    assert risen(np.linspace(0.5, 0.59, 1001))[0] is None
    assert risen(np.linspace(0.9, 0.1, 1001))[0] is None
    assert risen(np.full(1001, np.nan))[0] is None


def test_running_median_and_noise() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal(50)
    for reach in (0, 1, 3, 40):
        expected = [
            np.median(values[i - r : i + r + 1]) for i in range(50) for r in [min(reach, i, 49 - i)]
        ]
        np.testing.assert_allclose(running_median(values, reach), expected)
    noise = 0.3 * rng.standard_normal(20000) + np.linspace(0, 500, 20000)
    assert noise_deviation(noise) == pytest.approx(0.3, rel=0.03)


# ---- runs ----------------------------------------------------------------------------------------

TINY = {"task.train_size": 32, "task.test_size": 32, "task.length": 4, "task.relevant": 2}


@cache
def tiny(epochs: int = 1000, weights_every: int = 1) -> ds.Run:
    changes = {"training.epochs": epochs, "record.weights_every": weights_every}
    return ds.train(ds.Config().replace({**TINY, **changes}), progress=False)[0]


def with_curves(run: ds.Run, **curves: Array) -> ds.Run:
    table = run.table.copy()
    for name, values in curves.items():
        table[:, CURVE_NAMES.index(name)] = values
    return replace(run, table=table)


def told(run: ds.Run, between: Array) -> Phases:
    """The phases of a run whose between share is given for every epoch."""
    epochs = follow.kept_epochs(run, "phases")
    return phases_from(run, epochs, lambda asked: between[list(asked)])


def planted_run(clustered: float, fitted: float, weights_every: int = 1) -> tuple[ds.Run, Array]:
    loss = curve((120, 0.7, 3.0), (410, 1.5, 5.0))
    accuracy = 0.5 + 0.5 * sigmoid(fitted, 3.0)
    run = with_curves(tiny(weights_every=weights_every), train_loss=loss, test_accuracy=accuracy)
    return run, 0.2 + 0.7 * sigmoid(clustered, 2.0)


def test_the_phases_of_a_planted_run() -> None:
    result = told(*planted_run(109.5, 399.5))
    assert (result.clustered_epoch, result.fitted_epoch, result.lead) == (110, 400, 290)
    assert result.between_rise == pytest.approx(0.7, abs=1e-3)
    assert result.accuracy_rise == pytest.approx(0.5, abs=1e-3)
    assert (result.agreement, result.agree) == (1.0, True)
    assert result.sensitivity == (Counts(0.5, 2, 2), Counts(1.0, 2, 2), Counts(2.0, 2, 2))
    assert [drop.epoch for drop in result.by_change] == pytest.approx([120, 410], abs=2)
    # logit(0.9) = 2.197 widths after the middle
    assert result.snapshots == (0, 110, 400, int(399.5 + 3 * 2.197) + 1)
    assert (result.measured_to, result.diverged, result.accuracy) == (1000, None, "test")
    assert result.describe() == (
        f"Two drops, at epochs {result.by_slope[0].epoch} and {result.by_slope[1].epoch} (both "
        "methods agree). Embeddings clustered at epoch 110, 290 epochs before the test accuracy "
        "rose."
    )


def test_a_negative_lead() -> None:
    result = told(*planted_run(500.5, 399.5))
    assert (result.clustered_epoch, result.fitted_epoch, result.lead) == (501, 400, -101)
    assert result.snapshots == (0, 501, 501, 501)  # none before the one to its left
    assert "at epoch 501, 101 epochs after the test accuracy rose." in result.describe()


@pytest.mark.parametrize(
    ("clustered", "fitted", "sentence"),
    [
        (399.5, 399.5, "Embeddings clustered at epoch 400, when the test accuracy rose."),
        (398.5, 399.5, "Embeddings clustered at epoch 399, 1 epoch before the test accuracy rose."),
        (9e9, 399.5, "The test accuracy rose at epoch 400; the between share never by 0.1."),
        (399.5, 9e9, "Embeddings clustered at epoch 400; the test accuracy never rose by 0.1."),
        (9e9, 9e9, "Neither between share nor test accuracy rose by 0.1 or more."),
    ],
)
def test_sentences(clustered: float, fitted: float, sentence: str) -> None:
    with np.errstate(over="ignore"):
        result = told(*planted_run(clustered, fitted))
    assert result.describe().endswith(sentence)
    missing = [result.clustered_epoch is None, result.fitted_epoch is None]
    assert missing == [clustered > 1e9, fitted > 1e9]
    assert (result.lead is None) == any(missing)
    assert (result.snapshots.clustered is None, result.snapshots.fitted is None) == tuple(missing)


def test_disagreement_is_said() -> None:
    run, between = planted_run(109.5, 399.5)
    result = told(run, between)
    other = replace(result, by_change=result.by_change[:1], agree=False, agreement=2 / 3)
    assert other.describe().startswith("The methods disagree: one drop, at epoch 1")
    assert "by change points; two drops, at epochs 1" in other.describe()
    none = replace(result, by_change=(), by_slope=())
    assert none.describe().startswith("No drops (both methods agree).")


def test_weights_of_every_tenth_epoch() -> None:
    result = told(*planted_run(109.5, 399.5, weights_every=10))
    assert (result.clustered_epoch, result.fitted_epoch, result.lead) == (110, 400, 290)
    assert told(*planted_run(111.5, 399.5, weights_every=10)).clustered_epoch == 120


def test_runs_without_weights_are_refused() -> None:
    with pytest.raises(ds.DynascopeError, match=r"record\.weights_every is 0; phases need it"):
        phases(tiny(epochs=30, weights_every=0))
    with pytest.raises(ds.DynascopeError, match=r"run: expected a ds\.Run, but got 'id'"):
        phases("id")  # type: ignore[arg-type]


def test_a_diverged_run_is_measured_to_its_end() -> None:
    run, between = planted_run(109.5, 399.5)
    table = run.table.copy()
    table[300:] = np.nan
    between[300:] = np.nan
    result = told(replace(run, table=table, diverged=300), between)
    assert (result.measured_to, result.diverged) == (299, 300)
    assert [len(result.by_change), len(result.by_slope)] == [1, 1]
    assert (result.clustered_epoch, result.fitted_epoch, result.lead) == (110, None, None)
    assert result.describe().endswith("Measured to epoch 299: the run diverged at epoch 300.")


@pytest.mark.parametrize("diverged", [0, 1, 2])
def test_a_run_that_diverged_at_once(diverged: int) -> None:
    table = tiny().table.copy()
    table[diverged:] = np.nan
    result = told(replace(tiny(), table=table, diverged=diverged), np.full(1001, np.nan))
    assert (result.by_slope, result.clustered_epoch, result.fitted_epoch) == ((), None, None)
    assert result.measured_to == max(diverged - 1, 0)


@pytest.mark.parametrize("epochs", [0, 1, 2, 7, 20])
def test_short_runs(epochs: int) -> None:
    result = told(tiny(epochs), np.full(epochs + 1, 0.3))
    assert (result.by_change, result.by_slope, result.agreement) == ((), (), 1.0)
    assert (result.clustered_epoch, result.lead, result.measured_to) == (None, None, epochs)


def test_without_a_test_set_the_train_accuracy_counts() -> None:
    tokens, _ = ds.dataset(ds.TaskConfig(length=4, relevant=2), split="all")
    data = ds.Data(train=(tokens, tokens[:, 0] * tokens[:, 1]))  # 1 for a quarter of them
    config = ds.Config().replace({**TINY, "training.epochs": 100, "training.batch": 16})
    run = ds.train(config, data=data, progress=False)[0]
    # From far above chance to it, and then on: chance is the entropy of the targets, 0.56.
    chance = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    loss = np.where(np.arange(101) < 30, 3 * chance, np.where(np.arange(101) < 70, chance, 0.2))
    run = with_curves(run, train_loss=loss, train_accuracy=np.arange(101) / 100)
    result = told(run, np.full(101, 0.3))
    assert [drop.epoch for drop in result.by_slope] == [70]
    assert result.accuracy == "train"
    assert result.fitted_epoch == passage_by_definition(np.arange(101) / 100, 0.5)
    assert "train accuracy rose" in result.describe()


def between_by_forward(run: ds.Run, epochs: Sequence[int]) -> Array:
    """The between share from its definition: variance of the means of groups, over all variance."""
    tokens, _ = ds.dataset(run.config.task, split="all")
    groups = tokens[:, list(run.config.task.positions)].sum(axis=1)
    result = []
    for epoch in epochs:
        xi = ds.forward(run.parameters(epoch), tokens, run.config.model).sequence
        xi = xi.astype(float) - xi.mean(axis=0, dtype=float)
        means = np.array([xi[groups == g].mean(axis=0) for g in groups])
        result.append((means**2).sum() / (xi**2).sum())
    return np.array(result)


@pytest.mark.parametrize("weights_every", [1, 7])
def test_real_runs(weights_every: int) -> None:
    """A task that is learnt in seconds; shares measured one by one, and by the kernel."""
    changes = {
        **TINY, "training.lr": 0.02, "training.epochs": 200, "model.dim": 4,
        "record.weights_every": weights_every,
    }  # fmt: skip
    runs = ds.train(ds.Config().replace(changes), seeds=range(3), progress=False)
    results = [phases(run) for run in runs]
    for run, result in zip(runs, results, strict=True):
        epochs = follow.kept_epochs(run, "phases")
        slowly = phases_from(run, epochs, partial(between_by_forward, run))
        assert slowly.between_rise == pytest.approx(result.between_rise, abs=1e-4)
        assert replace(slowly, between_rise=result.between_rise) == result
        assert phases(run) == result
        every = between_by_forward(run, epochs)
        place = passage_by_definition(every, 0.5)
        assert result.clustered_epoch == (None if place is None else epochs[place])
        assert result.fitted_epoch == passage_by_definition(run.curves["test_accuracy"], 0.5)
    assert any(result.by_slope and result.by_change for result in results)
    assert any(result.fitted_epoch is not None for result in results)
    assert any(result.clustered_epoch is not None for result in results)


def test_a_curve_without_a_first_value_begins_with_its_second() -> None:
    """As that of an imported run: what is not known has not risen."""
    config = ds.Config().replace({"training.epochs": 40})
    run = ds.train(config, progress=False)[0]
    table = run.table.copy()
    column = CURVE_NAMES.index("test_accuracy")
    table[0, column] = np.nan
    table[1:, column] = 0.5
    found = phases(replace(run, table=table))
    assert found.accuracy_rise == 0
    assert found.fitted_epoch is None
