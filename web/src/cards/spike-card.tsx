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
                {...explained(causeTerms(causeOf(spike)), spike.told.headline)}
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
      <p class={spike ? "headline" : "verdict"}>
        {spike ? <Headline spike={spike} /> : "Looking for spikes."}
      </p>
      {spike && (
        <ul class="told">
          {spike.told.lines.map((line) => (
            <Line text={line} />
          ))}
        </ul>
      )}
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

/** The sentence, in which the cause is a word that is explained. */
function Headline({ spike }: { spike: Spike }) {
  const [cause, sentence] = [causeOf(spike), spike.told.headline];
  const at = spike.cause ? sentence.lastIndexOf(`${cause} (`) : -1;
  if (at < 0) return <Term of={causeTerms(cause)}>{sentence}</Term>;
  return (
    <>
      {sentence.slice(0, at)}
      <Term of={causeTerms(cause)}>{cause}</Term>
      {sentence.slice(at + cause.length)}
    </>
  );
}

/** What a line is about, up to its colon, stands out. */
function Line({ text }: { text: string }) {
  const colon = text.indexOf(":") + 1;
  return (
    <li>
      <b>{text.slice(0, colon)}</b>
      {text.slice(colon)}
    </li>
  );
}

const causeOf = (spike: Spike): string => spike.cause?.verdict ?? "unexplained";
