// What Python judges by. Written by scripts/generate: do not edit.

import type { Thresholds } from "./server/answers";

export const THRESHOLDS: Readonly<Thresholds> = {
  solved_accuracy: 0.9,
  clear_gap: 3.0,
  rounding: 1e-28,
  sum_share: 0.98,
  relevant_attention: 0.9,
};
