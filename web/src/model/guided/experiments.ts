// All guided experiments, in the order in which they are offered.

import { CUT } from "./cut";
import type { Experiment } from "./experiment";
import { IDEAL } from "./ideal";
import { MINUS } from "./minus";
import { SPIKE } from "./spike";
import { THIRD_TOKEN } from "./third-token";
import { TWO_PHASES } from "./two-phases";

export const EXPERIMENTS: readonly Experiment[] = [
  TWO_PHASES,
  SPIKE,
  CUT,
  IDEAL,
  THIRD_TOKEN,
  MINUS,
];

export function experimentNamed(name: string | null): Experiment | null {
  return EXPERIMENTS.find((each) => each.name === name) ?? null;
}
