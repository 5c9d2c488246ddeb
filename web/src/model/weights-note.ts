// What the page says of the weights that its panels show, where they are not simply those that the
// run kept of the epoch.

import type { WeightSource } from "./types";

export interface ShownWeights {
  wanted: number; // the epoch of the playhead
  shown: { epoch: number; source: WeightSource } | null; // null: nothing yet
  awaited: number | null; // an epoch whose weights are on their way
  reached: number | null; // the epoch up to which they have been computed again, where it takes long
  recomputable: boolean; // whether other epochs than the kept ones can be had
  why: string | null; // they cannot
}

/** The note and its explanation; null where there is nothing to say. */
export function weightsNote(of: ShownWeights): { text: string; about: string } | null {
  const { wanted, shown, awaited, reached, recomputable, why } = of;
  const missing = `The weights of epoch ${wanted} were not kept`;
  const far = reached === null ? "recomputing" : `recomputing: ${reached} of ${wanted} epochs`;
  if (awaited === wanted && recomputable)
    return {
      text: shown ? `${far} · panels: epoch ${shown.epoch}` : far,
      about: `${missing}. They are being computed again, exactly, from the nearest kept state.`,
    };
  if (shown?.source === "recomputed" && shown.epoch === wanted)
    return {
      text: "recomputed",
      about: `${missing}. They were computed again, exactly, from the nearest kept state.`,
    };
  if (shown?.source === "nearest" && shown.epoch < wanted)
    return {
      text: `not kept · panels: epoch ${shown.epoch}`,
      about: `${missing}, and they cannot be computed again. ${why ?? ""}`.trim(),
    };
  return null;
}
