// A run that is trained here. It keeps what Python's trainer keeps, and goes on with the same bits:
// from its seed, from an epoch of another run, after a change of weights or of options.

import { ReadableError } from "../errors";
import { modelOptions, type Kernel, type Model, type ParameterSlice } from "../kernel";
import { CURVES } from "../kernel/names";
import type { Progress, Recorded, Trainer } from "../kernel/trainer";
import type { Config, Examples, KernelTask, Numbers } from "../types";
import { holdsOf } from "./clamps";
import { fittedStart } from "./fitted-start";
import { frozenMask } from "./frozen-parts";
import { checkChanges } from "./train-on-plan";
import { GrowingRows } from "./growing-rows";
import { configAt, movedState, slotsSince, stepsDone, type RunEdit } from "./run-edits";
import { fingerprint } from "./sha256";

/** What is known of a run up to an epoch; training goes on from there. */
export interface History {
  config: Config;
  seed: number;
  start: Numbers | null; // the first weights, if they are not those of the seed
  edits: readonly RunEdit[];
  curves: Numbers; // [epoch + 1, CURVES]
  weights: Numbers; // [epoch + 1, size]: of every epoch
  states: ReadonlyMap<number, Numbers>; // [3, size] by epoch, at or before the last
}

/** The task of a config that names one. */
export function taskOfConfig({ task }: Config): KernelTask {
  const { name, length, vocab, relevant } = task;
  const positions =
    typeof relevant === "number" ? Array.from({ length: relevant }, (_, i) => i) : relevant;
  return { name, length, vocab, positions };
}

export class LiveRun {
  readonly edits: RunEdit[];
  readonly curves: GrowingRows; // [epoch + 1, CURVES]
  readonly weights: GrowingRows; // [epoch + 1, size]
  readonly states: Map<number, Numbers>; // by epoch; every so many, and after each edit
  private trainer: Trainer;
  start: Numbers | null = null; // the first weights, if they are not those of the seed
  private readonly model: Model;
  private readonly sets: { train: Examples; test: Examples };
  private fence: number | null = null; // the end of an epoch within which weights were changed

  /** A new run, before its first step; with weights of its own or those of the seed. */
  static start(
    kernel: Kernel,
    config: Config,
    seed: number,
    start: Numbers | null = null,
  ): LiveRun {
    const run = new LiveRun(kernel, config, seed, []);
    const usual = run.model.initialize(seed);
    const first = start ? fittedStart(start, usual, run.parameters) : usual;
    run.trainer = run.made(first, 0);
    if (!same(first, usual)) run.start = first;
    run.curves.append(run.trainer.curvesNow());
    run.weights.append(run.trainer.parameters());
    run.states.set(0, run.trainer.state());
    return run;
  }

  /** A run as it was at the last epoch of a history, in exactly that state. */
  static goingOn(kernel: Kernel, history: History): LiveRun {
    const run = new LiveRun(kernel, history.config, history.seed, history.edits);
    run.start = history.start;
    run.curves.append(history.curves);
    run.weights.append(history.weights);
    const epoch = run.weights.count - 1;
    for (const [at, state] of history.states) if (at <= epoch) run.states.set(at, state);
    const nearest = Math.max(-1, ...run.states.keys());
    run.trainer = run.made(run.weights.rows(0), epoch);
    if (nearest >= 0)
      run.trainer.setState(run.states.get(nearest)!, nearest, run.stepsDone(nearest));
    run.trainer.advance(epoch - Math.max(0, nearest));
    if (!same(run.trainer.parameters(), run.weights.rows(epoch)))
      throw new ReadableError(`Epoch ${epoch} of this run could not be computed again.`);
    return run;
  }

  private constructor(
    kernel: Kernel,
    readonly config: Config,
    readonly seed: number,
    edits: readonly RunEdit[],
  ) {
    const task = taskOfConfig(config);
    this.edits = [...edits];
    this.model = kernel.model(modelOptions(config));
    const set = (split: "train" | "test"): Examples =>
      kernel.dataset(task, seed, split, config.task[`${split}_size`]);
    this.sets = { train: set("train"), test: set("test") };
    this.curves = new GrowingRows(CURVES.length, config.precision);
    this.weights = new GrowingRows(this.model.size, config.precision);
    this.states = new Map();
    this.trainer = undefined as unknown as Trainer; // set by whoever makes it
  }

  dispose(): void {
    this.trainer.dispose();
    this.model.dispose();
  }

  get epoch(): number {
    return this.trainer.progress.epoch;
  }

  get diverged(): number | null {
    return this.trainer.progress.diverged;
  }

  get progress(): Progress {
    return this.trainer.progress;
  }

  /** Where each parameter lies in a row of weights. */
  get parameters(): readonly ParameterSlice[] {
    return this.model.parameters;
  }

  /** The weights now, which may be those in the middle of an epoch. */
  get weightsNow(): Numbers {
    return this.trainer.parameters();
  }

  /** Trains until so many epochs have ended. */
  advance(epochs: number): void {
    let left = epochs;
    while (left > 0 && this.diverged === null) {
      const now = this.fence === null ? left : 1;
      this.keep(this.trainer.advance(now, this.kept));
      left -= now;
    }
  }

  /** Trains, and keeps nothing of it: for who wants the curves [epochs, CURVES] alone. */
  advanceUnkept(epochs: number): Numbers {
    return this.trainer.advance(epochs).curves;
  }

  /** Trains for so many batches. */
  advanceSteps(steps: number): void {
    this.keep(this.trainer.advanceSteps(steps, this.kept));
  }

  /** New weights: moments, epoch and shuffles stay. */
  setParameters(weights: Numbers): void {
    this.checkGoingOn();
    const { epoch, step, stepInEpoch } = this.trainer.progress;
    this.edits.push({ epoch, step, parameters: fingerprint(weights), weights: weights.slice() });
    this.trainer.setParameters(weights);
    if (stepInEpoch) this.fence = epoch + 1;
    else this.markEdit();
  }

  /** Other options of training, by their whole names, from the end of an epoch on. */
  change(options: Readonly<Record<string, unknown>>): void {
    this.checkGoingOn();
    const { epoch, step, stepInEpoch } = this.trainer.progress;
    if (stepInEpoch)
      throw new ReadableError(
        `Options can only change at the end of an epoch; this is ${stepInEpoch} batches into one.`,
      );
    checkChanges(this.config, this.edits, epoch, options);
    const [state, before] = [this.trainer.state(), configAt(this.config, this.edits, epoch)];
    this.edits.push({ epoch, step, options });
    const trainer = this.made(this.trainer.parameters(), epoch);
    this.trainer.dispose();
    this.trainer = trainer;
    const moved = movedState(state, before, configAt(this.config, this.edits, epoch));
    this.trainer.setState(moved, epoch, step);
    this.markEdit();
  }

  /** Mean loss and accuracy of some weights on the run's own sets. */
  evaluate(weights: Numbers): Record<"train" | "test", { loss: number; accuracy: number }> {
    const on = ({ tokens, targets }: Examples): { loss: number; accuracy: number } => {
      const { loss, accuracy } = this.model.evaluate(weights, tokens, targets);
      return { loss: loss[0]!, accuracy: accuracy[0]! };
    };
    return { train: on(this.sets.train), test: on(this.sets.test) };
  }

  /** All that is needed to go on from an epoch: what was changed after it is not part of that. */
  history(epoch = this.epoch): History {
    const { config, seed, start, edits } = this;
    return {
      config,
      seed,
      start,
      edits: edits.filter(({ step }) => step <= this.stepsDone(epoch)),
      curves: this.curves.rows(0, epoch + 1).slice(),
      weights: this.weights.rows(0, epoch + 1).slice(),
      states: new Map([...this.states].filter(([at]) => at <= epoch)),
    };
  }

  private get kept(): { weightsEvery: number; stateEvery: number } {
    return { weightsEvery: 1, stateEvery: this.config.record.state_every };
  }

  private keep(recorded: Recorded): void {
    const [before, size] = [this.curves.count - 1, this.weights.width];
    this.curves.append(recorded.curves);
    this.weights.append(recorded.weights);
    const every = this.config.record.state_every;
    for (let row = 0; 3 * size * row < recorded.states.length; row++) {
      const epoch = (Math.floor(before / every) + 1 + row) * every;
      this.states.set(epoch, recorded.states.slice(3 * size * row, 3 * size * (row + 1)));
    }
    if (this.fence !== null && this.epoch >= this.fence) {
      this.states.set(this.epoch, this.trainer.state());
      this.fence = null;
    }
  }

  private markEdit(): void {
    this.states.set(this.epoch, this.trainer.state());
    this.weights.replace(this.epoch, this.trainer.parameters());
  }

  private made(start: Numbers, epoch: number): Trainer {
    const { training, record } = configAt(this.config, this.edits, epoch);
    const frozen = frozenMask(training.frozen, this.model.parameters);
    return this.model.trainer({
      training,
      ...this.sets,
      seed: this.seed,
      start,
      ...(frozen && { frozen }),
      gradients: record.gradients,
      full_gradients: record.full_gradients,
      slotsSince: slotsSince(this.config, this.edits, epoch),
      holds: holdsOf(training.clamps, this.config.task.length),
    });
  }

  private stepsDone(epoch: number): number {
    return stepsDone(this.config, this.edits, epoch);
  }

  private checkGoingOn(): void {
    if (this.diverged !== null)
      throw new ReadableError(`This run diverged at epoch ${this.diverged} and goes no further.`);
  }
}

const same = (a: Numbers, b: Numbers): boolean => a.every((value, i) => Object.is(value, b[i]));
