"""Pictures of `ds.plots` show what the page shows of the same run at the same epoch."""

from typing import Any

import numpy as np
import pytest
from browsing import Sandbox

import dynascope as ds
from dynascope.plots._extents import Extent

# All that a scene holds, in data coordinates, and the plan of the panels.
_SCENE = """() => {
  const slot = dynascope.slots.value[0];
  const scene = slot.scene.value;
  const points = Object.fromEntries(Object.entries(scene.points).map(
    ([panel, { x, y }]) => [panel, [Array.from(x), Array.from(y)]]));
  return {
    points, query: [scene.query.x[0], scene.query.y[0]],
    attention: Array.from(scene.attention), probabilities: Array.from(scene.probabilities),
    tokens: Array.from(slot.sequences.value.tokens),
    radius: slot.plan.value.radius,
    maps: Object.fromEntries(Object.entries(scene.maps).map(([name, map]) => [name, {
      logits: Array.from(map.logits), extent: map.extent, width: map.width, height: map.height }])),
    shares: Object.fromEntries(Object.entries(slot.plan.value.planes).map(
      ([panel, plane]) => [panel, plane.projected ? plane.shares[0] + plane.shares[1] : null])),
  }; }"""
# Maps are made for the axes that are seen, after the first picture: until then they are blank.
_MAPS_ARE_THERE = """() => {
  const { scene, mapExtents } = dynascope.slots.value[0];
  const made = scene.value.maps, wanted = mapExtents.value;
  return ["decision_map", "output_map"].every((name) =>
    JSON.stringify(made[name].extent) === JSON.stringify(wanted[name]));
}"""
CASES = [("spike", 200), ("wide", 17), ("three", 40), ("sparse", 9), ("solved", 0)]


@pytest.mark.parametrize(("name", "epoch"), CASES)
def test_points_attention_and_maps(
    name: str, epoch: int, page: Sandbox, runs: dict[str, ds.Run]
) -> None:
    run = runs[name]
    page.open(run, epoch=epoch)
    scene: dict[str, Any] = page.page.evaluate(_SCENE)
    seen = ds.plots.view(run, epoch)
    assert seen.sequences.tokens.ravel().tolist() == scene["tokens"]
    for panel, (x, y) in scene["points"].items():
        points = seen.points(panel)
        assert np.allclose(points, np.column_stack([x, y]), rtol=1e-9, atol=1e-12), panel
        share = seen.shown.plane(panel).share
        assert (share is None) == (scene["shares"][panel] is None)
        assert share is None or np.isclose(share, scene["shares"][panel])
    assert np.allclose(seen.query[0], scene["query"])
    assert np.allclose(seen.activations.attention.ravel(), scene["attention"], rtol=1e-9)
    assert np.allclose(seen.activations.probabilities.ravel(), scene["probabilities"], rtol=1e-9)
    assert np.isclose(seen.shown.radius or 0, scene["radius"] or 0)


@pytest.mark.parametrize("name", ["spike", "wide", "three"])
def test_maps(name: str, page: Sandbox, runs: dict[str, ds.Run]) -> None:
    """The class at each place of a map: on the page's own grid."""
    run = runs[name]
    page.open(run, epoch=40, more="&axes=fixed")
    page.page.wait_for_function(_MAPS_ARE_THERE)
    scene: dict[str, Any] = page.page.evaluate(_SCENE)
    seen = ds.plots.view(run, 40)
    for panel, stage in (("decision_map", "sequence"), ("output_map", "output")):
        shown = scene["maps"][panel]
        sides = [shown["extent"][side] for side in ("x0", "x1", "y0", "y1")]
        width, height = shown["width"], shown["height"]
        x = sides[0] + (np.arange(width) + 0.5) * (sides[1] - sides[0]) / width
        y = sides[2] + (np.arange(height) + 0.5) * (sides[3] - sides[2]) / height
        plane = seen.shown.plane(stage)
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        places = plane.origin + grid @ plane.axes
        tokens = np.zeros((len(places), run.config.task.length), int)
        rest = ds.forward(run.parameters(40), tokens, run.config.model, patch={stage: places})
        assert np.allclose(rest.logits.ravel(), shown["logits"], rtol=1e-4, atol=1e-4)
        ours = seen.class_map(panel, Extent(*sides))
        corner = ds.forward(
            run.parameters(40),
            tokens[:1],
            run.config.model,
            patch={
                stage: (
                    plane.origin + np.array([[ours.centres[0][0], ours.centres[1][0]]]) @ plane.axes
                )
            },
        )
        assert np.allclose(ours.logits[0, 0], corner.logits[0], rtol=1e-5)
