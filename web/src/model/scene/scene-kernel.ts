// The kernel as scenes use it.

import type { Ablation, Kernel, Model } from "../kernel";
import type { Numbers } from "../types";
import { patchedValue, patchOptions, type Patch } from "./patches";
import type { SceneKernel, SceneStage } from "./scene";

/** What is done to the model's computation. */
export interface Intervention {
  ablate: Ablation;
  patch: Patch | null;
}
export const NO_INTERVENTION: Intervention = { ablate: {}, patch: null };

export interface ChangeableKernel extends SceneKernel {
  intervention: Intervention; // in what is computed next
}

type SceneModel = Pick<Model, "forward" | "grid" | "parameters">;

export function sceneKernel(kernel: Pick<Kernel, "plane">, model: SceneModel): ChangeableKernel {
  return {
    intervention: NO_INTERVENTION,
    offsets: Object.fromEntries(model.parameters.map(({ name, offset }) => [name, offset])),
    forward(weights, tokens, stages) {
      const found = forwardWith(model, weights, tokens, stages, this.intervention);
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

/** The stages with all that is done to the model on the way. */
export function forwardWith<Wanted extends SceneStage | "logits">(
  model: Pick<Model, "forward">,
  weights: Numbers,
  tokens: Int32Array,
  stages: readonly Wanted[],
  { ablate, patch }: Intervention,
): ReturnType<typeof model.forward<Wanted>> {
  const given =
    patch && patchOptions(model, patch, patchedValue(model, patch), weights, tokens, ablate);
  return model.forward(weights, tokens, { stages, ablate, ...(given && { patch: given }) });
}
