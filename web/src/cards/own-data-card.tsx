// In place of the circuit, for a run with data of its own: how it does on them.

import { percent } from "../model/number-text";
import type { OwnTask } from "../model/types";
import { SETS } from "../panels/curve-panels";
import { slotEpoch, type Slot } from "../state/page-state";
import { Term } from "../terms/term";
import { WhichRun } from "./which-run";

export function OwnDataCard({ slot, task }: { slot: Slot; task: OwnTask }) {
  const epoch = slotEpoch(slot);
  const known = SETS.flatMap((set) => {
    const curve = slot.curves[`${set}_accuracy`];
    return curve ? [{ set, accuracy: curve[epoch] }] : [];
  });
  return (
    <section class="card">
      <h2>
        <Term of="own-data">Own data</Term> <small>at epoch {epoch}</small> <WhichRun slot={slot} />
      </h2>
      <dl class="facts">
        {known.map(({ set, accuracy }) => (
          <>
            <dt>
              <Term of="accuracy.set">accuracy</Term>, {toldSet(set, slot)}
            </dt>
            <dd>{percent(accuracy)}</dd>
          </>
        ))}
        <dt>
          <Term of="chance">chance</Term>
        </dt>
        <dd>{percent(task.chance)}</dd>
      </dl>
      <p class="hint below">Nobody has said which positions matter, so no circuit is measured.</p>
    </section>
  );
}

function toldSet(set: (typeof SETS)[number], { info }: Slot): string {
  if (set === "unseen") return "unseen of the test set";
  const count = info.sets[set];
  return count === null ? `${set} set` : `${set} set of ${count.toLocaleString("en")}`;
}
