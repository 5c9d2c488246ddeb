// Runs that were trained in the page as a tree: what each was branched from, and how it differs.

import { optionText } from "./live-options";
import type { RunEdit } from "./run-edits";

/** What the tree needs to know of a run. */
export interface Branching {
  id: string;
  parent: { id: string; epoch: number } | null;
}

export interface TreeRow<Entry> {
  entry: Entry;
  depth: number; // 0: a branch of nothing that is trained here
}

/** Parents first, each followed by its branches in the order in which they were made. */
export function treeRows<Entry extends Branching>(entries: readonly Entry[]): TreeRow<Entry>[] {
  const known = new Set(entries.map(({ id }) => id));
  const under = (parent: string | null, depth: number): TreeRow<Entry>[] =>
    entries
      .filter((entry) => parentIn(known, entry) === parent)
      .flatMap((entry) => [{ entry, depth }, ...under(entry.id, depth + 1)]);
  return under(null, 0);
}

const parentIn = (known: ReadonlySet<string>, { parent }: Branching): string | null =>
  parent && known.has(parent.id) ? parent.id : null;

/** What was changed at or after an epoch, in a few words. */
export function changesTold(edits: readonly RunEdit[], since: number): string {
  const told = edits
    .filter(({ epoch }) => epoch >= since)
    .flatMap(({ options = {}, parameters }) => [
      ...Object.entries(options).map(
        ([name, value]) => `${name.slice(name.indexOf(".") + 1)} ${optionText(value) || "none"}`,
      ),
      ...(parameters ? ["weights"] : []),
    ]);
  return [...new Set(told)].join(", ");
}
