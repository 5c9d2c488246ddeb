// What is said on a panel in words: that it has nothing to show, or shows a projection.

import { percent } from "../model/number-text";
import type { Panel } from "../model/types";
import { CURVATURE_OFFER } from "../state/open-runs";
import type { Slot } from "../state/page-state";
import { planePanelOf } from "./all-panels";

/** Why a panel has nothing to show of a run; null where it has. */
export function whyEmpty(name: Panel, slot: Slot): string | null {
  const analysis = slot.analysis.value;
  if (name === "hessian" && !analysis?.curvature) return `${CURVATURE_OFFER}.`;
  if (name === "shares" && !analysis?.shares)
    return analysis
      ? (analysis.notes["shares"] ?? "This run has no variance shares.")
      : "Being computed.";
  if (name === "gradients" && !slot.info.curveNames.some((curve) => curve.startsWith("grad_norm/")))
    return "Gradient norms were not recorded (record.gradients).";
  return null;
}

/** How much of the variance the plane of a panel keeps; null where nothing is projected. */
export function planeShare(name: Panel, slot: Slot): string | null {
  const from = planePanelOf(name);
  const plane = from && slot.plan.value.planes[from];
  return plane?.projected ? percent(plane.shares[0] + plane.shares[1], 0) : null;
}
