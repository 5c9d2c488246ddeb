"""The server as the client meets it: bytes are Python's, and what is wrong is one sentence."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analysed import train
from showing import FILES, Answer, Server, show

import dynascope as ds
from dynascope.analysis import thresholds
from dynascope.analysis.phases import phases_by_multisets
from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.analysis.sum_progress import sum_progress
from dynascope.findings.registry import kind_of
from dynascope.plain import plain
from dynascope.run import SOLVED_ACCURACY

RUNS = {
    "plain": ({}, {}),
    "float64": ({"precision": "float64", "model.bias": False, "model.dim": 3}, {}),
    "sparse": ({"record.weights_every": 7, "record.state_every": 0, "record.unseen": True}, {}),
    "ends": ({"record.weights_every": 0, "task.vocab": 3, "task.relevant": [1, 4]}, {}),
    "diverged": ({"training.lr": 1e30, "training.optimizer": "sgd", "model.norm": "none"}, {}),
    "data": ({"training.batch": 1}, {"data": ds.Data(train=([[0, 1, 0, 1, 1]], [1]))}),
}


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


def test_the_page_as_one_file_is_text(server: Server, static: Path) -> None:
    """Without runs, for a page that makes a file of itself; a sentence where it is not built."""
    missing = server.get("/page.html")
    assert (missing.status, "run scripts/build-web" in missing.body.decode()) == (422, True)
    folder = static / "embedded"
    folder.mkdir()
    for name in ("page.js", "page.css", "widget.js"):
        (folder / name).write_text(f"/* {name} */", encoding="utf-8")
    answer = server.get("/page.html")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert b"<script>/* page.js */</script>" in answer.body
    assert b"dynascope-archive" not in answer.body
    again = server.get("/page.html", If_None_Match=answer.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    assert server.get("/page.html?x=1").status == 400


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
    assert told["shown"] == {"run": None, "epoch": None, "beside": None}
    assert told["offers"] == ["table", "curvature", "docs"]
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


def test_thresholds_are_those_of_python(server: Server, runs: ds.Runs) -> None:
    wanted = {
        "solved_accuracy": SOLVED_ACCURACY,
        "clear_gap": thresholds.CLEAR_GAP,
        "rounding": thresholds.ROUNDING,
        "sum_share": thresholds.SUM_SHARE,
        "relevant_attention": thresholds.RELEVANT_ATTENTION,
    }
    for path in ("/api/runs", f"/api/run/{runs[0].id}"):
        assert server.get(path).json["thresholds"] == wanted


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
    assert told["last_sound_epoch"] == last_sound_epoch(run)
    assert told["positions"] == list(run.config.task.positions)
    assert told["weight_epochs"] == run.weight_epochs.tolist()
    assert told["state_epochs"] == run.state_epochs.tolist()
    assert told["curves"] == list(run.curves)
    assert told["origin"] == (None if run.origin is None else run.origin.to_dict())
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


def test_a_few_sequences_of_each_class(server: Server, runs: ds.Runs) -> None:
    run, path = runs[0], f"/api/run/{runs[0].id}/sequences"
    told = server.get(f"{path}?most=6").json
    assert told["set"] == "test"
    tokens, targets = (each.tolist() for each in run.examples("test"))
    assert len({*map(tuple, told["tokens"])}) == len(told["tokens"]) == 6
    assert [targets[tokens.index(row)] for row in told["tokens"]] == told["targets"]
    assert np.bincount(told["targets"]).tolist() == [3, 3]
    places = [tokens.index(row) for row in told["tokens"]]
    assert places == sorted(places)
    every = server.get(f"{path}?most=999").json
    assert {*map(tuple, every["tokens"])} == {*map(tuple, tokens)}


def test_sequences_of_data_of_its_own(server: Server, runs: ds.Runs) -> None:
    """Without a test set they are those of the train set."""
    run = runs[list(RUNS).index("data")]
    answer = server.get(f"/api/run/{run.id}/sequences?most=1")
    assert answer.json == {"set": "train", "tokens": [[0, 1, 0, 1, 1]], "targets": [1]}
    again = server.get(f"/api/run/{run.id}/sequences?most=1", If_None_Match=answer.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    task = server.get(f"/api/run/{run.id}").json["task"]
    assert (task["name"], task["positions"], task["classes"]) == ("own data", None, 2)


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
        ("/api/run/{id}/sequences", 400, "Expected most=256"),
        ("/api/run/{id}/sequences?most=0", 400, "each once"),
        ("/api/run/{id}/sequences?most=1000", 400, "each once"),
        ("/api/run/{other}/sequences?most=1", 404, "The store has no run"),
        ("/api/run/{id}/weights?epoch=3", 400, "this address takes none."),
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
    whole = json.loads(json.dumps(plain(circuit)))
    assert told["circuit"] == {name: part for name, part in whole.items() if name != "sum"}
    kept = ds.analysis.kept_sum(run.parameters(), run.config)
    assert kept is not None
    assert told["sum"] == json.loads(json.dumps(plain(kind_of("kept_sum").json(kept))))["sum"]
    assert (told["sum"]["sum_kind"], told["sum"]["told"]) == (kept.kind, kept.describe())
    progress = sum_progress(run)
    assert progress is not None
    assert told["progress"]["told"] == progress.describe()
    phases = phases_by_multisets(run)
    assert told["phases"] == plain(phases) | {"told": phases.describe()}
    spikes = ds.analysis.spikes(run)
    assert [each["told"] for each in told["spikes"]["spikes"]] == [
        {"headline": each.told.headline, "lines": list(each.told.lines)} for each in spikes.spikes
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
    assert "its own data" in data["notes"]["circuit"]
    assert (data["sum"], data["progress"]) == (None, None)
    assert "its own data" in data["notes"]["kept_sum"]
    assert ends["sum"]["holds"] in (True, False)


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
