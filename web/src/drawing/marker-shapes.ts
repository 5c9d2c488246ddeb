// The outlines of markers.

import type { Shape } from "./pen";

/** Corners of a marker around the origin at radius 1; null for a circle. All have about one area. */
const CORNERS: Record<Shape, number[] | null> = {
  circle: null,
  square: [-0.88, -0.88, 0.88, -0.88, 0.88, 0.88, -0.88, 0.88],
  triangle: [0, -1.25, 1.15, 0.8, -1.15, 0.8],
  "triangle-down": [0, 1.25, 1.15, -0.8, -1.15, -0.8],
  diamond: [0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0],
  plus: [
    -0.4, -1.2, 0.4, -1.2, 0.4, -0.4, 1.2, -0.4, 1.2, 0.4, 0.4, 0.4, 0.4, 1.2, -0.4, 1.2, -0.4, 0.4,
    -1.2, 0.4, -1.2, -0.4, -0.4, -0.4,
  ],
  star: spokes(5, 1.4, 0.6),
  cross: turned([
    -0.4, -1.2, 0.4, -1.2, 0.4, -0.4, 1.2, -0.4, 1.2, 0.4, 0.4, 0.4, 0.4, 1.2, -0.4, 1.2, -0.4, 0.4,
    -1.2, 0.4, -1.2, -0.4, -0.4, -0.4,
  ]),
  hexagon: spokes(3, 1.1, 1.1),
  pentagon: spokes(5, 1.15, 0.93),
};

function spokes(count: number, outer: number, inner: number): number[] {
  const points: number[] = [];
  for (let i = 0; i < 2 * count; i++) {
    const angle = (Math.PI * i) / count - Math.PI / 2;
    const radius = i % 2 ? inner : outer;
    points.push(radius * Math.cos(angle), radius * Math.sin(angle));
  }
  return points;
}

function turned(points: number[]): number[] {
  const half = Math.SQRT1_2;
  return points.map((value, i) =>
    i % 2 ? half * ((points[i - 1] ?? 0) + value) : half * (value - (points[i + 1] ?? 0)),
  );
}

export function corners(shape: Shape, x: number, y: number, radius: number): number[] | null {
  const unit = CORNERS[shape];
  return unit && unit.map((value, i) => value * radius + (i % 2 ? y : x));
}
