// The sum that a circuit keeps, in words; and which of its values a sequence has. The search is the
// kernel's (`Model.keptSum`), the words are those of Python (`analysis/sum_words.py`).

import { MOST_SUMMED, type SumKind } from "./kernel/names";
import type { KernelTask, Sequences, Task } from "./types";

/** The simplest sum that explains the sequence embedding or, if none does, the best one. */
export interface KeptSum {
  kind: SumKind;
  share: number; // of the variance of the sequence embedding that lies between values of the sum
  corrected: number; // what decides: for the number of values
  values: number; // how many different ones the sum has
  apart: number[]; // positions whose tokens are kept beside the sum
  terms: Int32Array[]; // of each of one or two sums [length, p, p]: what token x at t adds to the count of j
  positions: number[]; // the relevant ones
  length: number;
  vocab: number; // p
  best: Partial<Record<SumKind, number>>; // the corrected share that each kind reached, if tried
}

/** Whether sums are looked for in models of this task. */
export const isSummed = (task: Task): task is KernelTask =>
  task.name === "modular-addition" && task.vocab <= MOST_SUMMED;

/** Whether the embedding depends on hardly anything else. */
export const sumHolds = (sum: KeptSum): boolean => sum.kind !== "unexplained";

/** The sum as people write it. */
export function formulaOf(sum: KeptSum): string {
  const told = sum.terms.map((_, i) => (sum.vocab === 2 ? weighted : shifted)(sum, i) || "nothing");
  const beside = sum.apart.map((t) => `x${t}`).join(" and ");
  return told.join(" and ") + (beside && `, and ${beside} apart`);
}

/** Sequences grouped by the value that the sum has for them, rising, with the values' names. */
export function bySum(sum: KeptSum, { tokens, count, length }: Sequences): SumGroups {
  const rows = Array.from({ length: count }, (_, i) =>
    valueOf(sum, tokens.subarray(i * length, (i + 1) * length)),
  );
  const order = new Map(
    [...new Map(rows.map((row) => [row.join(), row])).values()]
      .sort((a, b) => toldBy(sum, a) - toldBy(sum, b) || inOrder(a, b))
      .map((row, i) => [row.join(), { i, row }]),
  );
  return {
    group: Int32Array.from(rows, (row) => order.get(row.join())!.i),
    groupNames: [...order.values()].map(({ row }) => valueName(sum, row)),
  };
}

export type SumGroups = Pick<Sequences, "group" | "groupNames">;

/** What a sequence is told by: how often each token but 0 is counted, for each of the sums, and the
 * tokens kept apart. */
function valueOf({ terms, vocab, apart }: KeptSum, tokens: Int32Array): number[] {
  const counts = terms.flatMap((adds) => {
    const counted = new Array<number>(vocab - 1).fill(0);
    tokens.forEach((x, t) => {
      for (let j = 1; j < vocab; j++) counted[j - 1]! += adds[(t * vocab + x) * vocab + j]!;
    });
    return counted;
  });
  return [...counts, ...apart.map((t) => tokens[t]!)];
}

/** The value of a single sum of zeros and ones; null: that is not what is kept. */
export function sumValue(sum: KeptSum, tokens: Int32Array): number | null {
  const { vocab, terms, apart } = sum;
  if (vocab !== 2 || terms.length !== 1 || apart.length || !sumHolds(sum)) return null;
  return valueOf(sum, tokens)[0]! - startOf(sum, terms[0]!);
}

function valueName(sum: KeptSum, value: readonly number[]): string {
  const { vocab, terms, apart } = sum;
  const sums = terms.map((adds, i) => {
    const counts = value.slice(i * (vocab - 1), (i + 1) * (vocab - 1));
    return vocab === 2
      ? signed(counts[0]! - startOf(sum, adds))
      : multisetName([totalOf(sum, adds) - counts.reduce((a, b) => a + b, 0), ...counts]);
  });
  const beside = value.slice(terms.length * (vocab - 1)).map((x, i) => `x${apart[i]} = ${x}`);
  return [sums.join(" and "), ...beside].join(", ");
}

/** Of two tokens: what is counted where all are 0, since 1 - x is written as -x. */
function startOf({ length }: KeptSum, adds: Int32Array): number {
  let start = 0;
  for (let t = 0; t < length; t++) start += adds[4 * t + 1]!;
  return start;
}

/** How many tokens are counted: each position's row adds the same number, one or none. */
function totalOf({ length, vocab }: KeptSum, adds: Int32Array): number {
  let total = 0;
  for (let t = 0; t < length; t++)
    for (let j = 0; j < vocab; j++) total += adds[t * vocab * vocab + j]!;
  return total;
}

/** "0 1 1"; folds may count a token less than none: "0 1 1 less 2". */
function multisetName(counts: readonly number[]): string {
  const listed = (sign: number): string =>
    counts.flatMap((n, token) => new Array<number>(Math.max(0, sign * n)).fill(token)).join(" ");
  const less = listed(-1);
  return listed(1) + (less && ` less ${less}`);
}

const signed = (value: number): string => (value < 0 ? `−${-value}` : String(value));

/** What the counts of the first sum tell: multisets are shown in the order of their sums. */
const toldBy = ({ vocab }: KeptSum, value: readonly number[]): number =>
  value.slice(0, vocab - 1).reduce((sum, count, j) => sum + (j + 1) * count, 0);

function inOrder(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((value, at) => value !== b[at]);
  return i < 0 ? 0 : a[i]! - b[i]!;
}

/** Of two tokens: what a one adds at each position. */
function weighted({ terms, length }: KeptSum, which: number): string {
  const adds = terms[which]!;
  return Array.from({ length }, (_, t) => adds[4 * t + 3]! - adds[4 * t + 1]!)
    .map((w, t) => w && `${w < 0 ? "-" : "+"} ${Math.abs(w) > 1 ? `${Math.abs(w)} ` : ""}x${t}`)
    .filter(Boolean)
    .join(" ")
    .replace(/^\+ /, "");
}

/** Of more: the multiset of the relevant tokens, shifted, and the folds of the others. */
function shifted({ terms, length, vocab, positions }: KeptSum, which: number): string {
  const [names, folds]: [string[], string[]] = [[], []];
  for (let t = 0; t < length; t++) {
    const rows = Array.from({ length: vocab }, (_, x) =>
      terms[which]!.subarray((t * vocab + x) * vocab, (t * vocab + x + 1) * vocab),
    );
    if (positions.includes(t)) {
      const shift = rows[0]!.indexOf(Math.max(...rows[0]!));
      if (rows.some(isChange)) names.push(shift ? `x${t} + ${shift}` : `x${t}`);
      continue;
    }
    rows.forEach((change, x) => {
      if (isChange(change)) folds.push(`x${t} = ${x} as ${exchange(change)}`);
    });
  }
  const shifts = names.some((name) => name.includes("+")) ? ` mod ${vocab}` : "";
  return `{${names.join(", ")}}${shifts}${folds.length ? `, with ${folds.join("; ")}` : ""}`;
}

const isChange = (counts: Int32Array): boolean => counts.some((n) => n !== 0);

/** A change of the counts: what comes for what goes. */
function exchange(change: Int32Array): string {
  const listed = (sign: number): string =>
    Array.from(change, (n, token) => (sign * n > 0 ? times(token, sign * n) : ""))
      .filter(Boolean)
      .join(" and ");
  return `${listed(1)} for ${listed(-1)}`;
}

const times = (token: number, count: number): string =>
  `${count < 3 ? ["", "", "two "][count] : `${count} times `}${token}`;
