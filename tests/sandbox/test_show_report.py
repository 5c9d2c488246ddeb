"""`dynascope show` of a folder of studies: the report, and all folders of runs behind it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import small_studies
from showing import FILES, Server, show
from small_studies import EPOCHS

import dynascope as ds
from dynascope.cli import main
from dynascope.sandbox.security import HEADERS
from dynascope.studies.report_page import policy

RULES = "; ".join(policy())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Named so that `server` shows it."""
    folder = tmp_path_factory.mktemp("report") / "small"
    small_studies.install()
    try:
        ds.study(["width", "bounds"], out=folder, progress=False)
    finally:
        small_studies.uninstall()
    (folder / "runs/damaged").mkdir()
    (folder / "runs/.hidden").mkdir()
    return folder


def test_the_report_is_at_the_root(server: Server, store: Path) -> None:
    answer = server.get("/")
    page = (store / "report.html").read_bytes()
    assert answer.status == 200
    assert answer.body == page.replace(b'<html lang="en">', b'<html lang="en" data-served="">')
    assert answer.headers["content-type"].startswith("text/html")
    assert server.get("/", If_None_Match=answer.headers["etag"]).status == 304


def test_the_page_may_do_what_its_own_policy_says_and_no_more(server: Server) -> None:
    headers = server.get("/").headers
    assert headers["content-security-policy"] == f"{RULES}; frame-ancestors 'none'"
    for name in ("x-content-type-options", "referrer-policy", "cross-origin-opener-policy"):
        assert headers[name] == {key.lower(): value for key, value in HEADERS.items()}[name]


def test_a_changed_report_gets_no_other_policy(server: Server, store: Path) -> None:
    """Whoever changed it: what is in the file allows nothing."""
    report = store / "report.html"
    before = report.read_bytes()
    try:
        report.write_bytes(b'<html lang="en"><script>alert(1)</script>')
        answer = server.get("/")
        assert b"alert" in answer.body
        assert answer.headers["content-security-policy"] == f"{RULES}; frame-ancestors 'none'"
        report.unlink()
        report.symlink_to("/etc/passwd")
        assert server.get("/").status == 404
    finally:
        report.unlink()
        report.write_bytes(before)


@pytest.mark.parametrize("name", ["default", "width"])
def test_every_source_has_its_sandbox(name: str, server: Server, store: Path) -> None:
    assert server.get(f"/runs/{name}/").body == FILES["index.html"]
    assert server.get(f"/runs/{name}/kernel.wasm").body == FILES["kernel.wasm"]
    assert server.get(f"/runs/{name}/page.html").status == 422  # the tiny client has none
    assert (
        server.get(f"/runs/{name}/").headers["content-security-policy"]
        == (HEADERS["Content-Security-Policy"])
    )
    about = server.get(f"/runs/{name}/api/store").json
    assert (about["name"], about["runs"]) == (name, 8)
    run = ds.load(store / "runs" / name)[0]
    found = server.get(f"/runs/{name}/api/run/{run.id}").json
    assert (found["seed"], found["epochs"]) == (run.seed, EPOCHS)
    assert found["weight_epochs"] == [0, EPOCHS]  # the others are computed again


@pytest.mark.parametrize("epoch", [1, 7, EPOCHS - 1])
def test_epochs_that_were_not_kept_are_computed_again(
    epoch: int, server: Server, store: Path
) -> None:
    run = ds.load(store / "runs/default")[3]
    found = server.get(f"/runs/default/api/run/{run.id}/replayed?first={epoch}&last={epoch}")
    assert found.status == 200
    full = ds.train(run.config.replace({"record.weights_every": 1}), [run.seed], progress=False)[0]
    assert found.body == full.parameters(epoch).flat.tobytes()


NOTHING = (
    *("/runs", "/runs/", "/runs/default", "/runs/nothing/", "/x", "/api/store"),
    *("/study.json", "/report.html", "/claims.json", "/index.html", "/data/", "/timings.json"),
    *("/runs/.hidden/", "/runs/default/../width/", "/runs//default/", "/runs/default//"),
    *("/runs/default/runs/", "/runs/default/sweep.json", "/runs/default/runs/default/"),
    *("/runs/default/index.html/", "/runs/default/api/run/x"),
)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        *[(path, 404) for path in NOTHING],
        ("/runs/damaged/", 422),
        ("/runs/damaged/api/store", 422),
        ("/?x=1", 400),
        ("/runs/default/api/store?x=1", 400),
    ],
)
def test_nothing_else_is_served(path: str, status: int, server: Server) -> None:
    answer = server.get(path)
    assert answer.status == status
    assert b"Traceback" not in answer.body


def test_errors_below_a_folder_are_json_too(server: Server) -> None:
    found = server.get("/runs/default/api/nothing")
    assert (found.status, [*json.loads(found.body)]) == (404, ["error"])


@pytest.mark.parametrize("path", ["/", "/runs/default/", "/runs/default/api/store"])
def test_the_same_guards_stand_before_all_of_it(path: str, server: Server) -> None:
    for headers in (
        {"Cookie": ""},
        {"Host": f"evil.example:{server.port}"},
        {"Origin": "http://evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
    ):
        assert server.get(path, **headers).status in (403, 421)
    assert server.get(path, method="POST").status == 405
    assert server.get("/runs/default/?token=" + server.token, Cookie="").status == 403


@pytest.fixture(scope="module")
def one(store: Path, static: Path) -> Iterator[Server]:
    run = ds.load(store / "runs/default")[2]
    with show(static, f"{store}/runs/default#{run.id[:8]}@7", "--no-open") as running:
        yield running


def test_a_run_is_shown_by_its_address(one: Server, store: Path) -> None:
    run = ds.load(store / "runs/default")[2]
    assert one.fragment == f"#v=1&run={run.id}&t=7"
    assert one.get("/api/store").json["shown"] == {"run": run.id, "epoch": 7, "beside": None}


def refused(capsys: pytest.CaptureFixture[str], folder: object) -> str:
    assert main(["show", str(folder), "--no-open"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    return str(said)


def test_what_cannot_be_shown_is_one_sentence(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert re.search("expected a run of one of its folders", refused(capsys, f"{store}#seed=3"))
    (tmp_path / "study.json").write_bytes((store / "study.json").read_bytes())
    assert "has no report yet" in refused(capsys, tmp_path)
    (tmp_path / "study.json").write_text("{")
    assert "expected what `dynascope study` writes" in refused(capsys, tmp_path)
