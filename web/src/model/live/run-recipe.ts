// A run that was trained in the page as a file: what it began with and what was changed on the way
// (src/dynascope/store/recipe.py). Who trains it again, here or in Python, has every bit of it.

import { base64OfBytes } from "../server/base64";
import type { Config, Numbers } from "../types";
import type { RunEdit } from "./run-edits";

export const RECIPE_ENDING = ".dynascope.json";
export const RECIPE_FORMAT = 1;

/** All that a run follows from. */
export interface Recipe {
  config: Config;
  seed: number;
  start: Numbers | null; // the first weights, if they are not those of the seed
  epochs: number;
  changes: readonly RecipeChange[]; // in the order in which they were made
}

/** New weights or other options, once so many epochs and steps were done. */
export type RecipeChange = Pick<RunEdit, "epoch" | "step" | "options" | "weights">;

interface Recorded extends Pick<Recipe, "config" | "seed" | "start"> {
  edits: readonly RunEdit[];
}

/** As JSON has it; `version`: of the dynascope that the page is part of. */
export function recipeOf(run: Recorded, epochs: number, version: string): object {
  const { config, seed, start, edits } = run;
  const changes = edits.map(({ epoch, step, options, weights }) => ({
    ...{ epoch, step, options },
    ...(weights && { weights: packed(weights) }),
  }));
  return {
    ...{ dynascope: version, recipe: RECIPE_FORMAT, config, seed },
    ...(start && { start: packed(start) }),
    ...{ epochs, changes },
  };
}

/** Little-endian, as is every machine that runs a browser. */
function packed({ buffer, byteOffset, byteLength }: Numbers): string {
  return base64OfBytes(new Uint8Array(buffer, byteOffset, byteLength));
}
