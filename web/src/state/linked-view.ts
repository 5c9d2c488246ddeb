// A view that somebody outside of the page follows and sets: the epoch, and what is kept marked.

import { batch, effect } from "@preact/signals";
import { markTold, toldMark, type ToldMark } from "../model/told-marks";
import { change, mark, pinned, seen, slots } from "./page-state";

export interface LinkedView {
  epoch: number;
  marked: ToldMark | null;
}

const PACE = 80; // milliseconds between two messages, while it plays

/** From now on the other end of the port has the same view as the page. */
export function linkView(port: MessagePort): void {
  let known = ""; // the view that both ends have
  let wanted: LinkedView | null = null; // set from outside before there was a run
  let timer = 0;

  const tell = (): void => {
    timer = 0;
    const now = viewNow();
    if (!now || JSON.stringify(now) === known) return;
    known = JSON.stringify(now);
    port.postMessage(now);
  };
  port.onmessage = ({ data }: MessageEvent<LinkedView>) => {
    known = JSON.stringify(data);
    if (slots.value.length) take(data);
    else wanted = data;
  };
  effect(() => {
    if (wanted && slots.value.length) {
      const view = wanted;
      wanted = null;
      queueMicrotask(() => take(view)); // not within an effect that looks at what is set
    }
    if (viewNow()) timer ||= setTimeout(tell, PACE);
  });
}

/** null: there is no run yet. */
function viewNow(): LinkedView | null {
  const [epoch, kept] = [seen.epoch.value, pinned.value];
  const slot = slots.value[kept?.slot ?? 0];
  return slot ? { epoch, marked: kept && toldMark(kept, slot.sequences.value) } : null;
}

function take({ epoch, marked }: LinkedView): void {
  const sequences = slots.value[marked?.run ?? 0]?.sequences.value;
  batch(() => {
    if (seen.epoch.value !== epoch) change({ epoch });
    const next = marked && sequences ? markTold(marked, sequences) : null;
    mark.value = pinned.value = next;
  });
}
