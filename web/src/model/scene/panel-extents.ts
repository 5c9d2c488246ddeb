// What the axes of a panel need to hold: its points, and what is drawn around the origin.

import {
  POINT_PANELS,
  type Extent,
  type Numbers,
  type PointPanel,
  type Scene,
  type ScenePlan,
} from "../types";
import { include, includeCircle, NOTHING, overRun } from "./axis-ranges";
import type { SceneBuilder } from "./scene";
import { sceneOver } from "./scene-plan";

/** The extent of a panel at one epoch; empty if none of its points is finite. */
export function panelExtent(panel: PointPanel, scene: Scene, plan: ScenePlan): Extent {
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
): Promise<Record<PointPanel, Extent>> {
  const scratch = sceneOver(builder.plan);
  const found = POINT_PANELS.map((): Extent[] => []);
  for (const epoch of epochs) {
    const scene = builder.build(epoch, await load(epoch), {}, scratch);
    POINT_PANELS.forEach((panel, i) => found[i]!.push(panelExtent(panel, scene, builder.plan)));
  }
  const entries = POINT_PANELS.map((panel, i) => [panel, overRun(found[i]!)] as const);
  return Object.fromEntries(entries) as Record<PointPanel, Extent>;
}
