// Beside the epoch, or above the panels of one of two runs: where their weights are from.

import { weightsNote } from "../model/weights-note";
import { slotEpoch, type Slot } from "../state/page-state";

export function WeightsNote({ slot }: { slot: Slot }) {
  const wanted = slotEpoch(slot);
  const note = weightsNote({
    wanted,
    shown: slot.scene.value,
    awaited: slot.awaited.value,
    reached: slot.reached.value,
    recomputable: slot.notReplayable.value === null && !slot.info.weightEpochs.includes(wanted),
    why: slot.notReplayable.value,
  });
  return (
    note && (
      <span class="weights-note" title={note.about}>
        {note.text}
      </span>
    )
  );
}
