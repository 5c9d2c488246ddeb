// What the kernel says of a task: targets, groups, chance, and the sequences for a circuit.

import type { KernelTask } from "../types";
import { type Address, type CallFrame, type Heap, rowsIn } from "./heap";
import { type Grouping, TASK_GROUPINGS, TASKS } from "./names";

/**
 * The sequences that a circuit is measured on: all of them, or a sample where there are more than
 * 2^20. Every prefix (relevant tokens) is combined with every suffix (irrelevant ones).
 */
export interface Crossed extends KernelTask {
  prefixes: Int32Array; // [prefixCount, relevant]: those of one group side by side
  prefixCount: number;
  groups: Int32Array; // [groups + 1]: where each one's prefixes begin
  suffixes: Int32Array; // [suffixCount, length - relevant]
  suffixCount: number;
  sampled: boolean;
}

/** A task in the module's memory, as wasm.cpp reads it. */
export function writeTask(frame: CallFrame, task: KernelTask): Address {
  const { name, length, vocab, positions } = task;
  return frame.ints([TASKS.indexOf(name), length, vocab, positions.length, ...positions]);
}

export class Tasks {
  /** Made by `Kernel`. */
  constructor(private readonly heap: Heap) {}

  /** What tokens [count, length] should give. */
  targets(task: KernelTask, tokens: Int32Array): Int32Array {
    const count = rowsIn("tokens", tokens, task.length);
    return this.heap.frame((frame) => {
      const [given, rows, out] = [
        writeTask(frame, task),
        frame.ints(tokens),
        frame.room(4 * count),
      ];
      this.heap.check(this.heap.call.targets(given, rows, count, out));
      return this.heap.readInts(out, count);
    });
  }

  /** The prefixes that stand for the groups of prefixes [count, relevant]. */
  canonical(task: KernelTask, prefixes: Int32Array): Int32Array {
    const count = rowsIn("prefixes", prefixes, task.positions.length);
    return this.heap.frame((frame) => {
      const rows = frame.ints(prefixes);
      this.heap.check(this.heap.call.canonical(writeTask(frame, task), rows, count));
      return this.heap.readInts(rows, prefixes.length);
    });
  }

  /** What the group of a canonical prefix is called. */
  groupName(task: KernelTask, canonical: Int32Array): string {
    return this.heap.frame((frame) => {
      const given = writeTask(frame, task);
      return this.heap.text(
        this.heap.made(this.heap.call.group_name(given, frame.ints(canonical))),
      );
    });
  }

  /** Whether groups are multisets of tokens, or of unordered pairs of neighbours. */
  grouping(task: KernelTask): Grouping {
    return TASK_GROUPINGS[task.name];
  }

  /** How many groups there are; Infinity beyond 2^40. */
  groupCount(task: KernelTask): number {
    return this.heap.frame((frame) => {
      const count = this.heap.call.group_count(writeTask(frame, task));
      if (Number.isNaN(count)) this.heap.check(1);
      return count;
    });
  }

  /** [relevant, relevant]: 1 where exchanging two relevant tokens is a symmetry. */
  exchangeable(task: KernelTask): Int32Array {
    const size = task.positions.length ** 2;
    return this.heap.frame((frame) => {
      const out = frame.room(4 * size);
      this.heap.check(this.heap.call.exchangeable(writeTask(frame, task), out));
      return this.heap.readInts(out, size);
    });
  }

  /** How often each class is right, the greatest being chance; null: it takes too long to find. */
  classShares(task: KernelTask): Float64Array | null {
    return this.heap.frame((frame) => {
      const out = frame.room(8 * task.vocab);
      this.heap.check(this.heap.call.class_shares(writeTask(frame, task), out));
      const shares = this.heap.readDoubles(out, task.vocab);
      return shares.some(Number.isNaN) ? null : shares;
    });
  }

  /** The sequences for `Model.circuit`. */
  design({ name, length, vocab, positions }: KernelTask): Crossed {
    const task: KernelTask = { name, length, vocab, positions };
    return this.heap.frame((frame) => {
      const [given, sizes] = [writeTask(frame, task), frame.room(16)];
      this.heap.check(this.heap.call.design_sizes(given, sizes));
      const [prefixCount = 0, groupCount = 0, suffixCount = 0, sampled = 0] = this.heap.readInts(
        sizes,
        4,
      );
      const k = positions.length;
      const counts = [prefixCount * k, groupCount + 1, suffixCount * (length - k)];
      const places = counts.map((count) => frame.room(4 * count));
      this.heap.check(this.heap.call.design(given, ...places));
      const [prefixes, groups, suffixes] = counts.map((n, i) => this.heap.readInts(places[i]!, n));
      return {
        ...task,
        prefixes: prefixes!,
        prefixCount,
        groups: groups!,
        suffixes: suffixes!,
        suffixCount,
        sampled: sampled !== 0,
      };
    });
  }
}
