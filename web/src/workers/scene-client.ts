// The page's side of a worker that makes scenes: at most one is under way, and the next is the
// latest wanted. One whose weights are still on their way holds up no other.

import { ReadableError } from "../model/errors";
import { sceneOver } from "../model/scene/scene-plan";
import type { RunDetails } from "../model/server/answers";
import type { MapPanel, Numbers, Scene, ScenePlan } from "../model/types";
import type { FromWorker, SceneParts, SceneRequest, ToWorker, WhatIf } from "./protocol";
import { sceneWorker } from "./start-worker";

type Listener = (message: FromWorker) => void;

export class SceneClient {
  private readonly worker = sceneWorker();
  private busy = false;
  private wanted: SceneRequest | null = null;
  private last = "";
  private spare: ArrayBuffer[] = [];
  private waiting: { done: (weights: Numbers) => void; fail: (why: Error) => void }[] = [];

  constructor(private readonly listener: Listener) {
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      const message = "The worker that computes stopped: reload the page.";
      this.failWaiting(message);
      this.listener({ type: "error", about: "open", message });
    };
  }

  open(id: string, sequences: string | null): void {
    this.send({ type: "open", id, sequences });
  }

  /** A run that is being trained, with the epochs that it has. */
  openLive(info: RunDetails, weights: Numbers, sequences: string | null): void {
    this.send({ type: "openLive", info, weights, sequences });
  }

  /** More of its epochs, or others from one on: what was asked for last may look otherwise now. */
  grow(first: number, weights: Numbers, info: RunDetails, between: Numbers | null): void {
    this.last = "";
    this.send({ type: "grow", first, weights, info, between });
  }

  /** What scenes are made of that are asked for with this number. */
  setWhatIf(edit: number, whatIf: WhatIf | null): void {
    this.send({ type: "whatIf", edit, whatIf });
  }

  /** The run's own weights at the end of an epoch. */
  weightsAt(epoch: number): Promise<Numbers> {
    return new Promise((done, fail) => {
      this.waiting.push({ done, fail });
      this.send({ type: "weights", epoch });
    });
  }

  /** Looks at all epochs again for axes and planes. */
  refreshAxes(): void {
    this.last = "";
    this.send({ type: "axes" });
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
    this.wanted = request;
    this.next();
  }

  /** Gives a scene's memory back, once nobody draws it any more. */
  recycle({ buffer }: Pick<Scene, "buffer">): void {
    if (this.spare.length < 2 && buffer.byteLength) this.spare.push(buffer);
  }

  close(): void {
    this.worker.terminate();
    this.failWaiting("The run was closed.");
  }

  private failWaiting(why: string): void {
    for (const { fail } of this.waiting.splice(0)) fail(new ReadableError(why));
  }

  private receive(message: FromWorker): void {
    if (message.type === "weights") return this.waiting.shift()?.done(message.weights);
    if (message.type === "error" && message.about === "weights")
      return this.waiting.shift()?.fail(new ReadableError(message.message));
    const failed = message.type === "error" && message.about === "scene";
    if (message.type === "scene" || message.type === "waiting" || failed) this.busy = false;
    this.listener(message);
    this.next();
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

  private send(message: ToWorker): void {
    this.worker.postMessage(message);
  }
}

/** A scene from another thread, whole again. */
export function receivedScene(plan: ScenePlan, parts: SceneParts): Scene {
  const { epoch, source, finite, buffer, maps } = parts;
  const scene: Scene = { ...sceneOver(plan, buffer), epoch, source, finite };
  for (const name of Object.keys(scene.maps) as MapPanel[]) {
    const extent = maps[name];
    if (extent) scene.maps[name].extent = extent;
    else scene.maps[name].width = 0; // not made: nothing to draw
  }
  return scene;
}
