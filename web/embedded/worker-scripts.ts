// The scripts of the workers as parts of a page that is one file: each is started from a blob. In the
// place of src/workers/worker-scripts.ts.

import circuit from "worker:circuit";
import gif from "worker:gif";
import live from "worker:live";
import scene from "worker:scene";
import sum from "worker:sum";
import type { WorkerName } from "../src/workers/worker-scripts";

const addressed = (script: string): string =>
  URL.createObjectURL(new Blob([script], { type: "text/javascript" }));

const ADDRESSES: Record<WorkerName, string> = {
  scene: addressed(scene),
  circuit: addressed(circuit),
  sum: addressed(sum),
  live: addressed(live),
  gif: addressed(gif),
};

export function newWorker(name: WorkerName): Worker {
  return new Worker(ADDRESSES[name]);
}
