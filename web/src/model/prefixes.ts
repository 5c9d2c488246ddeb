// Multisets of relevant tokens, their orderings, and choices of irrelevant tokens: the paper's idea
// of which sequences to look at, for any p, N and k.

import { generator, shuffled } from "./random";

const TRIES = 32; // draws in a row that may bring nothing new

/** How many multisets of k tokens there are: C(k + p - 1, k), or Infinity beyond 2^53. */
export function multisetCount(vocab: number, size: number): number {
  let count = 1;
  const few = Math.min(size, vocab - 1);
  const all = size + vocab - 1;
  for (let i = 1; i <= few; i++) {
    count = Math.round((count * (all - few + i)) / i);
    if (count > 2 ** 40) return Infinity;
  }
  return count;
}

/** Multisets as rising lists, by sum and then in order: all of them, or `most` drawn ones. */
export function multisets(vocab: number, size: number, most: number): number[][] {
  const found = multisetCount(vocab, size) <= most ? all(vocab, size) : drawn(vocab, size, most);
  return found.sort((a, b) => total(a) - total(b) || compare(a, b));
}

/** Up to `most` different orderings: rising first, then falling, then drawn ones. */
export function orderings(multiset: readonly number[], most: number): number[][] {
  const next = generator(hash(multiset));
  const found = new Distinct();
  found.add([...multiset]);
  if (found.size < most) found.add([...multiset].reverse());
  const wanted = Math.min(most, orderingCount(multiset));
  for (let tries = 0; found.size < wanted && tries < TRIES * most; tries++)
    found.add(shuffled(multiset, next));
  return found.lists;
}

/** How many orderings a multiset has, or Infinity beyond 2^40. */
export function orderingCount(multiset: readonly number[]): number {
  let count = 1;
  let equal = 0;
  for (let i = 0; i < multiset.length; i++) {
    equal = multiset[i] === multiset[i - 1] ? equal + 1 : 1;
    count = Math.round((count * (i + 1)) / equal);
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

function all(vocab: number, size: number): number[][] {
  const found: number[][] = [];
  const one = new Array<number>(size).fill(0);
  for (;;) {
    found.push([...one]);
    let place = size - 1;
    while (place >= 0 && one[place] === vocab - 1) place--;
    if (place < 0) return found;
    one.fill(one[place]! + 1, place);
  }
}

function drawn(vocab: number, size: number, most: number): number[][] {
  const next = generator(vocab * 65537 + size + 1);
  const found = new Distinct();
  for (let tries = 0; found.size < most && tries < TRIES * most; tries++) {
    const one = Array.from({ length: size }, () => Math.floor(next() * vocab));
    found.add(one.sort((a, b) => a - b));
  }
  return found.lists;
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
