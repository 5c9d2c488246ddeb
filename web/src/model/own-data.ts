// Runs with data of a user's own. Which positions are relevant and what is alike, nobody has said: of
// the sequences there are the targets alone.

import type { Columns, Cell } from "./runs/run-filter";
import type { Examples, OwnTask, Sequences, Task } from "./types";

export const OWN_DATA: OwnTask["name"] = "own data"; // as the server calls it
export const NO_TARGET = -1; // of a sequence that is not in the data

export const hasOwnData = (task: Task): task is OwnTask => task.positions === null;

/** Sequences with their targets, in the order of their classes; those without a target at the end. */
export function sequencesOfClasses(
  { length, vocab }: OwnTask,
  rows: readonly (readonly number[])[],
  targets: ArrayLike<number>,
  set: Sequences["set"] = null,
): Sequences {
  const rank = (i: number): number => (targets[i] === NO_TARGET ? Infinity : targets[i]!);
  const order = Array.from(rows, (_, i) => i).sort((a, b) => compared(rank(a), rank(b)) || a - b);
  const sorted = Int32Array.from(order, (i) => targets[i]!);
  const classes = [...new Set(sorted)];
  const group = sorted.map((target) => classes.indexOf(target));
  return {
    tokens: Int32Array.from(order.flatMap((i) => rows[i]!)),
    count: order.length,
    length,
    vocab,
    positions: null,
    set,
    prefix: group,
    prefixes: classes.map(() => new Int32Array(0)),
    targets: sorted,
    group,
    groupNames: classes.map((target) => (target === NO_TARGET ? "no target" : `class ${target}`)),
  };
}

/** What each of these sequences should give: as the first of the examples that has it says. */
export function targetsIn(
  examples: readonly Examples[],
  rows: readonly (readonly number[])[],
): Int32Array {
  const wanted = new Map(rows.map((row) => [row.join(), NO_TARGET]));
  for (const { tokens, targets } of examples) {
    const length = tokens.length / targets.length;
    targets.forEach((target, i) => {
      const key = tokens.subarray(i * length, (i + 1) * length).join();
      if (wanted.get(key) === NO_TARGET) wanted.set(key, target);
    });
  }
  return Int32Array.from(rows, (row) => wanted.get(row.join())!);
}

/** The table of runs as it applies to them: one with data of its own has that for a task, whatever
 * its config names, and no relevant positions. */
export function withOwnData<Table extends TableAnswer>(table: Table): Table {
  const { columns, same } = table;
  const digests = columns["data"];
  if (!digests && (same["data"] ?? null) === null) return table;
  const rows = columns["id"] ?? [];
  const own = (row: number): boolean => !digests || digests[row] !== null;
  const told = (name: string, value: Cell): Cell[] =>
    rows.map((_, row) => (own(row) ? value : (columns[name]?.[row] ?? same[name] ?? null)));
  const changed = { task: told("task", OWN_DATA), relevant: told("relevant", null) };
  return { ...table, columns: { ...changed, ...columns, ...changed } }; // where it was, or in front
}

interface TableAnswer {
  columns: Columns;
  same: Readonly<Record<string, Cell>>;
}

const compared = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);
