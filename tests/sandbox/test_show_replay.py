"""Epochs that were not kept, as the server computes them again: exact, bounded, called off."""

import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analysed import train
from showing import Server, served, show, until
from wasm_node import same_bits

import dynascope as ds
from dynascope.run import Origin
from dynascope.sandbox.background import StoppedError
from dynascope.sandbox.replay_answers import MOST_EPOCHS, Replays
from dynascope.sandbox.security import RequestError

NONE = {"record.weights_every": 0, "record.state_every": 0}
BLOWN_UP = {"training.lr": 1e30, "training.optimizer": "sgd", "model.norm": "none"}
RUNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "none": (NONE, {}),
    "every tenth": ({"record.weights_every": 10}, {}),
    "double": (NONE | {"precision": "float64"}, {}),
    "diverged": (NONE | BLOWN_UP, {}),
    "data": (NONE | {"training.batch": 1}, {"data": ds.Data(train=([[0, 1, 0, 1, 1]], [1]))}),
    "wide": (NONE | {"model.hidden": 2000, "model.dim": 64, "training.epochs": 20}, {}),
    "long": (NONE | {"training.epochs": 600}, {}),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("replay") / "store"
    for i, (changes, more) in enumerate(RUNS.values()):
        train(changes, seeds=[i], **more).save(folder, append=i > 0)
    return folder


@pytest.fixture(scope="module")
def runs(store: Path) -> dict[str, ds.Run]:
    return dict(zip(RUNS, ds.load(store), strict=True))


@pytest.mark.parametrize("name", [name for name in RUNS if name != "long"])
def test_they_are_those_of_a_run_that_keeps_all(
    server: Server, runs: dict[str, ds.Run], name: str
) -> None:
    run, (changes, more) = runs[name], RUNS[name]
    whole = train(changes | {"record.weights_every": 1}, seeds=[run.seed], **more)[0]
    assert whole.id == run.id
    last = run.checked_epoch(-1)
    for first, end in ((0, 0), (last, last), (last // 2, last // 2), (0, min(last, 2))):
        answer = server.get(f"/api/run/{run.id}/replayed?first={first}&last={end}")
        assert answer.status == 200, answer.body
        wanted = np.stack([whole.parameters(epoch).flat for epoch in range(first, end + 1)])
        assert same_bits(np.frombuffer(answer.body, wanted.dtype), wanted)
    told = server.get(f"/api/run/{run.id}").json
    assert told["not_replayable"] is None


@pytest.mark.parametrize(
    ("name", "query", "status", "words"),
    [
        ("none", "", 400, "Expected first and last"),
        ("none", "?first=1", 400, "Expected first and last"),
        ("none", "?first=-1&last=2", 400, "this address takes only"),
        ("none", "?first=1&last=2&last=3", 400, "each once"),
        ("none", "?first=1&last=2&more=3", 400, "this address takes only"),
        ("none", "?first=3&last=2", 404, "rising epochs from 0 to 30"),
        ("none", "?first=0&last=31", 404, "rising epochs from 0 to 30"),
        ("none", "?first=0&last=999999999", 404, "rising epochs from 0 to 30"),
        ("diverged", "?first=0&last=2", 404, "rising epochs from 0 to 1 "),
        ("long", f"?first=1&last={MOST_EPOCHS + 1}", 400, f"at most {MOST_EPOCHS} epochs"),
        ("wide", "?first=1&last=10", 400, "4 MB"),
    ],
)
def test_what_is_refused(
    server: Server, runs: dict[str, ds.Run], name: str, query: str, status: int, words: str
) -> None:
    answer = server.get(f"/api/run/{runs[name].id}/replayed{query}")
    assert answer.status == status
    assert words in answer.json["error"]


def test_a_run_that_cannot_be_replayed_says_why(static: Path, tmp_path: Path) -> None:
    (run,) = train(NONE, seeds=[0])
    fields = {name: getattr(run, name) for name in run.__dataclass_fields__}
    origin = Origin("import", "0" * 20)
    ds.Runs([ds.Run(**fields | {"origin": origin})]).save(tmp_path / "store")
    (saved,) = ds.load(tmp_path / "store")
    with show(static, tmp_path / "store", "--no-open") as server:
        why = server.get(f"/api/run/{saved.id}").json["not_replayable"]
        assert "it was imported without data and moments" in why
        answer = server.get(f"/api/run/{saved.id}/replayed?first=1&last=1")
        assert (answer.status, answer.json["error"]) == (422, why)


# ---- bounded, and for those who wait ------------------------------------------------------------


def test_what_takes_too_long_goes_on_when_it_is_asked_again(runs: dict[str, ds.Run]) -> None:
    """Each request may only do what fits into no time at all, and so one epoch."""
    run, replays = runs["long"], Replays(seconds=0)
    for _ in range(3):
        with pytest.raises(RequestError, match="ask once more") as refusal:
            replays.weights(run, 5, 5, _slow)  # type: ignore[arg-type]
        assert refusal.value.status == 503
        assert refusal.value.more == {"reached": 0}
    short = Replays(seconds=0.02)
    reached = [0]
    while reached[-1] < 300:
        try:
            short.weights(run, 300, 300, _slow)  # type: ignore[arg-type]
            break
        except RequestError as told:
            reached.append(told.more["reached"])
    assert reached == sorted({*reached})  # each request gets further
    patient = Replays(seconds=60)
    found = patient.weights(run, 599, 599, lambda: None)  # type: ignore[arg-type]
    assert found == run.parameters(599).flat.tobytes()


def _slow() -> None:
    time.sleep(0.001)  # so that time has passed


def test_it_stops_when_the_last_who_asked_has_gone(
    store: Path, static: Path, runs: dict[str, ds.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, stopped, real = threading.Event(), threading.Event(), Replays.weights

    def slow(self: Replays, run: Any, first: int, last: int, check: Callable[[], None]) -> bytes:
        def checked() -> None:
            begun.set()
            time.sleep(0.02)
            check()

        try:
            return real(self, run, first, last, checked)
        except StoppedError:
            stopped.set()
            raise

    monkeypatch.setattr(Replays, "weights", slow)
    with served(store, static) as (server, sandbox):
        client = socket.create_connection(("127.0.0.1", server.port), 10)
        path = f"/api/run/{runs['long'].id}/replayed?first=590&last=590"
        client.sendall(server.head(f"GET {path} HTTP/1.1"))
        assert begun.wait(30)
        client.close()
        assert stopped.wait(30)
        assert until(lambda: not sandbox.workers.replaying._under_way)


def test_it_is_computed_once(
    store: Path, static: Path, runs: dict[str, ds.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, real = [], Replays.weights

    def counted(self: Replays, run: Any, first: int, last: int, check: Any) -> bytes:
        asked.append((first, last))
        return real(self, run, first, last, check)

    monkeypatch.setattr(Replays, "weights", counted)
    path = f"/api/run/{runs['none'].id}/replayed?first=3&last=7"
    with served(store, static) as (server, _):
        assert server.get(path).body == server.get(path).body
        etag = server.get(path).headers["etag"]
        assert server.get(path, If_None_Match=etag).status == 304
    assert asked == [(3, 7)]
