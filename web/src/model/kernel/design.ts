// The sequences that a circuit is measured on: all of them, or a crossed sample where there are
// more than 2^20. The same as Python's analysis/design.py makes.

import type { Kernel } from "../kernel";
import type { Task } from "../types";

/** Every choice of relevant tokens is combined with every choice of irrelevant ones. */
export interface Crossed {
  positions: Int32Array; // relevant, rising
  prefixes: Int32Array; // [prefixCount, relevant]: orderings of one multiset side by side
  prefixCount: number;
  groups: Int32Array; // [multisets + 1]: where each one's orderings begin
  suffixes: Int32Array; // [suffixCount, length - relevant]
  suffixCount: number;
  sampled: boolean;
}

const MAX_SEQUENCES = 2 ** 20; // up to here all sequences are measured
const MULTISETS = 256; // of a sample: 65536 sequences
const ORDERINGS = 2;
const SUFFIXES = 128;
const STREAM = 3; // SAMPLE in random.hpp: no run uses it
const BLOCK = 2 ** 16; // rows between the parts of the sample, which share the stream

export function crossedSequences(kernel: Kernel, task: Task): Crossed {
  const all = task.vocab ** task.length <= MAX_SEQUENCES;
  return all ? everySequence(kernel, task) : sampleOf(kernel, task);
}

function everySequence(kernel: Kernel, task: Task): Crossed {
  const k = task.positions.length;
  const [prefixCount, suffixCount] = [task.vocab ** k, task.vocab ** (task.length - k)];
  const ordered = kernel.enumerate(prefixCount, k, task.vocab);
  const suffixes = kernel.enumerate(suffixCount, task.length - k, task.vocab);
  const positions = Int32Array.from(task.positions);
  const { prefixes, groups } = grouped(ordered, prefixCount, k, task.vocab);
  return { positions, prefixes, prefixCount, groups, suffixes, suffixCount, sampled: false };
}

/** Those of one multiset together, in the order of the multisets' sorted tokens. */
function grouped(
  ordered: Int32Array,
  count: number,
  k: number,
  vocab: number,
): { prefixes: Int32Array; groups: Int32Array } {
  const row = (i: number): Int32Array => ordered.subarray(i * k, (i + 1) * k);
  // The multiset as a number whose digits are its sorted tokens, then the place: both exact.
  const keys = Float64Array.from({ length: count }, (_, i) => {
    const multiset = row(i)
      .slice()
      .sort()
      .reduce((key, token) => key * vocab + token, 0);
    return multiset * count + i;
  }).sort();
  const prefixes = new Int32Array(ordered.length);
  const groups: number[] = [];
  let last = -1;
  keys.forEach((key, i) => {
    prefixes.set(row(key % count), i * k);
    const multiset = Math.floor(key / count);
    if (multiset !== last) groups.push(i);
    last = multiset;
  });
  return { prefixes, groups: Int32Array.from([...groups, count]) };
}

function sampleOf(kernel: Kernel, task: Task): Crossed {
  const k = task.positions.length;
  const rest = task.length - k;
  const drawn = kernel.draw(MULTISETS, k, task.vocab, 0, STREAM);
  const prefixCount = ORDERINGS * MULTISETS;
  const prefixes = new Int32Array(prefixCount * k);
  for (let i = 0; i < prefixCount; i++) {
    const multiset = Math.floor(i / ORDERINGS);
    kernel.shuffle(k, 0, BLOCK + i).forEach((from, to) => {
      prefixes[i * k + to] = drawn[multiset * k + from]!;
    });
  }
  const suffixCount = rest > 0 ? SUFFIXES : 1;
  const suffixes = kernel.draw(BLOCK + SUFFIXES, rest, task.vocab, 0, STREAM).slice(BLOCK * rest);
  const groups = Int32Array.from({ length: MULTISETS + 1 }, (_, m) => ORDERINGS * m);
  const positions = Int32Array.from(task.positions);
  return { positions, prefixes, prefixCount, groups, suffixes, suffixCount, sampled: true };
}
