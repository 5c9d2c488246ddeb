"""`dynascope show` from its start to its end: what it begins with, what changes meanwhile."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from analysed import three, train
from showing import ENVIRONMENT, show, until

import dynascope as ds
from dynascope.cli import main
from dynascope.sandbox import client


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("show") / "three"
    three().save(folder)
    return folder


# ---- a store that changes -----------------------------------------------------------------------


def test_what_is_written_meanwhile_appears(static: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    trained = train(seeds=4)
    trained[:2].save(folder)
    with show(static, folder, "--no-open") as server:
        table = server.get("/api/runs").json
        assert table["columns"]["id"] == [run.id for run in trained[:2]]
        assert table["columns"]["verdict"] == [None, None]
        trained[2:].save(folder, append=True)
        new = f"/api/run/{trained[3].id}"  # at once, also before the table is asked for
        assert server.get(f"{new}/weights").body == trained[3].weights.tobytes()
        assert server.get(f"/api/runs/sparklines?state={table['state']}").status == 409
        loaded = ds.load(folder)
        loaded[1:2].tag("late")
        loaded[2:3].delete()
        loaded[:1].analyse(progress=False)
        table = server.get("/api/runs").json
        assert table["columns"]["id"] == [trained[i].id for i in (0, 1, 3)]
        assert table["columns"]["tags"] == [[], ["late"], []]
        assert [each is not None for each in table["columns"]["verdict"]] == [True, False, False]
        assert len(server.get(f"/api/runs/sparklines?state={table['state']}").body) == 3 * 32
        assert server.get(f"/api/run/{trained[2].id}").status == 404
        assert server.stop() == (0, "")


def test_damage_is_named_and_left_out(static: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    for i, changes in enumerate(({}, {"model.hidden": 5})):
        train(changes, seeds=[i]).save(folder, append=i > 0)
    first, second = ds.load(folder)
    with show(static, folder, "--no-open") as server:
        path = f"/api/run/{first.id}"
        os.truncate(first.file, first.file.stat().st_size - 100)
        told = server.get(path).json
        assert (told["weight_epochs"], told["curves"]) == (None, list(first.curves))
        assert "damaged: its length has changed" in told["notes"][0]
        for part in ("weights", "state/0", "analysis"):
            answer = server.get(f"{path}/{part}")
            assert (answer.status, "its length has changed" in answer.json["error"]) == (422, True)
        assert server.get(f"{path}/curves").status == 200
        assert server.get(f"/api/run/{second.id}/weights").body == second.weights.tobytes()

        for file in (folder / "runs").iterdir():
            if first.file.stem in file.name:
                file.write_bytes(file.read_bytes()[:-1])
        assert server.get("/api/runs").json["columns"]["id"] == [second.id]
        damage = server.get("/api/store").json["damage"]
        assert any("skipped as damaged" in each and ".parquet" in each for each in damage)
        code, stderr = server.stop()
    assert code == 0
    assert "warning: " in stderr
    assert "Traceback" not in stderr


def test_a_store_that_is_away_for_a_while(static: Path, tmp_path: Path) -> None:
    train(seeds=1).save(tmp_path / "store")
    with show(static, tmp_path / "store", "--no-open") as server:
        (tmp_path / "store").rename(tmp_path / "away")
        answer = server.get("/api/runs")
        assert answer.status == 422
        assert (
            "expected a folder of runs, but it does not exist; create one with"
            in answer.json["error"]
        )
        (tmp_path / "away").rename(tmp_path / "store")
        assert server.get("/api/runs").json["count"] == 1


# ---- the command --------------------------------------------------------------------------------


def test_a_named_run_is_where_the_client_begins(store: Path, static: Path) -> None:
    runs = three()
    with show(static, f"{store}#seed=0@7", "--no-open") as server:
        assert server.fragment == f"#v=1&run={runs[0].id}&t=7"
        shown = server.get("/api/store").json["shown"]
        assert shown == {"run": runs[0].id, "epoch": 7, "beside": None}
    with show(static, f"{store}#{runs[2].id[:9]}", "--no-open") as server:
        assert server.fragment == f"#v=1&run={runs[2].id}"


def test_the_browser_is_opened(store: Path, static: Path, tmp_path: Path) -> None:
    browser, told = tmp_path / "browser", tmp_path / "told"
    browser.write_text(f'#!/bin/sh\necho "$1" >> "{told}"\n')
    browser.chmod(0o755)
    with show(static, store, BROWSER=f"{browser} %s") as server:
        assert until(lambda: told.exists() and told.read_text() == f"{server.address}\n")
    with show(static, store, "--no-open", BROWSER=f"{browser} %s"):
        assert len(told.read_text().splitlines()) == 1


def test_other_machines_are_a_warning(store: Path, static: Path) -> None:
    with show(static, store, "--no-open", "--host", "0.0.0.0") as server:
        assert server.origin == f"http://127.0.0.1:{server.port}"
        assert server.get("/", Host=f"192.0.2.7:{server.port}").status == 200
        assert server.get("/", Host=f"{socket.gethostname()}:{server.port}").status == 200
        assert server.get("/", Host=f"evil.example:{server.port}").status == 421
        code, stderr = server.stop()
    assert (code, stderr.count("\n")) == (0, 1)
    assert "warning: other machines can reach 0.0.0.0" in stderr


def test_ctrl_c_does_not_wait_for_what_nobody_waits_for(store: Path, static: Path) -> None:
    change = (
        "from dynascope.sandbox import analysis_answers as answers; import time\n"
        "answers.time = time\n"
        "answers.analysis.__code__ = (lambda run, check: time.sleep(60)).__code__"
    )
    with show(static, store, "--no-open", change=change) as server:
        run = server.get("/api/runs").json["columns"]["id"][0]
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(server.head(f"GET /api/run/{run}/analysis HTTP/1.1"))
            assert server.get("/api/store").status == 200
            assert server.stop() == (0, "")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_other_ends_are_ctrl_c(store: Path, static: Path, how: int) -> None:
    with show(static, store, "--no-open") as server:
        assert server.stop(how) == (0, "")


def test_under_nohup_a_closed_terminal_does_not_matter(store: Path, static: Path) -> None:
    deaf = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    with show(static, store, "--no-open", change=deaf) as server:
        server.process.send_signal(signal.SIGHUP)
        assert server.get("/api/store").status == 200
        assert server.stop() == (0, "")


@pytest.fixture
def work(tmp_path: Path, store: Path, static: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what can be wrong."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(client, "FOLDER", static)
    Path("store").symlink_to(store)
    Path("empty").mkdir()
    Path("none/runs").mkdir(parents=True)
    Path("file").write_text("")
    return tmp_path


MAKES = "create one with `dynascope train --out FOLDER`."
REFUSED = [
    ("nowhere", f"nowhere: expected a folder of runs, but it does not exist; {MAKES}"),
    ("empty", f"empty: expected a folder of runs, but this folder has none; {MAKES}"),
    (
        "file",
        "file: expected a folder of runs or a run that the sandbox saved, but its",
    ),
    ("none", "none: expected runs to show, but the folder holds none; train or sweep some first"),
    ("store#seed=77", "store#seed=77: no such run in the folder"),
    ("store#seed=0@31", "an epoch from 0 to 30, but got 31"),
    ("store@3", "expected one run, but this names 3 runs"),
    ("store --port many", "--port: expected a whole number from 0 to 65535"),
    ("store --port 65536", "--port: expected a whole number from 0 to 65535"),
    ("store --port -1", "--port: expected a whole number from 0 to 65535"),
    ("store --host no.such.host.invalid", "--host: expected a name or address of this machine"),
    ("store --host 192.0.2.1", "--host: expected a name or address of this machine"),
    (f"store --host {'x' * 300}", "--host: expected a name or address of this machine"),
    ("store --host=", "--host: expected a name or address of this machine"),
    ("store --prot 3", "--prot: unknown option; did you mean '--port'?"),
    ("", "FOLDER: missing"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_bad_input(
    work: Path, capsys: pytest.CaptureFixture[str], arguments: str, words: str
) -> None:
    assert main(["show", "--no-open", *arguments.split()]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("dynascope: ")
    assert words in err


def test_a_taken_port(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["show", "--no-open", "store", "--port", str(port)]) == 2
    assert (
        f"--port: expected a free port, but {port} is taken; choose another"
        in capsys.readouterr().err
    )


def test_assets_that_are_not_built(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "FOLDER", work / "empty")
    assert main(["show", "--no-open", "store"]) == 2
    assert capsys.readouterr().err.endswith("are not built; run scripts/build-web.\n")


def test_nobody_else_waits_for_the_server() -> None:
    code = "import sys, dynascope, dynascope.cli.arguments; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert {"starlette", "uvicorn", "dynascope.sandbox"}.isdisjoint(done.stdout.split())
