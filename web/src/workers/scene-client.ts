// The page's side of a worker that makes scenes: at most one is under way, and the next is the
// latest wanted. One whose weights are still on their way holds up no other.

import { sceneOver } from "../model/scene/scene-plan";
import type { MapPanel, Scene, ScenePlan } from "../model/types";
import type { FromWorker, SceneParts, SceneRequest, ToWorker } from "./protocol";
import { sceneWorker } from "./start-worker";

type Listener = (message: FromWorker) => void;

export class SceneClient {
  private readonly worker = sceneWorker();
  private busy = false;
  private wanted: SceneRequest | null = null;
  private last = "";
  private spare: ArrayBuffer[] = [];

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
    this.wanted = request;
    this.next();
  }

  /** Gives a scene's memory back, once nobody draws it any more. */
  recycle(scene: Scene): void {
    if (this.spare.length < 2 && scene.buffer.byteLength) this.spare.push(scene.buffer);
  }

  close(): void {
    this.worker.terminate();
  }

  private receive(message: FromWorker): void {
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
