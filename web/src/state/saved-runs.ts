// Runs that were saved in some page: opened from a file, and trained again with every bit.

import { batch } from "@preact/signals";
import { ReadableError } from "../model/errors";
import { LARGEST_RECIPE, readRecipe } from "../model/live/read-recipe";
import { RECIPE_ENDING, type Recipe } from "../model/live/run-recipe";
import { replayLive, type Beginning, type LiveEntry } from "./live-runs";
import { change, loading, openRun, trouble } from "./page-state";

const LONGEST_NAME = 60; // characters of a file's name that are shown

/** Trains a run again while the page says so. */
export async function replayedBehind(
  recipe: Recipe,
  beginning: Beginning,
  told: string,
): Promise<LiveEntry> {
  loading.value = told;
  try {
    return await replayLive(recipe, beginning, (epoch) => {
      loading.value = `${told} It is at epoch ${epoch}.`;
    });
  } finally {
    loading.value = null;
  }
}

/** Opens a file that *Save* made; whatever is wrong with it is told in a sentence. */
export async function openSavedRun(file: File): Promise<void> {
  trouble.value = null;
  try {
    if (file.size > LARGEST_RECIPE)
      throw new ReadableError("The file is too large for a saved run.");
    const recipe = readRecipe(await file.text());
    const name = file.name.replace(RECIPE_ENDING, "").slice(0, LONGEST_NAME) || "saved run";
    const told = `Training ${name} again, up to epoch ${recipe.epochs}.`;
    const { id, info } = await replayedBehind(recipe, { name, parent: null }, told);
    batch(() => {
      openRun(id);
      change({ epoch: info.epochs });
    });
  } catch (error) {
    trouble.value = error instanceof Error ? error.message : "The file cannot be read.";
  }
}

/** A file that is dropped on the page is opened. */
export function listenToDrops(): void {
  addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    event.preventDefault();
    void openSavedRun(file);
  });
}
