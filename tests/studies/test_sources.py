"""Where studies' numbers come from: nothing is made twice, and nothing else is counted."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import dynascope as ds
from dynascope.progress import Report
from dynascope.run import Runs
from dynascope.studies.seed_blocks import seeds_of
from dynascope.studies.sources import PAPER, QUICK, MadeRuns, StudySweep
from dynascope.sweeps.execution import Execution

SHORT = ds.Config().replace({"training.epochs": 3, "training.batch": 512})


def made(count: int, asked: list[list[int]]) -> MadeRuns:
    """Runs that tell which of them were asked for."""

    def make(seeds: Sequence[int], execution: Execution, report: Report | None) -> Runs:
        asked.append([*seeds])
        return ds.train(SHORT, seeds, progress=False)

    return MadeRuns("made", make, {QUICK: count, PAPER: count}, ("assemblers",), block="default")


def swept(count: int, dims: Sequence[int] = (2, 3)) -> StudySweep:
    base = {"training.epochs": 3, "training.batch": 512}
    grid = {"base": base, "grid": {"model.dim": list(dims)}, "analyse": ["assemblers"]}
    return StudySweep("swept", grid, {QUICK: count, PAPER: count}, block="default")


def prepared(source: MadeRuns | StudySweep, folder: Path) -> int:
    return source.prepare(folder, QUICK, Execution(), None, lambda: None)


def test_runs_that_are_there_are_not_made_again(tmp_path: Path) -> None:
    asked: list[list[int]] = []
    first, *others = seeds_of("default", 4, rehearsal=True)
    assert prepared(made(1, asked), tmp_path / "runs") == 1
    assert prepared(made(4, asked), tmp_path / "runs") == 3
    assert prepared(made(4, asked), tmp_path / "runs") == 0
    assert asked == [[first], others]
    table = made(4, asked).table(tmp_path / "runs", QUICK)
    assert table["seed"].tolist() == [first, *others]
    assert (table["heaviest_assembler_ratio"] > 1).all()


@pytest.mark.parametrize("source", [made(2, []), swept(2), swept(3, [3])])
def test_only_what_was_asked_for_is_counted(source: MadeRuns | StudySweep, tmp_path: Path) -> None:
    """A folder may hold runs of a larger grid, or of more seeds."""
    larger = swept(3) if isinstance(source, StudySweep) else made(3, [])
    prepared(larger, tmp_path / "larger")
    prepared(source, tmp_path / "own")
    found, wanted = (source.table(tmp_path / name, QUICK) for name in ("larger", "own"))
    assert found["id"].tolist() == wanted["id"].tolist()
    assert len(larger.table(tmp_path / "larger", QUICK)) > len(found)
