// Workers that train many seeds, each one after the other.

import type { SeedReport } from "../model/live/seed-run";
import type { Config } from "../model/types";
import type { FromLiveWorker, ToLiveWorker } from "./live-protocol";
import { liveWorker } from "./start-worker";

export interface SeedListener {
  report(report: SeedReport): void;
  done(): void; // all are over
  failed(message: string): void; // and nothing goes on
}

export class SeedPool {
  private readonly waiting: number[];
  private readonly workers = new Set<Worker>();

  constructor(
    private readonly config: Config,
    seeds: readonly number[],
    workers: number,
    private readonly listener: SeedListener,
  ) {
    this.waiting = [...seeds];
    for (let i = 0; i < workers; i++) this.start();
  }

  /** Ends all that is under way. */
  close(): void {
    for (const worker of this.workers) worker.terminate();
    this.workers.clear();
  }

  private start(): void {
    const worker = liveWorker();
    this.workers.add(worker);
    worker.onmessage = ({ data }: MessageEvent<FromLiveWorker>) => {
      if (!this.workers.has(worker)) return; // it was ended with this on its way
      if (data.type === "failed") return this.fail(data.message);
      if (data.type !== "seed") return;
      this.listener.report(data.report);
      if (data.report.over) this.next(worker);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.fail("A worker that trains stopped: go on, or train fewer seeds.");
    };
    this.next(worker);
  }

  /** Gives a worker another seed, or lets it go. */
  private next(worker: Worker): void {
    const seed = this.waiting.shift();
    if (seed !== undefined) {
      const asked: ToLiveWorker = { type: "seed", config: this.config, seed };
      return worker.postMessage(asked);
    }
    worker.terminate();
    this.workers.delete(worker);
    if (!this.workers.size) this.listener.done();
  }

  private fail(message: string): void {
    this.close();
    this.listener.failed(message);
  }
}
