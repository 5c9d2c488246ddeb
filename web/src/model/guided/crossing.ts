// Embeddings that passed by the origin: how far they went, and how much further what is made of them
// by normalisation went. Exact where the panels show all of a vector, in two dimensions.

import type { Points } from "../types";

export interface Crossing {
  count: number; // sequences
  crossed: number; // those now on the other side of the origin
  moved: number; // how far the embedding went that was amplified most
  turned: number; // how far its normalised one went
  amplified: number; // turned / moved
}

const STILL = 1e-6; // of the length: what moved less is not looked at

export function crossingOf(
  before: { raw: Points; normalized: Points },
  after: { raw: Points; normalized: Points },
): Crossing {
  const { count } = before.raw;
  const found: Crossing = { count, crossed: 0, moved: 0, turned: 0, amplified: 0 };
  for (let i = 0; i < count; i++) {
    const [x, y, u, v] = [before.raw.x[i]!, before.raw.y[i]!, after.raw.x[i]!, after.raw.y[i]!];
    if (x * u + y * v < 0) found.crossed++;
    const moved = Math.hypot(u - x, v - y);
    const turned = distance(before.normalized, after.normalized, i);
    if (moved <= STILL * Math.hypot(x, y) || turned / moved <= found.amplified) continue;
    Object.assign(found, { moved, turned, amplified: turned / moved });
  }
  return found;
}

const distance = (a: Points, b: Points, i: number): number =>
  Math.hypot(b.x[i]! - a.x[i]!, b.y[i]! - a.y[i]!);
