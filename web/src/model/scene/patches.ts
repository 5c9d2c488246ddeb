// A value from elsewhere in the place of what is computed: what a sequence has at an epoch, given to
// every sequence (activation patching).

import type { Ablation, ForwardOptions, Model, Stage } from "../kernel";
import type { Numbers } from "../types";

/** What can be given to all sequences. `hidden` is one unit's activation. */
export const PATCH_SITES = ["attention", "sequence", "hidden", "feed_forward"] as const;
export type PatchSite = (typeof PATCH_SITES)[number];

export interface Patch {
  site: PatchSite;
  unit: number; // of the site "hidden"; else 0
  sequence: number; // whose value: its number among those that are shown
  tokens: Int32Array; // [length]: that sequence
  epoch: number; // when it had the value
  weights: Numbers; // of the run at that epoch
}

/** The value itself: [length], [dim] or a single activation. */
export function patchedValue(model: Pick<Model, "forward">, patch: Patch): Numbers {
  const { site, unit, tokens, weights } = patch;
  const { data } = model.forward(weights, tokens, { stages: [site] })[site];
  return site === "hidden" ? data.slice(unit, unit + 1) : data.slice();
}

/** What `forward` needs so that every one of these sequences has the value. */
export function patchOptions(
  model: Pick<Model, "forward">,
  patch: Patch,
  value: Numbers,
  weights: Numbers,
  tokens: Int32Array,
  ablate: Ablation,
): ForwardOptions<never>["patch"] {
  const count = tokens.length / patch.tokens.length;
  if (patch.site !== "hidden") return { [patch.site]: repeated(value, count) };
  const stages = ["hidden"] as const satisfies readonly Stage[];
  const { data, shape } = model.forward(weights, tokens, { stages, ablate }).hidden;
  const units = shape[1]!;
  for (let i = 0; i < count; i++) data[i * units + patch.unit] = value[0]!;
  return { hidden: data };
}

function repeated(value: Numbers, count: number): Float64Array {
  const all = new Float64Array(count * value.length);
  for (let i = 0; i < count; i++) all.set(value, i * value.length);
  return all;
}
