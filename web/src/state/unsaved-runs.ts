// Whoever closes the page is asked first if runs would be lost that nobody could make again: those
// that were changed by hand. All others follow from their seed.

import { liveRuns, type LiveEntry } from "./live-runs";

const kept = new Map<string, string>(); // by id: the run as it was saved

export function markSaved(entry: LiveEntry): void {
  kept.set(entry.id, stateOf(entry));
}

export function warnOfUnsaved(): void {
  addEventListener("beforeunload", (event) => {
    if (liveRuns.value.some(isUnsaved)) event.preventDefault();
  });
}

const isUnsaved = (entry: LiveEntry): boolean =>
  entry.facts.edits.some(({ weights }) => weights) && kept.get(entry.id) !== stateOf(entry);

const stateOf = ({ facts }: LiveEntry): string =>
  facts.edits.map(({ epoch, step, parameters }) => `${epoch} ${step} ${parameters}`).join();
