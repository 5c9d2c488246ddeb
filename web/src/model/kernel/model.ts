// A model's shape, and everything that is computed from weights of that shape.
//
// Weights are one packed array (`run.weights(epoch)`, or Python's `parameters.flat`), in which
// `parameters` says where each one lies. All arithmetic is the kernel's, in the model's precision.

import { expected, ReadableError } from "../errors";
import type { KeptSum } from "../kept-sum";
import type { Config, KernelTask, Numbers, Precision } from "../types";
import { type Address, checkSize, type CallFrame, type Heap, rowsIn } from "./heap";
import {
  type Measure,
  MEASURES,
  type ParameterName,
  PARAMETERS,
  type Stage,
  STAGES,
  SUM_KINDS,
} from "./names";
import { optionNumbers } from "./options";
import { type Crossed, writeTask } from "./tasks";
import { Trainer, type TrainerOptions } from "./trainer";

/** The section `model` of a config, and the sizes of the task. */
export interface ModelOptions extends ModelSection {
  precision: Precision;
  vocab: number; // p: tokens of the task
  length: number; // N
  embeddings: number; // rows of E, and so output classes; at least p
}
type ModelSection = Config["model"];

/** Lists of the table whose rows have shapes, in the order of kernel/wasm_model.hpp. */
const LIST = { parameter: 0, stage: 1, measure: 2 } as const;

/** What kernel/wasm.cpp tells of a kept sum: seven numbers, and one for each kind but the last. */
const SUM_NUMBERS = 7 + SUM_KINDS.length - 1;
const MOST_SUMS = 2;

/** The model of a run. */
export function modelOptions(config: Config): ModelOptions {
  const { embeddings, ...model } = config.model;
  const { vocab, length } = config.task;
  return { ...model, vocab, length, embeddings: embeddings ?? vocab, precision: config.precision };
}

/** Where a parameter lies in packed weights. */
export interface ParameterSlice {
  name: ParameterName;
  shape: number[];
  offset: number;
  size: number;
}

/** Numbers with their shape, row-major. */
export interface Tensor<Data = Numbers> {
  shape: number[];
  data: Data;
}
export type Activations = Record<Stage, Tensor>; // shapes begin with the number of sequences
export type Measures = Partial<Record<Measure, Tensor<Float64Array>>>;

/** Parts switched off: positions get no attention (the others share it), units no activation. */
export interface Ablation {
  positions?: readonly number[];
  hidden?: readonly number[];
  attention?: ArrayLike<number> | null; // [length], 1 in all: of every sequence, whatever its scores
}

export interface ForwardOptions<Wanted extends Stage = Stage> {
  stages?: readonly Wanted[]; // those that are needed; all, if not given
  ablate?: Ablation;
  patch?: Partial<Record<Stage, ArrayLike<number>>>; // put in the place of what is computed
}

/** Points origin + x a + y b that take the place of a stage's values. */
export interface GridOptions {
  stage: "sequence" | "output";
  origin: ArrayLike<number>; // [dim]
  a: ArrayLike<number>; // [dim]
  b: ArrayLike<number>; // [dim]
  x: ArrayLike<number>; // [width]
  y: ArrayLike<number>; // [height]
}

export class Model {
  readonly size: number; // numbers in packed weights
  readonly parameters: readonly ParameterSlice[];
  private address: Address;

  /** Made by `Kernel.model`. */
  constructor(
    private readonly heap: Heap,
    readonly options: Readonly<ModelOptions>,
  ) {
    const { precision, vocab, length } = options;
    this.address = heap.frame((frame) => {
      const numbers = frame.doubles(optionNumbers("model", options));
      return heap.made(heap.call.model(precision === "float64" ? 1 : 0, vocab, length, numbers));
    });
    this.size = heap.call.packed_size(this.address);
    this.parameters = PARAMETERS.flatMap((name, i) => {
      const shape = this.shapeOf(LIST.parameter, i);
      const offset = heap.call.offset(this.address, i);
      return shape ? [{ name, shape, offset, size: product(shape) }] : [];
    });
  }

  /** Frees the model's place; it cannot be used after that. Trainers of it can. */
  dispose(): void {
    this.heap.call.release(this.address);
    this.address = 0;
  }

  /** The weights that a run of this seed starts from. */
  initialize(seed: number): Numbers {
    return this.heap.frame((frame) => {
      const weights = frame.roomFor(this.size, this.options.precision);
      this.heap.check(this.heap.call.initialize(this.here, seed, weights));
      return this.heap.read(weights, this.size, this.options.precision);
    });
  }

  /** Values of the stages for tokens [count, length], as Python's `ds.forward` gives them. */
  forward<Wanted extends Stage = Stage>(
    weights: Numbers,
    tokens: Int32Array,
    options: ForwardOptions<Wanted> = {},
  ): Pick<Activations, Wanted> {
    const { precision, length } = this.options;
    const count = rowsIn("tokens", tokens, length);
    const wanted = options.stages ?? (STAGES as readonly Stage[] as readonly Wanted[]);
    return this.heap.frame((frame) => {
      const shapes = STAGES.map((_, i) => [count, ...(this.shapeOf(LIST.stage, i) ?? [])]);
      const out = STAGES.map((name, i) =>
        (wanted as readonly Stage[]).includes(name)
          ? frame.roomFor(product(shapes[i]!), precision)
          : 0,
      );
      const patch = STAGES.map((name, i) => {
        const values = options.patch?.[name];
        if (!values) return 0;
        checkSize(`patch.${name}`, values, product(shapes[i]!));
        return frame.numbers(values, precision);
      });
      this.heap.check(
        this.heap.call.forward(
          ...[this.here, this.weights(frame, weights), frame.ints(tokens), count],
          ...[frame.ints(out), frame.ints(patch), ...this.cuts(frame, options.ablate)],
        ),
      );
      const found = wanted.map((name) => {
        const i = STAGES.indexOf(name);
        const shape = shapes[i]!;
        return [name, { shape, data: this.heap.read(out[i]!, product(shape), precision) }];
      });
      return Object.fromEntries(found) as Pick<Activations, Wanted>;
    });
  }

  /** Logits [height, width, embeddings] of the classes on a grid. */
  grid(weights: Numbers, g: GridOptions): Tensor {
    const { precision, embeddings, dim } = this.options;
    for (const name of ["origin", "a", "b"] as const) checkSize(name, g[name], dim);
    const shape = [g.y.length, g.x.length, embeddings];
    return this.heap.frame((frame) => {
      const out = frame.roomFor(product(shape), precision);
      const [origin, a, b, x, y] = [g.origin, g.a, g.b, g.x, g.y].map((v) => frame.doubles(v));
      const outputs = g.stage === "output" ? 1 : 0;
      this.heap.check(
        this.heap.call.grid(
          ...[this.here, this.weights(frame, weights), outputs, origin!, a!, b!],
          ...[x!, g.x.length, y!, g.y.length, out],
        ),
      );
      return { shape, data: this.heap.read(out, product(shape), precision) };
    });
  }

  /** Mean loss and accuracy on examples, for each row of weights [rows, size]. */
  evaluate(
    weights: Numbers,
    tokens: Int32Array,
    targets: Int32Array,
  ): { loss: Float64Array; accuracy: Float64Array } {
    const rows = rowsIn("weights", weights, this.size);
    const count = this.examples(tokens, targets);
    return this.heap.frame((frame) => {
      const [loss, accuracy] = [frame.room(8 * rows), frame.room(8 * rows)];
      const all = frame.numbers(weights, this.options.precision);
      const data = [frame.ints(tokens), frame.ints(targets), count];
      this.heap.check(this.heap.call.evaluate(this.here, all, rows, ...data, loss, accuracy));
      return {
        loss: this.heap.readDoubles(loss, rows),
        accuracy: this.heap.readDoubles(accuracy, rows),
      };
    });
  }

  /** Mean loss and its gradient, packed, as Python's `ds.loss_and_gradient` gives them. */
  gradient(
    weights: Numbers,
    tokens: Int32Array,
    targets: Int32Array,
    ablate?: Ablation,
  ): { loss: number; gradient: Numbers } {
    const count = this.examples(tokens, targets);
    return this.heap.frame((frame) => {
      const [loss, grad] = [frame.room(8), frame.roomFor(this.size, this.options.precision)];
      const data = [frame.ints(tokens), frame.ints(targets), count];
      this.heap.check(
        this.heap.call.gradient(
          ...[this.here, this.weights(frame, weights), ...data],
          ...[...this.cuts(frame, ablate), loss, grad],
        ),
      );
      return {
        loss: this.heap.readDoubles(loss, 1)[0]!,
        gradient: this.heap.read(grad, this.size, this.options.precision),
      };
    });
  }

  /**
   * Measures of the circuit over sequences as `Tasks.design` gives them; all, or those wanted.
   * Found together and to be asked for together: value_spread and value_size; the two survivals;
   * without_attention and without_value; accuracy with logits, without_unit or a survival.
   */
  circuit(weights: Numbers, crossed: Crossed, wanted: readonly Measure[] = MEASURES): Measures {
    const k = crossed.positions.length;
    const rest = this.options.length - k;
    checkSize("prefixes", crossed.prefixes, crossed.prefixCount * k);
    checkSize("suffixes", crossed.suffixes, crossed.suffixCount * rest);
    return this.heap.frame((frame) => {
      const shapes = MEASURES.map((_, i) => this.shapeOf(LIST.measure, i, k) ?? []);
      const out = MEASURES.map((name, i) =>
        wanted.includes(name) ? frame.room(8 * product(shapes[i]!)) : 0,
      );
      const sequences = frame.ints([
        writeTask(frame, crossed),
        ...[frame.ints(crossed.prefixes), crossed.prefixCount],
        ...[frame.ints(crossed.groups), crossed.groups.length - 1],
        ...[frame.ints(crossed.suffixes), crossed.suffixCount],
        crossed.sampled ? 1 : 0,
      ]);
      const packed = this.weights(frame, weights);
      this.heap.check(this.heap.call.circuit(this.here, packed, sequences, frame.ints(out)));
      const found = MEASURES.flatMap((name, i) => {
        const shape = shapes[i]!;
        if (!out[i]) return [];
        return [[name, { shape, data: this.heap.readDoubles(out[i], product(shape)) }]];
      });
      return Object.fromEntries(found) as Measures;
    });
  }

  /**
   * The sum that the sequence embedding keeps, of a task that `isSummed`; null if it does not vary.
   * `threshold`: the corrected share that is enough; `rounding`: as for `Kernel.varianceShares`.
   */
  keptSum(weights: Numbers, task: KernelTask, threshold: number, rounding: number): KeptSum | null {
    const { length, vocab } = task;
    const size = length * vocab * vocab; // of the terms of one sum
    return this.heap.frame((frame) => {
      const terms = frame.room(4 * MOST_SUMS * size);
      const numbers = frame.room(8 * SUM_NUMBERS);
      const given = [this.weights(frame, weights), writeTask(frame, task)];
      this.heap.check(
        this.heap.call.kept_sum(this.here, ...given, threshold, rounding, terms, numbers),
      );
      const [kind = -1, sums = 0, first = -1, second = -1, share = NaN, ...rest] =
        this.heap.readDoubles(numbers, SUM_NUMBERS);
      if (kind < 0) return null;
      const [corrected = NaN, values = NaN, ...best] = rest;
      return {
        ...{ kind: SUM_KINDS[kind]!, share, corrected, values, length, vocab },
        positions: [...task.positions],
        apart: [first, second].filter((t) => t >= 0),
        terms: Array.from({ length: sums }, (_, i) =>
          this.heap.readInts(terms + 4 * size * i, size),
        ),
        best: Object.fromEntries(
          best.flatMap((reached, i) => (reached === reached ? [[SUM_KINDS[i]!, reached]] : [])),
        ),
      };
    });
  }

  /** A trainer of this model; dispose it when it is done with. */
  trainer(options: TrainerOptions): Trainer {
    return new Trainer(this.heap, this.here, this.size, this.options, options);
  }

  private get here(): Address {
    if (this.address === 0) throw new ReadableError("model: it was disposed; make a new one.");
    return this.address;
  }

  private weights(frame: CallFrame, weights: Numbers): Address {
    checkSize("weights", weights, this.size);
    return frame.numbers(weights, this.options.precision);
  }

  private examples(tokens: Int32Array, targets: Int32Array): number {
    checkSize("tokens", tokens, targets.length * this.options.length);
    return targets.length;
  }

  /** Addresses of the masks of positions and hidden units, and of held attention; 0: none. */
  private cuts(frame: CallFrame, ablate: Ablation = {}): [Address, Address, Address] {
    const mask = (field: string, size: number, cut: readonly number[] | undefined): Address => {
      if (!cut) return 0;
      const bytes = new Uint8Array(size);
      for (const i of cut) {
        if (!(i in bytes)) throw expected(field, `numbers from 0 to ${size - 1}`, i);
        bytes[i] = 1;
      }
      return frame.bytes(bytes);
    };
    const { length, hidden } = this.options;
    return [
      mask("ablate.positions", length, ablate.positions),
      mask("ablate.hidden", hidden, ablate.hidden),
      this.held(frame, ablate),
    ];
  }

  private held(frame: CallFrame, { attention }: Ablation): Address {
    if (!attention) return 0;
    checkSize("attention", attention, this.options.length);
    return frame.doubles(attention);
  }

  private shapeOf(table: number, index: number, relevant = 0): number[] | null {
    return this.heap.frame((frame) => {
      const sizes = frame.room(8);
      const rank = this.heap.call.dims(this.here, table, index, relevant, sizes);
      return rank < 0 ? null : Array.from(this.heap.readInts(sizes, rank));
    });
  }
}

function product(shape: readonly number[]): number {
  return shape.reduce((size, n) => size * n, 1);
}
