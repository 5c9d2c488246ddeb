// The kernel as scenes use it.

import type { Kernel, Model } from "../kernel";
import type { SceneKernel } from "./scene";

export function sceneKernel(
  kernel: Pick<Kernel, "plane">,
  model: Pick<Model, "forward" | "grid" | "parameters">,
): SceneKernel {
  return {
    offsets: Object.fromEntries(model.parameters.map(({ name, offset }) => [name, offset])),
    forward: (weights, tokens, stages) => {
      const found = model.forward(weights, tokens, { stages });
      return Object.fromEntries(stages.map((stage) => [stage, found[stage].data]));
    },
    grid: (weights, stage, { origin, a, b }, x, y) =>
      model.grid(weights, { stage, origin, a, b, x, y }).data,
    plane: (points, dim) => {
      const { axes, mean, shares } = kernel.plane(points, dim);
      return { axes: Float64Array.of(...axes[0], ...axes[1]), mean, shares };
    },
  };
}
