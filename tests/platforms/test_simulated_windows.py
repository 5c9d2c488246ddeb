"""The package at work in a process that has nothing but what Windows has."""

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from processes import environment

import dynascope as ds

SMALL = {"task.train_size": 64, "task.test_size": 32, "training.epochs": 6, "model.hidden": 8}
START = """
import contextlib, io, json, os, signal, subprocess, sys, time, warnings
from pathlib import Path
warnings.simplefilter("error")
import simulated_windows
ds = simulated_windows.begin()
from dynascope.platforms import system
assert system.__name__ == "dynascope.platforms.windows"
here = Path(sys.argv[1])
config = ds.Config().replace(json.loads(sys.argv[2]))
def command(*words):
    from dynascope.cli import main
    said = io.StringIO()
    streams = contextlib.redirect_stdout(said), contextlib.redirect_stderr(said)
    with streams[0], streams[1], warnings.catch_warnings():
        warnings.simplefilter("default")  # printed, as on the command line
        code = main([str(word) for word in words])
    return code, said.getvalue()
"""


def told(code: str, here: Path) -> Any:
    """What a process of the other system prints last, from JSON."""
    support = str(Path(__file__).parents[1] / "support")
    variables = environment(OPENBLAS_NUM_THREADS="1")
    variables["PYTHONPATH"] += f":{support}"
    done = subprocess.run(
        [sys.executable, "-c", START + dedent(code), str(here), json.dumps(SMALL)],
        env=variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store `posix` of seeds 0 and 1 that this system made."""
    folder = tmp_path_factory.mktemp("windows")
    trained().save(folder / "posix")
    return folder


def trained() -> ds.Runs:
    return ds.train(ds.Config().replace(SMALL), seeds=2, progress=False)


def test_every_module_can_be_imported(tmp_path: Path) -> None:
    names = told(
        """
        print(json.dumps(simulated_windows.import_all()))
        """,
        tmp_path,
    )
    assert {"dynascope.platforms.windows", "dynascope.sandbox.headless"} <= set(names)
    assert "dynascope.platforms.posix" not in names
    assert len(names) > 300


def test_a_store_from_training_to_deleting(here: Path) -> None:
    found = told(
        """
        (here / "windows").mkdir()  # an empty folder may be there
        runs = ds.train(config, seeds=2, progress=False)
        runs.save(here / "windows")
        stored = ds.load(here / "windows", strict=True)
        stored[:1].tag("good")
        stored.analyse(progress=False)
        ds.train(config, seeds=[7, 8], progress=False).save(here / "windows", append=True)
        ds.load(here / "windows")[3:].delete()
        again = ds.load(here / "windows", strict=True)
        query = command("query", here / "windows", "SELECT count(*) FROM runs")
        report, check = command("report", here / "windows"), command("check", here / "windows")
        tags = [run.tags for run in again]
        others = [run.parameters().flat.tolist() for run in ds.load(here / "posix", strict=True)]
        print(json.dumps([again.seeds, tags, query, report, check, others]))
        """,
        here,
    )
    seeds, tags, *commands, others = found
    assert seeds == [0, 1, 7]
    assert tags == [["good"], [], []]
    assert [code for code, _ in commands] == [0, 0, 0], commands
    assert "3" in commands[0][1]
    mine, theirs = trained(), ds.load(here / "windows", strict=True)
    assert theirs.seeds == [0, 1, 7]
    assert others == [run.parameters().flat.tolist() for run in mine]
    for one, other in zip(mine, theirs, strict=False):
        assert one.id == other.id
        assert np.array_equal(one.weights, other.weights)


def test_the_same_files_as_elsewhere(tmp_path: Path) -> None:
    told('ds.train(config, seeds=2, progress=False).save(here / "store"); print(0)', tmp_path)
    trained().save(tmp_path / "mine")
    files = [
        {f.relative_to(tmp_path / n) for f in (tmp_path / n).rglob("*.safetensors")}
        for n in ("store", "mine")
    ]
    assert files[0] == files[1]
    for name in files[0]:
        assert (tmp_path / "store" / name).read_bytes() == (tmp_path / "mine" / name).read_bytes()


def test_a_sweep_is_locked_and_resumed(here: Path) -> None:
    (here / "grid.toml").write_text(
        "seeds = 2\n[base]\n" + "".join(f'"{name}" = {value}\n' for name, value in SMALL.items())
    )
    found = told(
        """
        from dynascope.store.lock import holder, locked
        swept = [command("sweep", here / "grid.toml", "--out", here / "sweep", "--quiet")]
        with locked(here / "sweep"):
            said = holder(here / "sweep")
            swept.append(command("sweep", here / "grid.toml", "--out", here / "sweep"))
        free = holder(here / "sweep")
        (here / "sweep" / "runs").rename(here / "gone")
        swept.append(command("sweep", here / "grid.toml", "--out", here / "sweep", "--quiet"))
        print(json.dumps([swept, said, os.getpid(), free]))
        """,
        here,
    )
    swept, said, process, free = found
    assert [code for code, _ in swept] == [0, 2, 0], swept
    assert "is sweeping into it" in swept[1][1]
    assert said.startswith(f"process {process} on ")
    assert free is None
    assert len(ds.load(here / "sweep", strict=True)) == 2


def test_training_goes_on_in_its_folder(here: Path) -> None:
    found = told(
        """
        words = ["train", "--out", here / "trained", "--quiet"]
        for name, value in json.loads(sys.argv[2]).items():
            words += ["--set", f"{name}={value}"]
        print(json.dumps([command(*words, "--seeds", 1), command(*words, "--seeds", 3)]))
        """,
        here,
    )
    assert [code for code, _ in found] == [0, 0], found
    assert ds.load(here / "trained", strict=True).seeds == [0, 1, 2]


def test_links_are_refused(here: Path) -> None:
    found = told(
        """
        store = here / "linked"
        ds.train(config, seeds=1, progress=False).save(store)
        (store / "marks").symlink_to(here)
        tag = command("tag", store, "good", "--all")
        (store / "trajectories").rename(here / "elsewhere")
        (store / "trajectories").symlink_to(here / "elsewhere")
        print(json.dumps([tag, command("check", store)]))
        """,
        here,
    )
    for code, said in found:
        assert code in (1, 2)
        assert "links inside a store are not followed" in said


def test_the_machine_and_its_signals(tmp_path: Path) -> None:
    """SIGBREAK is what Windows makes of a closed terminal."""
    found = told(
        """
        from dynascope import memory
        from dynascope.cli.interrupt import CtrlC
        from dynascope.store.sql_connection import memory_limit
        stopped = False
        with CtrlC() as ends:
            os.kill(os.getpid(), signal.SIGBREAK)
            try:
                ends.check()
            except KeyboardInterrupt:
                stopped = True
        print(json.dumps([system.unused_memory(), memory_limit(), system.address_space_limit(),
                          stopped, system.usable_cores(), memory.available_memory()]))
        """,
        tmp_path,
    )
    assert found[:4] == [2**32, 2**32, None, True]
    assert min(found[4:]) >= 1


def test_a_program_is_spoken_to_and_ended(tmp_path: Path) -> None:
    (tmp_path / "echo").write_text(
        f"#!{sys.executable}\n"
        "import os, sys\n"
        "told = next(w for w in sys.argv if w.startswith('--remote-debugging-io-pipes='))\n"
        "read, write = map(int, told.partition('=')[2].split(','))\n"
        "print('words of mine', file=sys.stderr, flush=True)\n"
        "while (some := os.read(read, 100)) != b'end': os.write(write, some.upper())\n"
    )
    (tmp_path / "echo").chmod(0o755)
    found = told(
        """
        program = system.piped_program()
        program.end()  # before it was started
        program.start(str(here / "echo"), [], str(here))
        program.send(b"hello")
        answers = [program.receive(20).decode(), program.receive(0.1)]
        program.send(b"end")
        answers.append(program.receive(20).decode())
        try:
            for _ in range(100):
                program.send(b"more")
                time.sleep(0.05)
        except BrokenPipeError:
            answers.append("broken")
        program.end()
        program.end()
        second = system.piped_program()  # ended while it waits for us
        (here / "second").mkdir()
        second.start(str(here / "echo"), [], str(here / "second"))
        second.end()
        print(json.dumps(answers))
        """,
        tmp_path,
    )
    assert found == ["HELLO", None, "", "broken"]
    assert "words of mine" in (tmp_path / "words").read_text()
