"""What the sandbox draws and saves is what Python computes."""

import re

import numpy as np
import pytest
from browsing import Opener, Sandbox, points, tokens
from playwright.sync_api import Route, expect

import dynascope as ds
from dynascope.projection import plane

POINTS = {  # panel: the stage of the model that it shows, one row for each sequence
    "sequence": "sequence",
    "sequence_normalized": "sequence_normalized",
    "feed_forward": "feed_forward",
    "output": "output",
}
MAPS = {"decision_map": "sequence", "output_map": "output"}
PAIRS = {"embeddings": "embedding", "normalized": "normalized", "values": "values"}


@pytest.mark.parametrize(("name", "epoch"), [("solved", 0), ("solved", 97), ("three", 40)])
def test_points_are_pythons(page: Sandbox, runs: dict[str, ds.Run], name: str, epoch: int) -> None:
    page.open(runs[name], epoch=epoch)
    weights = runs[name].parameters(epoch)
    model = runs[name].config.model
    for panel, wanted in {
        "tokens": weights.token_embedding,
        "positions": weights.position_embedding,
        "receptors": weights.receptors,
        "assemblers": weights.assemblers.T,
    }.items():
        np.testing.assert_allclose(points(page.data(panel)), wanted, atol=1e-6, err_msg=panel)
    units = page.data("neurons")
    half = len(units) // 2
    assert [row["end"] for row in units] == ["receptor"] * half + ["assembler"] * half
    ends = np.concatenate([weights.receptors, weights.assemblers.T])
    np.testing.assert_allclose(points(units), ends, atol=1e-6, err_msg="neurons")
    for panel, stage in POINTS.items():
        rows = page.data(panel)
        wanted = getattr(ds.forward(weights, tokens(rows), model), stage)
        np.testing.assert_allclose(points(rows), wanted, atol=1e-6, err_msg=panel)
    length, vocab = runs[name].config.task.length, runs[name].config.task.vocab
    constant = np.repeat(np.arange(vocab)[:, None], length, axis=1)  # each token everywhere
    for panel, stage in PAIRS.items():
        rows = [row for row in page.data(panel) if row["token"] != "query"]
        wanted = getattr(ds.forward(weights, constant, model), stage).reshape(-1, 2)
        where = [int(row["token"]) * length + int(row["position"]) for row in rows]
        assert where == list(range(vocab * length))
        np.testing.assert_allclose(points(rows), wanted, atol=1e-6, err_msg=panel)


@pytest.mark.parametrize("name", ["solved", "three", "wide"])
def test_attention_and_probabilities_are_pythons(
    page: Sandbox, runs: dict[str, ds.Run], name: str
) -> None:
    run, epoch = runs[name], 33
    page.open(run, epoch=epoch)
    attention, probabilities = page.data("attention"), page.data("probabilities")
    length, vocab = run.config.task.length, run.config.task.vocab
    sequences = tokens(attention[::length])
    wanted = ds.forward(run.parameters(epoch), sequences, run.config.model)
    found = np.array([float(row["attention"]) for row in attention]).reshape(-1, length)
    np.testing.assert_allclose(found, wanted.attention, atol=1e-6)
    assert (tokens(probabilities[::vocab]) == sequences).all()
    found = np.array([float(row["probability"]) for row in probabilities]).reshape(-1, vocab)
    np.testing.assert_allclose(found, wanted.probabilities, atol=1e-6)
    sums = sequences[:, run.config.task.positions].sum(axis=1) % vocab
    assert [int(row["target"]) for row in probabilities[::vocab]] == sums.tolist()


@pytest.mark.parametrize("name", ["solved", "three"])
@pytest.mark.parametrize(
    ("panel", "stage"), [("decision_map", "sequence"), ("output_map", "output")]
)
def test_maps_are_pythons(
    page: Sandbox, runs: dict[str, ds.Run], name: str, panel: str, stage: str
) -> None:
    run, epoch = runs[name], 33
    page.open(run, epoch=epoch)
    rows = page.data(panel)[:: 101 * run.config.task.vocab]  # some of 64 x 64 cells
    places = points(rows)
    sequences = np.zeros((len(places), run.config.task.length), np.int32)
    wanted = ds.forward(
        run.parameters(epoch), sequences, run.config.model, None, {MAPS[panel]: places}
    )
    classes = np.array([int(row["class"]) for row in rows])
    found = np.array([float(row["logit"]) for row in rows])
    np.testing.assert_allclose(found, wanted.logits[np.arange(len(rows)), classes], atol=1e-4)


def test_more_dimensions_are_projected(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    run = runs["wide"]
    page.open(run, epoch=15)
    rows = page.data("sequence")
    at_end, now = (
        ds.forward(run.parameters(epoch), tokens(rows), run.config.model).sequence
        for epoch in (run.epochs, 15)
    )
    found = plane(at_end)
    np.testing.assert_allclose(points(rows), now @ found.axes.T, atol=1e-6)
    kept = round(100 * float(found.shares.sum()))
    expect(page.panel("sequence").locator(".plane")).to_have_text(f"plane, {kept}%")


def test_losses_are_the_runs(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    """At an epoch whose losses are far from its neighbours'."""
    epoch, curves = 10, runs["solved"].curves
    page.open(runs["solved"], epoch=epoch - 1)
    page.press("ArrowRight", epoch)
    told = page.page.locator(".losses").inner_text()
    for name in ("train", "test"):
        found = re.search(rf"{name} (\S+)", told)
        assert found is not None, told
        near = np.isclose(curves[f"{name}_loss"], float(found[1]), rtol=5e-3)  # three digits
        assert near[epoch - 1 : epoch + 2].tolist() == [False, True, False]
    rows = page.data("loss")
    for name in ("train_loss", "test_loss"):
        saved = np.array([float(row[name]) for row in rows])
        np.testing.assert_array_equal(saved.astype(curves[name].dtype), curves[name])


def test_files_are_named_by_what_they_hold(page: Sandbox, runs: dict[str, ds.Run]) -> None:
    """After the epoch whose weights are seen."""
    run = runs["sparse"]
    page.open(run, epoch=17)
    expect(page.epoch).to_have_text("epoch 17")
    for panel, how, name in [
        ("tokens", "Data as CSV", "epoch17-tokens.csv"),
        ("sequence", "Save as SVG", "epoch17-sequence.svg"),
        ("decision_map", "Save as PNG", "epoch17-decision_map.png"),
        ("loss", "Save as SVG", "epoch17-loss.svg"),  # with the playhead in it
        ("loss", "Data as CSV", "loss.csv"),  # of all epochs
    ]:
        assert page.download(panel, how).suggested_filename == f"{run.id[:8]}-{name}"
    np.testing.assert_allclose(
        points(page.data("tokens")), run.parameters(17).token_embedding, atol=1e-6
    )


@pytest.mark.parametrize(("gap", "clusters"), [(0, "6"), (1e9, "unclear")])
def test_the_server_says_what_is_clear(
    fresh: Opener, runs: dict[str, ds.Run], gap: float, clusters: str
) -> None:
    page, run = fresh(), runs["solved"]

    def otherwise(route: Route) -> None:
        answer = route.fetch()
        told = answer.json()
        route.fulfill(
            response=answer, json=told | {"thresholds": told["thresholds"] | {"clear_gap": gap}}
        )

    page.context.route(f"**/api/run/{run.id}", otherwise)
    page.open(run, epoch=run.epochs)
    fact = page.page.locator(".card dt:has-text('clusters (of 6 values)') + dd")
    expect(fact).to_have_text(clusters)
