// Two epochs of one run side by side: which, and what changed between them.

import { percent, short } from "../model/number-text";
import { lastEpoch, slotEpoch, slots, type Slot } from "../state/page-state";
import { hold, release } from "../state/two-epochs";
import { Term } from "../terms/term";
import { MovedFacts } from "./moved-facts";

export function TwoEpochsCard() {
  const [left, right] = slots.value;
  if (!left || !right) return null;
  return (
    <section class="card">
      <h2>
        <Term of="held">Two epochs</Term>
      </h2>
      <table class="compare" aria-label="The two epochs">
        <thead>
          <tr>
            <td />
            <th scope="col">held</th>
            <th scope="col">now</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">epoch</th>
            <td>
              <input
                type="number"
                aria-label="Held epoch"
                min={0}
                max={lastEpoch.value}
                value={slotEpoch(left)}
                onChange={(event) => holdTyped(event.currentTarget, left)}
              />
            </td>
            <td>{slotEpoch(right)}</td>
          </tr>
          <tr>
            <th scope="row">
              <Term of="loss">test loss</Term>
            </th>
            <td>{short(at(left, "test_loss"))}</td>
            <td>{short(at(right, "test_loss"))}</td>
          </tr>
          <tr>
            <th scope="row">
              <Term of="accuracy.set">test accuracy</Term>
            </th>
            <td>{percent(at(left, "test_accuracy"))}</td>
            <td>{percent(at(right, "test_accuracy"))}</td>
          </tr>
        </tbody>
      </table>
      <MovedFacts />
      <div class="buttons">
        <button onClick={() => hold(slotEpoch(right))}>Hold this one</button>
        <button onClick={release}>Release</button>
      </div>
    </section>
  );
}

/** What is no epoch of this run becomes the nearest one. */
function holdTyped(field: HTMLInputElement, slot: Slot): void {
  const typed = Math.round(Number(field.value));
  const epoch = Math.max(0, Math.min(slot.info.epochs, Number.isFinite(typed) ? typed : 0));
  field.value = String(epoch);
  hold(epoch);
}

const at = (slot: Slot, curve: string): number | undefined => slot.curves[curve]?.[slotEpoch(slot)];
