// What the axes of a panel need to hold: its points, and what is drawn around the origin.

import {
  FRAMED_PANELS,
  UNITS_OVER,
  type Extent,
  type FramedPanel,
  type Numbers,
  type Scene,
  type ScenePlan,
} from "../types";
import { include, includeCircle, NOTHING, overRun } from "./axis-ranges";
import type { SceneBuilder } from "./scene";
import { sceneOver } from "./scene-plan";

/** The extent of a panel at one epoch; empty if none of its points is finite. */
export function panelExtent(panel: FramedPanel, scene: Scene, plan: ScenePlan): Extent {
  if (panel === "neurons") {
    const extent = panelExtent(UNITS_OVER, scene, plan);
    return include(include(extent, scene.neurons.receptors), scene.neurons.assemblers);
  }
  const extent = include({ ...NOTHING }, scene.points[panel]);
  const circled = panel === "normalized" || panel === "sequence_normalized";
  if (circled && plan.radius !== null) includeCircle(extent, plan.radius);
  if (panel === "normalized") include(extent, scene.query);
  if (panel === "normalized" || panel === "receptors" || panel === "assemblers")
    includeCircle(extent, 0);
  return extent;
}

/** Fixed axes: one extent for each panel over sampled epochs, whose weights `load` gives. */
export async function runExtents(
  builder: SceneBuilder,
  epochs: readonly number[],
  load: (epoch: number) => Promise<Numbers> | Numbers,
): Promise<Record<FramedPanel, Extent>> {
  const scratch = sceneOver(builder.plan);
  const found = FRAMED_PANELS.map((): Extent[] => []);
  for (const epoch of epochs) {
    const scene = builder.build(epoch, await load(epoch), {}, scratch);
    FRAMED_PANELS.forEach((panel, i) => found[i]!.push(panelExtent(panel, scene, builder.plan)));
  }
  const entries = FRAMED_PANELS.map((panel, i) => [panel, overRun(found[i]!)] as const);
  return Object.fromEntries(entries) as Record<FramedPanel, Extent>;
}
