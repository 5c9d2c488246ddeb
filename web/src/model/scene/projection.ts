// From vectors of d numbers to points of a plane.

import type { Numbers, Plane, Points } from "../types";

/** Axes [2, dim], mean [dim] and shares [2] of points [n, dim]; throws if one is not finite. */
export interface PlaneMaker {
  plane(
    points: Float64Array,
    dim: number,
  ): { axes: Float64Array; mean: Float64Array; shares: ArrayLike<number> };
}

/** Where the points of a panel lie: each begins at its start, with coordinates `step` apart. */
export interface VectorSource {
  array: Numbers;
  starts: Int32Array;
  step: number;
}

/** The plane of a panel's points; where one is not finite, that of the coordinates. */
export function planeOf(
  kernel: PlaneMaker,
  { array, starts, step }: VectorSource,
  dim: number,
): Plane {
  const points = new Float64Array(starts.length * dim);
  starts.forEach((start, i) => {
    for (let c = 0; c < dim; c++) points[i * dim + c] = array[start + c * step]!;
  });
  const finite = allFinite(points) && points.length > 0;
  const found = kernel.plane(finite ? points : new Float64Array(dim), dim);
  const [a, b] = [found.axes.slice(0, dim), found.axes.slice(dim, 2 * dim)];
  const [along, across] = [dot(found.mean, a), dot(found.mean, b)];
  const origin = found.mean.map((m, c) => (dim > 2 ? m - along * a[c]! - across * b[c]! : 0));
  return { a, b, origin, shares: [found.shares[0] ?? 0, found.shares[1] ?? 0], projected: dim > 2 };
}

/** Points on their plane. */
export function project(
  out: Points,
  { array, starts, step }: VectorSource,
  plane: Plane,
  dim: number,
): void {
  const { a, b } = plane;
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i]!;
    let [x, y] = [array[start]!, dim > 1 ? array[start + step]! : 0];
    if (dim > 2) {
      x = y = 0;
      for (let c = 0; c < dim; c++) {
        const value = array[start + c * step]!;
        x += a[c]! * value;
        y += b[c]! * value;
      }
    }
    out.x[i] = x;
    out.y[i] = y;
  }
}

/** How long each vector is, in all its dimensions. */
export function lengths(
  out: Float64Array,
  { array, starts, step }: VectorSource,
  dim: number,
): void {
  for (let i = 0; i < starts.length; i++) {
    let sum = 0;
    for (let c = 0; c < dim; c++) sum += array[starts[i]! + c * step]! ** 2;
    out[i] = Math.sqrt(sum);
  }
}

/** The centres of equal cells between two ends. */
export function centres(out: Float64Array, from: number, to: number): void {
  for (let i = 0; i < out.length; i++) out[i] = from + ((i + 0.5) * (to - from)) / out.length;
}

function dot(u: Float64Array, v: Float64Array): number {
  return u.reduce((sum, each, i) => sum + each * v[i]!, 0);
}

export function allFinite(values: Float64Array): boolean {
  return values.every((value) => value - value === 0);
}
