// The frames that a film of the runs on the page has.

import { filmEpochs, type FilmSpan } from "../model/film/film-plan";
import { slotEpoch, type Slot } from "../state/page-state";
import { spikesOf } from "../state/spike-view";

/** The epoch of each frame. */
export function framesOf(span: FilmSpan, slots: readonly Slot[]): number[] {
  const canShow = (epoch: number): boolean => slots.every((slot) => isExact(slot, epoch));
  const spikes = slots.flatMap((slot) => spikesOf(slot));
  return filmEpochs(span, span.slow > 1 ? spikes : [], canShow);
}

/** Whether the weights of an epoch were kept or can be computed again. */
function isExact(slot: Slot, playhead: number): boolean {
  return (
    slot.notReplayable.value === null || slot.info.weightEpochs.includes(slotEpoch(slot, playhead))
  );
}
