// Within a worker that trains: one of many seeds, to its end. Part of the script that trains single
// runs, so that a page which is one file holds it once.

import type { Kernel } from "../model/kernel";
import { SeedRun, type SeedReport } from "../model/live/seed-run";
import type { Config } from "../model/types";
import { fetchKernel } from "./run-kernel";

const SLICE = 50; // milliseconds between two reports: who looks at many curves sees no less

let kernel: Promise<Kernel> | null = null; // the same for all seeds

export async function trainSeed(
  config: Config,
  seed: number,
  tell: (report: SeedReport) => void,
): Promise<void> {
  kernel ??= fetchKernel();
  const run = new SeedRun(await kernel, config, seed);
  try {
    let fitting = 1;
    while (!run.over) {
      const start = performance.now();
      run.advance(fitting);
      fitting = nextCount(fitting, performance.now() - start);
      if (!run.over) tell(run.report);
      await nextTurn();
    }
    tell(run.report);
  } finally {
    run.dispose();
  }
}

/** Epochs that fill a slice, if so many took so long; at most twice as many: the first are slow. */
function nextCount(epochs: number, milliseconds: number): number {
  const fitting = Math.floor((epochs * SLICE) / Math.max(milliseconds, 0.1));
  return Math.max(1, Math.min(fitting, 2 * epochs));
}

const turn = new MessageChannel();

/** A worker that is never idle would go on for seconds after its page has ended it. */
function nextTurn(): Promise<void> {
  return new Promise((done) => {
    turn.port1.onmessage = () => done();
    turn.port2.postMessage(null);
  });
}
