// A live run as a file that Python opens like any other.

import { RECIPE_ENDING, recipeOf } from "../model/live/run-recipe";
import { download } from "../panels/save-panel";
import { store } from "../state/all-runs";
import { markSaved } from "../state/unsaved-runs";
import type { LiveEntry } from "../state/live-runs";

export function saveRecipe(entry: LiveEntry): void {
  const { name, facts } = entry;
  const file = `${name.replaceAll(" ", "-")}-seed${facts.seed}${RECIPE_ENDING}`;
  markSaved(entry);
  download(file, new Blob([recipeNow(entry)], { type: "application/json" }));
}

/** What makes the run again, as far as it is trained. */
export function recipeNow({ facts, info }: LiveEntry): string {
  return JSON.stringify(recipeOf(facts, info.epochs, store.value?.dynascope ?? ""));
}
