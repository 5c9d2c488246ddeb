// The side: what is known at this epoch, in cards.

import { short } from "../model/number-text";
import { hasOwnData } from "../model/own-data";
import { nearestCurvature } from "../panels/hessian-spectrum";
import { isOffered } from "../state/all-runs";
import { askCurvature, CURVATURE_OFFER } from "../state/open-runs";
import { firstSlot, runsBeside, slotEpoch, slots, seen, type Slot } from "../state/page-state";
import { BranchTree } from "../live/branch-tree";
import { EditCard } from "../live/edit-card";
import { GuideCard } from "../guided/guide-card";
import { experiment } from "../state/guided";
import { holding } from "../state/two-epochs";
import { Term } from "../terms/term";
import { CircuitCard } from "./circuit-card";
import { CompareCard } from "./compare-card";
import { OwnDataCard } from "./own-data-card";
import { PointerCard } from "./pointer-card";
import { RunList } from "./run-list";
import { SpikeCard } from "./spike-card";
import { TwoEpochsCard } from "./two-epochs-card";
import { WhichRun } from "./which-run";

export function SideCards() {
  const slot = slots.value.find((each) => each.role === "after") ?? firstSlot.value;
  if (!slot) return <aside class="side" />;
  const spike = seen.spike.value !== null;
  const changing = experiment.value?.uses === "change";
  return (
    <aside class="side" aria-label="What is known">
      <GuideCard />
      {changing && <EditCard />}
      {hasOwnData(slot.info.task) ? (
        <OwnDataCard slot={slot} task={slot.info.task} />
      ) : (
        <CircuitCard slot={slot} />
      )}
      {!changing && <EditCard />}
      {spike ? <SpikeCard /> : holding.value ? <TwoEpochsCard /> : null}
      {runsBeside.value && <CompareCard />}
      <PointerCard />
      {!spike && <SpikeCard />}
      <CurvatureCard slot={slot} />
      <BranchTree />
      <RunList />
    </aside>
  );
}

function CurvatureCard({ slot }: { slot: Slot }) {
  const found = nearestCurvature({ slot, epoch: slotEpoch(slot) });
  if (!found && (slot.live || !isOffered("curvature"))) return null;
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
