// The circuit at the epoch that is shown: the sum that it keeps, then what was measured of it.

import { formulaOf, sumHolds, type KeptSum } from "../model/kept-sum";
import { sumTerm } from "../model/glossary";
import { percent } from "../model/number-text";
import { whyRight } from "../model/sum-reasons";
import { interventionIn, verdictOf, type Slot } from "../state/page-state";
import { Term } from "../terms/term";
import type { CircuitNow } from "../workers/protocol";
import { WhichRun } from "./which-run";

export function CircuitCard({ slot }: { slot: Slot }) {
  const now = interventionIn(slot) ? null : slot.circuit.value;
  return (
    <section class="card">
      <h2>
        <Term of="circuit">Circuit</Term>{" "}
        <small>{now ? `at epoch ${now.epoch}` : unmeasured(slot)}</small> <WhichRun slot={slot} />
      </h2>
      {slot.sumClient && <SumCard slot={slot} />}
      <div class="shares">
        <Share name="multiset" of="share.multiset" value={now?.between ?? null} />
        <Share name="ordering" of="share.ordering" value={now?.permutation ?? null} weak />
        <Share name="irrelevant tokens" of="share.irrelevant" value={now?.suffix ?? null} weak />
      </div>
      <dl class="facts">
        <dt>
          <Term of="accuracy.all">
            accuracy{now && !now.exhaustive ? ", sampled" : ", all sequences"}
          </Term>
        </dt>
        <dd>{percent(now?.accuracy)}</dd>
        <dt>
          <Term of="attention.relevant">attention on relevant</Term>
        </dt>
        <dd>{percent(now?.relevantAttention, 0)}</dd>
        <dt>
          <Term of="clusters">clusters</Term>
          {now && ` (${clustersWanted(now, keptNow(slot))})`}
        </dt>
        <dd>{now ? (now.clusters ?? "unclear") : "–"}</dd>
        <dt>
          <Term of="survives.reordering">survives reordering</Term>
        </dt>
        <dd>{percent(now?.permutationSurvival, 0)}</dd>
        <dt>
          <Term of="survives.redrawing">survives new irrelevant tokens</Term>
        </dt>
        <dd>{percent(now?.suffixSurvival, 0)}</dd>
      </dl>
    </section>
  );
}

function unmeasured(slot: Slot): string {
  const why = interventionIn(slot);
  if (why) return `not measured: ${why}`;
  return slot.scene.value?.finite === false ? "not finite" : "being measured";
}

/** The sum that is kept at the epoch of the other measures. */
function keptNow({ sum, circuit }: Slot): KeptSum | null {
  const found = sum.value?.epoch === circuit.value?.epoch ? sum.value?.sum : null;
  return found && sumHolds(found) ? found : null;
}

function clustersWanted(now: CircuitNow, kept: KeptSum | null): string {
  return kept && now.allClustered ? `of ${kept.values} values` : `${now.expectedClusters} expected`;
}

/** What comes and goes has its room, so that little moves while the playhead does. */
function SumCard({ slot }: { slot: Slot }) {
  const found = interventionIn(slot) ? null : slot.sum.value;
  const sum = found?.sum;
  const verdict = verdictOf(slot);
  const late = found && slot.circuit.value && found.epoch !== slot.circuit.value.epoch;
  return (
    <div class="kept-sum">
      <p class="hint">
        <Term of="sum">sum that it keeps</Term>
        {late && `, at epoch ${found.epoch}`}:{" "}
        {sum && (
          <Term of={sumTerm(sum.kind)} class="value">
            {sum.kind}
          </Term>
        )}
        {sum?.kind === "plain" && <By slot={slot} />}
        {found && !sum && "none, since ξ does not vary"}
        {!found && unmeasured(slot)}
      </p>
      {sum && (sumHolds(sum) ? <Kept sum={sum} /> : <Unexplained slot={slot} sum={sum} />)}
      {verdict && (
        <p class="hint">
          <Term of="verdict">verdict</Term>, at the end:{" "}
          <Term of={verdict} class="value">
            {verdict}
          </Term>
        </p>
      )}
    </div>
  );
}

function Kept({ sum }: { sum: KeptSum }) {
  const why = whyRight(sum);
  return (
    <>
      <p class="formula">{printed(formulaOf(sum))}</p>
      {why && <p>{why}</p>}
      <p class="hint">
        explains{" "}
        <Term of="sum.share" class="value">
          {percent(sum.share)} of the variance
        </Term>
      </p>
    </>
  );
}

/** As in print: with minus signs, and each sign and weight in the line of its token. */
const printed = (formula: string): string =>
  formula
    .replaceAll("- ", "− ")
    .replace(/([+−]) /g, "$1\u00a0")
    .replace(/(\d) x/g, "$1\u00a0x");

/** Who leaves the irrelevant tokens out: attention alone, or the values. */
function By({ slot }: { slot: Slot }) {
  const now = slot.circuit.value;
  if (!now || now.epoch !== slot.sum.value?.epoch) return null;
  const attentive = now.relevantAttention >= slot.info.thresholds.relevant_attention;
  return (
    <>
      ,{" "}
      <Term of="sum.by" class="value">
        {attentive ? "attentive" : "value-corrected"}
      </Term>
    </>
  );
}

function Unexplained({ slot, sum }: { slot: Slot; sum: KeptSum }) {
  const enough = percent(slot.info.thresholds.sum_share, 0);
  return (
    <>
      <p>No sum explains ξ at this epoch.</p>
      <p class="hint">
        The best reaches {percent(Math.max(0, sum.corrected))} (
        <Term of="sum.corrected">corrected</Term>); {enough} would be enough.
      </p>
    </>
  );
}

function Share({
  name,
  of,
  value,
  weak = false,
}: {
  name: string;
  of: string;
  value: number | null;
  weak?: boolean;
}) {
  return (
    <>
      <Term of={of}>{name}</Term>
      <meter
        class={weak ? "weak" : ""}
        min={0}
        max={1}
        value={value ?? 0}
        aria-label={`Share of ${name}`}
      />
      <b>{percent(value)}</b>
    </>
  );
}
