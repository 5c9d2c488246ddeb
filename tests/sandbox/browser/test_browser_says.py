"""What the page says, in a real browser: of which epoch and run, and nothing that is not so."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import Opener, Sandbox, points, serving
from playwright.sync_api import Locator, Route, expect
from showing import Server

import dynascope as ds
from dynascope.run import Origin

LONG, SHORT = 120, 40
RUNS: dict[str, dict[str, Any]] = {
    "solved": {"training.lr": 0.05, "training.epochs": 150},
    "ends": {"record.weights_every": 0, "record.state_every": 50},
    "tenth": {"record.weights_every": 10, "record.state_every": 0},
    "short": {"training.epochs": SHORT},
    "wide": {"task.vocab": 13, "task.length": 6, "task.relevant": 3, "training.epochs": 3},
}


def imported(run: ds.Run) -> ds.Run:
    """The same weights, as if other code had trained them."""
    fields = {name: getattr(run, name) for name in run.__dataclass_fields__}
    return ds.Run(**fields | {"origin": Origin("import", "0" * 20)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("says")


@pytest.fixture(scope="module")
def runs(folder: Path) -> dict[str, ds.Run]:
    store = folder / "store"
    for i, changes in enumerate(RUNS.values()):
        config = ds.Config().replace({"training.epochs": LONG} | changes)
        seed = 7 if i == 0 else i
        ds.train(config, [seed], progress=False).save(store, append=i > 0)
    ds.Runs([imported(ds.load(store)[2].loaded())]).save(store, append=True)
    ds.load(store)[:1].analyse(progress=False)
    return dict(zip([*RUNS, "imported"], ds.load(store), strict=True))


@pytest.fixture(scope="module")
def server(runs: dict[str, ds.Run], folder: Path) -> Iterator[Server]:
    with serving(folder) as running:
        yield running


def note(page: Sandbox) -> Locator:
    return page.page.locator(".weights-note")


def fact(page: Sandbox, name: str) -> Locator:
    return page.page.locator(".side dt", has_text=name).locator("+ dd")


# ---- weights that were not kept -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["ends", "tenth"])
def test_every_epoch_is_shown_though_few_were_kept(
    page: Sandbox, runs: dict[str, ds.Run], name: str
) -> None:
    run = runs[name]
    for epoch in (57, 3, LONG - 1):
        page.open(run, epoch=epoch)
        expect(note(page)).to_have_text("recomputed")
        expect(note(page)).to_have_attribute("title", re.compile(f"epoch {epoch} were not kept"))
        wanted = run.parameters(epoch).token_embedding
        np.testing.assert_allclose(points(page.data("tokens")), wanted, atol=1e-6)
    expect(page.page.locator(".card", has_text="Circuit")).to_contain_text(f"at epoch {LONG - 1}")
    page.press("End", LONG)
    page.shows(LONG)
    expect(note(page)).to_have_count(0)  # that one was kept


def test_play_goes_through_recomputed_epochs(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["ends"], epoch=30)
    page.page.get_by_label("Play", exact=True).click()
    page.page.wait_for_function(
        "() => dynascope.slots.value[0]?.scene.value?.epoch > 60"
        " && dynascope.slots.value[0].scene.value.source === 'recomputed'"
    )
    expect(page.epoch).to_have_text(f"epoch {LONG}", timeout=20_000)


def test_what_is_no_longer_wanted_is_called_off(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    """The slider moves on while an epoch is still being computed: the page says so, and the request
    is given up."""
    page, run = fresh(), runs["ends"]
    page.open(run, epoch=0)
    held: list[Route] = []
    page.context.route("**/replayed?first=32&last=63", lambda route: held.append(route))
    with page.page.expect_request("**/replayed?first=32&last=63"):
        page.go(f"v=1&run={run.id}&t=57")
    expect(note(page)).to_have_text("recomputing · panels: epoch 0")
    with page.page.expect_event(
        "requestfailed", lambda request: "first=32" in request.url
    ) as failed:
        page.go(f"v=1&run={run.id}&t=110")
    assert failed.value.failure == "net::ERR_ABORTED"
    page.shows(110)
    expect(note(page)).to_have_text("recomputed")
    assert len(held) == 1


def test_the_server_is_asked_again_for_what_takes_long(
    fresh: Opener, runs: dict[str, ds.Run]
) -> None:
    page, asked = fresh(), 0

    def late(route: Route) -> None:
        nonlocal asked
        asked += 1
        if asked < 3:
            route.fulfill(status=503, json={"error": "Ask once more."})
        else:
            route.continue_()

    page.context.route("**/replayed?first=32&last=63", late)
    page.open(runs["ends"], epoch=57)
    expect(note(page)).to_have_text("recomputed")
    assert asked == 3
    page.problems = [each for each in page.problems if "503" not in each]  # the browser's own line


def test_where_nothing_can_be_recomputed_the_epoch_is_named(
    page: Sandbox, runs: dict[str, ds.Run]
) -> None:
    page.go(f"v=1&run={runs['imported'].id}&t=57")
    expect(note(page)).to_have_text("not kept · panels: epoch 50")
    about = note(page).get_attribute("title") or ""
    assert about.startswith("The weights of epoch 57 were not kept, and they cannot be computed")
    assert "it was imported without data and moments" in about


def test_a_server_that_fails_after_all_is_told(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = fresh()
    page.context.route(
        "**/replayed?**", lambda route: route.fulfill(status=422, json={"error": "It differs."})
    )
    page.go(f"v=1&run={runs['tenth'].id}&t=57")
    expect(note(page)).to_have_text("not kept · panels: epoch 50")
    expect(note(page)).to_have_attribute("title", re.compile(r"It differs\.$"))
    page.problems = [each for each in page.problems if "422" not in each]


# ---- of which epoch, of which run ---------------------------------------------------------------


def test_the_verdict_is_that_of_the_end(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], epoch=0)
    ending = runs["solved"].parameters(), runs["solved"].config
    verdict = ds.analysis.circuit(*ending).verdict.name
    kept = ds.analysis.kept_sum(*ending)
    assert kept is not None
    chip = page.page.locator(".chip.good, .chip.muted")
    expect(chip).to_have_text(re.compile(rf"^at the end: {kept.kind} · {verdict} · test \d"))
    expect(page.page.locator(".card", has_text="Circuit")).to_contain_text("at epoch 0")


def test_clusters_are_never_without_the_expected(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    """One for each value of the sum that is kept; if there is none, one for each multiset."""
    run = runs["solved"]
    wanted = set()
    for epoch in (0, 150):
        page.open(run, epoch=epoch)
        weights = run.parameters(epoch)
        found = ds.analysis.circuit(weights, run.config)
        kept = ds.analysis.kept_sum(weights, run.config)
        assert kept is not None
        told = "unclear" if found.clusters is None else str(found.clusters)
        of = f"of {kept.values} values" if kept.holds else "6 expected"
        expect(fact(page, f"clusters ({of})")).to_have_text(told)
        wanted.add(of)
    assert len(wanted) == 2


def test_a_shorter_run_says_where_it_stays(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], runs["short"], epoch=100)
    heads = page.page.locator(".half h2")
    expect(heads.nth(1)).to_contain_text(f"stays at epoch {SHORT}, its last")
    expect(heads.nth(0)).not_to_contain_text("stays")
    epochs = page.page.locator(".compare tr", has=page.page.get_by_text("epoch", exact=True))
    expect(epochs.locator("td")).to_have_text(["100", str(SHORT)])
    page.press("Home", 0)
    expect(heads.nth(1)).not_to_contain_text("stays")
    page.page.get_by_role("button", name="Swap").click()
    page.open(runs["short"], runs["solved"], epoch=100)
    loss = float(runs["short"].curves["train_loss"][SHORT])
    expect(page.page.locator(".losses")).to_contain_text(f"left: train {loss:.3g}")
    page.open(runs["solved"], runs["ends"], epoch=57)
    expect(heads.nth(1)).to_contain_text("recomputed")


def test_cards_say_to_which_run_they_belong(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["solved"], runs["short"], epoch=20)
    for title in ("Circuit", "Curvature"):
        card = page.page.locator(".card", has=page.page.get_by_role("heading", name=title))
        expect(card.locator(".which-run")).to_have_text("left run")
    page.page.locator(".half").nth(1).locator("[data-panel=attention] canvas").hover()
    expect(page.page.locator(".pointer .which-run")).to_have_text("right run")
    expect(page.page.locator(".time")).to_contain_text(", left")
    page.open(runs["solved"], epoch=20)
    expect(page.page.locator(".which-run")).to_have_count(0)


def test_phases_that_are_not_known_have_no_band(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    told = page.page.locator(".phases-unknown")
    page.open(runs["ends"])
    expect(told).to_have_text("phases unknown")
    expect(told).to_have_attribute("title", re.compile("record.weights_every is 0"))
    page.open(runs["solved"])
    expect(page.page.get_by_role("button", name=re.compile("spike"))).to_be_visible()
    expect(told).to_have_count(0)


# ---- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("accuracy", "told"), [(0.9986, "99.9%"), (0.9996, ">99.9%"), (1, "100%")])
def test_nothing_is_rounded_to_certainty(
    fresh: Opener, runs: dict[str, ds.Run], accuracy: float, told: str
) -> None:
    page, run = fresh(), runs["solved"]

    def about(route: Route) -> None:
        answer = route.fetch()
        said = answer.json()
        said["summary"]["accuracy"] = accuracy
        route.fulfill(response=answer, json=said)

    def table(route: Route) -> None:
        answer = route.fetch()
        said = answer.json()
        said["columns"]["accuracy"][0] = accuracy
        route.fulfill(response=answer, json=said)

    page.context.route(f"**/api/run/{run.id}", about)
    page.context.route("**/api/runs", table)
    page.open(run)
    expect(page.page.locator(".chip.good, .chip.muted")).to_contain_text(f"· test {told}")
    expect(page.page.locator(".run-list .open .accuracy")).to_have_text(told)
    page.open_table()
    expect(page.rows.filter(has_text=run.id[:8])).to_contain_text(told)


# ---- the table ----------------------------------------------------------------------------------


def test_a_filter_that_is_typed_never_empties_the_table(
    page: Sandbox, runs: dict[str, ds.Run]
) -> None:
    page.open_table()
    field, told = page.page.get_by_label("Filter the runs"), page.page.locator(".bar .found")
    expect(page.rows).to_have_count(len(runs))
    for typed in ("acc", "accuracy", "accuracy >", "accuracy > "):
        field.fill(typed)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(told).to_contain_text("The rows are as before.")
        expect(page.rows).to_have_count(len(runs))
    field.fill("accuracy > 0.9")
    expect(page.rows).to_have_count(1)
    expect(told).to_have_text(f"1 of {len(runs)} runs")
    field.fill("accuracy > 0.9 seed >=")
    expect(told).to_contain_text("seed>= needs a value after it")
    expect(page.rows).to_have_count(1)
    field.fill("verdict:nosuch")
    expect(page.rows).to_have_count(0)
    verdict = ds.analysis.circuit(runs["solved"].parameters(), runs["solved"].config).verdict.name
    expect(page.page.locator(".runs-page .notice")).to_contain_text(f"verdict here: {verdict}")


def test_list_table_and_filter_have_the_same_verdicts(
    fresh: Opener, runs: dict[str, ds.Run]
) -> None:
    """At first only that of the run that was analysed; then also that of the run that is opened."""
    page = fresh()

    def verdicts(column: int) -> dict[str, str]:
        return {
            row.locator("th").inner_text()[:8]: row.locator("td").nth(column).inner_text()
            for row in page.rows.all()
        }

    page.open(runs["solved"])
    names = page.page.locator(".run-list .name")
    expect(names).to_have_count(len(runs))
    assert names.all_inner_texts().count("–") == len(runs) - 1
    run = runs["short"]
    page.open(run)
    expect(page.page.locator(".run-list .open .name")).to_have_text("unsolved")
    listed = sorted(names.all_inner_texts(), key=lambda name: name.rpartition(" ")[2])
    assert any(name.startswith("plain · ") for name in listed)
    page.open_table()
    column = page.page.locator(".runs-page thead th").all_inner_texts().index("verdict") - 1
    in_table = verdicts(column)
    assert [name.rpartition(" ")[2] for name in listed] == sorted(in_table.values())
    assert verdicts(column)[run.id[:8]] == "unsolved"
    page.page.get_by_label("Filter the runs").fill("verdict:unsolved")
    expect(page.rows).to_have_count(1)
    expect(page.rows.first).to_contain_text(run.id[:8])


# ---- sequences ----------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["3 11 0 12 1 2, 0 0 12 0 0 0", "3,11,0,12,1,2\n0,0,12,0,0,0"])
def test_tokens_of_two_digits_can_be_typed(
    page: Sandbox, runs: dict[str, ds.Run], typed: str
) -> None:
    page.open(runs["wide"], epoch=3)
    page.page.get_by_role("button", name="Sequences", exact=True).click()
    form = page.page.locator("form.sequences")
    expect(form).to_contain_text("6 numbers from 0 to 12 with spaces between, such as 0 1 4 9 3 12")
    form.get_by_label("Sequences").fill("31101212")
    form.get_by_role("button", name="Show these").click()
    expect(form.get_by_role("alert")).to_contain_text("with spaces between")
    form.get_by_label("Sequences").fill(typed)
    form.get_by_role("button", name="Show these").click()
    expect(form).to_contain_text("2 sequences are shown, as typed.")
    page.shows(3)
    rows = page.data("sequence")
    assert {row["sequence"]: int(row["target"]) for row in rows} == {
        "3 11 0·12 1 2": 1,
        "0 0 12·0 0 0": 12,
    }
