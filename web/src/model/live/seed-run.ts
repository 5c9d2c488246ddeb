// One of many seeds: trained as every run is, of which only thin curves and the end are kept.

import type { Kernel } from "../kernel";
import { CURVES } from "../kernel/names";
import { THRESHOLDS } from "../thresholds";
import type { Config, Numbers } from "../types";
import { LiveRun } from "./live-run";
import { ThinCurve } from "./thin-curve";

/** How far a seed is. */
export interface SeedReport {
  seed: number;
  epoch: number; // the last that has ended
  over: boolean; // it goes no further
  diverged: number | null;
  loss: number; // of the train set, at that epoch
  accuracy: number; // of the test set
  above: number | null; // the first epoch whose accuracy is above the one that counts as solved
  curves: Record<SeedCurve, Float32Array<ArrayBuffer>>;
}

export const SEED_CURVES = ["loss", "accuracy"] as const;
export type SeedCurve = (typeof SEED_CURVES)[number];

const LOSS = CURVES.indexOf("train_loss");
const ACCURACY = CURVES.indexOf("test_accuracy");

export class SeedRun {
  private readonly run: LiveRun;
  private readonly curves: Record<SeedCurve, ThinCurve>;
  private readonly epochs: number;
  private epoch = -1;
  private loss = NaN;
  private accuracy = NaN;
  private above: number | null = null;

  constructor(kernel: Kernel, config: Config, seed: number) {
    this.epochs = config.training.epochs;
    this.curves = { loss: new ThinCurve(this.epochs), accuracy: new ThinCurve(this.epochs) };
    this.run = LiveRun.start(kernel, config, seed);
    this.take(this.run.curves.rows(0));
  }

  get over(): boolean {
    return this.epoch >= this.epochs || this.run.diverged !== null;
  }

  /** Trains for so many epochs, or as many as are left. */
  advance(epochs: number): void {
    this.take(this.run.advanceUnkept(Math.min(epochs, this.epochs - this.epoch)));
  }

  get report(): SeedReport {
    const { epoch, over, loss, accuracy, above, curves } = this;
    return {
      ...{ seed: this.run.seed, epoch, over, diverged: this.run.diverged, loss, accuracy, above },
      curves: { loss: curves.loss.points, accuracy: curves.accuracy.points },
    };
  }

  dispose(): void {
    this.run.dispose();
  }

  /** Epochs that have ended: [epochs, CURVES]. */
  private take(rows: Numbers): void {
    for (let at = 0; at < rows.length; at += CURVES.length) {
      this.epoch += 1;
      this.loss = rows[at + LOSS]!;
      this.accuracy = rows[at + ACCURACY]!;
      this.curves.loss.add(this.epoch, this.loss);
      this.curves.accuracy.add(this.epoch, this.accuracy);
      if (this.accuracy > THRESHOLDS.solved_accuracy) this.above ??= this.epoch;
    }
  }
}
