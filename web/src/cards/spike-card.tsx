// The spikes of a run; of the one that is shown before and after, what the analysis says of it.

import { causeTerms } from "../model/glossary";
import type { Spike } from "../model/server/answers";
import { change, firstSlot, seen } from "../state/page-state";
import { MovedFacts } from "./moved-facts";
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
      <MovedFacts />
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
