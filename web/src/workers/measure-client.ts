// The page's side of a worker that measures weights: those of the latest scene, when there is time.

import type { RunDetails } from "../model/server/answers";
import type { KernelTask, Numbers } from "../model/types";
import type { ToMeasureWorker } from "./protocol";
import type { Meter } from "./start-worker";

const REST = 150; // milliseconds without a new scene
const PACE = 10; // while scenes come, measures get a tenth of the time: who reads more numbers?

export class MeasureClient<Answer> {
  private wanted: ToMeasureWorker | null = null;
  private wantedAt = 0;
  private asked = 0; // when the one under way was asked for; 0: none is
  private cost = Infinity; // milliseconds that the last one took; the first may take long
  private done = 0; // when it was there
  private timer = 0;

  constructor(
    private readonly worker: Meter<Answer>,
    private readonly run: RunDetails,
    private readonly task: KernelTask,
    private readonly listener: (found: Answer | null) => void,
  ) {
    listen(worker, (found) => this.receive(found));
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

  private receive(found: Answer | null): void {
    this.done = performance.now();
    this.cost = this.done - this.asked;
    this.asked = 0;
    this.listener(found);
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

/** One answer, for which the worker lives. */
export function measureOnce<Answer>(
  worker: Meter<Answer>,
  request: ToMeasureWorker,
): Promise<Answer | null> {
  return new Promise((done) => {
    listen(worker, (found) => {
      worker.terminate();
      done(found);
    });
    worker.postMessage(request);
  });
}

function listen<Answer>(worker: Meter<Answer>, receive: (found: Answer | null) => void): void {
  worker.onmessage = ({ data }) => receive(data);
  worker.onerror = (event) => {
    event.preventDefault();
    receive(null);
  };
}
