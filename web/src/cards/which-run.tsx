// Beside the title of a card, where two runs are on the page: to which of them it belongs.

import { runsBeside, type Slot } from "../state/page-state";

export function WhichRun({ slot }: { slot: Slot }) {
  if (!runsBeside.value) return null;
  const side = slot.index === 0 ? "left" : "right";
  return (
    <small class="which-run" title={`Of the ${side} run: seed ${slot.info.seed}, ${slot.info.id}`}>
      {side} run
    </small>
  );
}
