// The frames that a film of the runs on the page has.

import { filmEpochs, type FilmSpan } from "../model/film/film-plan";
import { slotEpoch, type Slot } from "../state/page-state";
import { spikesOf } from "../state/spike-view";

/** The epoch of each frame. */
export function framesOf(span: FilmSpan, slots: readonly Slot[]): number[] {
  const shown = slots.map((slot) => ({ slot, kept: new Set(slot.info.weightEpochs) }));
  const canShow = (playhead: number): boolean =>
    shown.every(({ slot, kept }) => isExact(slot, kept, slotEpoch(slot, playhead)));
  const spikes = slots.flatMap((slot) => spikesOf(slot));
  return filmEpochs(span, span.slow > 1 ? spikes : [], canShow);
}

/** Whether the weights of an epoch were kept or can be computed again. */
function isExact(slot: Slot, kept: ReadonlySet<number>, epoch: number): boolean {
  const { notReplayable, info } = slot;
  return (
    kept.has(epoch) || (notReplayable.value === null && epoch <= (info.diverged ?? info.epochs))
  );
}
