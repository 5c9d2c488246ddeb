// Playing: the playhead moves with the clock, not with the frames, so a slow machine skips epochs.

import { effect, untracked } from "@preact/signals";
import { epoch, lastEpoch, playing, seek, seen } from "../state/page-state";

export const EPOCHS_PER_SECOND = 60; // at speed 1
let place = 0; // between epochs
let then = 0;

export function runClock(): void {
  effect(() => {
    if (!playing.value) return;
    if (epoch.peek() >= lastEpoch.peek()) untracked(() => seek(0)); // again from the start
    place = epoch.peek();
    then = performance.now();
    requestAnimationFrame(tick);
  });
}

function tick(now: number): void {
  if (!playing.value) return;
  if (Math.abs(epoch.value - place) > 1.5) place = epoch.value; // moved by hand
  place += (Math.max(0, now - then) / 1000) * EPOCHS_PER_SECOND * seen.speed.value;
  then = now;
  seek(Math.floor(place));
  if (place >= lastEpoch.value) playing.value = false;
  else requestAnimationFrame(tick);
}
