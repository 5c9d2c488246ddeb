// The keyboard: time from anywhere but a field that takes text.

import { PANELS, type Panel } from "../model/types";
import {
  LEAP,
  mark,
  pinned,
  change,
  epoch,
  lastEpoch,
  playing,
  seek,
  seen,
  slots,
} from "../state/page-state";
import { toggleDifference } from "../state/difference";
import { redoEdit, undoEdit } from "../state/what-if";
import { dismissLast } from "../state/dismissal";
import { presenting, togglePresenting } from "../state/presentation";
import { nextSpike } from "../state/spike-view";
import { hold, holding, release } from "../state/two-epochs";
import { openDocs } from "../terms/explanation";

export function listenToKeys(): void {
  addEventListener("keydown", (event) => {
    if (isUndo(event)) return event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault(); // or a browser empties the search field
      return giveBack();
    }
    if (event.key === "?" && !takesText(event.target)) return openDocs();
    if (seen.page.value !== "run") return;
    if (
      event.target instanceof Element &&
      event.target.closest("input, textarea, select, [role=menu], .intro")
    )
      return;
    if (event.key === " " && event.target instanceof HTMLButtonElement) return; // presses the button
    if (act(event.key, event.shiftKey ? LEAP : 1)) event.preventDefault();
  });
  // A button that was clicked would keep the focus, and with it the space bar.
  addEventListener("click", ({ detail, target }) => {
    const button = detail && target instanceof Element ? target.closest("button") : null;
    if (button && !button.hasAttribute("aria-haspopup")) button.blur();
  });
  addEventListener("pointerover", (event) => {
    const panel =
      event.target instanceof Element ? event.target.closest<HTMLElement>("[data-panel]") : null;
    pointed = PANELS.find((name) => name === panel?.dataset["panel"]) ?? null;
  });
}

/** Ctrl Z and Ctrl Shift Z, or Ctrl Y: what was changed by hand, unless a text is being typed. */
function isUndo(event: KeyboardEvent): boolean {
  const key = event.key.toLowerCase();
  if (!(event.ctrlKey || event.metaKey) || event.altKey || takesText(event.target)) return false;
  const slot = slots.value.find((each) => each.edited.value);
  if (!slot || (key !== "z" && key !== "y")) return false;
  if (key === "y" || event.shiftKey) redoEdit(slot);
  else undoEdit(slot);
  return true;
}

let pointed: Panel | null = null;

/** Whether the key meant something. */
function act(key: string, step: number): boolean {
  switch (key) {
    case " ":
      playing.value = !playing.value;
      return true;
    case "ArrowLeft":
      seek(epoch.value - step);
      return true;
    case "ArrowRight":
      seek(epoch.value + step);
      return true;
    case "Home":
      seek(0);
      return true;
    case "End":
      seek(lastEpoch.value);
      return true;
    case "s":
    case "S":
      nextSpike();
      return true;
    case "e":
    case "E":
      return enlarge();
    case "d":
    case "D":
      toggleDifference();
      return true;
    case "h":
    case "H":
      if (holding.value) release();
      else hold();
      return true;
    case "p":
    case "P":
      togglePresenting();
      return true;
    default:
      return false;
  }
}

/** Escape: whatever is open closes, or a field is left; if there is nothing of the kind, the view is.
 * Either way the keys are the page's again. */
function giveBack(): void {
  const field = takesText(document.activeElement);
  if (!dismissLast() && !field) leave();
  queueMicrotask(unfocus); // after what has closed has given its focus back
}

/** Nothing has the focus, but the table, where there is one: it scrolls by keys. */
function unfocus(): void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  if (seen.page.value === "runs") document.querySelector<HTMLElement>(".runs-page .table")?.focus();
}

function takesText(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select") !== null;
}

/** What is kept marked and what is large goes first, then the presentation, then the second epoch. */
function leave(): void {
  if (seen.page.value !== "run") return;
  const busy = pinned.value !== null || seen.big.value !== null;
  mark.value = pinned.value = null;
  if (busy) change({ big: null });
  else if (presenting.value) change({ mode: "explore" });
  else if (seen.spike.value !== null) change({ spike: null });
  else release();
}

/** The panel under the pointer or with the focus; what is large becomes small. */
function enlarge(): boolean {
  const focused = document.activeElement?.closest<HTMLElement>("[data-panel]")?.dataset["panel"];
  const name = pointed ?? PANELS.find((panel) => panel === focused) ?? null;
  change({ big: seen.big.value ? null : name });
  return true;
}
