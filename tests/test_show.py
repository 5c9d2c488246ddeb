"""The server as the client meets it: bytes are Python's, and what is wrong is one sentence."""

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analysed import train
from showing import ENVIRONMENT, FILES, Answer, Server, show, tiny_client, until

import dynascope as ds
from dynascope.analysis.rows import plain
from dynascope.cli import main
from dynascope.sandbox import client

RUNS = {
    "plain": ({}, {}),
    "float64": ({"precision": "float64", "model.bias": False, "model.dim": 3}, {}),
    "sparse": ({"record.weights_every": 7, "record.state_every": 0, "record.unseen": True}, {}),
    "ends": ({"record.weights_every": 0, "task.vocab": 3, "task.relevant": [1, 4]}, {}),
    "diverged": ({"training.lr": 1e30, "training.optimizer": "sgd", "model.norm": "none"}, {}),
    "data": ({"training.batch": 1}, {"data": ds.Data(train=([[0, 1, 0, 1, 1]], [1]))}),
}


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_client(tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of every kind, analysed, tagged; one was tuned from another."""
    folder = tmp_path_factory.mktemp("show") / "every kind"
    for i, (changes, more) in enumerate(RUNS.values()):
        train(changes, seeds=[i], **more).save(folder, append=i > 0)
    start = ds.load(folder)[0].parameters()
    train(seeds=[9], start=start).save(folder, append=True)
    runs = ds.load(folder)
    runs[:4].analyse(progress=False)
    runs[:2].tag("good")
    runs[:1].note('<script>alert("1")</script> & more')
    return folder


@pytest.fixture(scope="module")
def server(store: Path, static: Path) -> Iterator[Server]:
    with show(static, store, "--no-open") as running:
        yield running
        assert running.stop() == (0, "")


@pytest.fixture(scope="module")
def runs(store: Path) -> ds.Runs:
    return ds.load(store)


def floats(answer: Answer, like: "np.typing.NDArray[Any]") -> "np.typing.NDArray[Any]":
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/octet-stream"
    return np.frombuffer(answer.body, like.dtype).reshape(like.shape)


# ---- getting in ---------------------------------------------------------------------------------


def test_the_address_lets_in_and_leaves_no_token(server: Server) -> None:
    first = server.enter()
    assert (first.status, first.headers["location"], first.body) == (303, "/", b"")
    name, *flags = first.headers["set-cookie"].split("; ")
    assert name.startswith(f"dynascope-{server.port}=")
    assert sorted(flags) == ["HttpOnly", "Path=/", "SameSite=Strict"]
    assert server.token not in name
    assert server.get("/").body == FILES["index.html"]


@pytest.mark.parametrize(
    ("path", "media"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/kernel.wasm", "application/wasm"),
        ("/style.css", "text/css; charset=utf-8"),
        ("/in.css", "text/css; charset=utf-8"),  # a link that stays within
        ("/icon.svg", "image/svg+xml"),
        ("/theme.json", "application/json"),
        ("/assets/index-B1c2D3e4.js", "text/javascript; charset=utf-8"),
    ],
)
def test_files_have_their_types_and_are_not_sent_twice(
    server: Server, path: str, media: str
) -> None:
    answer = server.get(path)
    assert (answer.status, answer.headers["content-type"]) == (200, media)
    assert answer.body == FILES.get(path[1:] or "index.html", FILES["style.css"])
    lasting = "immutable" in answer.headers["cache-control"]
    assert lasting == path.startswith("/assets/index-")
    again = server.get(path, If_None_Match=answer.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_every_answer_keeps_the_browser_from_mischief(server: Server) -> None:
    for path in ("/", "/nothing", "/api/store", "/api/nothing", "/assets/../x"):
        headers = server.get(path).headers
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == "'self' 'wasm-unsafe-eval'"
        assert not any("unsafe-inline" in each or "http" in each for each in policy.values())
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in headers


# ---- the table ----------------------------------------------------------------------------------


def test_the_store_tells_what_it_has(server: Server, store: Path, runs: ds.Runs) -> None:
    told = server.get("/api/store").json
    assert (told["api"], told["dynascope"], told["name"]) == (1, ds.__version__, store.name)
    assert (told["runs"], told["damage"]) == (len(runs), [])
    assert told["shown"] == {"run": None, "epoch": None}
    kinds = {"id": "string", "seed": "int64", "lr": "double", "tags": "list<string>"}
    assert kinds.items() <= told["columns"].items()


def test_the_table_is_that_of_python(server: Server, runs: ds.Runs) -> None:
    told = server.get("/api/runs").json
    assert (told["count"], told["left_out"]) == (len(runs), 0)
    names = [*told["columns"], *told["same"]]
    assert {"id", "accuracy", "verdict", "spikes", "lead", "tags"} <= {*told["columns"]}
    assert {"optimizer", "precision", "vocab"}.isdisjoint(told["same"])  # these vary
    assert told["same"]["length"] == 5
    expected = [plain(row) for row in runs.table(names).to_pylist()]
    found = [
        {n: told["columns"][n][i] if n in told["columns"] else told["same"][n] for n in names}
        for i in range(told["count"])
    ]
    assert found == expected
    assert found[0]["note"] == '<script>alert("1")</script> & more'


def test_sparklines_are_accuracies(server: Server, runs: ds.Runs) -> None:
    state = server.get("/api/runs").json["state"]
    answer = server.get(f"/api/runs/sparklines?state={state}")
    lines = np.frombuffer(answer.body, np.uint8).reshape(len(runs), 32)
    for line, run in zip(lines, runs, strict=True):
        curve = run.curves.get("test_accuracy", run.curves["train_accuracy"])
        for k in range(32):
            value = curve[round(k * run.epochs / 31)]
            assert line[k] == (255 if np.isnan(value) else round(254 * float(value)))
    assert server.get("/api/runs/sparklines?state=0123456789abcdef").status == 409


def test_json_is_compressed_for_those_who_take_it(server: Server) -> None:
    whole = server.get("/api/runs")
    assert "content-encoding" not in whole.headers
    for taken in ("gzip", "br, gzip;q=0.5", "GZIP"):
        small = server.get("/api/runs", Accept_Encoding=taken)
        assert small.headers["content-encoding"] == "gzip"
        assert gzip.decompress(small.body) == whole.body
    refused = server.get("/api/runs", Accept_Encoding="gzip;q=0, br")
    assert "content-encoding" not in refused.headers
    assert server.get("/api/runs", If_None_Match=whole.headers["etag"]).status == 304


# ---- one run ------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(len(RUNS) + 1), ids=[*RUNS, "tuned"])
def test_a_run_is_that_of_python(server: Server, runs: ds.Runs, number: int) -> None:
    run, of = runs[number], f"/api/run/{runs[number].id}"
    told = server.get(of).json
    assert ds.Config.from_dict(told["config"]) == run.config
    assert {n: tuple(s) for n, s in told["shapes"].items()} == run.config.shapes
    assert (told["id"], told["seed"], told["epochs"]) == (run.id, run.seed, run.epochs)
    assert (told["diverged"], told["size"]) == (run.diverged, run.weights.shape[1])
    assert told["positions"] == list(run.config.task.positions)
    assert told["weight_epochs"] == run.weight_epochs.tolist()
    assert told["state_epochs"] == run.state_epochs.tolist()
    assert told["curves"] == list(run.curves)
    assert told["origin"] == (None if run.origin is None else vars(run.origin))
    assert told["summary"].items() <= plain(run.summary()).items()
    assert (told["tags"], told["notes"]) == (["good"] if number < 2 else [], [])
    assert told["found"] == plain(runs[number : number + 1].table([*told["found"]]).to_pylist()[0])
    assert (told["found"]["analysed"] is not None) == (number < 4)

    curves = np.stack(list(run.curves.values()))
    assert floats(server.get(f"{of}/curves"), curves).tobytes() == curves.tobytes()
    assert server.get(f"{of}/weights").body == run.weights.tobytes()
    for epoch, state in zip(run.state_epochs, run.states, strict=True):
        assert server.get(f"{of}/state/{epoch}").body == state.tobytes()
    for split in ("train", "test"):
        tokens, targets = run.examples(split)
        assert told["sets"][split] == len(targets)
        found = np.frombuffer(server.get(f"{of}/examples?split={split}").body, np.int32)
        assert np.array_equal(found, np.concatenate([tokens.ravel(), targets]))


N = 42 * 31 * 4  # bytes of the first run's trajectory
RANGES = [
    ("bytes=0-9", slice(0, 10)),
    ("bytes=10-10", slice(10, 11)),
    (f"bytes={N - 10}-", slice(-10, None)),
    (f"bytes={N - 10}-{N + 9000}", slice(-10, None)),
    ("bytes=-7", slice(-7, None)),
    (f"bytes=-{N + 1}", slice(0, None)),
    (f"bytes=0-{N - 1}", slice(0, None)),
    (f"bytes={42 * 4 * 3 + 5}-{42 * 4 * 8 + 1}", slice(42 * 4 * 3 + 5, 42 * 4 * 8 + 2)),
]
NO_RANGES = [
    *(f"bytes={N}-", f"bytes={N}-{N + 1}", "bytes=5-2", "bytes=-0", "bytes=-", "bytes="),
    *("bytes=a-b", "bytes=0-1,4-5", "bytes=0-99999999999999999999", "bytes=1 - 2", "bytes=--5"),
    *("lines=0-1", "bytes=0x1-0x2", "bytes=\u00b2-\u00b3", "0-1"),
]


@pytest.mark.parametrize(("asked", "part"), RANGES)
def test_ranges(server: Server, runs: ds.Runs, asked: str, part: slice) -> None:
    whole = runs[0].weights.tobytes()
    assert len(whole) == N
    answer = server.get(f"/api/run/{runs[0].id}/weights", Range=asked)
    assert (answer.status, answer.body) == (206, whole[part])
    first = range(N)[part][0]
    said = f"bytes {first}-{first + len(answer.body) - 1}/{N}"
    assert answer.headers["content-range"] == said
    assert answer.headers["content-length"] == str(len(answer.body))


@pytest.mark.parametrize("asked", NO_RANGES)
def test_ranges_that_are_none(server: Server, runs: ds.Runs, asked: str) -> None:
    answer = server.get(f"/api/run/{runs[0].id}/weights", Range=asked)
    assert (answer.status, answer.headers["content-range"]) == (416, f"bytes */{N}")
    assert "Expected one range" in answer.json["error"]


def test_a_range_holds_for_the_bytes_it_was_asked_of(server: Server, runs: ds.Runs) -> None:
    path = f"/api/run/{runs[0].id}/weights"
    whole = server.get(path)
    etag = whole.headers["etag"]
    assert server.get(path, Range="bytes=0-1", If_Range=etag).status == 206
    assert server.get(path, Range="bytes=0-1", If_Range='"other"').body == whole.body
    assert server.get(path, If_None_Match=f'"x", {etag}').status == 304
    head = server.get(path, method="HEAD")
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(N))
    others = {server.get(f"/api/run/{run.id}/weights").headers["etag"] for run in runs}
    assert len(others) == len(runs)


def test_a_trajectory_of_many_pieces_is_whole(static: Path, tmp_path: Path) -> None:
    (run,) = train({"model.hidden": 200, "training.epochs": 900, "training.batch": 32}, seeds=[0])
    ds.Runs([run]).save(tmp_path / "store")
    assert run.weights.nbytes > 3 * 2**20
    with show(static, tmp_path / "store", "--no-open") as server:
        path = f"/api/run/{run.id}/weights"
        assert server.get(path).body == run.weights.tobytes()
        some = server.get(path, Range=f"bytes=1000001-{run.weights.nbytes - 2}")
        assert some.body == run.weights.tobytes()[1000001:-1]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/api/run/{other}", 404, "The store has no run"),
        ("/api/run/{id}/state/1", 404, "keeps no state after epoch 1."),
        ("/api/run/{id}/state/-1", 404, "Expected an epoch"),
        ("/api/run/{id}/state/1e3", 404, "Expected an epoch"),
        ("/api/run/{id}/examples", 400, "Expected split=train or split=test."),
        ("/api/run/{id}/examples?split=all", 400, "split=train|test"),
        ("/api/run/{id}/examples?split=train&split=test", 400, "each once"),
        ("/api/run/{id}/weights?epoch=3", 400, "no parameters but none"),
        ("/api/run/{id}/analysis?curvature=yes", 400, "curvature=0|1"),
        ("/api/run/{id}/nothing", 404, "nothing at this address"),
        ("/api/run/ABC", 404, "20 hexadecimal digits"),
        ("/api/runs/", 404, "nothing at this address"),
    ],
)
def test_what_is_not_there(
    server: Server, runs: ds.Runs, path: str, status: int, words: str
) -> None:
    answer = server.get(path.format(id=runs[0].id, other="0" * 20))
    assert answer.status == status
    assert answer.headers["content-type"] == "application/json"
    assert [*answer.json] == ["error"]
    assert words in answer.json["error"]


# ---- analyses -----------------------------------------------------------------------------------


def test_analyses_are_those_of_python(server: Server, runs: ds.Runs) -> None:
    run = runs[0]
    told = server.get(f"/api/run/{run.id}/analysis").json
    circuit = ds.analysis.circuit(run.parameters(), run.config)
    assert told["circuit"] == json.loads(json.dumps(plain(circuit)))
    phases = ds.analysis.phases(run)
    assert told["phases"] == plain(phases) | {"told": phases.describe()}
    spikes = ds.analysis.spikes(run)
    assert [each["told"] for each in told["spikes"]["spikes"]] == [
        each.describe() for each in spikes.spikes
    ]
    assert told["notes"] == {}
    shares = told["shares"]
    assert shares["epochs"] == run.weight_epochs.tolist()
    ends = ds.analysis.circuits(run, [0, 30])
    for name in ("between", "permutation", "suffix"):
        assert [shares[name][0], shares[name][-1]] == [getattr(c.embedding, name) for c in ends]
    assert "curvature" not in told


def test_what_cannot_be_analysed_has_a_note(server: Server, runs: ds.Runs) -> None:
    ends, diverged, data = (server.get(f"/api/run/{runs[i].id}/analysis").json for i in (3, 4, 5))
    assert (ends["phases"], ends["shares"]) == (None, None)
    assert "record.weights_every is 0" in ends["notes"]["phases"]
    assert ends["circuit"]["verdict"]["name"] == "unsolved"
    assert diverged["notes"]["circuit"].startswith("diverged at epoch 1: analysed up to")
    assert data["circuit"] is None
    assert "data of its own" in data["notes"]["circuit"]


def test_curvature_comes_when_it_is_asked_for(server: Server, runs: ds.Runs) -> None:
    run = runs[0]
    told = server.get(f"/api/run/{run.id}/analysis?curvature=1").json
    assert told["circuit"] == server.get(f"/api/run/{run.id}/analysis").json["circuit"]
    assert [each["epoch"] for each in told["curvature"]] == [0, 4, 8, 11, 15, 19, 22, 26, 30]
    last = ds.theory.curvature(run, progress=False)
    assert told["curvature"][-1]["sharpness"] == last.sharpness
    assert told["curvature"][-1]["spectrum"]["eigenvalues"] == last.spectrum.eigenvalues.tolist()
    assert {*told["curvature"][-1]["spectrum"]}.isdisjoint({"top", "bottom"})
    plateaus = ds.theory.saddles(run, progress=False)
    assert [each["verdict"] for each in told["plateaus"]] == [each.verdict for each in plateaus]


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
        assert "expected as written, but it is not as long" in told["notes"][0]
        for part in ("weights", "state/0", "analysis"):
            answer = server.get(f"{path}/{part}")
            assert (answer.status, "not as long" in answer.json["error"]) == (422, True)
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
        assert "expected a folder of runs, but it is no folder." in answer.json["error"]
        (tmp_path / "away").rename(tmp_path / "store")
        assert server.get("/api/runs").json["count"] == 1


# ---- the command --------------------------------------------------------------------------------


def test_a_named_run_is_where_the_client_begins(store: Path, static: Path, runs: ds.Runs) -> None:
    with show(static, f"{store}#seed=0@7", "--no-open") as server:
        assert server.fragment == f"#v=1&run={runs[0].id}&t=7"
        shown = server.get("/api/store").json["shown"]
        assert shown == {"run": runs[0].id, "epoch": 7}
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
    assert "warning: other machines reach 0.0.0.0" in stderr


def test_ctrl_c_does_not_wait_for_what_nobody_waits_for(store: Path, static: Path) -> None:
    change = (
        "from dynascope.sandbox import analyses; import time; analyses.time = time\n"
        "analyses.analysis.__code__ = (lambda run, check: time.sleep(60)).__code__"
    )
    with show(static, store, "--no-open", change=change) as server:
        run = server.get("/api/runs").json["columns"]["id"][0]
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(server.head(f"GET /api/run/{run}/analysis HTTP/1.1"))
            assert server.get("/api/store").status == 200
            assert server.stop() == (0, "")


def test_sigterm_ends_it(store: Path, static: Path) -> None:
    with show(static, store, "--no-open") as server:
        assert server.stop(signal.SIGTERM) == (-signal.SIGTERM, "")


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


REFUSED = [
    ("nowhere", "nowhere: expected a folder of runs, but it is no folder."),
    ("empty", "empty: expected a folder of runs, but it is another folder."),
    ("file", "file: expected a folder of runs, but it is a file."),
    ("none", "none: expected runs to show, but the folder holds none; train or sweep some first"),
    ("store#seed=77", "store#seed=77: expected a run of the folder, but there is none"),
    ("store#seed=0@31", "an epoch from 0 to 30, but got 31"),
    ("store@3", "expected one run, but this names 7 runs"),
    ("store --port many", "--port: expected a whole number from 0 to 65535"),
    ("store --port 65536", "--port: expected a whole number from 0 to 65535"),
    ("store --port -1", "--port: expected a whole number from 0 to 65535"),
    ("store --host no.such.host.invalid", "--host: expected a name or address of this machine"),
    ("store --host 192.0.2.1", "--host: expected a name or address of this machine"),
    (f"store --host {'x' * 300}", "--host: expected a name or address of this machine"),
    ("store --host=", "--host: expected a name or address of this machine"),
    ("store --prot 3", "--prot: unknown option; did you mean '--port'?"),
    ("", "the following arguments are required: FOLDER"),
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
