"""One file with runs: how large it is, what is in it, and what it is not made of."""

import base64
import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analysed import three, train
from archives import unpacked

import dynascope as ds
from dynascope.sandbox import client, one_file
from dynascope.sandbox.run_answers import curves, weights

ARCHIVE = re.compile(r'<script type="text/plain" id="dynascope-archive">([A-Za-z0-9+/=]+)</script>')


def exported(target: Path, runs: Any, **more: Any) -> dict[str, bytes]:
    """The answers in the file."""
    ds.export(runs, target, progress=False, **more)
    found = ARCHIVE.search(target.read_text(encoding="utf-8"))
    assert found
    return unpacked(base64.b64decode(found[1]))


def about(answers: dict[str, bytes], run: ds.Run) -> Any:
    return json.loads(answers[f"/api/run/{run.id}"])


def rows(answers: dict[str, bytes], run: ds.Run, name: str = "weights") -> Any:
    found = np.frombuffer(answers[f"/api/run/{run.id}/{name}"], run.config.precision)
    return found.reshape(-1, run.weights.shape[1])


def test_a_default_run_takes_two_megabytes_at_most(tmp_path: Path) -> None:
    ds.export(ds.train(progress=False)[0], tmp_path / "run.html", progress=False)
    assert (tmp_path / "run.html").stat().st_size <= 2 * 10**6


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_its_record_is_in_the_file_bit_for_bit(tmp_path: Path, precision: str) -> None:
    run = train({"precision": precision}, 1)[0]
    answers = exported(tmp_path / "run.html", run)
    for name, blob in (("curves", curves(run)), ("weights", weights(run))):
        assert answers[f"/api/run/{run.id}/{name}"] == blob.read(0, blob.size)
    assert not [path for path in answers if "replayed" in path or "state/" in path]


def test_a_run_in_memory_and_in_a_store_give_the_same_answers(tmp_path: Path) -> None:
    three().save(tmp_path / "store")
    first = exported(tmp_path / "memory.html", three()[0])
    second = exported(tmp_path / "stored.html", ds.load(tmp_path / "store")[0])
    named = [json.loads(answers.pop("/api/store")) for answers in (first, second)]
    assert [each["name"] for each in named] == ["", "store"]
    assert first == second


def test_epochs_that_were_not_kept_are_computed_again(tmp_path: Path) -> None:
    full, run = train(seeds=1)[0], train({"record.weights_every": 7}, 1)[0]
    answers = exported(tmp_path / "run.html", run)
    assert rows(answers, run).tobytes() == run.weights.tobytes()
    assert rows(answers, run, "replayed").tobytes() == full.weights.tobytes()
    told = about(answers, run)
    assert told["weight_epochs"] == run.weight_epochs.tolist()
    states = {f"/api/run/{run.id}/state/{epoch}" for epoch in told["state_epochs"]}
    assert states == {path for path in answers if "/state/" in path}


@pytest.mark.parametrize("kept", [1, 4])
def test_fewer_epochs_are_kept_if_asked_for(tmp_path: Path, kept: int) -> None:
    full, run = train(seeds=1)[0], train({"record.weights_every": kept}, 1)[0]
    answers = exported(tmp_path / "run.html", run, every=8)
    told = about(answers, run)
    assert told["weight_epochs"] == [0, 8, 16, 24, 30]  # the last one, always
    assert "one epoch in 8." in told["not_replayable"]
    assert rows(answers, run).tobytes() == full.weights[[0, 8, 16, 24, 30]].tobytes()
    assert "replayed" not in str(answers.keys())


def test_imported_runs_have_what_was_kept(tmp_path: Path) -> None:
    from dataclasses import replace

    run = train({"record.weights_every": 10}, 1)[0]
    imported = replace(run, origin=ds.Origin("import", "0" * 20))
    answers = exported(tmp_path / "run.html", imported)
    assert about(answers, imported)["not_replayable"].startswith(f"run {imported.id}: cannot be")
    assert rows(answers, imported).tobytes() == run.weights.tobytes()


def test_weights_that_are_not_the_runs_own_are_never_shown(tmp_path: Path) -> None:
    from dataclasses import replace

    run = train({"record.weights_every": 10}, 1)[0]
    table = run.table.copy()
    table[15] += 1
    answers = exported(tmp_path / "run.html", replace(run, table=table))
    assert "epoch 15 could not be computed again" in about(answers, run)["not_replayable"]
    assert "replayed" not in str(answers.keys())


def test_curvature_is_in_it_if_asked_for(tmp_path: Path) -> None:
    run = train(seeds=1)[0]
    plain, more = (
        json.loads(
            exported(tmp_path / f"{asked}.html", run, curvature=asked)[
                f"/api/run/{run.id}/analysis"
            ]
        )
        for asked in (False, True)
    )
    assert "curvature" not in plain
    assert len(more["curvature"]) == 9
    assert plain.items() <= {**more, "notes": plain["notes"]}.items()


def test_a_large_file_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_file, "LARGE", 300_000)
    with pytest.warns(UserWarning, match=r"run\.html has .* MB, .*every=\d+ keeps"):
        ds.export(three()[0], tmp_path / "run.html", progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.undo()
        ds.export(three()[0], tmp_path / "other.html", progress=False)


def test_progress_reaches_its_end(tmp_path: Path) -> None:
    seen: list[float] = []
    run = train({"record.weights_every": 7}, 1)[0]
    ds.export(run, tmp_path / "run.html", progress=lambda status: seen.append(status.share))
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "nothing": ([], {}, "runs: expected one run, or two to compare, but got none"),
    "three": (three, {}, "but got more than two"),
    "twice": (lambda: [three()[0]] * 2, {}, "twice"),
    "no run": (3, {}, "runs: expected a ds.Run"),
    "no runs": (["a"], {}, "runs: expected a ds.Run"),
    "an epoch": (lambda: three()[0], {"epoch": 99}, "epoch: expected a whole number from 0 to 30"),
    "every": (lambda: three()[0], {"every": 0}, "every: expected a whole number of at least 1"),
    "every text": (lambda: three()[0], {"every": "2"}, "every: expected a whole number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_exported_is_refused(tmp_path: Path, case: str) -> None:
    runs, more, words = REFUSED[case]
    with pytest.raises(ds.DynascopeError, match=re.escape(words)):
        ds.export(runs() if callable(runs) else runs, tmp_path / "run.html", **more)
    assert list(tmp_path.iterdir()) == []


NAMES = {
    "run.txt": "a name that ends with .html or .htm",
    "run": "a name that ends with .html or .htm",
    "folder.html": "the name of a file, but got that of a folder",
    "nowhere/run.html": "cannot be written (there is no such folder)",
    "taken.html/run.html": "cannot be written",
    f"{'long' * 100}.html": "cannot be written (File name too long)",
}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:12])
def test_names_that_no_file_can_have_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "taken.html").write_text("mine")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ds.DynascopeError, match=re.escape(NAMES[name])):
        ds.export(three()[0], tmp_path / name, progress=False)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder.html", "taken.html"]
    assert (tmp_path / "taken.html").read_text() == "mine"


def test_a_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "run.html").write_text("mine")
    assert exported(tmp_path / "run.html", three()[0])


def test_without_the_built_client_it_says_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "FOLDER", tmp_path / "static")
    with pytest.raises(ds.DynascopeError, match=r"it is not built; run scripts/build-web\."):
        ds.export(three()[0], tmp_path / "run.html", progress=False)
    assert list(tmp_path.iterdir()) == []


def test_a_run_whose_weights_are_gone_is_refused(tmp_path: Path) -> None:
    three().save(tmp_path / "store")
    run = ds.load(tmp_path / "store")[0]
    for file in (tmp_path / "store/trajectories").iterdir():
        file.unlink()
    with pytest.raises(ds.DynascopeError, match="trajectories"):
        ds.export(run, tmp_path / "run.html", progress=False)
    assert [each.name for each in tmp_path.iterdir()] == ["store"]


def test_a_stop_leaves_no_file(tmp_path: Path) -> None:
    def stop(status: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ds.export(three()[0], tmp_path / "run.html", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ds.DynascopeError, match=r"the disk is full\); nothing was saved"):
        ds.export(three()[0], tmp_path / "run.html", progress=False)
    assert list(tmp_path.iterdir()) == []
