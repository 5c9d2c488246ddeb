// The scripts of the workers, as a server has them. In a page that is one file they are part of it
// (embedded/worker-scripts.ts): the build puts that module in this one's place.

export type WorkerName = "scene" | "circuit" | "sum" | "live" | "gif";

/** A module of its own for each: the bundler looks for just this expression. */
export function newWorker(name: WorkerName): Worker {
  switch (name) {
    case "scene":
      return new Worker(new URL("./scene-worker.ts", import.meta.url), { type: "module" });
    case "circuit":
      return new Worker(new URL("./circuit-worker.ts", import.meta.url), { type: "module" });
    case "sum":
      return new Worker(new URL("./sum-worker.ts", import.meta.url), { type: "module" });
    case "live":
      return new Worker(new URL("./live-worker.ts", import.meta.url), { type: "module" });
    case "gif":
      return new Worker(new URL("./gif-worker.ts", import.meta.url), { type: "module" });
  }
}
