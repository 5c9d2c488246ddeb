"""Analyses that fail: it is said, and costs nothing else."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analysed import GRID, PLAIN, flipped, found, three
from sweeping import toml

import dynascope as ds
from dynascope.analysis_columns import DEFAULT_KINDS
from dynascope.cli import main
from dynascope.engine import Job
from dynascope.findings.registry import kinds
from dynascope.sweeps import remote_shard
from dynascope.sweeps.shard_making import Finishing

FAILURES = [np.linalg.LinAlgError("SVD did\nnot converge"), MemoryError()]


@pytest.fixture(params=FAILURES, ids=["LinAlgError", "MemoryError"])
def failing(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], list[tuple[int, str]]]:
    """The circuit of seed 1 fails; what is returned counts which analyses were made since then."""
    made: list[tuple[int, str]] = []

    def maker(kind: str, real: Callable[[ds.Run], Any]) -> Callable[[ds.Run], Any]:
        def make(run: ds.Run) -> Any:
            made.append((run.seed, kind))
            if (run.seed, kind) == (1, "circuit"):
                raise request.param
            return real(run)

        return make

    for name, kind in kinds().items():
        monkeypatch.setattr(kind, "row_of", maker(name, kind.row_of))

    def take() -> list[tuple[int, str]]:
        taken = made.copy()
        made.clear()
        return taken

    return take


def _told(run: ds.Run) -> str:
    why = r"\((LinAlgError: SVD did not converge|MemoryError)\)"
    return f"run {run.id}: its circuit could not be analysed {why}"


_BUT_ONE = [kind for kind in DEFAULT_KINDS if kind != "circuit"]
WITHOUT = [[*DEFAULT_KINDS], _BUT_ONE, [*DEFAULT_KINDS]]  # that of seed 1 failed


def test_a_failure_is_no_note_and_costs_nothing_else(
    folder: Path, failing: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for tried in (3 * len(DEFAULT_KINDS), 1):
        with pytest.raises(ds.DynascopeError, match=_told(three()[1])) as caught:
            ds.load(folder).analyse(threads=1, progress=False)
        assert caught.value.code == 1
        assert str(caught.value).endswith("are saved; run it again to retry.")
        assert len(failing()) == tried
        assert [row["analysed"] for row in found(folder)] == WITHOUT
    assert main(["report", str(folder)]) == 1
    with pytest.raises(ds.DynascopeError, match=_told(three()[1])):
        three().analyse(progress=False)
    with pytest.raises(ds.DynascopeError, match=_told(three()[1])):
        ds.Runs([three()[1]]).analyse(progress=False)
    monkeypatch.undo()
    assert ds.load(folder).analyse(progress=False).equals(three().analyse(progress=False))


def test_a_failure_does_not_stop_a_sweep(
    tmp_path: Path,
    failing: Callable[[], Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    few = GRID | {"analyse": list(DEFAULT_KINDS)}
    grid.write_text(toml(few))
    # Four of the twelve runs have seed 1, and what has failed is tried once more.
    for tried in (12 * len(DEFAULT_KINDS) + 4, 4):
        assert main(["sweep", str(grid), "--out", str(folder), "--quiet"]) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert "its circuit could not be analysed" in error
        assert "and 3 more like it; everything else is saved; run the same sweep again" in error
        assert len(failing()) == tried
        runs = ds.load(folder, strict=True)
        assert [row["analysed"] for row in found(runs)] == WITHOUT * 4
    monkeypatch.undo()
    ds.sweep(few, folder, progress=False)
    alone = ds.Runs(list(runs)).analyse(progress=False)
    assert ds.load(folder).table(alone.column_names).equals(alone)


def test_damage_is_mended_in_spite_of_failures(tmp_path: Path, failing: Callable[[], Any]) -> None:
    grid, folder = {key: PLAIN[key] for key in ("seeds", "base", "grid")}, tmp_path / "runs"
    runs = ds.sweep(grid, folder, progress=False, shard_seconds=1e-4)
    file = runs[0].file
    file.write_bytes(flipped(contents := file.read_bytes(), len(contents) - 1))
    with (
        pytest.warns(ds.DamageWarning, match="moved to"),
        pytest.raises(ds.DynascopeError, match="could not be analysed"),
    ):
        ds.sweep(grid | {"analyse": list(DEFAULT_KINDS)}, folder, progress=False)
    assert [row["analysed"] for row in found(ds.load(folder, strict=True))] == WITHOUT * 2


@pytest.mark.parametrize("shared", [False, True])
def test_a_failure_costs_a_parcel_nothing_else(
    tmp_path: Path, failing: Callable[[], Any], shared: bool
) -> None:
    """What a worker of a cluster does, done here."""
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "sweep.json").write_text("{}")
    place = remote_shard.SharedFolder.of(folder) if shared else None
    jobs = tuple(Job(run.config, run.seed) for run in three())
    sent = remote_shard.RemoteShard(jobs, (0, 1, 2), 1, place, Finishing(("circuit",)))
    made = remote_shard.make_remotely(ds.__version__, pickle.dumps(sent))
    if isinstance(made, remote_shard.Staged):
        made.adopt(place)
    else:
        made.write(folder)
    runs = ds.load(folder)
    whole = ds.Runs([three()[0], three()[2]]).analyse("circuit", progress=False).to_pylist()
    assert [row["analysed"] for row in found(runs)] == [["circuit"], None, ["circuit"]]
    assert found(runs, [*whole[0]])[::2] == whole


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        ("circut", "kinds: expected kept_sum, circuit, .* or all, but got 'circut'; did you mean"),
        (["phases", 3], "kinds: expected kept_sum, circuit, .* or all, but got 3"),
        (3, "kinds: expected kept_sum, circuit, .* or all, or a list of them, but got 3"),
    ],
)
def test_bad_kinds(kinds: Any, text: str) -> None:
    with pytest.raises(ds.DynascopeError, match=text):
        three().analyse(kinds, progress=False)
