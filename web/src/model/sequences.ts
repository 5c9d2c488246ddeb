// Which sequences are shown: a few prefixes x a few suffixes, as in the paper.
//
// A prefix is what stands at the relevant positions, wherever these are; a suffix is the rest.
// Sequences of one prefix share a colour, prefixes of one group have similar ones; so they come in
// the order of their groups (by sum), and every prefix meets the same suffixes. All groups are there
// while they are at most `MOST_SEQUENCES`; then orderings and suffixes as there is room. What a
// sequence should give, its group and that group's name are the kernel's.

import type { Tasks } from "./kernel/tasks";
import { compare, fillings, groupsOf, itemWidth, orderingCount, orderings } from "./prefixes";
import type { KernelTask, Sequences } from "./types";

export const MOST_SEQUENCES = 256;
const ORDERINGS = 4; // of one group: more crowd the picture and show nothing new
const SUFFIXES = 8;

/** The sequences for a task, always the same; at most `most`. */
export function chooseSequences(tasks: Tasks, task: KernelTask, most = MOST_SEQUENCES): Sequences {
  const limit = Math.max(1, Math.min(most, MOST_SEQUENCES));
  const few = tasks.groupCount(task) <= limit;
  const groups = groupsOf(tasks, task, few ? limit : Math.max(1, Math.floor(limit / 4)));
  const width = itemWidth(tasks, task);
  const counts = groups.map((group) => orderingCount(group, width));
  const free = task.length - task.positions.length;
  const [o, s] = room(counts, Math.min(SUFFIXES, task.vocab ** free), limit);
  const suffixes = fillings(task.vocab, free, s);
  const rows: number[][] = [];
  for (const group of groups)
    for (const prefix of orderings(group, o, width))
      for (const suffix of suffixes) rows.push(woven(task, prefix, suffix));
  return sequencesOf(tasks, task, rows);
}

/** Given sequences with their targets, prefixes and groups, in the order of their groups. */
export function sequencesOf(
  tasks: Tasks,
  task: KernelTask,
  rows: readonly (readonly number[])[],
): Sequences {
  const k = task.positions.length;
  const prefixes = rows.map((tokens) => task.positions.map((t) => tokens[t] ?? 0));
  const canonical = tasks.canonical(task, Int32Array.from(prefixes.flat()));
  const entries = rows.map((tokens, i) => {
    const group = Array.from(canonical.subarray(i * k, (i + 1) * k));
    return { tokens, prefix: prefixes[i]!, group, sum: group.reduce((sum, each) => sum + each, 0) };
  });
  entries.sort((a, b) => a.sum - b.sum || compare(a.group, b.group)); // stable
  const out = empty(task, entries.length);
  const groups = new Map<string, number>();
  const known = new Map<string, number>();
  entries.forEach((entry, i) => {
    out.tokens.set(entry.tokens, i * task.length);
    out.group[i] = numbered(groups, entry.group, () =>
      out.groupNames.push(tasks.groupName(task, Int32Array.from(entry.group))),
    );
    out.prefix[i] = numbered(known, entry.prefix, () =>
      out.prefixes.push(Int32Array.from(entry.prefix)),
    );
  });
  return { ...out, targets: tasks.targets(task, out.tokens) };
}

/** A sequence in the order of its positions; a dot parts relevant from irrelevant neighbours, where
 * these are known. */
export function sequenceName(sequences: Sequences, index: number): string {
  const { tokens, length, vocab, positions } = sequences;
  const relevant = new Set(positions ?? []);
  let name = "";
  for (let t = 0; t < length; t++) {
    const turn = t > 0 && relevant.has(t) !== relevant.has(t - 1);
    name +=
      (t === 0 ? "" : turn ? "·" : vocab > 10 ? " " : "") + String(tokens[index * length + t]);
  }
  return name;
}

/** How many orderings and suffixes fit: both grow in turn, as even as possible. */
function room(counts: readonly number[], suffixes: number, limit: number): [number, number] {
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

function woven(task: KernelTask, prefix: readonly number[], suffix: readonly number[]): number[] {
  const tokens = new Array<number>(task.length);
  const relevant = new Set(task.positions);
  let [p, s] = [0, 0];
  for (let t = 0; t < task.length; t++)
    tokens[t] = (relevant.has(t) ? prefix[p++] : suffix[s++]) ?? 0;
  return tokens;
}

function empty(task: KernelTask, count: number): Sequences {
  return {
    tokens: new Int32Array(count * task.length),
    count,
    length: task.length,
    vocab: task.vocab,
    positions: Int32Array.from(task.positions),
    set: null,
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
