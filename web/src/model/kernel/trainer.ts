// A run in the making: advance it by epochs or steps, look, change its weights, go on.

import { ReadableError } from "../errors";
import type { Config, Examples, Numbers, Precision } from "../types";
import { type Address, type CallFrame, checkSize, type Heap } from "./heap";
import type { ModelOptions } from "./model";
import { CURVES, STEP_CURVES } from "./names";
import { optionNumbers } from "./options";

export type TrainingOptions = Omit<Config["training"], "frozen" | "clamps">;

export interface TrainerOptions {
  training: TrainingOptions;
  train: Examples;
  test?: Examples;
  unseen?: Examples; // sequences that the train set does not contain
  seed: number; // of the shuffles
  start: Numbers; // packed, such as `model.initialize(seed)`
  frozen?: Uint8Array; // packed; 1: never moves
  gradients?: boolean; // curves of gradient norms over the steps; true
  full_gradients?: boolean; // and over the whole train set; false
  slotsSince?: readonly [number, number]; // steps done when each slot of the state began; 0
  holds?: readonly Hold[]; // attention that is held for some epochs
}

/** Attention [length], 1 in all, that is held between the ends of two epochs. */
export interface Hold {
  from: number;
  to: number;
  attention: readonly number[];
}

/** What is kept of the epochs and steps that a trainer advances by, besides curves. */
export interface Keep {
  weightsEvery?: number; // weights after each epoch divisible by this
  stateEvery?: number; // states
  steps?: boolean; // curves and weights of every step
}

/** What was recorded: rows one after another, as many as epochs ended (or steps were done). */
export interface Recorded {
  epochs: number; // ended; fewer than asked for when the run diverged
  steps: number;
  curves: Numbers; // [epochs, CURVES]
  weights: Numbers; // [kept, size]
  states: Numbers; // [kept, 3, size]
  stepCurves: Numbers; // [steps, STEP_CURVES]: the batch before the step
  stepWeights: Numbers; // [steps, size]: after the step
}

export interface Progress {
  epoch: number; // ended
  stepInEpoch: number;
  step: number; // done in all
  diverged: number | null; // the epoch at which it blew up; it goes no further
  stepsPerEpoch: number;
}

const ALWAYS = Number.MAX_SAFE_INTEGER;

function holdsIn(frame: CallFrame, holds: readonly Hold[], length: number): [Address, number] {
  for (const { attention } of holds) checkSize("attention", attention, length);
  const rows = holds.flatMap(({ from, to, attention }) => [from, to, ...attention]);
  return [rows.length ? frame.doubles(rows) : 0, holds.length];
}

export class Trainer {
  private address: Address;
  private readonly precision: Precision;

  /** Made by `Model.trainer`. */
  constructor(
    private readonly heap: Heap,
    model: Address,
    private readonly size: number,
    shape: Readonly<ModelOptions>,
    options: TrainerOptions,
  ) {
    this.precision = shape.precision;
    this.address = heap.frame((frame) => {
      checkSize("start", options.start, size);
      if (options.frozen) checkSize("frozen", options.frozen, size);
      const sets = [options.train, options.test, options.unseen].flatMap((set) => {
        if (!set) return [0, 0, 0];
        checkSize("tokens", set.tokens, set.targets.length * shape.length);
        return [frame.ints(set.tokens), frame.ints(set.targets), set.targets.length];
      });
      return heap.made(
        heap.call.trainer(
          ...[model, frame.doubles(optionNumbers("training", options.training)), frame.ints(sets)],
          ...[options.seed, frame.numbers(options.start, this.precision)],
          options.frozen ? frame.bytes(options.frozen) : 0,
          options.gradients === false ? 0 : 1,
          options.full_gradients ? 1 : 0,
          frame.doubles(options.slotsSince ?? [0, 0]),
          ...holdsIn(frame, options.holds ?? [], shape.length),
        ),
      );
    });
  }

  /** Frees its memory; it cannot be used after that. */
  dispose(): void {
    this.heap.call.release(this.address);
    this.address = 0;
  }

  get progress(): Progress {
    const all = this.heap.frame((frame) => {
      const at = frame.room(40);
      this.heap.call.progress(this.here, at);
      return this.heap.readDoubles(at, 5);
    });
    const [epoch, stepInEpoch, step, diverged, stepsPerEpoch] = all as unknown as number[];
    return {
      epoch: epoch!,
      stepInEpoch: stepInEpoch!,
      step: step!,
      diverged: diverged! < 0 ? null : diverged!,
      stepsPerEpoch: stepsPerEpoch!,
    };
  }

  /** Trains until so many epochs have ended; one begun by steps counts when it ends. */
  advance(epochs: number, keep: Keep = {}): Recorded {
    const { stepInEpoch, stepsPerEpoch } = this.progress;
    return this.run(epochs, ALWAYS, epochs, epochs * stepsPerEpoch - stepInEpoch, keep);
  }

  /** Trains for so many steps (batches); may end in the middle of an epoch. */
  advanceSteps(steps: number, keep: Keep = {}): Recorded {
    const { stepInEpoch, stepsPerEpoch } = this.progress;
    return this.run(ALWAYS, steps, Math.floor((stepInEpoch + steps) / stepsPerEpoch), steps, keep);
  }

  /** Curves of the present weights, one row; before the first step: row 0 of a run. */
  curvesNow(): Numbers {
    return this.heap.frame((frame) => {
      const at = frame.roomFor(CURVES.length, this.precision);
      this.heap.call.record_now(this.here, at);
      return this.heap.read(at, CURVES.length, this.precision);
    });
  }

  /** The present weights, packed. */
  parameters(): Numbers {
    return this.heap.frame((frame) => {
      const at = frame.roomFor(this.size, this.precision);
      this.heap.call.read_parameters(this.here, at);
      return this.heap.read(at, this.size, this.precision);
    });
  }

  /** New weights; moments, epoch and shuffles stay. */
  setParameters(weights: Numbers): void {
    checkSize("weights", weights, this.size);
    this.heap.frame((frame) =>
      this.heap.call.set_parameters(this.here, frame.numbers(weights, this.precision)),
    );
  }

  /** [3, size]: weights, first and second moments. */
  state(): Numbers {
    return this.heap.frame((frame) => {
      const at = frame.roomFor(3 * this.size, this.precision);
      this.heap.call.read_state(this.here, at);
      return this.heap.read(at, 3 * this.size, this.precision);
    });
  }

  /**
   * Goes on from a state, of this trainer or of Python's, as it was at the end of `epoch`, after
   * `step` steps in all: not the same number for each epoch where the batch has changed.
   */
  setState(state: Numbers, epoch: number, step = epoch * this.progress.stepsPerEpoch): void {
    checkSize("state", state, 3 * this.size);
    this.heap.frame((frame) =>
      this.heap.check(
        this.heap.call.write_state(this.here, frame.numbers(state, this.precision), epoch, step),
      ),
    );
  }

  private get here(): Address {
    if (this.address === 0) throw new ReadableError("trainer: it was disposed; make a new one.");
    return this.address;
  }

  /** `mostEpochs`, `mostSteps`: how many can end, which decides what room is needed. */
  private run(
    epochs: number,
    steps: number,
    mostEpochs: number,
    mostSteps: number,
    keep: Keep,
  ): Recorded {
    const before = this.progress;
    const { size, heap, precision } = this;
    const { weightsEvery = 0, stateEvery = 0 } = keep;
    const kept = (every: number, to: number): number =>
      every > 0 ? Math.floor(to / every) - Math.floor(before.epoch / every) : 0;
    return heap.frame((frame) => {
      const room = (numbers: number): Address =>
        numbers > 0 ? frame.roomFor(numbers, precision) : 0;
      const last = before.epoch + mostEpochs;
      const each = keep.steps ? mostSteps : 0;
      const curves = room(mostEpochs * CURVES.length);
      const weights = room(kept(weightsEvery, last) * size);
      const states = room(kept(stateEvery, last) * 3 * size);
      const stepCurves = room(each * STEP_CURVES.length);
      const stepWeights = room(each * size);
      const places = [curves, weights, weightsEvery, states, stateEvery, stepCurves, stepWeights];
      heap.check(heap.call.advance(this.here, epochs, steps, frame.ints(places)));
      const now = this.progress;
      const done = { epochs: now.epoch - before.epoch, steps: now.step - before.step };
      const read = (at: Address, numbers: number): Numbers =>
        heap.read(at, at ? numbers : 0, precision);
      return {
        ...done,
        curves: read(curves, done.epochs * CURVES.length),
        weights: read(weights, kept(weightsEvery, now.epoch) * size),
        states: read(states, kept(stateEvery, now.epoch) * 3 * size),
        stepCurves: read(stepCurves, done.steps * STEP_CURVES.length),
        stepWeights: read(stepWeights, done.steps * size),
      };
    });
  }
}
