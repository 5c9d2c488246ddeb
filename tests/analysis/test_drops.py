"""Drops of a loss: planted ones are found where they are, and none in mere noise."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from planted_curves import Array, curve

import dynascope as ds
from dynascope.analysis import thresholds as t
from dynascope.analysis.drops import Drop, Method, loss_drops

METHODS: tuple[Method, ...] = get_args(Method)


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


def staged(*stages: tuple[int, float]) -> Array:
    """A loss that falls at given rates for given numbers of epochs, between plateaus."""
    rates = [np.full(epochs, rate) for epochs, rate in ((100, 0.0), *stages, (100, 0.0))]
    return np.asarray(np.exp(-np.cumsum(np.concatenate(rates))))


@pytest.mark.parametrize("method", METHODS)
def test_a_shoulder_parts_two_drops_and_a_short_halt_does_not(method: Method) -> None:
    def halted(epochs: int, rate: float) -> int:
        return len(loss_drops(staged((30, 0.03), (epochs, rate), (30, 0.03)), method))

    short = 4 if method == "shelves" else 14
    still_falling = 0.024 if method == "shelves" else 0.02
    assert halted(60, 0.003) == 2
    assert halted(60, still_falling) == 1
    assert halted(short, 0.0) == 1  # less what smoothing takes of it
    assert halted(30, 0.0) == 2


def test_a_drop_of_medium_speed_between_two_fast_ones_is_no_halt() -> None:
    """Only "shelves" sees it: the others compare it with the highest rates of the whole fall."""
    loss = staged((20, 0.05), (40, 0.002), (40, 0.01), (40, 0.002), (20, 0.05))
    assert [len(loss_drops(loss, method)) for method in METHODS] == [2, 2, 3]
    assert loss_drops(loss, "shelves")[1].epoch == pytest.approx(100 + 20 + 40 + 20, abs=3)


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


@settings(max_examples=60, deadline=None)
@given(
    two_drops, st.integers(10, 340), st.floats(0.5, 20), st.floats(0.5, 40),
    st.sampled_from(METHODS),
)  # fmt: skip
def test_a_spike_that_recovers_changes_nothing(
    values: Sequence[float], at: int, height: float, decay: float, method: Method
) -> None:
    """Wherever it is over, to a hundredth, before the next drop begins."""
    over = at + decay * np.log(height / 0.01)
    for centre, width in ((values[0], values[2]), (values[3], values[5])):
        assume(over < centre - 6 * width - 5 or at > centre + 6 * width + 5)
    time = np.arange(361)
    spike = 1 + np.where(time >= at, height * np.exp(-np.maximum(time - at, 0) / decay), 0.0)
    loss = planted_curve(values) * white(0.01, 0, 360)
    before, after = loss_drops(loss, method), loss_drops(loss * spike, method)
    assert [drop.epoch for drop in after] == pytest.approx([d.epoch for d in before], abs=2)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.0005, 0.05), st.floats(0, 0.9), st.integers(0, 10**6), st.sampled_from(METHODS))
def test_noise_on_slow_drift_has_no_drops(
    deviation: float, drift: float, seed: int, method: Method
) -> None:
    loss = np.exp(-drift * t.DROP_RATE * np.arange(1001)) * white(deviation, seed)
    assert loss_drops(loss, method) == ()


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
