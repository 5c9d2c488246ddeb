// The state of the page: the view (which the URL holds), the runs that are open, what is marked.

import { batch, computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { SUM_KINDS, type SumKind } from "../model/kernel/names";
import type { KeptSum } from "../model/kept-sum";
import type { Mark } from "../model/marks";
import type { Analysis, RunDetails } from "../model/server/answers";
import type {
  Extent,
  MapPanel,
  Numbers,
  Scene,
  ScenePlan,
  Sequences,
  ViewState,
} from "../model/types";
import {
  preferredIn,
  readPreferences,
  readView,
  writePreferences,
  writeView,
  type Preferences,
} from "../model/view-address";
import type { MeasureClient } from "../workers/measure-client";
import type {
  CircuitNow,
  Ending,
  PanelExtents,
  SetScores,
  SumNow,
  WhatIf,
} from "../workers/protocol";
import type { SceneClient } from "../workers/scene-client";
import { followAddress, writeAddress } from "./address";
import type { LiveEntry } from "./live-runs";

/** What somebody has changed in a run, at one of its epochs. */
export interface EditedSlot {
  epoch: number;
  number: number; // of this change: each has another, and later ones larger ones
  first: number; // the number of the first change since the run was as it is
  whatIf: WhatIf;
  canUndo: boolean;
  canRedo: boolean;
}

/** One run on the page. */
export interface Slot {
  index: number; // 0: left
  role: "run" | "before" | "after";
  sceneClient: SceneClient;
  circuitClient: MeasureClient<CircuitNow> | null; // null: nobody knows what a circuit would be
  sumClient: MeasureClient<SumNow> | null; // null: no sums are looked for in this task
  held: Signal<number | null>; // an epoch that the playhead does not move
  live: LiveEntry | null; // null: it is not trained in the page
  info: RunDetails; // of a live run, this and its curves change
  curves: Record<string, Numbers>;
  grown: Signal<number>; // how often they have
  ending: Ending;
  sequences: Signal<Sequences>;
  grouped: ReadonlySignal<Sequences>; // the same, in the groups that share a colour
  plan: Signal<ScenePlan>;
  extents: Signal<PanelExtents>; // over the run
  mapExtents: Signal<Partial<Record<MapPanel, Extent>>>; // what the visible maps show
  scene: Signal<Scene | null>;
  unedited: Signal<Scene | null>; // as it was before somebody changed it
  shownWeights: Signal<Numbers | null>; // of the run itself, at the epoch that is shown
  edited: Signal<EditedSlot | null>; // null: the run as it is
  answered: Signal<number>; // the number of the change that is shown; 0: none
  scores: Signal<SetScores | null>; // of what was edited
  attentionHeld: Signal<boolean>; // training held it at the epoch that is shown
  awaited: Signal<number | null>; // an epoch whose weights are on their way
  reached: Signal<number | null>; // the epoch up to which they have been computed again
  notReplayable: Signal<string | null>; // why epochs that were not kept cannot be computed again
  from: Signal<Scene | null>; // where displacement arrows begin
  circuit: Signal<CircuitNow | null>;
  sum: Signal<SumNow | null>; // that is kept at the epoch that is shown
  endSum: Signal<KeptSum | null | undefined>; // at the end; undefined: not looked for yet
  analysis: Signal<Analysis | null>;
  curvature: Signal<"none" | "asked" | "there">;
}

const REMEMBERED = "dynascope.preferences"; // in the browser's storage

export const view = signal<ViewState>(addressed());
export const slots = signal<readonly Slot[]>([]);
export const mark = signal<Mark | null>(null);
export const pinned = signal<Mark | null>(null);
export const playing = signal(false);
export const trouble = signal<string | null>(null);
/** Says what went wrong. */
export const tellTrouble = (error: unknown): void =>
  void (trouble.value = error instanceof Error ? error.message : String(error));
export const loading = signal<string | null>(null);

type Parts = { readonly [Name in keyof ViewState]: ReadonlySignal<ViewState[Name]> };

/** The parts of the view one by one: who looks at one is not disturbed when another changes. */
export const seen = Object.fromEntries(
  (Object.keys(view.value) as (keyof ViewState)[]).map((name) => [
    name,
    computed(() => view.value[name]),
  ]),
) as unknown as Parts;

export const firstSlot = computed<Slot | null>(() => slots.value[0] ?? null);
export const lastEpoch = computed(() => lastEpochOf(slots.value));
export const epoch = computed(() => Math.min(seen.epoch.value, lastEpoch.value));

/** Whether there are two runs, so that it must be said to which of them something belongs. */
export const runsBeside = computed(() => slots.value[1]?.role === "run");

/** The last epoch of the longest of some runs. */
export function lastEpochOf(all: readonly Slot[]): number {
  return Math.max(0, ...all.map(slotLast));
}

function slotLast(slot: Slot): number {
  void slot.grown.value;
  return slot.info.epochs;
}

/** Where the axis of time ends: for a run in training, where that is to go. */
export const slotEnd = (slot: Slot): number =>
  Math.max(slotLast(slot), slot.live?.now.value.goal ?? 0);
export const axisEnd = computed(() => Math.max(0, ...slots.value.map(slotEnd)));

/** The epoch that a slot shows: the playhead's, but for what stays at the epoch before a spike. */
export function slotEpoch(slot: Slot, playhead = epoch.value): number {
  return Math.min(slot.held.value ?? playhead, slotLast(slot));
}

/** Whether what is shown are the weights in the middle of an epoch. */
export const isWithinEpoch = (slot: Slot): boolean =>
  Boolean(slot.live?.now.value.between) && slotEpoch(slot) === slot.info.epochs;

/** What is done to the model's computation at the epoch that is shown; null: nothing. */
export function interventionIn({ attentionHeld, edited }: Slot): string | null {
  if (attentionHeld.value) return "training held the attention here";
  const { cut, patch } = edited.value?.whatIf ?? {};
  if (patch) return "a value is patched";
  return cut?.positions.length || cut?.hidden.length ? "a part is switched off" : null;
}

/** What the analysis calls the run at its end: as the store has it, or as it was found since. */
export function verdictOf({ analysis, info }: Slot): string | null {
  const kept = info.found["verdict"];
  return analysis.value?.circuit?.verdict.name ?? (typeof kept === "string" ? kept : null);
}

/** The kind of sum that it keeps then. */
export function sumKindOf({ analysis, info }: Slot): SumKind | null {
  const kept = SUM_KINDS.find((kind) => kind === info.found["sum_kind"]);
  return analysis.value?.sum?.sum_kind ?? kept ?? null;
}

/** What a person does to the view; what they prefer in it is remembered, unlike what a link says. */
export function change(part: Partial<ViewState>): void {
  view.value = { ...view.value, ...part };
  remember(preferredIn(part));
}

export const LEAP = 10; // epochs that the keys go with shift

export function seek(to: number): void {
  const next = Math.max(0, Math.min(lastEpoch.value, Math.round(to)));
  if (next !== view.value.epoch) change({ epoch: next });
}

export function openRun(id: string): void {
  batch(() => {
    mark.value = pinned.value = null;
    change({ runs: [id], page: "run", spike: null, held: null });
  });
}

/** Puts a run beside the one that is open. */
export function openBeside(id: string): void {
  const [first] = seen.runs.value;
  change({
    runs: first && first !== id ? [first, id] : [id],
    spike: null,
    held: null,
    page: "run",
  });
}

/** A list with an item more, or without it where it has it. */
export function toggled(list: readonly string[], item: string): string[] {
  return list.includes(item) ? list.filter((each) => each !== item) : [...list, item];
}

export function toggleHidden(panel: string): void {
  const { hidden, big } = view.value;
  change({ hidden: toggled(hidden, panel), big: big === panel ? null : big });
}

/** The address says what is shown, and follows it. */
export function keepView(): void {
  effect(() => writeAddress(writeView(view.value), placeOf(view.value)));
  followAddress(() =>
    batch(() => {
      mark.value = pinned.value = null;
      view.value = addressed();
    }),
  );
}

const placeOf = ({ page, runs, spike, held }: ViewState): string =>
  page !== "run" ? page : `${runs.join()} ${spike ?? ""} ${held === null ? "" : "held"}`;

/** What the address says; where it says nothing, what the person prefers. */
function addressed(): ViewState {
  return readView(location.hash, remembered());
}

/** Shows what somebody else's page showed, as a link does. */
export function showView(fragment: string): void {
  view.value = readView(fragment, remembered());
}

function remembered(): Partial<Preferences> {
  try {
    return readPreferences(localStorage.getItem(REMEMBERED) ?? "");
  } catch {
    return {}; // a browser that keeps nothing still shows everything
  }
}

function remember(chosen: Partial<Preferences>): void {
  if (!Object.keys(chosen).length) return;
  try {
    const all = writePreferences({ ...remembered(), ...chosen });
    localStorage.setItem(REMEMBERED, all);
  } catch {
    // it is asked for again next time
  }
}
