// Runs that were trained in the page that a file was made in: part of the file as recipes.

import { ReadableError } from "../model/errors";
import { recipeFrom } from "../model/live/read-recipe";
import { recipeOf } from "../model/live/run-recipe";
import { anything, list, orNull, record, text, whole } from "../model/server/shapes";
import { api } from "./answering";
import { isLive, type LiveEntry } from "./live-runs";
import { tellTrouble } from "./page-state";
import { replayedBehind } from "./saved-runs";

interface SharedRun extends Pick<LiveEntry, "id" | "name" | "parent"> {
  recipe: unknown;
}

const LIVE_ID = /^live-\d{1,6}$/;
const SHARED = record({
  runs: list(
    record({
      id: (value) => typeof value === "string" && LIVE_ID.test(value),
      name: text(200),
      parent: orNull(record({ id: text(64), epoch: whole(0, 1e7) })),
      recipe: anything,
    }),
    2,
  ),
});

/** What a file tells of live runs, under `/api/live`. */
export function sharedRuns(entries: readonly LiveEntry[], version: string): object {
  const told = ({ id, name, parent, facts, info }: LiveEntry): SharedRun => ({
    ...{ id, name, parent },
    recipe: recipeOf(facts, info.epochs, version),
  });
  return { runs: entries.map(told) };
}

/** Trains the runs of the file again, to where they were. All of them are checked before that. */
export async function restoreShared(): Promise<void> {
  try {
    const told = await api.live();
    if (!SHARED(told)) throw new ReadableError("The runs in this file are damaged.");
    const runs = (told as { runs: SharedRun[] }).runs.map((run) => ({
      ...run,
      recipe: recipeFrom(run.recipe),
    }));
    for (const { recipe, ...run } of runs) {
      if (isLive(run.id)) continue;
      const sentence = `Training ${run.name} again, up to epoch ${recipe.epochs}.`;
      await replayedBehind(recipe, { ...run }, sentence);
    }
  } catch (error) {
    tellTrouble(error);
  }
}
