// The state of the page: the view (which the URL holds), the runs that are open, what is marked.

import { batch, computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Analysis, RunDetails } from "./model/answers";
import type { Engine } from "./engine";
import type { Mark } from "./link";
import type {
  Extent,
  MapPanel,
  Numbers,
  Scene,
  ScenePlan,
  Sequences,
  ViewState,
} from "./model/types";
import { readView, writeView } from "./model/view";
import type { CircuitNow, Extents } from "./protocol";

/** One run on the stage. */
export interface Slot {
  index: number; // 0: left
  role: "run" | "before" | "after";
  engine: Engine;
  held: Signal<number | null>; // an epoch that the playhead does not move
  info: RunDetails;
  curves: Record<string, Numbers>;
  sequences: Signal<Sequences>;
  plan: Signal<ScenePlan>;
  extents: Signal<Extents>; // over the run
  mapExtents: Signal<Partial<Record<MapPanel, Extent>>>; // what the visible maps show
  scene: Signal<Scene | null>;
  from: Signal<Scene | null>; // where displacement arrows begin
  circuit: Signal<CircuitNow | null>;
  analysis: Signal<Analysis | null>;
  curvature: Signal<"none" | "asked" | "there">;
}

export const view = signal<ViewState>(readView(location.hash));
export const slots = signal<readonly Slot[]>([]);
export const mark = signal<Mark | null>(null);
export const pinned = signal<Mark | null>(null);
export const playing = signal(false);
export const trouble = signal<string | null>(null);
export const loading = signal<string | null>(null);

type Parts = { readonly [Name in keyof ViewState]: ReadonlySignal<ViewState[Name]> };

/** The parts of the view one by one: who looks at one is not disturbed when another changes. */
export const seen = Object.fromEntries(
  (Object.keys(view.value) as (keyof ViewState)[]).map((name) => [
    name,
    computed(() => view.value[name]),
  ]),
) as unknown as Parts;

export const main = computed<Slot | null>(() => slots.value[0] ?? null);
export const lastEpoch = computed(() =>
  Math.max(0, ...slots.value.map((slot) => slot.info.epochs)),
);
export const epoch = computed(() => Math.min(seen.epoch.value, lastEpoch.value));

/** The epoch that a slot shows: the playhead's, but for what stays at the epoch before a spike. */
export function slotEpoch(slot: Slot): number {
  return Math.min(slot.held.value ?? epoch.value, slot.info.epochs);
}

export function change(part: Partial<ViewState>): void {
  view.value = { ...view.value, ...part };
}

export function seek(to: number): void {
  const next = Math.max(0, Math.min(lastEpoch.value, Math.round(to)));
  if (next !== view.value.epoch) change({ epoch: next });
}

export function openRun(id: string): void {
  batch(() => {
    mark.value = pinned.value = null;
    change({ runs: [id], page: "run", spike: null });
  });
}

export function toggleHidden(panel: string): void {
  const { hidden } = view.value;
  const next = hidden.includes(panel)
    ? hidden.filter((name) => name !== panel)
    : [...hidden, panel];
  change({ hidden: next, big: view.value.big === panel ? null : view.value.big });
}

const REMEMBERED = "dynascope.view";
const KEPT = ["axes", "hidden", "theme", "speed"] as const;

/** The URL says what is shown; what a person prefers is kept for pages whose URL does not say it. */
export function keepView(): void {
  const stored = remembered();
  if (!location.hash.includes("hide=") && stored) change(stored);
  let timer = 0;
  effect(() => {
    const fragment = writeView(view.value);
    clearTimeout(timer);
    timer = setTimeout(() => write(fragment), 150); // browsers allow some hundred changes in half a minute
  });
  addEventListener("hashchange", () => {
    view.value = readView(location.hash);
  });
}

function write(fragment: string): void {
  if (location.hash !== fragment) history.replaceState(null, "", fragment || location.pathname);
  const kept = Object.fromEntries(KEPT.map((name) => [name, view.value[name]]));
  try {
    localStorage.setItem(REMEMBERED, JSON.stringify(kept));
  } catch {
    // a browser that keeps nothing still shows everything
  }
}

function remembered(): Partial<ViewState> | null {
  try {
    const kept = JSON.parse(
      localStorage.getItem(REMEMBERED) ?? "null",
    ) as Partial<ViewState> | null;
    if (!kept) return null;
    const said = readView(writeView({ ...view.value, ...kept })); // the same checks as a URL gets
    const now = readView(location.hash);
    const plain = readView("");
    const use = KEPT.filter((name) => JSON.stringify(now[name]) === JSON.stringify(plain[name]));
    return Object.fromEntries(use.map((name) => [name, said[name]]));
  } catch {
    return null;
  }
}
