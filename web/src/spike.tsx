// The spike view: before and after side by side, and what the analysis says of it.

import type { Spike } from "./model/answers";
import { changedPredictions, movement } from "./model/spikes";
import { TITLES } from "./panels/list";
import { change, epoch, main, seek, slots, seen, type Slot } from "./state";

export const spikesOf = (slot: Slot | null | undefined): readonly Spike[] =>
  slot?.analysis.value?.spikes?.spikes ?? [];

/** To the next spike after the playhead, or around to the first; in the spike view, that spike's. */
export function nextSpike(): void {
  const found = spikesOf(main.value);
  if (!found.length) return;
  const next = found.findIndex((spike) => spike.peak > epoch.value);
  const index = next < 0 ? 0 : next;
  if (seen.spike.value !== null) showSpike(index);
  else seek(found[index]!.peak);
}

export function showSpike(index: number): void {
  const spike = spikesOf(main.value)[index];
  if (spike)
    change({ spike: index, epoch: spike.peak, runs: seen.runs.value.slice(0, 1), big: null });
}

export function SpikeCard() {
  const slot = main.value;
  const found = spikesOf(slot);
  const chosen = seen.spike.value;
  if (!slot || (!found.length && chosen === null)) return null;
  return (
    <section class="card">
      <h2>
        Spikes <small>{found.length}</small>
      </h2>
      {chosen === null ? (
        <ul class="spike-list">
          {found.slice(0, 12).map((spike, i) => (
            <li>
              <button onClick={() => showSpike(i)} title={spike.told}>
                <b>epoch {spike.peak}</b> <span>{spike.cause?.verdict ?? "unexplained"}</span>
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
        {spike
          ? `Epoch ${spike.peak}: ${spike.cause?.verdict ?? "unexplained"}`
          : "Being looked for."}
      </p>
      <p class="told">{spike?.told}</p>
      {same && (
        <dl class="facts">
          <dt>predictions changed</dt>
          <dd>
            {changed} of {before.predictions.length}
          </dd>
          <dt>moved most</dt>
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
