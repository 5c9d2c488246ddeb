// The runs of the page once more, for pictures and films of the stage: they stay as they were when
// the picture was asked for, and go through time on their own, no epoch left out. What is on the
// screen is not disturbed.

import { signal } from "@preact/signals";
import { ReadableError } from "../model/errors";
import { sameExtent } from "../model/scene/axis-ranges";
import type { Extent, MapPanel, Scene } from "../model/types";
import { differenceBase } from "../state/difference";
import { seen, slotEpoch, slots, type Slot } from "../state/page-state";
import type { FromWorker } from "../workers/protocol";
import { receivedScene, SceneClient } from "../workers/scene-client";

type MapExtents = Partial<Record<MapPanel, Extent>>;

interface Made {
  epoch: number; // that was asked for
  maps: MapExtents;
  scene: Scene;
}

export class StageSlots {
  private constructor(private readonly runs: readonly StageRun[]) {}

  /** Those of the page as it is now. */
  static async open(): Promise<StageSlots> {
    const made = new StageSlots(slots.peek().map((slot) => new StageRun(slot)));
    try {
      await Promise.all(made.runs.map((run) => run.open(seen.sequences.peek())));
    } catch (error) {
      made.close();
      throw error;
    }
    return made;
  }

  get all(): readonly Slot[] {
    return this.runs.map((run) => run.slot);
  }

  /** Shows an epoch everywhere. `settle` moves the axes; maps are then made for where these stand.
   * `next` is begun with meanwhile. */
  async show(epoch: number, settle: () => void, next: number | null = null): Promise<void> {
    await Promise.all(this.runs.map((run) => run.show(epoch)));
    this.pointArrows();
    settle();
    await Promise.all(this.runs.map((run) => run.adjust()));
    this.pointArrows();
    if (next !== null) for (const run of this.runs) run.begin(next);
  }

  /** No more scenes; who waits for one is told. */
  close(): void {
    for (const run of this.runs) run.close();
  }

  /** After a spike, arrows lead from where things were before it. */
  private pointArrows(): void {
    const [left, right] = this.all;
    if (left?.role === "before" && right) right.from.value = left.scene.value;
    else for (const slot of this.all) slot.from.value = differenceBase(slot, this.all);
  }
}

/** One run, with a worker of its own that makes one scene at a time. */
class StageRun {
  readonly slot: Slot;
  private readonly client = new SceneClient((message) => this.receive(message));
  private waiting: { done: (message: FromWorker) => void; fail: (why: Error) => void } | null =
    null;
  private shown: Made | null = null;
  private coming: Promise<Made> | null = null;

  constructor(of: Slot) {
    this.slot = {
      ...of,
      sceneClient: this.client,
      circuitClient: null,
      sumClient: null,
      held: signal(of.held.peek()),
      sequences: signal(of.sequences.peek()),
      grouped: signal(of.grouped.peek()),
      plan: signal(of.plan.peek()),
      extents: signal(of.extents.peek()),
      mapExtents: signal({}),
      scene: signal(null),
      unedited: signal(null),
      edited: signal(null),
      from: signal(null),
      analysis: signal(of.analysis.peek()),
    };
  }

  async open(sequences: string | null): Promise<void> {
    const { live, info } = this.slot;
    await this.answer(() =>
      live
        ? this.client.openLive(info, live.weights.rows(0, info.epochs + 1), sequences)
        : this.client.open(info.id, sequences),
    );
  }

  async show(playhead: number): Promise<void> {
    const epoch = slotEpoch(this.slot, playhead);
    const begun = await this.coming;
    this.coming = null;
    if (begun?.epoch === epoch) return this.put(begun);
    if (this.shown?.epoch !== epoch) this.put(await this.request(epoch));
  }

  /** Other maps, if the axes have moved away from under those that are shown. */
  async adjust(): Promise<void> {
    const { shown } = this;
    if (shown && !sameMaps(shown.maps, this.slot.mapExtents.peek()))
      this.put(await this.request(shown.epoch));
  }

  begin(playhead: number): void {
    const epoch = slotEpoch(this.slot, playhead);
    if (epoch === this.shown?.epoch) return;
    this.coming = this.request(epoch);
    this.coming.catch(() => undefined); // told when it is waited for
  }

  close(): void {
    this.client.close();
    this.waiting?.fail(new DOMException("The picture is no longer wanted.", "AbortError"));
  }

  private put(made: Made): void {
    const old = this.shown?.scene;
    this.shown = made;
    this.slot.scene.value = made.scene;
    if (old) this.client.recycle(old);
  }

  private async request(epoch: number): Promise<Made> {
    const maps = this.slot.mapExtents.peek();
    const message = await this.answer(() => this.client.want({ epoch, maps, edit: 0 }));
    if (message.type !== "scene") throw new Error(`Expected a scene, but got ${message.type}.`);
    return { epoch, maps, scene: receivedScene(this.slot.plan.peek(), message.scene) };
  }

  private answer(ask: () => void): Promise<FromWorker> {
    return new Promise((done, fail) => {
      this.waiting = { done, fail };
      ask();
    });
  }

  private receive(message: FromWorker): void {
    if (message.type === "error") this.waiting?.fail(new ReadableError(message.message));
    else if (message.type === "opened" || message.type === "scene") this.waiting?.done(message);
  }
}

function sameMaps(a: MapExtents, b: MapExtents): boolean {
  const names = Object.keys({ ...a, ...b }) as MapPanel[];
  return names.every((name) => a[name] && b[name] && sameExtent(a[name], b[name]));
}
