"""What runs will take: several workloads share one timing, analyses cost extra."""

import pytest

import dynascope as ds
from dynascope.analysis_columns import KINDS
from dynascope.run_cost import expected_seconds
from dynascope.sweeps import estimate as estimating
from dynascope.sweeps.cost import analysing_share
from dynascope.sweeps.estimate import Workload, estimate

SMALL, WIDE = ds.Config(), ds.Config().replace({"model.hidden": 400})


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> list[ds.Config]:
    """Which configs are timed; this machine is twice as slow as the reference."""
    found: list[ds.Config] = []

    def rate(config: ds.Config) -> float:
        found.append(config)
        return 2.0

    monkeypatch.setattr(estimating, "_rate", rate)
    return found


def test_all_workloads_are_timed_together(timed: list[ds.Config]) -> None:
    many = [SMALL.replace({"model.hidden": h}) for h in range(10, 60)]
    loads = [Workload([(config, 3)]) for config in many]
    found = estimate(loads, 2)
    assert len(timed) <= 5
    for config, each in zip(many, found, strict=True):
        assert each.core_seconds == pytest.approx(2 * 3 * expected_seconds(config))
        assert (each.runs, each.threads) == (3, 2)


def test_each_gets_what_it_would_get_alone(timed: list[ds.Config]) -> None:
    loads = [Workload([(SMALL, 5), (WIDE, 1)]), Workload([]), Workload([(WIDE, 2)])]
    together = estimate(loads, 1)
    assert [each.runs for each in together] == [6, 0, 2]
    for load, each in zip(loads, together, strict=True):
        (alone,) = estimate([load], 1)
        assert each.core_seconds == pytest.approx(alone.core_seconds)
        assert each.disk == alone.disk


def test_nothing_to_do_takes_no_time(timed: list[ds.Config]) -> None:
    assert [each.core_seconds for each in estimate([Workload([]), Workload([])], None)] == [0, 0]
    assert estimate([], None) == []
    assert timed == []


def test_analyses_take_longer(timed: list[ds.Config]) -> None:
    plain, more = estimate(
        [Workload([(SMALL, 4)]), Workload([(SMALL, 4)], analyse=("phases", "spikes"))], 1
    )
    share = analysing_share(("phases", "spikes"))
    assert share > 1
    assert more.core_seconds == pytest.approx(plain.core_seconds * (1 + share))
    assert more.disk == plain.disk
    assert all(analysing_share([kind]) > 0 for kind in KINDS)
