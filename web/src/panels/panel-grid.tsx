// The grid of panels along the data's way through the model; two of them when two runs are compared.

import { useEffect, useRef } from "preact/hooks";
import { PANELS, type Panel } from "../model/types";
import { epoch, slotEpoch, slots, seen, type Slot } from "../state/page-state";
import { differing } from "../state/difference";
import { presenting } from "../state/presentation";
import { holding } from "../state/two-epochs";
import { appliesTo } from "./all-panels";
import { PanelView } from "./panel-view";
import { fitToRoom } from "./presented-grid";
import { WeightsNote } from "./weights-note";

const GAP = 8;
const LEAST = 196; // pixels: lower panels are unreadable, so the grid scrolls instead
const WIDTH = 205;

/** What a spike is seen in; the rest would only make these small. */
const STORY: readonly Panel[] = [
  "normalized",
  "attention",
  "sequence",
  "decision_map",
  "assemblers",
  "feed_forward",
  "output_map",
  "probabilities",
];

export function PanelGrids() {
  const all = slots.value;
  return (
    <main class="stage" aria-label="Panels">
      {all.map((slot) => (
        <RunPanels key={`${slot.role} ${slot.info.id}`} slot={slot} alone={all.length === 1} />
      ))}
    </main>
  );
}

/** The panels of a run that are to be seen, and whether one of them is alone there, enlarged. */
export function shownPanels(slot: Slot, alone: boolean): { shown: Panel[]; big: string | null } {
  const hidden = seen.hidden.value;
  const applying = PANELS.filter((name) => appliesTo(name, slot));
  const big = alone && !applying.some((name) => name === seen.big.value) ? null : seen.big.value;
  const all: readonly Panel[] = slot.role === "run" || holding.value ? PANELS : STORY;
  const chosen = (name: Panel): boolean =>
    presenting.value
      ? seen.presented.value.includes(name)
      : all.includes(name) && !hidden.includes(name);
  return { shown: applying.filter((name) => (big ? name === big : chosen(name))), big };
}

function RunPanels({ slot, alone }: { slot: Slot; alone: boolean }) {
  const { shown, big } = shownPanels(slot, alone);
  const present = presenting.value;
  const grid = useRef<HTMLDivElement>(null);
  const fit = present ? fitToRoom : fitToSize;
  useEffect(() => fit(grid.current, shown.length, big !== null), [shown.length, big, fit]);
  return (
    <section class="half" aria-label={alone ? undefined : halfTitle(slot)}>
      {!alone && (
        <h2>
          <span>{halfTitle(slot)}</span>
          <Staying slot={slot} />
          <WeightsNote slot={slot} />
        </h2>
      )}
      <div class="panels" ref={grid} onScroll={(event) => scrollTogether(event.currentTarget)}>
        {shown.map((name) => (
          <PanelView key={name} name={name} slot={slot} />
        ))}
        {shown.length === 0 && (
          <p class="hint">
            {big
              ? "This panel does not apply to runs with data of their own."
              : 'All panels are hidden; the menu "Panels" shows them again.'}
          </p>
        )}
      </div>
    </section>
  );
}

/** A run that is shorter than the one beside it stays at its end. */
function Staying({ slot }: { slot: Slot }) {
  if (slot.role !== "run" || epoch.value <= slot.info.epochs) return null;
  return <span class="staying">stays at epoch {slot.info.epochs}, its last</span>;
}

/** Two runs are looked at panel by panel. */
function scrollTogether(from: HTMLElement): void {
  for (const other of document.querySelectorAll<HTMLElement>(".panels"))
    if (other !== from && other.scrollTop !== from.scrollTop) other.scrollTop = from.scrollTop;
}

/** What stands above one of two halves of the stage. */
export function halfTitle(slot: Slot, shown = slotEpoch(slot)): string {
  const name = slot.live?.name ?? slot.info.id.slice(0, 6);
  const minus = differing.value && slot.from.value !== null && slots.value.length > 1;
  const run = `seed ${slot.info.seed}, ${name}${minus ? ", minus the left" : ""}`;
  const at = `epoch ${shown}`;
  if (slot.role === "before") return holding.value ? `Held: ${at}` : `Before the spike: ${at}`;
  return slot.role === "after" ? `Now: ${at}, arrows from before` : run;
}

/** As many columns as are wide enough, as many rows as are high enough, all of one size. */
function fitToSize(
  element: HTMLElement | null,
  count: number,
  big: boolean,
): (() => void) | undefined {
  if (!element) return undefined;
  const observer = new ResizeObserver(([entry]) => {
    if (!entry) return;
    const { width, height } = entry.contentRect;
    const columns = big ? 1 : Math.max(1, Math.min(5, Math.floor((width + GAP) / (WIDTH + GAP))));
    const rows = Math.ceil(count / columns);
    const fitting = Math.max(1, Math.min(rows, Math.floor((height + GAP) / (LEAST + GAP))));
    element.style.setProperty("--columns", String(columns));
    element.style.setProperty("--row", `${Math.floor((height - (fitting - 1) * GAP) / fitting)}px`);
  });
  observer.observe(element);
  return () => observer.disconnect();
}
