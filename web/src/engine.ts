// The page's side of one worker: at most one scene is under way, and the next is the latest wanted.

import type { Scene } from "./model/types";
import type { FromWorker, SceneRequest, ToWorker } from "./protocol";

const REST = 150; // milliseconds without a new epoch
const PACE = 10; // while the playhead moves, circuits get a tenth of the time: who reads more numbers?

type Listener = (message: FromWorker) => void;

export class Engine {
  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  private busy = false;
  private wanted: SceneRequest | null = null;
  private last = "";
  private spare: ArrayBuffer[] = [];
  private circuitWanted: number | null = null;
  private circuitAsked = 0; // when the one under way was asked for; 0: none is
  private circuitCost = 0; // milliseconds that the last one took
  private circuitDone = 0; // when it was there
  private wantedAt = 0; // when a scene was last asked for
  private timer = 0;

  constructor(private readonly listener: Listener) {
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.listener({
        type: "error",
        about: "open",
        message: "The worker that computes stopped: reload the page.",
      });
    };
  }

  open(id: string, sequences: string | null): void {
    this.send({ type: "open", id, sequences });
  }

  setSequences(text: string | null): void {
    this.last = "";
    this.send({ type: "sequences", text });
  }

  /** Asks for a scene unless it is the one that was asked for last. */
  want(request: SceneRequest): void {
    const key = JSON.stringify(request);
    if (key === this.last) return;
    this.last = key;
    this.wantedAt = performance.now();
    this.wanted = request;
    this.next();
  }

  wantCircuit(epoch: number): void {
    this.circuitWanted = epoch;
    this.nextCircuit();
  }

  /** Gives a scene's memory back, once nobody draws it any more. */
  recycle(scene: Scene): void {
    if (this.spare.length < 2 && scene.buffer.byteLength) this.spare.push(scene.buffer);
  }

  close(): void {
    clearTimeout(this.timer);
    this.worker.terminate();
  }

  private receive(message: FromWorker): void {
    if (message.type === "scene" || (message.type === "error" && message.about === "scene"))
      this.busy = false;
    if (message.type === "circuit" || (message.type === "error" && message.about === "circuit")) {
      this.circuitDone = performance.now();
      this.circuitCost = this.circuitDone - this.circuitAsked;
      this.circuitAsked = 0;
    }
    this.listener(message);
    this.next();
    this.nextCircuit();
  }

  private next(): void {
    if (this.busy || !this.wanted) return;
    const request = this.wanted;
    this.wanted = null;
    this.busy = true;
    const spare = this.spare.pop() ?? null;
    this.worker.postMessage(
      { type: "scene", request, spare } satisfies ToWorker,
      spare ? [spare] : [],
    );
  }

  /** Circuits wait for scenes: pictures come first. The slower they are, the fewer are measured. */
  private nextCircuit(): void {
    if (this.busy || this.circuitAsked || this.circuitWanted === null) return;
    const [rests, turn] = [this.wantedAt + REST, this.circuitDone + PACE * this.circuitCost];
    const wait = Math.min(rests, turn) - performance.now();
    if (wait > 0) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.nextCircuit(), wait);
      return;
    }
    const epoch = this.circuitWanted;
    this.circuitWanted = null;
    this.circuitAsked = performance.now();
    this.send({ type: "circuit", epoch });
  }

  private send(message: ToWorker): void {
    this.worker.postMessage(message);
  }
}
