// What changed between two moments of a run that are shown side by side.

import { changedPredictions, movement } from "../model/scene/spike-scenes";
import { TITLES } from "../panels/all-panels";
import { slots } from "../state/page-state";
import { Term } from "../terms/term";

export function MovedFacts() {
  const [left, right] = slots.value;
  const [before, after] = [left?.scene.value, right?.scene.value];
  if (!before || !after || before.predictions.length !== after.predictions.length) return null;
  const moved = movement(before, after)[0];
  return (
    <dl class="facts">
      <dt>
        <Term of="spike.changed">predictions changed</Term>
      </dt>
      <dd>
        {changedPredictions(before, after).length} of {before.predictions.length}
      </dd>
      <dt>
        <Term of="spike.moved">moved most</Term>
      </dt>
      <dd>{moved?.share ? TITLES[moved.panel].title : "nothing"}</dd>
    </dl>
  );
}
