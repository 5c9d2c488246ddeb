// The phase of learning that this epoch is in, as the bands of the time bar name it.

import { phaseAt } from "../model/phase-bands";
import { epoch, firstSlot } from "../state/page-state";
import { Term } from "../terms/term";

export function PhaseName() {
  const slot = firstSlot.value;
  const analysis = slot?.analysis.value;
  if (!slot || !analysis) return null;
  const now = phaseAt(analysis, epoch.value);
  if (!now) return null;
  return (
    <Term of={`phase.${now.name}`} detail={analysis.phases?.told} class="phase">
      {now.name}
    </Term>
  );
}
