"""`dynascope show --writable`: what the page trained comes into the folder, whole or not at all,
and only from the page."""

import concurrent.futures
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recipes import SMALL, packed, recipe, recipe_bytes
from showing import Answer, Server, served, show, until
from sweeping import run as command

import dynascope as ds
from dynascope.store.recipe_plan import LARGEST

FIRST = ds.train(SMALL, seeds=[0], progress=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    FIRST.save(tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def writable(folder: Path, static: Path) -> Iterator[Server]:
    with show(static, folder, "--no-open", "--writable") as running:
        yield running
        assert running.stop() == (0, "")


def headers_of(server: Server, **more: str | None) -> dict[str, str]:
    """Those of the page; None leaves one out."""
    told = server.get("/api/store").json
    given = {
        "Cookie": server.cookie,
        "Origin": server.origin,
        "Content-Type": "application/json",
        "X-Dynascope-Write": told.get("write"),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    return {name: value for name, value in given.items() if value is not None}


def post(
    server: Server, body: bytes, path: str = "/api/runs", method: str = "POST", **more: str | None
) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request(method, path, body, headers_of(server, **more))
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, response.read())
    finally:
        connection.close()


def same(a: ds.Run, b: ds.Run) -> bool:
    return (
        a.id == b.id
        and np.array_equal(a.weights, b.weights)
        and np.array_equal(a.table, b.table, equal_nan=True)
    )


# ---- what it does --------------------------------------------------------------------------------


def test_a_run_is_saved_shown_and_saved_once(writable: Server, folder: Path) -> None:
    trainer = ds.Trainer(SMALL, seed=3)
    trainer.advance(4)
    weights = trainer.parameters
    weights.query[:] += 1
    trainer.parameters = weights
    trainer.advance(4)
    changes = [{"epoch": 4, "step": 16, "weights": packed(weights)}]
    body = recipe_bytes(changes=changes)
    told = writable.get("/api/store")
    assert told.json["offers"] == ["table", "curvature", "docs", "save"]
    assert told.headers["cache-control"] == "no-store"
    before = told.json["state"]
    answer = post(writable, body)
    assert (answer.status, answer.json) == (
        200,
        {"id": trainer.run.id, "epochs": 8, "already": False},
    )
    assert same(ds.load(folder, strict=True)[1], trainer.run)
    assert writable.get("/api/store").json["state"] != before
    assert trainer.run.id in writable.get("/api/runs").json["columns"]["id"]
    told_of = writable.get(f"/api/run/{trainer.run.id}/analysis").json
    assert told_of["circuit"]
    files = sorted(folder.rglob("*"))
    assert post(writable, body).json == {"id": trainer.run.id, "epochs": 8, "already": True}
    assert sorted(folder.rglob("*")) == files


def test_a_run_that_went_on_replaces_its_beginning(writable: Server, folder: Path) -> None:
    part, whole = post(writable, recipe_bytes(epochs=5)), post(writable, recipe_bytes())
    assert part.json["id"] == whole.json["id"]
    assert (part.json["epochs"], whole.json["epochs"]) == (5, 8)
    assert post(writable, recipe_bytes(epochs=5)).json["epochs"] == 8  # it has that, and more
    assert [run.epochs for run in ds.load(folder, strict=True)] == [8, 8]


def test_many_at_once(writable: Server, folder: Path) -> None:
    bodies = [recipe_bytes(seed=seed) for seed in (1, 2, 3, 1, 2, 3, 1)]
    with concurrent.futures.ThreadPoolExecutor(len(bodies)) as pool:
        answers = [*pool.map(lambda body: post(writable, body), bodies)]
    assert {answer.status for answer in answers} == {200}
    runs = ds.load(folder, strict=True)
    assert sorted(runs.seeds) == [0, 1, 2, 3]
    for run, other in zip(runs, ds.train(SMALL, seeds=runs.seeds, progress=False), strict=True):
        assert same(run, other)
    assert command("check", folder).returncode == 0


def test_a_run_that_was_deleted(writable: Server, folder: Path) -> None:
    name = post(writable, recipe_bytes()).json["id"]
    ds.load(folder).where(f"id = '{name}'").delete()
    answer = post(writable, recipe_bytes())
    assert answer.status == 409
    assert answer.json["error"] == (
        f"Run {name} was deleted from this folder; `dynascope restore` brings it back."
    )


# ---- who may, and what ---------------------------------------------------------------------------


def test_without_it_nothing_can_be_written(folder: Path, static: Path) -> None:
    with show(static, folder, "--no-open") as server:
        told = server.get("/api/store").json
        assert "write" not in told
        assert "save" not in told["offers"]
        for body in (b"", recipe_bytes()):
            answer = post(server, body, X_Dynascope_Write="x")
            assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    assert len(ds.load(folder)) == 1


STRANGERS: dict[str, tuple[int, dict[str, Any]]] = {
    "no origin": (403, {"Origin": None}),
    "another origin": (403, {"Origin": "http://evil.example"}),
    "another port": (403, {"Origin": "http://127.0.0.1:1"}),
    "no page": (403, {"Origin": "null"}),
    "another site": (403, {"Sec_Fetch_Site": "same-site"}),
    "no cookie": (403, {"Cookie": None}),
    "another cookie": (403, {"Cookie": "dynascope=1"}),
    "no key": (403, {"X_Dynascope_Write": None}),
    "another key": (403, {"X_Dynascope_Write": "A" * 43}),
    "an empty key": (403, {"X_Dynascope_Write": ""}),
    "a form": (415, {"Content_Type": "application/x-www-form-urlencoded"}),
    "text": (415, {"Content_Type": "text/plain"}),
    "no type": (415, {"Content_Type": None}),
    "another host": (421, {"Host": "evil.example"}),
    "another method": (405, {"method": "PUT"}),
    "another way": (405, {"path": "/api/store"}),
    "with a slash": (405, {"path": "/api/runs/"}),
    "a file": (405, {"path": "/index.html"}),
    "the token": (405, {"path": "/?token=x"}),
    "a parameter": (400, {"path": "/api/runs?x=1"}),
    "a body for reading": (400, {"method": "GET"}),
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, static: Path) -> Iterator[tuple[Server, Path]]:
    """One for all that changes nothing."""
    folder = tmp_path_factory.mktemp("asked") / "store"
    FIRST.save(folder)
    with show(static, folder, "--no-open", "--writable") as running:
        yield running, folder
        assert running.stop() == (0, "")
    assert [run.id for run in ds.load(folder)] == [FIRST[0].id]


@pytest.mark.parametrize("name", STRANGERS)
def test_strangers_are_refused(name: str, asked: tuple[Server, Path]) -> None:
    status, more = STRANGERS[name]
    answer = post(asked[0], recipe_bytes(), **more)
    assert answer.status == status
    assert asked[0].get("/api/runs").status == 200


def test_sizes(asked: tuple[Server, Path]) -> None:
    server = asked[0]
    given = [f"{name}: {value}" for name, value in headers_of(server, Cookie=None).items()]

    def status(*more: str) -> bytes:
        return server.raw(server.head("POST /api/runs HTTP/1.1", *given, *more))[9:12]

    assert status(f"Content-Length: {LARGEST + 1}") == b"413"
    assert status("Content-Length: 9" + 400 * "9") in (b"400", b"413")
    assert status("Content-Length: -1") == b"400"
    assert status("Content-Length: 1", "Content-Length: 2") == b"400"
    assert status() == b"411"
    assert status("Transfer-Encoding: chunked") == b"411"
    assert status("Content-Length: 5", "Transfer-Encoding: chunked") == b"411"
    assert server.get("/api/runs").status == 200


REFUSED: dict[str, tuple[int, bytes, str]] = {
    "nothing": (400, b"", "its JSON cannot be read"),
    "no table": (400, b"[]", "it is not a table"),
    "half": (400, recipe_bytes()[:-20], "its JSON cannot be read"),
    "not a number": (
        400,
        recipe_bytes().replace(b'"seed": 3', b'"seed": NaN'),
        "which is not a number",
    ),
    "twice": (400, b'{"seed": 1,' + recipe_bytes()[1:], "the key 'seed' twice"),
    "deep": (400, b"[" * 10**6, "nested too deeply"),
    "another field": (422, recipe_bytes(data="own"), "data: unknown field"),
    "odd": (422, recipe_bytes(config={"training": {"lr": -1}}), "training.lr: expected"),
    "endless": (422, recipe_bytes(epochs=10**7), "would take about"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_recipe_is_refused_in_a_sentence(name: str, asked: tuple[Server, Path]) -> None:
    status, body, why = REFUSED[name]
    answer = post(asked[0], body)
    assert answer.status == status
    assert why in answer.json["error"]


def test_a_body_that_never_comes_is_hung_up_on(folder: Path, static: Path) -> None:
    change = "from dynascope.sandbox import server; server._REQUEST_SECONDS = 1.0"
    with show(static, folder, "--no-open", "--writable", change=change) as server:
        given = [f"{name}: {value}" for name, value in headers_of(server, Cookie=None).items()]
        request = server.head("POST /api/runs HTTP/1.1", *given, "Content-Length: 1000")
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", server.port), 20) as slow:
            slow.settimeout(20)
            slow.sendall(request + b"{")
            assert slow.recv(100) == b""
        assert 0.5 < time.monotonic() - began < 10
        # An answer may take longer than that.
        assert post(server, recipe_bytes(**_lasting(1.5))).status == 200


def _lasting(seconds: float) -> dict[str, Any]:
    """A recipe that takes at least so long."""
    epochs, began = 500, time.perf_counter()
    ds.train(SMALL.replace({"training.epochs": epochs}), progress=False)
    epochs = int(2 * epochs * seconds / (time.perf_counter() - began))
    record = {"training.epochs": epochs, "record.weights_every": 0, "record.state_every": 0}
    return {"config": SMALL.replace(record).to_dict(), "epochs": epochs}


# ---- when it goes wrong --------------------------------------------------------------------------


def test_training_ends_when_who_asked_has_gone(folder: Path, static: Path) -> None:
    with served(folder, static, writable=True) as (server, sandbox):
        saving: Any = sandbox.site._saving  # type: ignore[attr-defined]
        body = recipe_bytes(**_lasting(20))
        request = _bytes_of(server, body)
        with socket.create_connection(("127.0.0.1", server.port), 20) as leaving:
            leaving.sendall(request)
            assert until(lambda: saving._work._running)
            time.sleep(0.3)
        assert until(lambda: not saving._work._running, 5)
        assert post(server, recipe_bytes()).json["already"] is False
    assert len(ds.load(folder)) == 2


def test_what_is_being_written_is_written_to_the_end(
    folder: Path, static: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    save = ds.Runs.save

    def slow(self: ds.Runs, *args: Any, **more: Any) -> None:
        begun.set()
        assert go_on.wait(20)
        save(self, *args, **more)

    monkeypatch.setattr(ds.Runs, "save", slow)
    with served(folder, static, writable=True) as (server, _):
        with socket.create_connection(("127.0.0.1", server.port), 20) as leaving:
            leaving.sendall(_bytes_of(server, recipe_bytes()))
            assert begun.wait(20)
        time.sleep(0.2)
        threading.Timer(1.5, go_on.set).start()  # after the server was told to stop
    assert [run.seed for run in ds.load(folder, strict=True)] == [0, 3]


def _bytes_of(server: Server, body: bytes) -> bytes:
    given = [f"{name}: {value}" for name, value in headers_of(server, Cookie=None).items()]
    size = f"Content-Length: {len(body)}"
    return server.head("POST /api/runs HTTP/1.1", *given, size) + body


_DIES = """
import os
from dynascope.store.handles import Folder
calls = 0
def dying(method, cut):
    def call(self, name, *rest):
        global calls
        if name.startswith((".dynascope", "x")) or "/.dynascope-" in str(self.path):
            return method(self, name, *rest)
        calls += 1
        if calls == {number}:
            if cut and {half}:
                method(self, name, bytes(rest[0])[: len(rest[0]) // 2])
            os._exit(9)
        return method(self, name, *rest)
    return call
Folder.make, Folder.move = dying(Folder.make, True), dying(Folder.move, False)
"""


@pytest.mark.parametrize(
    ("number", "half"), [(1, False), (1, True), (2, False), (3, False), (3, True), (4, False)]
)
def test_a_crash_in_the_middle_leaves_the_store_whole(
    number: int, half: bool, folder: Path, static: Path
) -> None:
    """Two files are made and moved: it dies at each of these moments, or half through."""
    change = _DIES.format(number=number, half=half)
    with show(static, folder, "--no-open", "--writable", change=change) as server:
        with pytest.raises((http.client.HTTPException, OSError)):
            post(server, recipe_bytes())
        assert server.process.wait(20) == 9
    assert command("check", folder).returncode == 0
    runs = ds.load(folder, strict=True)
    assert [run.id for run in runs] == [FIRST[0].id]
    assert same(runs[0], FIRST[0])
    ds.train(SMALL, seeds=[3], progress=False).save(folder, append=True)
    assert ds.load(folder, strict=True).seeds == [0, 3]


def test_a_full_disk_is_said_and_the_server_goes_on(folder: Path, static: Path) -> None:
    change = """
import errno
from dynascope.store.handles import Folder
def full(self, name, *rest):
    raise OSError(errno.ENOSPC, "No space left on device")
Folder.make = full
"""
    with show(static, folder, "--no-open", "--writable", change=change) as server:
        answer = post(server, recipe_bytes())
        assert answer.status == 507
        assert "the disk is full" in answer.json["error"]
        assert server.get("/api/runs").json["count"] == 1
    assert ds.load(folder, strict=True).seeds == [0]


def test_a_folder_that_cannot_be_written_to_is_said_before_training(
    folder: Path, static: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / "marks").symlink_to(tmp_path / "elsewhere")
    change = "from dynascope.store.recipe_plan import Recipe; Recipe.train = None"
    with show(static, folder, "--no-open", "--writable", change=change) as server:
        answer = post(server, recipe_bytes())
        assert answer.status == 507
        assert "it is a link" in answer.json["error"]


# ---- the command ---------------------------------------------------------------------------------


def study(folder: Path) -> Path:
    folder.mkdir()
    (folder / "study.json").write_text('{"format": 1, "scale": "quick", "studies": ["width"]}')
    return folder


def file_of(folder: Path) -> Path:
    folder.mkdir()
    (folder / "it.dynascope.json").write_text(json.dumps(recipe()))
    return folder / "it.dynascope.json"


COMMANDS: dict[str, tuple[Callable[[Path], Path], list[str], str]] = {
    "others": (lambda path: path, ["--host", "0.0.0.0"], "cannot be combined with --host 0.0.0.0"),
    "study": (lambda path: study(path.parent / "s"), [], "holds studies"),
    "file": (lambda path: file_of(path.parent / "f"), [], "is a file"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_where_it_is_refused(name: str, folder: Path) -> None:
    make, more, why = COMMANDS[name]
    said = command("show", make(folder), "--no-open", "--writable", *more)
    assert said.returncode == 2
    assert said.stderr.startswith("dynascope: --writable: ")
    assert why in said.stderr
    assert said.stderr.count("\n") == 1


def test_help_teaches_it() -> None:
    assert "dynascope show runs/first --writable" in command("show", "--help").stdout
