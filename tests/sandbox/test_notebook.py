"""The widget of a notebook without a notebook: what it answers, checks, and leaves to be saved."""

import base64
import html
import json
import re
import subprocess
import sys
import threading
from typing import Any

import pytest
from analysed import three, train
from archives import unpacked
from processes import environment

import dynascope as ds
from dynascope.sandbox import analysis_answers
from dynascope.sandbox.direct_answers import DirectAnswers, is_slow
from dynascope.sandbox.run_archive import RunArchive
from dynascope.sandbox.store_answers import Shown

Sent = list[tuple[dict[str, Any], list[bytes]]]


@pytest.fixture
def widget(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = three()[0].sandbox(epoch=7)
    made.sent = []
    monkeypatch.setattr(
        type(made), "send", lambda self, said, buffers=(): self.sent.append((said, [*buffers]))
    )
    return made


def asked(widget: Any, path: str, **more: Any) -> tuple[dict[str, Any], list[bytes]]:
    """The answer to a question, which may come from another thread."""
    widget._asked(widget, {"view": "v", "id": len(widget.sent), "path": path, **more}, [])
    widget._slow.submit(lambda: None).result(60)
    found: tuple[dict[str, Any], list[bytes]] = widget.sent[-1]
    return found


# ---- answers ------------------------------------------------------------------------------------
@pytest.mark.parametrize("changes", [{}, {"record.weights_every": 7, "record.state_every": 12}])
def test_answers_are_those_of_an_exported_file(changes: dict[str, Any]) -> None:
    run = train(changes, 1)[0]
    answers = DirectAnswers([run], Shown(run.id))
    for path, stored in RunArchive(run).answers(lambda count: None).items():
        if path.endswith("/replayed"):
            path += f"?first=0&last={run.epochs}"
        status, contents = answers.answer(path, None)
        assert status == 200
        if path != f"/api/run/{run.id}":  # the file has no more states than it needs
            assert contents == stored.contents, path


def test_parts_of_an_answer() -> None:
    run = three()[0]
    answers = DirectAnswers([run], Shown(run.id))
    path = f"/api/run/{run.id}/weights"
    whole = run.weights.tobytes()
    assert answers.answer(path, None) == (200, whole)
    assert answers.answer(path, (4, 12)) == (206, whole[4:12])
    assert answers.answer(path, (4, 10**9)) == (206, whole[4:])
    assert answers.answer(path, (10**9, 10**10)) == (206, b"")


ID = three()[0].id


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("", 404),
        ("/", 404),
        ("/api/runs", 404),
        ("/api/run/" + 20 * "0", 404),
        (f"/api/run/{ID}/../{ID}", 404),
        (f"/api/run/{ID}/nothing", 404),
        (f"/api/run/{ID}/curves/x", 404),
        (f"/api/run/{ID}/curves?x=1", 400),
        (f"/api/run/{ID}/state/x", 404),
        (f"/api/run/{ID}/state/99", 404),
        (f"/api/run/{ID}/examples", 400),
        (f"/api/run/{ID}/sequences?most=0", 400),
        (f"/api/run/{ID}/analysis?curvature=2", 400),
        (f"/api/run/{ID}/replayed?first=3", 400),
        (f"/api/run/{ID}/replayed?first=3&last=99", 404),
        (f"/api/run/{three()[1].id}", 404),  # another run's
    ],
)
def test_what_there_is_not_is_said_in_a_sentence(path: str, status: int) -> None:
    found = DirectAnswers([three()[0]], Shown(ID)).answer(path, None)
    assert found.status == status
    assert json.loads(found.contents)["error"].endswith(".")


def test_an_analysis_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    analysis = analysis_answers.analysis

    def counted(run: ds.Run, check: Any) -> bytes:
        made.append(run.id)
        return analysis(run, check)

    monkeypatch.setattr(analysis_answers, "analysis", counted)
    widget = three()[0].sandbox()
    assert "text/html" in widget._repr_mimebundle_()[0]
    for _ in range(2):
        assert widget._answers.answer(f"/api/run/{ID}/analysis", None).status == 200
    assert made == [ID]


def test_curvature_can_be_asked_for() -> None:
    run = train(seeds=1)[0]
    found = DirectAnswers([run], Shown(run.id)).answer(
        f"/api/run/{run.id}/analysis?curvature=1", None
    )
    assert len(json.loads(found.contents)["curvature"]) == 9


# ---- messages -----------------------------------------------------------------------------------
def test_questions_are_answered_by_messages(widget: Any) -> None:
    said, (store,) = asked(widget, "/api/store")
    assert said == {"view": "v", "id": 0, "status": 200}
    told = json.loads(store)
    assert told["shown"] == {"run": ID, "epoch": 7, "beside": None}
    assert told["offers"] == ["curvature"]
    said, (page,) = asked(widget, "/page.html")
    assert page.startswith(b"<!doctype html>")
    assert b"dynascope-archive" not in page.replace(b'"dynascope-archive"', b"")
    assert asked(widget, "/kernel.wasm")[1][0].startswith(b"\0asm")
    said, (some,) = asked(widget, f"/api/run/{ID}/weights", range=[0, 8])
    assert (said["status"], some) == (206, three()[0].weights.tobytes()[:8])
    assert asked(widget, "/api/runs")[0]["status"] == 404


def test_what_takes_seconds_keeps_no_cell_waiting(widget: Any) -> None:
    """The analysis waits for a lock that only this thread can give it."""
    assert is_slow(f"/api/run/{ID}/analysis?curvature=1")
    with widget._answers._lock:
        widget._asked(widget, {"view": "v", "id": 1, "path": f"/api/run/{ID}/analysis"}, [])
        widget._asked(widget, {"view": "v", "id": 2, "path": "/api/store"}, [])
        assert [said["id"] for said, _ in widget.sent] == [2]
    widget._slow.submit(lambda: None).result(60)
    assert [said["id"] for said, _ in widget.sent] == [2, 1]


def test_what_is_called_off_is_not_answered(widget: Any) -> None:
    begun, go_on = threading.Event(), threading.Event()
    widget._slow.submit(lambda: (begun.set(), go_on.wait(60)))
    assert begun.wait(60)
    question = {"view": "v", "id": 1}
    widget._asked(widget, {**question, "path": f"/api/run/{ID}/analysis"}, [])
    widget._asked(widget, {**question, "abort": True}, [])
    widget._asked(widget, {**question, "id": 5, "abort": True}, [])  # nobody asked that
    go_on.set()
    widget._slow.submit(lambda: None).result(60)
    assert widget.sent == []
    assert widget._open == {}


def test_a_fault_is_told_to_the_page(widget: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*given: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(widget._answers, "answer", faulty)
    assert asked(widget, "/api/store")[0]["failed"] == "Python stumbled (RuntimeError: no)."


# ---- epoch and mark -----------------------------------------------------------------------------
def test_the_epoch(widget: Any) -> None:
    assert widget.epoch == 7
    widget.epoch = -1
    assert widget.epoch == 30
    with pytest.raises(ds.DynascopeError, match="epoch: expected a whole number from 0 to 30"):
        widget.epoch = 31
    assert widget.epoch == 30


def test_the_epoch_of_a_run_that_diverged() -> None:
    """The page goes on to the end, and Python must follow it there."""
    run = train({"training.lr": 100.0}, 1)[0]
    assert run.diverged is not None
    widget = run.sandbox()
    assert widget.epoch == run.diverged
    widget.epoch = run.epochs
    assert widget.epoch == run.epochs


MARKS: list[tuple[dict[str, Any] | None, dict[str, Any] | None]] = [
    (None, None),
    ({"kind": "token", "index": 1}, {"run": 0, "kind": "token", "index": 1}),
    ({"kind": "unit", "index": 3, "run": 0}, {"run": 0, "kind": "unit", "index": 3}),
    (
        {"kind": "pair", "token": 1, "position": 4},
        {"run": 0, "kind": "pair", "token": 1, "position": 4},
    ),
    (
        {"kind": "sequence", "tokens": (0, 1, 0, 1, 1)},
        {"run": 0, "kind": "sequence", "tokens": [0, 1, 0, 1, 1]},
    ),
]


@pytest.mark.parametrize(("given", "kept"), MARKS)
def test_what_is_marked(widget: Any, given: Any, kept: Any) -> None:
    widget.marked = given
    assert widget.marked == kept


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "marked: None: unknown kind"),
        ({"kind": "tokn", "index": 0}, "did you mean 'token'?"),
        ({"kind": "token"}, "marked: expected kind, index and at most run"),
        ({"kind": "token", "index": 0, "x": 1}, "marked: expected kind, index"),
        ({"kind": "token", "index": 2}, "marked.index: expected a whole number from 0 to 1"),
        ({"kind": "position", "index": 5}, "from 0 to 4, but got 5"),
        ({"kind": "position", "index": True}, "from 0 to 4"),
        ({"kind": "unit", "index": -1}, "from 0 to 3"),
        ({"kind": "token", "index": 0, "run": 1}, "marked.run: expected a whole number"),
        ({"kind": "sequence", "tokens": [0, 1]}, "a sequence of 5 tokens"),
        ({"kind": "sequence", "tokens": "01011"}, "a sequence of 5 tokens"),
        ({"kind": "sequence", "tokens": [0, 1, 0, 1, 2]}, "marked.tokens"),
    ],
)
def test_what_cannot_be_marked(widget: Any, given: Any, words: str) -> None:
    with pytest.raises(ds.DynascopeError, match=re.escape(words)):
        widget.marked = given
    assert widget.marked is None


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"epoch": 31}, "epoch: expected a whole number from 0 to 30"),
        ({"epoch": "last"}, "epoch: expected a whole number from 0 to 30, but got 'last'"),
        ({"beside": 3}, "beside: expected a ds.Run, but got 3"),
        ({"beside": three()[0]}, "twice"),
        ({"height": 10}, "height: expected a whole number of pixels from 200 to 4000"),
        ({"height": "tall"}, "sandbox: "),
    ],
)
def test_what_cannot_be_shown(more: dict[str, Any], words: str) -> None:
    with pytest.raises(ds.DynascopeError, match=re.escape(words)):
        three()[0].sandbox(**more)


# ---- saved --------------------------------------------------------------------------------------
VIEW = "application/vnd.jupyter.widget-view+json"


def saved_page(bundle: dict[str, Any]) -> str:
    found = re.fullmatch(r'<iframe sandbox="([^"]*)" srcdoc="([^"]*)" [^>]*></iframe>', bundle)  # type: ignore[call-overload]
    assert found
    assert found[1] == "allow-scripts allow-downloads allow-forms"
    return html.unescape(found[2])


def test_what_is_saved_is_an_exported_file_of_fewer_epochs() -> None:
    run = train({"training.epochs": 450}, 1)[0]
    widget = run.sandbox(epoch=100)
    widget.epoch = 200
    bundle, _ = widget._repr_mimebundle_()
    assert {*bundle} == {"text/plain", "text/html", VIEW}
    page = saved_page(bundle["text/html"])
    archive = re.search(r'id="dynascope-archive">([^<]*)<', page)
    assert archive
    answers = unpacked(base64.b64decode(archive[1]))
    assert json.loads(answers["/api/store"])["shown"]["epoch"] == 200
    kept = json.loads(answers[f"/api/run/{run.id}"])["weight_epochs"]
    assert kept == [*range(0, 450, 3), 450]


def test_nothing_is_saved_if_not_wanted() -> None:
    bundle, _ = three()[0].sandbox(saved=False)._repr_mimebundle_()
    assert {*bundle} == {"text/plain", VIEW}
    assert bundle["text/plain"] == "SandboxWidget(seed=0, epoch=30)"


# ---- without it ---------------------------------------------------------------------------------
def test_without_anywidget_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "import dynascope as ds\n"
        "run = ds.train(ds.Config().replace({'training.epochs': 1}), progress=False)[0]\n"
        "try: run.sandbox()\n"
        "except ds.DynascopeError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, timeout=60
    )
    assert done.stdout == (
        "sandbox: anywidget is not installed; run: pip install 'dynascope[notebook]'.\n"
    )


def test_the_widget_is_loaded_when_asked_for() -> None:
    code = "import dynascope, sys; print([m for m in ('anywidget', 'IPython') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "[]\n"
