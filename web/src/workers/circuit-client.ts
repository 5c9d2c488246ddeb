// The page's side of the worker that measures circuits: those of the latest scene, when there is time.

import type { RunDetails } from "../model/server/answers";
import type { KernelTask, Numbers } from "../model/types";
import type { FromCircuitWorker, ToCircuitWorker } from "./protocol";

const REST = 150; // milliseconds without a new scene
const PACE = 10; // while scenes come, circuits get a tenth of the time: who reads more numbers?

export class CircuitClient {
  private readonly worker = new Worker(new URL("./circuit-worker.ts", import.meta.url), {
    type: "module",
  });
  private wanted: ToCircuitWorker | null = null;
  private wantedAt = 0;
  private asked = 0; // when the one under way was asked for; 0: none is
  private cost = Infinity; // milliseconds that the last one took; the first may take long
  private done = 0; // when it was there
  private timer = 0;

  constructor(
    private readonly run: RunDetails,
    private readonly task: KernelTask,
    private readonly listener: (circuit: FromCircuitWorker) => void,
  ) {
    this.worker.onmessage = ({ data }: MessageEvent<FromCircuitWorker>) => this.receive(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.receive(null);
    };
  }

  want(epoch: number, weights: Numbers): void {
    this.wanted = { run: this.run, task: this.task, epoch, weights };
    this.wantedAt = performance.now();
    this.next();
  }

  close(): void {
    clearTimeout(this.timer);
    this.worker.terminate();
  }

  private receive(circuit: FromCircuitWorker): void {
    this.done = performance.now();
    this.cost = this.done - this.asked;
    this.asked = 0;
    this.listener(circuit);
    this.next();
  }

  private next(): void {
    if (this.asked || !this.wanted) return;
    const wait = Math.min(this.wantedAt + REST, this.done + PACE * this.cost) - performance.now();
    if (wait > 0) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.next(), wait);
      return;
    }
    this.asked = performance.now();
    this.worker.postMessage(this.wanted);
    this.wanted = null;
  }
}
