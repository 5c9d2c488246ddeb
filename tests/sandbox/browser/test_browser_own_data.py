"""The sandbox in a real browser, of runs with data of their own: what applies, and nothing else."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browsing import PANELS, Opener, Sandbox, majority, serving, tokens
from playwright.sync_api import Locator, expect
from showing import Server

import dynascope as ds
from dynascope.number_text import percent

EPOCHS = 50


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("own")


@pytest.fixture(scope="module")
def runs(folder: Path) -> dict[str, ds.Run]:
    """Majority, the same model on the kernel's task, and data without a test set."""
    sizes = {"task.length": 8, "task.train_size": 400, "task.test_size": 200}
    config = ds.Config().replace({**sizes, "training.epochs": EPOCHS})
    every = np.indices((3, 3)).reshape(2, -1).T
    few = ds.Config().replace(
        {"task.length": 2, "task.vocab": 3, "task.relevant": 1}
        | {"training.epochs": 5, "training.batch": 4}
    )
    store = folder / "store"
    ds.train(config, [0], data=majority(), progress=False).save(store)
    ds.train(config, [1], progress=False).save(store, append=True)
    data = ds.Data(train=(every[:-1], every[:-1].max(axis=1)))
    ds.train(few, [2], data=data, progress=False).save(store, append=True)
    return dict(zip(("majority", "addition", "trained only"), ds.load(store), strict=True))


@pytest.fixture(scope="module")
def server(runs: dict[str, ds.Run], folder: Path) -> Iterator[Server]:
    with serving(folder) as running:
        yield running


def fact(page: Sandbox, name: str) -> Locator:
    return page.page.locator(".side dt", has_text=name).locator("+ dd")


@pytest.mark.parametrize("epoch", [0, 5, EPOCHS])
def test_its_accuracy_is_the_true_one(page: Sandbox, runs: dict[str, ds.Run], epoch: int) -> None:
    run = runs["majority"]
    page.open(run, epoch=epoch)
    for split, count in (("test", 200), ("train", 400)):
        accuracy = float(run.curves[f"{split}_accuracy"][epoch])
        assert epoch < EPOCHS or accuracy == 1.0
        told = fact(page, f"accuracy, {split} set of {count}")
        expect(told).to_have_text(percent(accuracy))
    expect(fact(page, "chance")).to_have_text(percent(run.task.chance))


def test_no_number_is_shown_that_does_not_apply(fresh: Opener, runs: dict[str, ds.Run]) -> None:
    page = fresh()
    page.open(runs["majority"], epoch=EPOCHS)
    expect(page.page.get_by_role("button", name="no spikes")).to_be_visible()  # it is analysed
    for chip in ("own data", "p 2 · N 8 · 2 classes"):
        expect(page.page.locator(".chip").get_by_text(chip, exact=True)).to_be_visible()
    parts = page.page.locator("header.top, .stage, .time, .card:not(:has(.run-list))")
    titled = page.page.locator(".app [title]:not(.run-list *), .app [aria-label]:not(.run-list *)")
    hidden = "[...nodes].map((node) => `${node.title} ${node.ariaLabel ?? ''}`)"
    said = "\n".join([*parts.all_inner_texts(), *titled.evaluate_all(f"(nodes) => {hidden}")])
    said = said.replace("it is not known which are relevant", "")
    expect(page.page.locator(".phases-unknown")).to_have_count(0)
    assert "own data" in said
    assert "accuracy, test set" in said
    for word in (
        *("all sequences", "relevant", "multiset", "permutation", "suffix", "survives", "clusters"),
        *("unsolved", "Circuit", "being", "modular", "k 5"),
    ):
        assert word not in said, word
    expect(page.panel("shares")).to_have_count(0)
    expect(page.page.locator(".panel")).to_have_count(PANELS - 1)
    page.page.get_by_role("button", name="Panels").click()
    expect(page.page.get_by_label("Hessian spectrum")).not_to_have_count(0)
    expect(page.page.get_by_role("checkbox", name="Variance shares")).to_have_count(0)
    assert not any("circuit-worker" in url for url in page.requests)
    page.open(runs["addition"], epoch=EPOCHS)
    assert any("circuit-worker" in url for url in page.requests)


def test_its_sequences_have_their_own_targets(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    run = runs["majority"]
    page.open(run, epoch=EPOCHS)
    rows = page.data("sequence")
    shown, (known, _) = tokens(rows), run.examples("test")
    assert [int(row["target"]) for row in rows] == (shown.sum(axis=1) >= 4).astype(int).tolist()
    assert {row.tobytes() for row in shown} == {row.tobytes() for row in known.astype(shown.dtype)}
    assert not any("·" in row["sequence"] for row in rows)
    assert [*page.data("positions")[0]] == ["position", "x", "y"]
    picture = page.saved("sequence", "Save as SVG")
    assert "class 0" in picture
    assert "class 1" in picture


def test_without_a_test_set_the_train_set_is_shown(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    run = runs["trained only"]
    page.open(run, epoch=5)
    expect(page.page.locator(".side dt", has_text="test set")).to_have_count(0)
    accuracy = float(run.curves["train_accuracy"][5])
    expect(fact(page, "accuracy, train set of 8")).to_have_text(percent(accuracy))
    rows = page.data("output")
    assert len(rows) == 8
    assert [int(row["target"]) for row in rows] == tokens(rows).max(axis=1).tolist()


def test_typed_sequences_have_a_target_if_it_is_known(
    page: Sandbox, runs: dict[str, ds.Run]
) -> None:
    page.open(runs["trained only"], epoch=5)
    page.page.get_by_role("button", name="Sequences", exact=True).click()
    form = page.page.locator("form.sequences")
    expect(form).to_contain_text("8 sequences are shown, of the train set.")
    expect(form).to_contain_text("those that are not in the data have no target")
    form.get_by_label("Sequences").fill("22, 12, 00")
    form.get_by_role("button", name="Show these").click()
    expect(form).to_contain_text("3 sequences are shown, as typed.")
    page.shows(5)
    rows = page.data("probabilities")[::3]
    assert {row["sequence"]: row["target"] for row in rows} == {"00": "0", "12": "2", "22": ""}
    page.page.keyboard.press("Escape")
    page.panel("attention").locator("canvas").hover(position={"x": 100, "y": 15})
    expect(page.page.locator(".pointer dt", has_text="target / prediction")).to_be_visible()
    assert "relevant tokens" not in page.facts()


def test_beside_a_run_of_another_task(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open(runs["addition"], runs["majority"], epoch=10)
    halves = page.page.locator(".half")
    expect(halves.nth(0).locator(".panel")).to_have_count(PANELS)
    expect(halves.nth(1).locator(".panel")).to_have_count(PANELS - 1)
    rows = page.page.locator(".compare tr")
    expect(rows.filter(has_text="task")).to_have_text("taskmodular-additionown data")
    expect(rows.filter(has_text="verdict")).to_have_text("verdict, at endunsolved–")
    expect(fact(page, "accuracy, all sequences")).to_have_count(1)
    page.page.get_by_role("button", name="Swap").click()
    expect(fact(page, "accuracy, test set of 200")).to_have_count(1)
    expect(fact(page, "accuracy, all sequences")).to_have_count(0)


def test_the_table_says_own_data_and_no_verdict(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    page.open_table()
    heads = page.page.locator(".runs-page thead th").all_inner_texts()
    cells = {
        row.locator("th").inner_text()[:8]: dict(
            zip(heads, row.locator("th, td").all_inner_texts(), strict=True)
        )
        for row in page.rows.all()
    }
    own, other = (cells[runs[name].id[:8]] for name in ("majority", "addition"))
    names = {name.strip(): name for name in heads}
    assert (own[names["task"]], other[names["task"]]) == ("own data", "modular-addition")
    assert (own[names["relevant"]], other[names["relevant"]]) == ("–", "0, 1, 2, 3, 4")
    assert "data" not in names
    page.page.get_by_label("Filter the runs").fill('task:"own data"')
    expect(page.rows).to_have_count(2)
    page.open(runs["trained only"], epoch=5)  # less than solved, but of nothing that has a verdict
    items = page.page.locator(".run-list .name")
    expect(items.get_by_text("–", exact=True)).to_have_count(2)
