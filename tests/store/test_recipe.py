"""Runs that the sandbox saved: a file with what they began with and what was changed, trained again
when it is opened; and files that are none, of which nothing is trained."""

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import COMMAND, environment
from recipes import SMALL, packed, recipe, recipe_bytes
from showing import until

import dynascope as ds
from dynascope.progress import Status
from dynascope.store import recipe as recipes
from dynascope.store import recipe_plan
from dynascope.store.recipe import read_recipe, remove_staged, staged
from dynascope.store.recipe_plan import LARGEST, parse_recipe

NAME = "it.dynascope.json"


def written(folder: Path, **parts: Any) -> Path:
    file = folder / NAME
    file.write_bytes(recipe_bytes(**parts))
    return file


def branch() -> tuple[ds.Trainer, list[dict[str, Any]]]:
    """A run with changes of both kinds, one of them in the middle of an epoch."""
    trainer = ds.Trainer(SMALL, seed=3)
    trainer.advance(3)
    trainer.change({"training.optimizer": "sgd", "training.batch": 8})
    trainer.advance(2)
    trainer.advance_steps(3)
    weights = trainer.parameters
    weights.query[:] += 1
    step = trainer.step
    trainer.parameters = weights
    trainer.advance(3)
    changes = [
        {"epoch": 3, "step": 12, "options": {"training.optimizer": "sgd", "training.batch": 8}},
        {"epoch": 5, "step": step, "weights": packed(weights)},
    ]
    return trainer, changes


def test_it_is_the_run_of_a_trainer(tmp_path: Path) -> None:
    trainer, changes = branch()
    run = read_recipe(written(tmp_path, changes=changes))
    assert run.id == trainer.run.id
    assert np.array_equal(run.table, trainer.run.table, equal_nan=True)
    assert np.array_equal(run.weights, trainer.run.weights)
    assert np.array_equal(run.states, trainer.run.states)


def test_it_may_begin_with_weights_of_its_own(tmp_path: Path) -> None:
    start = ds.initial_parameters(SMALL, 9)
    trainer = ds.Trainer(SMALL, seed=3, start=start)
    trainer.advance(8)
    run = read_recipe(written(tmp_path, start=packed(start)))
    assert run.id == trainer.run.id
    assert np.array_equal(run.weights, trainer.run.weights)


@pytest.mark.parametrize(
    "options",
    [
        {"record.steps": (2, 5), "record.state_every": 3},
        {"training.lr": 1e30, "training.optimizer": "sgd"},  # it diverges
        {"training.schedule": "cosine", "precision": "float64"},
    ],
)
def test_it_is_the_run_of_a_seed(options: dict[str, Any]) -> None:
    config = SMALL.replace(options)
    again = parse_recipe(recipe_bytes(config=config.to_dict())).train()
    run = ds.train(config, seeds=[3], progress=False)[0]
    assert (again.id, again.diverged) == (run.id, run.diverged)
    for name in ("table", "weights", "weight_epochs", "states", "state_epochs"):
        assert np.array_equal(getattr(again, name), getattr(run, name), equal_nan=True), name


# ---- what is refused -----------------------------------------------------------------------------

WEIGHTS = packed(ds.initial_parameters(SMALL, 0))
NANS, INFINITE = (
    base64.b64encode(np.full(196, value, "<f4").tobytes()).decode() for value in (np.nan, -np.inf)
)


def change(**parts: Any) -> dict[str, Any]:
    """A recipe of which the second change is wrong: the first would have been trained to."""
    first = {"epoch": 1, "step": 4, "options": {"training.lr": 0.01}}
    return {"changes": [first, {"epoch": 3, "step": 12, **parts}]}


def config(**options: Any) -> dict[str, Any]:
    return {
        "config": SMALL.replace({k.replace("__", "."): v for k, v in options.items()}).to_dict()
    }


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "another thing": ({"recipe": None}, "recipe is not a whole number"),
    "later": ({"recipe": 2}, "saved by a later version"),
    "no config": ({"config": []}, "config is not a table"),
    "odd options": ({"config": {"training": {"lr": -1}}}, "training.lr: expected"),
    "no option": ({"config": {"training": {"lrr": 1}}}, "unknown option"),
    "a word for a number": ({"config": {"training": {"lr": "1"}}}, "training.lr: expected"),
    "a word for a seed": ({"seed": "3"}, "seed is not"),
    "truth for a number": ({"epochs": True}, "epochs is not"),
    "a fraction": ({"epochs": 2.5}, "epochs is not"),
    "seed": ({"seed": -1}, "seed is not"),
    "epochs": ({"epochs": 10**9}, "epochs is not"),
    "data of its own": ({"data": "5f"}, "data: unknown field"),
    "tables in tables": ({"config": {"a": [[[[[[[[[]]]]]]]]]}}, "nested too deeply"),
    # ---- changes
    "a change before another": (change(epoch=0, step=0), "epoch: expected a whole number from 1"),
    "a step of another epoch": (change(step=16), "changes: step: expected"),
    "a step that explodes": (change(step=2**60), "changes: step: expected"),
    "an epoch that explodes": (change(epoch=2**60), "changes: epoch: expected"),
    "a change without a place": ({"changes": [{}]}, "changes: epoch: expected"),
    "a change of nothing": (change(), "expected options or weights"),
    "a change of something": (change(weights=WEIGHTS, run="x"), "changes.run: unknown field"),
    "code": (change(weights=WEIGHTS, __class__="os.system"), "changes.__class__: unknown field"),
    "a file": (change(weights="/etc/passwd"), "expected weights of 196"),
    "few weights": (change(weights="AAAA"), "expected weights of 196"),
    "many weights": (change(weights=WEIGHTS + WEIGHTS), "expected weights of 196"),
    "no weights": (change(weights=3), "expected weights of 196"),
    "a list of weights": (change(weights=[0.0] * 196), "expected weights of 196"),
    "odd weights": (change(weights="\u20ac" * 784), "expected weights of 196"),
    "a start of nothing": ({"start": None}, "start: expected weights of 196"),
    "a start of another model": ({"start": "AAAA"}, "start: expected weights of 196"),
    "a start without numbers": ({"start": NANS}, "start: weights.token_embedding: expected finite"),
    "not a number": (change(weights=NANS), "changes: weights.token_embedding: expected finite"),
    "infinity": (change(weights=INFINITE), "expected finite numbers, but got -inf"),
    "options of the model": (change(options={"model.dim": 3}), "expected training options"),
    "an option that is none": (change(options={"training.x": 3}), "unknown option"),
    "an option's value": (change(options={"training.lr": "x"}), "training.lr: expected"),
    "its length": (change(options={"training.epochs": 9}), "other than training.epochs"),
    "no options": (change(options=[]), "changes: options: expected a table"),
    "options within an epoch": (
        change(step=13, options={"training.lr": 0.1}),
        "only change at the end of an epoch",
    ),
    "an end before a change": ({**change(weights=WEIGHTS), "epochs": 2}, "epochs: expected"),
    "an end within an epoch": (
        {**change(step=13, weights=WEIGHTS), "epochs": 3},
        "changed in the middle of epoch 4, which has not ended; train it to its end first",
    ),
    "many changes": ({"changes": [{}] * 1001}, "changes is not a list of at most 1000"),
    # ---- cost
    "many epochs": (
        {**config(task__train_size=4096), "epochs": 10**7},
        "again within 1:00:00, but this one, of 10000000 epochs, would take about ",
    ),
    "much data": (
        {**config(task__train_size=10**6, training__batch=1, model__hidden=512), "epochs": 900},
        "would take about",
    ),
    "a batch on its way": (
        {
            **config(task__train_size=200_000, training__batch=200_000),
            "epochs": 100_000,
            "changes": [{"epoch": 0, "step": 0, "options": {"training.batch": 1}}],
        },
        "would take about",
    ),
    "memory for epochs that are not asked for": (
        config(training__epochs=10**7, model__hidden=1000),
        "memory: 1 run",
    ),
    "steps": (
        config(
            **{"task__train_size": 100_000, "training__batch": 1, "training__epochs": 8},
            **{"record__steps": (0, 8), "model__hidden": 4000},
        ),
        "memory: 1 run|would take about",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_none_is_refused_in_a_sentence_and_nothing_trained(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_training(*_: object, **__: object) -> None:
        raise AssertionError("it is trained")

    monkeypatch.setattr(recipe_plan, "Trainer", no_training)
    parts, why = REFUSED[name]
    file = written(tmp_path, **parts)
    with pytest.raises(ds.DynascopeError, match=why) as caught:
        ds.load(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(file))


def test_states_of_a_large_model_at_many_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = [
        {"epoch": i, "step": 4 * i, "options": {"training.lr": 0.01 + 0.001 * i}} for i in range(8)
    ]
    parse_recipe(recipe_bytes(changes=changes))
    monkeypatch.setattr(recipe_plan, "_MOST_STATES", 5 * 3 * 8 * 196)
    with pytest.raises(ds.DynascopeError, match=r"expected at most 5 of them .*, but got 8"):
        parse_recipe(recipe_bytes(changes=changes))


BYTES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "cannot be read"),
    "zeros": (bytes(100), "cannot be read"),
    "lists in lists": (b"[" * 100_000, "nested too deeply"),
    "tables in tables": (b'{"a":' * 100_000, "nested too deeply"),
    "no fields": (b"{}", "dynascope is missing"),
    "no text": (b"\xff\xfe", "cannot be read"),
    "NaN": (recipe_bytes().replace(b'"seed": 3', b'"seed": NaN'), "has NaN, which is not"),
    "infinity": (recipe_bytes().replace(b'"seed": 3', b'"seed": -Infinity'), "has -Infinity"),
    "too large to be finite": (recipe_bytes().replace(b'"seed": 3', b'"seed": 1e999'), "seed is"),
    "many digits": (recipe_bytes().replace(b'"seed": 3', b'"seed": ' + b"9" * 9999), "cannot be"),
    "a key twice": (recipe_bytes()[:-1] + b', "seed": 4}', "has the key 'seed' twice"),
    "a key twice, of many": (
        b"{" + b"".join(b'"%d":1,' % i for i in range(200_000)) + b'"7":1}',
        "has the key '7' twice",
    ),
}


@pytest.mark.parametrize("name", BYTES)
def test_bytes_that_are_no_recipe(name: str, tmp_path: Path) -> None:
    contents, why = BYTES[name]
    for file in (tmp_path / "x", tmp_path / NAME):
        file.write_bytes(contents)
        began = time.monotonic()
        with pytest.raises(ds.DynascopeError, match="or a run that the sandbox saved") as no:
            ds.load(file)
        assert why in str(no.value)
        assert time.monotonic() - began < 5


def test_an_infinite_option(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_bytes(recipe_bytes(config={"training": {"lr": 7}}).replace(b": 7", b": 1e999"))
    with pytest.raises(ds.DynascopeError, match=r"training\.lr: expected"):
        ds.load(file)


def test_what_is_no_file(tmp_path: Path) -> None:
    file, real = tmp_path / NAME, tmp_path / "real.dynascope.json"

    def refused(why: str) -> None:
        with pytest.raises(ds.DynascopeError, match=why) as caught:
            ds.load(file)
        assert str(caught.value).startswith(f"{file}: ")

    refused("cannot be read .No such file")
    real.write_bytes(recipe_bytes())
    file.symlink_to(real)
    refused("is a link; name the file that it leads to")
    file.unlink()
    file.symlink_to("/dev/zero")
    refused("is a link")
    file.unlink()
    os.mkfifo(file)  # nobody writes to it: whoever waits waits for ever
    refused("expected a file or a folder of runs")
    file.unlink()
    file.mkdir()
    refused("expected a folder of runs, but this folder has none")
    file.rmdir()
    with file.open("wb") as huge:
        huge.truncate(LARGEST + 1)
    refused("it is larger than")
    with pytest.raises(ds.DynascopeError, match="/dev/zero: expected a file or a folder"):
        ds.load("/dev/zero")
    with pytest.raises(ds.DynascopeError, match="but it does not exist"):
        ds.load(tmp_path / "nothing")


# ---- how it is opened ----------------------------------------------------------------------------


def test_it_is_made_once_in_a_folder_of_ones_own(tmp_path: Path) -> None:
    file = written(tmp_path)
    (run,) = ds.load(file)
    assert run.id == ds.train(SMALL, seeds=[3], progress=False)[0].id
    assert run.folder == ds.load(file)[0].folder  # made once
    assert run.folder.name == "it"
    assert run.folder.parent.stat().st_mode & 0o777 == 0o700
    assert ds.load(written(tmp_path, seed=4))[0].seed == 4  # of other contents, another
    remove_staged()
    assert not run.folder.parent.exists()
    assert ds.load(file)[0].seed == 4


def test_names_that_mean_something_else(tmp_path: Path) -> None:
    for name in (".dynascope.json", "...dynascope.json"):
        (tmp_path / name).write_bytes(recipe_bytes())
        assert staged(tmp_path / name).name == "run"


def test_what_cannot_be_kept_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(recipes.tempfile, "tempdir", str(tmp_path / "tmp"))

    def full(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(ds.Runs, "save", full)
    with pytest.raises(OSError, match="no space"):
        ds.load(written(tmp_path))
    assert [*(tmp_path / "tmp").iterdir()] == []


def test_progress_is_told_and_can_end_it(tmp_path: Path) -> None:
    told: list[int] = []
    file = written(tmp_path, changes=branch()[1])
    read_recipe(file, lambda status: told.append(status.finished_epochs))
    assert told[-1] == 8
    assert told == sorted(told)

    def stop(status: Status) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_recipe(file, stop)


COMMANDS: dict[str, tuple[list[str], str]] = {
    "report": (["report", "{file}"], "unsolved"),
    "report of a run": (["report", "{file}#seed=3@4"], "epoch 4"),
    "report as JSON": (["report", "{file}", "--json"], '"runs"'),
    "query": (["query", "{file}", "SELECT seed, last_epoch FROM runs", "--csv"], "3,8"),
    "figure": (["figure", "panels", "{file}#seed=3@4", "-o", "{out}.svg"], ""),
    "export": (["export", "{file}@4", "-o", "{out}.html"], "MB; open it"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_take_it_and_leave_nothing_behind(name: str, tmp_path: Path) -> None:
    words, told = COMMANDS[name]
    done = called(tmp_path, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert told in done.stdout
    assert [*(tmp_path / "tmp").iterdir()] == []


@pytest.mark.parametrize("words", [["tag", "good", "--all"], ["note", "good"], ["delete", "--all"]])
def test_commands_that_would_forget_what_they_did_say_so(words: list[str], tmp_path: Path) -> None:
    done = called(tmp_path, words[0], "{file}", *words[1:])
    assert done.returncode == 2
    assert "a file keeps no tags, notes or deletions; save its run into a folder" in done.stderr
    assert [*(tmp_path / "tmp").iterdir()] == []


def called(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command about a recipe, with a place of its own for temporary files."""
    (folder / "tmp").mkdir()
    places = {"file": written(folder), "out": folder / "out"}
    return subprocess.run(
        [*COMMAND, *(word.format(**places) for word in words)],
        env={**environment(), "TMPDIR": str(folder / "tmp")},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("words", [["show", "--no-open"], ["report"]])
def test_ctrl_c_leaves_nothing_behind(words: list[str], tmp_path: Path) -> None:
    """In the middle of training, and of showing."""
    (tmp_path / "tmp").mkdir()
    long = SMALL.replace({"training.epochs": 10**5, "record.weights_every": 0})
    parts = {"config": long.to_dict(), "epochs": 10**5} if words == ["report"] else {}
    process = subprocess.Popen(
        [*COMMAND, words[0], str(written(tmp_path, **parts)), *words[1:]],
        env={**environment(), "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    if parts:
        time.sleep(3)
    else:
        said = process.stdout.readline()
        assert said.startswith("1 run at http://")
        assert until(lambda: answers(said))
        assert [*(tmp_path / "tmp").iterdir()]
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr) == ((1, "dynascope: stopped.\n") if parts else (0, ""))
    assert [*(tmp_path / "tmp").iterdir()] == []


def answers(address: str) -> bool:
    """Whether a server has begun."""
    port = int(address.partition("127.0.0.1:")[2].partition("/")[0])
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
            return bool(connection.recv(100))
    except OSError:
        return False


def test_a_script_leaves_nothing_behind_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    script = f"import dynascope as ds; ds.load({str(written(tmp_path))!r}); 1 / 0"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**environment(), "TMPDIR": str(tmp_path / "tmp")},
        capture_output=True,
        text=True,
    )
    assert "ZeroDivisionError" in done.stderr
    assert [*(tmp_path / "tmp").iterdir()] == []


def test_the_format_is_written_down() -> None:
    text = (Path(recipes.__file__).parent / "FORMAT.md").read_text()
    part = text[text.index("## Recipes") :]
    for name in (*recipe(), "epoch", "step", "options", "weights"):
        assert f"`{name}`" in part, name
    assert json.loads(part[part.index("    {") : part.index("\n\n- ", part.index("    {"))])
