// The page's side of a worker that trains.

import type { History } from "../model/live/live-run";
import type { Recipe } from "../model/live/run-recipe";
import type { Config, Numbers } from "../model/types";
import type { FromLiveWorker, ToLiveWorker } from "./live-protocol";
import { liveWorker } from "./start-worker";

export class LiveClient {
  private readonly worker = liveWorker();
  private waiting: { done: (history: History) => void; fail: (why: Error) => void }[] = [];

  constructor(private readonly listener: (message: FromLiveWorker) => void) {
    this.worker.onmessage = ({ data }: MessageEvent<FromLiveWorker>) => {
      if (data.type === "history") this.waiting.shift()?.done(data.history);
      else if (data.type === "failed" && data.about === "history")
        this.waiting.shift()?.fail(new Error(data.message));
      else this.listener(data);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      const message = "The worker that trains stopped: start the run again.";
      for (const { fail } of this.waiting.splice(0)) fail(new Error(message));
      this.listener({ type: "failed", about: "train", message });
    };
  }

  start(config: Config, seed: number, start: Numbers | null): void {
    this.send({ type: "start", config, seed, start });
  }

  goOn(history: History): void {
    this.send({ type: "goOn", history });
  }

  replay(recipe: Recipe): void {
    this.send({ type: "replay", recipe });
  }

  train(to: number, pace: number | null): void {
    this.send({ type: "train", to, pace });
  }

  pause(): void {
    this.send({ type: "pause" });
  }

  step(by: "epoch" | "batch"): void {
    this.send({ type: "step", by });
  }

  edit(weights: Numbers): void {
    this.send({ type: "edit", weights });
  }

  change(options: Readonly<Record<string, unknown>>): void {
    this.send({ type: "change", options });
  }

  /** All that is needed to go on from an epoch. */
  history(epoch: number): Promise<History> {
    return new Promise((done, fail) => {
      this.waiting.push({ done, fail });
      this.send({ type: "history", epoch });
    });
  }

  close(): void {
    this.worker.terminate();
    for (const { fail } of this.waiting.splice(0)) fail(new Error("The run was forgotten."));
  }

  /** Whether somebody waits for an answer. */
  get asked(): boolean {
    return this.waiting.length > 0;
  }

  private send(message: ToLiveWorker): void {
    this.worker.postMessage(message);
  }
}
