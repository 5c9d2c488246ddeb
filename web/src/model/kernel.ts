// The kernel in the browser: dynascope's own arithmetic, compiled to WebAssembly (kernel/wasm.cpp).
//
//   const kernel = await Kernel.load(bytes);
//   const model = kernel.model(modelOptions(run.config));
//   const { sequence } = model.forward(run.weights(epoch), tokens, { stages: ["sequence"] });
//
// Works in a page, a worker and Node. What it computes has the same bits as in Python. Arrays that
// it returns are copies, free to keep and to transfer.

import { unsupported } from "./browser-support";
import { ReadableError } from "./errors";
import { Heap, rowsIn } from "./kernel/heap";
import { Model, type ModelOptions } from "./kernel/model";
import { CATALOG } from "./kernel/names";
import { Tasks } from "./kernel/tasks";
import type { Examples, KernelTask } from "./types";

export {
  type Ablation,
  type Activations,
  type ForwardOptions,
  type GridOptions,
  type Measures,
  Model,
  type ModelOptions,
  modelOptions,
  type ParameterSlice,
  type Tensor,
} from "./kernel/model";
export * from "./kernel/names";
export { type Crossed, Tasks } from "./kernel/tasks";
export * from "./kept-sum";
export * from "./kernel/trainer";

/** The two principal axes of points: see kernel/projection.hpp for what happens in odd cases. */
export interface PrincipalPlane {
  axes: [Float64Array, Float64Array]; // [dim] each
  mean: Float64Array; // [dim]
  shares: [number, number]; // of the variance, that each axis keeps
}

/** A variance in three parts that sum to 1. */
export interface VarianceShares {
  between: number; // multisets of relevant tokens
  permutation: number; // orderings of one
  suffix: number; // irrelevant tokens
  variance: number; // that is shared
}

/** Raised with kernel/wasm.cpp's INTERFACE. */
const INTERFACE = 4;
const SPLITS = ["train", "test"] as const; // in the order of their streams

export class Kernel {
  readonly tasks: Tasks;

  private constructor(private readonly heap: Heap) {
    this.tasks = new Tasks(heap);
    const same = heap.call.version() === INTERFACE && heap.call.catalog() >>> 0 === CATALOG;
    if (!same)
      throw new ReadableError(
        "kernel.wasm: expected the version that this client was built with; run scripts/build-web.",
      );
  }

  /** From the bytes of kernel.wasm, or from the module that `WebAssembly.compile` made of them. */
  static async load(source: BufferSource | WebAssembly.Module): Promise<Kernel> {
    const missing = unsupported();
    if (missing) throw new ReadableError(missing);
    const module = source instanceof WebAssembly.Module ? source : await compiled(source);
    const { exports } = await WebAssembly.instantiate(module, {});
    if (typeof exports["_initialize"] === "function") exports["_initialize"](); // the C library's own
    return new Kernel(new Heap(exports));
  }

  /** Bytes of memory that the kernel has taken; it gives none back. */
  get bytes(): number {
    return this.heap.bytes;
  }

  /** A model of this shape; dispose it when it is done with. */
  model(options: ModelOptions): Model {
    return new Model(this.heap, options);
  }

  /** The plane on which points [count, dim] are shown. */
  plane(points: ArrayLike<number>, dim: number): PrincipalPlane {
    const count = rowsIn("points", points, dim);
    return this.heap.frame((frame) => {
      const [axes, mean, shares] = [frame.room(16 * dim), frame.room(8 * dim), frame.room(16)];
      const given = frame.doubles(points);
      this.heap.check(this.heap.call.plane(given, count, dim, axes, mean, shares));
      const both = this.heap.readDoubles(axes, 2 * dim);
      const [first, second] = this.heap.readDoubles(shares, 2);
      return {
        axes: [both.slice(0, dim), both.slice(dim)],
        mean: this.heap.readDoubles(mean, dim),
        shares: [first!, second!],
      };
    });
  }

  /** From the parts of a variance, as `Model.circuit` measures it; null where it is no more than
   * rounding, told as a share of the mean square. */
  varianceShares(parts: Float64Array, rounding: number): VarianceShares | null {
    return this.heap.frame((frame) => {
      const out = frame.room(32);
      if (!this.heap.call.variance_shares(frame.doubles(parts), rounding, out)) return null;
      const [between, permutation, suffix, variance] = this.heap.readDoubles(out, 4);
      return {
        between: between!,
        permutation: permutation!,
        suffix: suffix!,
        variance: variance!,
      };
    });
  }

  /** The first `count` examples of a seed's train or test set. */
  dataset(task: KernelTask, seed: number, split: (typeof SPLITS)[number], count: number): Examples {
    const tokens = this.draw(count, task.length, task.vocab, seed, SPLITS.indexOf(split));
    return { tokens, targets: this.tasks.targets(task, tokens) };
  }

  /** [count, length], uniform; row i depends on (seed, stream, i) alone. */
  draw(count: number, length: number, vocab: number, seed: number, stream: number): Int32Array {
    return this.ints(count * length, (at) =>
      this.heap.call.draw(count, length, vocab, seed, stream, at),
    );
  }

  /** [count, length]: sequences `first` and on of all vocab^length, in the order of digits. */
  enumerate(count: number, length: number, vocab: number, first = 0): Int32Array {
    return this.ints(count * length, (at) =>
      this.heap.call.enumerate(first, count, length, vocab, at),
    );
  }

  /** The permutation of 0..count-1 that belongs to a seed and an epoch. */
  shuffle(count: number, seed: number, epoch: number): Int32Array {
    return this.ints(count, (at) => this.heap.call.shuffle(count, seed, epoch, at));
  }

  private ints(size: number, fill: (at: number) => number): Int32Array {
    return this.heap.frame((frame) => {
      const at = frame.room(4 * size);
      this.heap.check(fill(at));
      return this.heap.readInts(at, size);
    });
  }
}

async function compiled(source: BufferSource): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(source);
  } catch {
    throw new ReadableError("kernel.wasm: the file is damaged; run scripts/build-web.");
  }
}
