// Groups of relevant tokens, their orderings, and choices of irrelevant tokens: the paper's idea of
// which sequences to look at, for any p, N and k. A group is a multiset of items: of single tokens,
// or of unordered pairs (kernel/task_spec.hpp); it is given by the prefix that stands for it.

import type { Tasks } from "./kernel/tasks";
import { generator, shuffled } from "./random";
import type { KernelTask } from "./types";

const TRIES = 32; // draws in a row that may bring nothing new

/** Groups by sum and then in order: all of them, or `most` drawn ones. */
export function groupsOf(tasks: Tasks, task: KernelTask, most: number): number[][] {
  const found = tasks.groupCount(task) <= most ? everyGroup(tasks, task) : drawn(tasks, task, most);
  return found.sort((a, b) => total(a) - total(b) || compare(a, b));
}

/** Up to `most` different orderings: rising first, then falling, then drawn ones. */
export function orderings(group: readonly number[], most: number, width = 1): number[][] {
  const next = generator(hash(group));
  const found = new Distinct();
  found.add([...group]);
  if (found.size < most) found.add([...group].reverse());
  const wanted = Math.min(most, orderingCount(group, width));
  for (let tries = 0; found.size < wanted && tries < TRIES * most; tries++) {
    const items = shuffled(itemsOf(group, width), next);
    found.add(items.flatMap((item) => (width > 1 && next() < 0.5 ? [...item].reverse() : item)));
  }
  return found.lists;
}

/** How many orderings a group of items of this width has, or Infinity beyond 2^40. */
export function orderingCount(group: readonly number[], width = 1): number {
  let count = 1;
  let equal = 0;
  const items = itemsOf(group, width);
  for (let i = 0; i < items.length; i++) {
    equal = i > 0 && compare(items[i]!, items[i - 1]!) === 0 ? equal + 1 : 1;
    count = Math.round((count * (i + 1)) / equal);
    if (width > 1 && items[i]![0] !== items[i]![1]) count *= 2; // either way round
    if (count > 2 ** 40) return Infinity;
  }
  return count;
}

/** Up to `most` different fillings of `size` places: all when they are so few, else drawn ones. */
export function fillings(vocab: number, size: number, most: number): number[][] {
  if (vocab ** size <= most) {
    const count = vocab ** size;
    return Array.from({ length: count }, (_, i) => digits(i, vocab, size));
  }
  const next = generator(vocab * 65537 + size);
  const found = new Distinct();
  for (let tries = 0; found.size < most && tries < TRIES * most; tries++)
    found.add(Array.from({ length: size }, () => Math.floor(next() * vocab)));
  return found.lists;
}

export function compare(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return 0;
}

/** Tokens in an item of the task's groups. */
export function itemWidth(tasks: Tasks, task: KernelTask): number {
  return tasks.grouping(task) === "pairs" ? 2 : 1;
}

function everyGroup(tasks: Tasks, task: KernelTask): number[][] {
  const width = itemWidth(tasks, task);
  const items = Array.from({ length: task.vocab ** width }, (_, i) => digits(i, task.vocab, width));
  const kinds = items.filter((item) => width === 1 || item[0]! <= item[1]!);
  return risingLists(kinds.length, task.positions.length / width).map((list) =>
    list.flatMap((kind) => kinds[kind]!),
  );
}

function risingLists(kinds: number, size: number): number[][] {
  const found: number[][] = [];
  const one = new Array<number>(size).fill(0);
  for (;;) {
    found.push([...one]);
    let place = size - 1;
    while (place >= 0 && one[place] === kinds - 1) place--;
    if (place < 0) return found;
    one.fill(one[place]! + 1, place);
  }
}

function drawn(tasks: Tasks, task: KernelTask, most: number): number[][] {
  const [vocab, size] = [task.vocab, task.positions.length];
  const next = generator(vocab * 65537 + size + 1);
  const found = new Distinct();
  for (let tries = 0; found.size < most && tries < TRIES * most; tries++) {
    const one = Int32Array.from({ length: size }, () => Math.floor(next() * vocab));
    found.add(Array.from(tasks.canonical(task, one)));
  }
  return found.lists;
}

function itemsOf(group: readonly number[], width: number): number[][] {
  return Array.from({ length: group.length / width }, (_, i) =>
    group.slice(i * width, (i + 1) * width),
  );
}

function digits(number: number, base: number, size: number): number[] {
  const out = new Array<number>(size);
  for (let i = size - 1; i >= 0; i--, number = Math.floor(number / base)) out[i] = number % base;
  return out;
}

const total = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0);

function hash(list: readonly number[]): number {
  return list.reduce((mixed, each) => (Math.imul(mixed, 31) + each + 1) | 0, 17);
}

/** Lists in the order of their coming, each once. */
class Distinct {
  readonly lists: number[][] = [];
  private readonly seen = new Set<string>();

  get size(): number {
    return this.lists.length;
  }

  add(list: number[]): void {
    const key = list.join(",");
    if (this.seen.has(key)) return;
    this.seen.add(key);
    this.lists.push(list);
  }
}
