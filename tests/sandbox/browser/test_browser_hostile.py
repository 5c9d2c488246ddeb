"""Files, recipes and links that somebody has tampered with: the page shows a sentence or passes
over the part, runs nothing of it, asks nobody, and meets no error of its own."""

import base64
import gzip
import json
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from archives import unpacked
from browsing import Sandbox
from playwright.sync_api import Browser, expect

import dynascope as ds
from dynascope.sandbox.archive import SeriesCoding, Stored, packed
from dynascope.sandbox.embedded_client import embedded_client, page_of
from dynascope.sandbox.one_file import one_file, playground
from dynascope.sandbox.store_answers import Shown

MARKUP = '</script><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u2028<!--'
DAMAGED = "This file is damaged; export the run again."

Answers = dict[str, Stored]
Visit = Callable[..., Sandbox]


@pytest.fixture(scope="module")
def run() -> ds.Run:
    return ds.train({"training.epochs": 30, "training.lr": 0.05}, [0], progress=False)[0]


@pytest.fixture(scope="module")
def page(run: ds.Run) -> str:
    return one_file([run], Shown(run.id, 5), 1, False).decode()


@pytest.fixture
def answers(page: str, run: ds.Run) -> Answers:
    """What an exported file holds."""
    held = page.partition('id="dynascope-archive">')[2].partition("<")[0]
    found = {path: Stored(each) for path, each in unpacked(base64.b64decode(held)).items()}
    weights = f"/api/run/{run.id}/weights"
    coding = SeriesCoding(31, len(found[weights].contents) // 31 // 4, 4, "rows")
    return found | {weights: Stored(found[weights].contents, coding)}


@pytest.fixture
def visit(browser: Browser, tmp_path: Path) -> Iterator[Visit]:
    """Opens a file, by its archive or whole; afterwards nothing of it has run."""
    made: list[Sandbox] = []

    def make(archive: bytes | str, fragment: str = "") -> Sandbox:
        file = tmp_path / f"{len(made)}.html"
        whole = archive
        if isinstance(archive, bytes):
            whole = page_of(embedded_client(), "hostile", archive)
        assert isinstance(whole, str)
        file.write_text(whole, encoding="utf-8")
        made.append(Sandbox(browser, file.as_uri()))
        made[-1].context.set_offline(True)
        made[-1].page.goto(file.as_uri() + fragment)
        return made[-1]

    yield make
    for each in made:
        harmless(each)
        each.context.close()


def harmless(sandbox: Sandbox) -> None:
    assert sandbox.page.evaluate("() => window.hacked") is None
    assert sandbox.page.locator("img, #app script, a[href^='javascript']").count() == 0
    assert sandbox.problems == []
    assert {url.partition(":")[0] for url in sandbox.requests} <= {"file", "blob", "data"}


def told(sandbox: Sandbox, sentence: str) -> None:
    expect(sandbox.page.locator(".notice, .toast[role=alert]").first).to_contain_text(sentence)


def changed(stored: Stored, change: Callable[[Any], Any]) -> Stored:
    """JSON, with something else in it; it may also be text that no encoder would write."""
    made = change(json.loads(stored.contents))
    return Stored(made if isinstance(made, bytes) else json.dumps(made).encode())


# ---- archives ------------------------------------------------------------------------------------
def with_index(archive: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    (length,) = struct.unpack_from("<I", archive)
    index = change(json.loads(archive[4 : 4 + length]))
    listed = index if isinstance(index, bytes) else json.dumps(index).encode()
    return struct.pack("<I", len(listed)) + listed + archive[4 + length :]


def entry(**changes: object) -> Callable[[dict[str, Any]], Any]:
    return lambda index: index | {"/api/store": index["/api/store"] | changes}


def coding(**changes: object) -> Callable[[dict[str, Any]], Any]:
    told = {"rows": 1, "columns": 1, "width": 4, "time": "rows"} | changes
    return entry(coding=told)


INDICES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "not JSON": lambda index: b"{]",
    "a list": lambda index: [],
    "markup": lambda index: MARKUP,
    "no entry": lambda index: index | {"/api/store": None},
    "beyond its end": entry(end=10**9),
    "before its start": entry(begin=-5),
    "turned around": entry(begin=9, end=3),
    "huge": lambda index: (
        json.dumps(entry(end=1)(index)).replace('"end": 1', '"end": 1e999').encode()
    ),
    "a prototype": lambda index: b'{"__proto__": {"begin": 0, "end": "x", "coding": null}}',
    "many rows": coding(rows=10**9, columns=10**9),
    "a strange width": coding(width=3),
    "a strange time": coding(time=MARKUP),
}


def some(cases: Iterable[str]) -> list[Any]:
    """The first two, and the others among the slow tests: each is a page that is opened."""
    slow = pytest.mark.slow
    return [case if i < 2 else pytest.param(case, marks=slow) for i, case in enumerate(cases)]


@pytest.mark.parametrize("name", some(INDICES))
def test_an_index_that_makes_no_sense(name: str, visit: Visit, answers: Answers) -> None:
    told(visit(with_index(packed(answers), INDICES[name])), DAMAGED)


def test_bytes_that_stand_for_far_more(visit: Visit, answers: Answers, run: ds.Run) -> None:
    """A bomb where a small answer should be, and one where a table says its size."""
    bomb = gzip.compress(bytes(2**29), 9)
    for path in ("/api/store", f"/api/run/{run.id}/weights"):
        archive = packed(answers)
        (length,) = struct.unpack_from("<I", archive)
        end = len(archive) - 4 - length

        def at_end(index: dict[str, Any], path: str = path, end: int = end) -> dict[str, Any]:
            return index | {path: index[path] | {"begin": end, "end": end + len(bomb)}}

        told(visit(with_index(archive + bomb, at_end)), "damaged")


def test_an_index_with_a_prototype_beside_it(visit: Visit, answers: Answers) -> None:
    more = {path: Stored(b"{}") for path in ("__proto__", "constructor", "/api/run/__proto__")}
    sandbox = visit(packed(answers | more))
    sandbox.shows(5)
    sandbox.go("v=1&run=__proto__")
    told(sandbox, "cannot be shown")


# ---- answers -------------------------------------------------------------------------------------
STORES: dict[str, Any] = {
    "a list": lambda told: [],
    "no name": lambda told: told | {"name": None},
    "a view that is no text": lambda told: told | {"shown": told["shown"] | {"view": {}}},
    "an id with markup": lambda told: told | {"shown": told["shown"] | {"run": MARKUP}},
    "many runs": lambda told: told | {"runs": 1e300},
    "not JSON": lambda told: b"<h1>",
    "deep": lambda told: b"[" * 100_000 + b"]" * 100_000,
}


@pytest.mark.parametrize("name", some(STORES))
def test_a_store_that_makes_no_sense(name: str, visit: Visit, answers: Answers) -> None:
    store = changed(answers["/api/store"], STORES[name])
    sandbox = visit(packed(answers | {"/api/store": store}))
    expect(sandbox.page.locator(".notice")).to_contain_text(" ")
    expect(sandbox.page.locator(".notice")).not_to_contain_text("Loading")


def test_a_store_that_promises_a_table(visit: Visit, answers: Answers) -> None:
    store = changed(
        answers["/api/store"], lambda told: told | {"offers": ["table", "docs", MARKUP]}
    )
    sandbox = visit(packed(answers | {"/api/store": store}))
    told(sandbox, "does not hold this")


def inside(*names: str, value: object) -> Callable[[Any], Any]:
    def change(told: Any) -> Any:
        place = told
        for name in names[:-1]:
            place = place[name]
        place[names[-1]] = value
        return told

    return change


RUNS: dict[str, Callable[[Any], Any]] = {
    "epochs": inside("epochs", value=10**9),
    "size": inside("size", value=10**9),
    "shapes": inside("shapes", "query", value=[5]),
    "a negative shape": inside("shapes", "query", value=[-2]),
    "config": inside("config", value=None),
    "dim": inside("config", "model", "dim", value=1e9),
    "another dim": inside("config", "model", "dim", value=3),
    "optimizer": inside("config", "training", "optimizer", value=MARKUP),
    "clamps": inside("config", "training", "clamps", value=5),
    "precision": inside("config", "precision", value="float64"),
    "positions": inside("task", "positions", value=[10**6]),
    "task": inside("task", "name", value=MARKUP),
    "weight epochs": inside("weight_epochs", value=[5, 3]),
    "curves": inside("curves", value=["train_loss"] * 500),
    "embeddings": inside("embeddings", value=7),
    "id": inside("id", value="0" * 20),
    "thresholds": inside("thresholds", value={"solved_accuracy": MARKUP}),
    "summary": inside("summary", value={"accuracy": MARKUP}),
    "infinite": lambda told: json.dumps(told).replace('"seed": 0', '"seed": 1e999').encode(),
}


@pytest.mark.parametrize("name", some(RUNS))
def test_a_run_that_makes_no_sense(name: str, visit: Visit, answers: Answers, run: ds.Run) -> None:
    path = f"/api/run/{run.id}"
    sandbox = visit(packed(answers | {path: changed(answers[path], RUNS[name])}))
    notice = sandbox.page.locator(".notice")
    expect(notice).not_to_contain_text("Loading")
    expect(notice).not_to_contain_text("Error")
    expect(notice).to_contain_text(".")


def hostile(value: Any, key: str = "") -> Any:
    """Every string that is shown is markup; those that decide something stay."""
    if isinstance(value, dict):
        return {name: hostile(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [hostile(each, key) for each in value]
    deciding = key in ("sum_kind", "kind", "panels", "id", "seen_by")
    return MARKUP if isinstance(value, str) and not deciding else value


def test_markup_in_every_string_is_text(visit: Visit, answers: Answers, run: ds.Run) -> None:
    """Names, tags, notes, verdicts, captions, sentences."""
    path = f"/api/run/{run.id}"

    def about(told: Any) -> Any:
        marked = {"tags": [MARKUP], "note": MARKUP, "notes": [MARKUP], "not_replayable": MARKUP}
        names = [*told["curves"][:-1], MARKUP]
        found = dict.fromkeys(told["found"], MARKUP)
        return told | marked | {"curves": names, "found": found, "origin": {"kind": MARKUP}}

    story = [
        *(
            {"epoch": at, "kind": "end", "caption": MARKUP, "text": MARKUP, "panels": [MARKUP]}
            for at in (3, 9)
        ),
    ]
    sandbox = visit(
        packed(
            answers
            | {
                path: changed(answers[path], about),
                f"{path}/analysis": changed(
                    answers[f"{path}/analysis"], lambda told: hostile(told) | {"story": story}
                ),
                "/api/store": changed(answers["/api/store"], lambda told: told | {"name": MARKUP}),
            }
        )
    )
    sandbox.shows(5)
    sandbox.page.wait_for_function("() => dynascope.slots.value[0]?.analysis.value")
    expect(sandbox.page.locator(".where")).to_contain_text("</script><img")
    expect(sandbox.page.locator("body")).to_contain_text("onerror")
    sandbox.page.locator(".chip").first.hover()
    sandbox.page.wait_for_timeout(300)


ANALYSES: dict[str, Callable[[Any], Any]] = {
    "a list": lambda told: [],
    "text": lambda told: dict.fromkeys(told, MARKUP),
    "empty tables": lambda told: {name: {} for name in told},
    "lists": lambda told: {name: [[]] for name in told},
    "numbers": lambda told: dict.fromkeys(told, 1e308),
    "far away": lambda told: (
        told | {"story": [{"epoch": 10**7, "kind": "", "caption": "", "text": "", "panels": []}]}
    ),
    "uneven": lambda told: told | {"shares": told["shares"] | {"between": []}},
}


@pytest.mark.parametrize("name", some(ANALYSES))
def test_an_analysis_that_makes_no_sense(
    name: str, visit: Visit, answers: Answers, run: ds.Run
) -> None:
    path = f"/api/run/{run.id}/analysis"
    sandbox = visit(packed(answers | {path: changed(answers[path], ANALYSES[name])}))
    sandbox.shows(5)
    sandbox.press("End", 30)
    sandbox.shows(30)


@pytest.mark.parametrize("value", [np.nan, np.inf, -3e38, 1e-45])
def test_weights_and_curves_of_any_value(
    value: float, visit: Visit, answers: Answers, run: ds.Run
) -> None:
    changes = {}
    for part in ("weights", "curves"):
        stored = answers[f"/api/run/{run.id}/{part}"]
        numbers = np.frombuffer(stored.contents, "<f4").copy()
        numbers[len(numbers) // 3 :] = value
        changes[f"/api/run/{run.id}/{part}"] = Stored(numbers.tobytes(), stored.coding)
    sandbox = visit(packed(answers | changes))
    sandbox.shows(5)
    sandbox.press("End", 30)
    sandbox.shows(30)


def test_tables_of_another_size(visit: Visit, answers: Answers, run: ds.Run) -> None:
    for part in ("weights", "curves"):
        sandbox = visit(packed(answers | {f"/api/run/{run.id}/{part}": Stored(b"\0" * 40)}))
        told(sandbox, "bytes where")


# ---- live runs and recipes -----------------------------------------------------------------------
def recipe(**changes: object) -> dict[str, Any]:
    config = ds.Config().replace({"task.train_size": 64, "task.test_size": 32})
    plain = {"dynascope": MARKUP, "recipe": 1, "config": config.to_dict(), "seed": 0}
    return {**plain, "epochs": 4, "changes": [], **changes}


def live_file(answers: Answers, runs: object) -> bytes:
    def store(told: Any) -> Any:
        shown = told["shown"] | {"view": "#v=1&run=live-3&t=2"}
        return told | {"shown": shown, "live": True, "runs": 0}

    live = Stored(json.dumps({"runs": runs}).encode())
    kernel = {"/kernel.wasm": answers["/kernel.wasm"], "/api/live": live}
    return packed(kernel | {"/api/store": changed(answers["/api/store"], store)})


def test_a_live_run_with_markup_for_a_name(visit: Visit, answers: Answers) -> None:
    parent = {"id": MARKUP[:60], "epoch": 1}
    runs = [{"id": "live-3", "name": MARKUP, "parent": parent, "recipe": recipe()}]
    sandbox = visit(live_file(answers, runs))
    sandbox.shows(2)
    expect(sandbox.page.locator(".branch-tree")).to_contain_text("</script>")
    sandbox.page.get_by_role("button", name="Save", exact=True).click()
    sandbox.page.get_by_role("button", name="Share as one file").click()
    with sandbox.page.expect_download() as download:
        sandbox.page.get_by_role("button", name="Make the file").click()
    again = visit(Path(download.value.path()).read_text(encoding="utf-8"))
    again.shows(2)
    assert again.page.title().startswith("dynascope: seed 0 (</script>")


LIVE: dict[str, Any] = {
    "no list": {},
    "an id with markup": [{"id": MARKUP, "name": "x", "parent": None, "recipe": recipe()}],
    "no recipe": [{"id": "live-3", "name": "x", "parent": None, "recipe": None}],
    "too much": [
        {"id": "live-3", "name": "x", "parent": None, "recipe": recipe(epochs=10**7)},
    ],
    "many": [
        {"id": f"live-{i}", "name": "x", "parent": None, "recipe": recipe()} for i in range(9)
    ],
}


@pytest.mark.parametrize("name", some(LIVE))
def test_live_runs_that_make_no_sense(name: str, visit: Visit, answers: Answers) -> None:
    sandbox = visit(live_file(answers, LIVE[name]))
    expect(sandbox.page.get_by_role("alert")).to_be_visible()
    assert sandbox.page.evaluate("() => dynascope.slots.value.length") == 0
    expect(sandbox.page.locator(".playground")).to_be_visible()


RECIPES: dict[str, str] = {
    "nothing": "",
    "not JSON": MARKUP,
    "a prototype": '{"__proto__": {"recipe": 1}}',
    "a seed of markup": json.dumps(recipe(seed=MARKUP)),
    "an infinite seed": json.dumps(recipe()).replace('"seed": 0', '"seed": 1e999'),
    "an option of markup": json.dumps(recipe(config={"training": {"optimizer": MARKUP}})),
    "a name of markup": json.dumps(recipe() | {MARKUP: 1}),
    "endless": json.dumps(recipe(epochs=10**7)),
    "weights": json.dumps(recipe(changes=[{"epoch": 1, "step": 2, "weights": "AAAA"}])),
    "deep": "[" * 200_000,
}


def test_recipes_that_make_no_sense(visit: Visit) -> None:
    sandbox = visit(playground().decode())
    chooser = sandbox.page.locator("input[type=file]")
    alert = sandbox.page.get_by_role("alert")
    for text in RECIPES.values():
        contents = {"name": f"{MARKUP}.dynascope.json", "mimeType": "x", "buffer": text.encode()}
        chooser.set_input_files(contents)  # type: ignore[arg-type]
        expect(alert).to_be_visible()
        assert sandbox.page.evaluate("() => dynascope.slots.value.length") == 0
        sandbox.page.get_by_role("button", name="Dismiss").click()
        harmless(sandbox)
    good = {"name": f"{MARKUP}.dynascope.json", "mimeType": "x"}
    chooser.set_input_files(good | {"buffer": json.dumps(recipe()).encode()})  # type: ignore[arg-type]
    sandbox.shows(4)
    expect(sandbox.page.locator(".where")).to_contain_text("<img")


# ---- links ---------------------------------------------------------------------------------------
LINKS = [
    "#javascript:window.hacked=1",
    f"#{MARKUP}",
    f"#v=1&run={MARKUP}&t=3",
    "#v=1&run=<script>window.hacked=1</script>,constructor",
    "#v=1&run=constructor",
    "#v=1&run=live-99999999",
    "#v=1&run=../../etc/passwd",
    f"#v=1&guide={MARKUP}",
    "#v=1&guide=nosuch",
    "#v=1&guide=constructor",
    f"#v=1&seq={MARKUP}",
    f"#v=1&filter={MARKUP}&sort=__proto__&page=runs",
    "#v=1&t=1e999&speed=NaN&big=__proto__&hide=<img>&theme=javascript:1",
    "#v=1&spike=99999&held=99999999",
    f"#v=1&seq={'0' * 2_000_000}",
    "#v=1&page=seeds",
    "#%00%ff%E0%A4%A",
]


def test_links_of_any_kind(visit: Visit, page: str, run: ds.Run) -> None:
    """By a fresh page, and by a page that follows its address; one that makes sense still works."""
    sandbox = visit(page)
    sandbox.shows(5)
    for link in LINKS:
        sandbox.page.evaluate("(link) => { location.hash = link; }", link)
        sandbox.page.wait_for_timeout(150)
        harmless(sandbox)
        sandbox.page.reload()
        sandbox.page.wait_for_selector("header.top")
        harmless(sandbox)
    sandbox.open(run, epoch=7)
