// The side: what is known at this epoch, in cards.

import { percent, short } from "../model/number-text";
import { hasOwnData } from "../model/own-data";
import { nearestCurvature } from "../panels/hessian-spectrum";
import { askCurvature, CURVATURE_OFFER } from "../state/open-runs";
import { firstSlot, slotEpoch, slots, seen, type Slot } from "../state/page-state";
import { Term } from "../terms/term";
import { CompareCard } from "./compare-card";
import { OwnDataCard } from "./own-data-card";
import { PointerCard } from "./pointer-card";
import { RunList } from "./run-list";
import { SpikeCard } from "./spike-card";
import { WhichRun } from "./which-run";

export function SideCards() {
  const slot = slots.value.find((each) => each.role === "after") ?? firstSlot.value;
  if (!slot) return <aside class="side" />;
  const spike = seen.spike.value !== null;
  return (
    <aside class="side" aria-label="What is known">
      {hasOwnData(slot.info.task) ? (
        <OwnDataCard slot={slot} task={slot.info.task} />
      ) : (
        <CircuitCard slot={slot} />
      )}
      {spike ? <SpikeCard /> : slots.value.length > 1 && <CompareCard />}
      <PointerCard />
      {!spike && <SpikeCard />}
      <CurvatureCard slot={slot} />
      <RunList />
    </aside>
  );
}

function CircuitCard({ slot }: { slot: Slot }) {
  const now = slot.circuit.value;
  const none = slot.scene.value?.finite === false ? "not finite" : "being measured";
  return (
    <section class="card">
      <h2>
        <Term of="circuit">Circuit</Term> <small>{now ? `at epoch ${now.epoch}` : none}</small>{" "}
        <WhichRun slot={slot} />
      </h2>
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
          {now && ` (${now.expectedClusters} expected)`}
        </dt>
        <dd>{now ? (now.clusters ?? "not clear") : "–"}</dd>
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

function CurvatureCard({ slot }: { slot: Slot }) {
  const found = nearestCurvature({ slot, epoch: slotEpoch(slot) });
  if (!found) {
    const asked = slot.curvature.value === "asked";
    return (
      <section class="card row">
        <h2>
          <Term of="curvature">Curvature</Term> <WhichRun slot={slot} />
        </h2>
        <button disabled={asked} onClick={() => askCurvature(slot)} title={CURVATURE_OFFER}>
          {asked ? "Computing" : "Compute"}
        </button>
      </section>
    );
  }
  return (
    <section class="card">
      <h2>
        <Term of="curvature" detail={found.told}>
          Curvature
        </Term>{" "}
        <small>at epoch {found.epoch}</small> <WhichRun slot={slot} />
      </h2>
      <dl class="facts">
        <dt>
          <Term of="sharpness">sharpness</Term>
        </dt>
        <dd>{short(found.sharpness)}</dd>
        <dt>
          <Term of="preconditioned">preconditioned</Term> (limit {short(found.sharpness_limit)})
        </dt>
        <dd>{short(found.preconditioned)}</dd>
        <dt>
          <Term of="negative">negative directions</Term>
        </dt>
        <dd>{found.spectrum.negative}</dd>
      </dl>
    </section>
  );
}
