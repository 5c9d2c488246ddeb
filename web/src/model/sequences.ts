// Which sequences are shown: a few prefixes x a few suffixes, as in the paper.
//
// A prefix is what stands at the relevant positions, wherever these are; a suffix is the rest.
// Sequences of one prefix share a colour, prefixes of one multiset have similar ones; so they come
// in the order of their multisets (by sum), and every prefix meets the same suffixes. All multisets
// are there while they are at most `MOST_SEQUENCES`; then orderings and suffixes as there is room.

import { compare, fillings, multisetCount, multisets, orderingCount, orderings } from "./prefixes";
import type { Sequences, Task } from "./types";

export const MOST_SEQUENCES = 256;
const ORDERINGS = 4; // of one multiset: more crowd the picture and show nothing new
const SUFFIXES = 8;
const LONGEST_NAME = 8; // tokens that the name of a multiset spells out

/** The sequences for a task, always the same; at most `most`. */
export function chooseSequences(task: Task, most = MOST_SEQUENCES): Sequences {
  const k = task.positions.length;
  const limit = Math.max(1, Math.min(most, MOST_SEQUENCES));
  const few = multisetCount(task.vocab, k) <= limit;
  const groups = multisets(task.vocab, k, few ? limit : Math.max(1, Math.floor(limit / 4)));
  const free = task.length - k;
  const [o, s] = room(groups, Math.min(SUFFIXES, task.vocab ** free), limit);
  const suffixes = fillings(task.vocab, free, s);
  const rows: number[][] = [];
  for (const group of groups)
    for (const prefix of orderings(group, o))
      for (const suffix of suffixes) rows.push(woven(task, prefix, suffix));
  return sequencesOf(task, rows);
}

/** Given sequences with their targets, prefixes and groups, in the order of their multisets. */
export function sequencesOf(task: Task, rows: readonly (readonly number[])[]): Sequences {
  const entries = rows.map((tokens) => {
    const prefix = task.positions.map((t) => tokens[t] ?? 0);
    const sorted = [...prefix].sort((a, b) => a - b);
    return { tokens, prefix, sorted, sum: sorted.reduce((sum, each) => sum + each, 0) };
  });
  entries.sort((a, b) => a.sum - b.sum || compare(a.sorted, b.sorted)); // stable
  const count = entries.length;
  const out = empty(task, count);
  const groups = new Map<string, number>();
  const prefixes = new Map<string, number>();
  entries.forEach((entry, i) => {
    out.tokens.set(entry.tokens, i * task.length);
    out.targets[i] = entry.sum % task.vocab;
    out.group[i] = numbered(groups, entry.sorted, () =>
      out.groupNames.push(groupName(entry.sorted, task.vocab)),
    );
    out.prefix[i] = numbered(prefixes, entry.prefix, () =>
      out.prefixes.push(Int32Array.from(entry.prefix)),
    );
  });
  return out;
}

/** "2×1" for p = 2: the number of ones; else the tokens, or how often each comes. */
export function groupName(multiset: readonly number[], vocab: number): string {
  if (vocab === 2) return `${multiset.filter((token) => token === 1).length}×1`;
  if (multiset.length <= LONGEST_NAME) return multiset.join(" ");
  const counts = new Map<number, number>();
  for (const token of multiset) counts.set(token, (counts.get(token) ?? 0) + 1);
  return [...counts].map(([token, times]) => `${times}×${token}`).join(" ");
}

/** A sequence in the order of its positions; a dot parts relevant from irrelevant neighbours. */
export function sequenceName(sequences: Sequences, index: number): string {
  const { tokens, length, vocab } = sequences;
  const relevant = new Set(sequences.positions);
  let name = "";
  for (let t = 0; t < length; t++) {
    const turn = t > 0 && relevant.has(t) !== relevant.has(t - 1);
    name +=
      (t === 0 ? "" : turn ? "·" : vocab > 10 ? " " : "") + String(tokens[index * length + t]);
  }
  return name;
}

/** How many orderings and suffixes fit: both grow in turn, as even as possible. */
function room(groups: number[][], suffixes: number, limit: number): [number, number] {
  const counts = groups.map(orderingCount);
  const most = Math.min(ORDERINGS, Math.max(...counts));
  const fits = (o: number, s: number): boolean =>
    o <= most && s <= suffixes && s * counts.reduce((n, c) => n + Math.min(c, o), 0) <= limit;
  let [o, s] = [1, 1];
  for (;;) {
    if (o <= s && fits(o + 1, s)) o++;
    else if (fits(o, s + 1)) s++;
    else if (fits(o + 1, s)) o++;
    else return [o, s];
  }
}

function woven(task: Task, prefix: readonly number[], suffix: readonly number[]): number[] {
  const tokens = new Array<number>(task.length);
  const relevant = new Set(task.positions);
  let [p, s] = [0, 0];
  for (let t = 0; t < task.length; t++)
    tokens[t] = (relevant.has(t) ? prefix[p++] : suffix[s++]) ?? 0;
  return tokens;
}

function empty(task: Task, count: number): Sequences {
  return {
    tokens: new Int32Array(count * task.length),
    count,
    length: task.length,
    vocab: task.vocab,
    positions: Int32Array.from(task.positions),
    prefix: new Int32Array(count),
    prefixes: [],
    targets: new Int32Array(count),
    group: new Int32Array(count),
    groupNames: [],
  };
}

function numbered(known: Map<string, number>, list: readonly number[], added: () => void): number {
  const key = list.join(",");
  const at = known.get(key) ?? known.size;
  if (at === known.size) {
    known.set(key, at);
    added();
  }
  return at;
}
