// The spikes of a run; of the one that is shown before and after, what the analysis says of it.

import { causeTerms } from "../model/glossary";
import { changedPredictions, movement } from "../model/scene/spike-scenes";
import type { Spike } from "../model/server/answers";
import { TITLES } from "../panels/all-panels";
import { change, firstSlot, slots, seen } from "../state/page-state";
import { WhichRun } from "./which-run";
import { nextSpike, showSpike, spikesOf } from "../state/spike-view";
import { explained, Term } from "../terms/term";

export function SpikeCard() {
  const slot = firstSlot.value;
  const found = spikesOf(slot);
  const chosen = seen.spike.value;
  if (!slot || (!found.length && chosen === null)) return null;
  return (
    <section class="card">
      <h2>
        <Term of="spike">Spikes</Term> <small>{found.length}</small> <WhichRun slot={slot} />
      </h2>
      {chosen === null ? (
        <ul class="spike-list">
          {found.slice(0, 12).map((spike, i) => (
            <li>
              <button
                onClick={() => showSpike(i)}
                {...explained(causeTerms(causeOf(spike)), spike.told)}
              >
                <b>epoch {spike.peak}</b> <span>{causeOf(spike)}</span>
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <Chosen spike={found[chosen]} />
      )}
    </section>
  );
}

function Chosen({ spike }: { spike: Spike | undefined }) {
  const [left, right] = slots.value;
  const [before, after] = [left?.scene.value, right?.scene.value];
  const same = before && after && before.predictions.length === after.predictions.length;
  const changed = same ? changedPredictions(before, after).length : 0;
  const moved = same ? movement(before, after)[0] : undefined;
  return (
    <>
      <p class="verdict">
        {spike ? (
          <>
            Epoch {spike.peak}: <Term of={causeTerms(causeOf(spike))}>{causeOf(spike)}</Term>
          </>
        ) : (
          "Looking for spikes."
        )}
      </p>
      <p class="told">{spike?.told}</p>
      {same && (
        <dl class="facts">
          <dt>
            <Term of="spike.changed">predictions changed</Term>
          </dt>
          <dd>
            {changed} of {before.predictions.length}
          </dd>
          <dt>
            <Term of="spike.moved">moved most</Term>
          </dt>
          <dd>{moved ? TITLES[moved.panel].title : "nothing"}</dd>
        </dl>
      )}
      <div class="buttons">
        <button onClick={nextSpike}>Next</button>
        <button onClick={() => change({ spike: null })}>Close</button>
      </div>
    </>
  );
}

const causeOf = (spike: Spike): string => spike.cause?.verdict ?? "unexplained";
