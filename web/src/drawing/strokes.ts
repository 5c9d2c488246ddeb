// Lines before they are painted: cut into dashes, cut to what can be seen.

/** Goes along a polyline; `first` where a piece begins: at the start and after a NaN. */
export function eachVertex(
  points: ArrayLike<number>,
  visit: (x: number, y: number, first: boolean) => void,
): void {
  let first = true;
  for (let i = 0; i + 1 < points.length; i += 2) {
    const finite = Number.isFinite(points[i]!) && Number.isFinite(points[i + 1]!);
    if (finite) visit(points[i]!, points[i + 1]!, first);
    first = !finite;
  }
}

/** A polyline as the pieces that dashes leave of it, with NaN between them. */
export function dashes(points: ArrayLike<number>, pattern: readonly number[]): number[] {
  const out: number[] = [];
  let [index, left, drawn] = [0, pattern[0] ?? 1, true];
  for (let i = 0; i + 3 < points.length; i += 2) {
    let [x, y] = [points[i]!, points[i + 1]!];
    const [endX, endY] = [points[i + 2]!, points[i + 3]!];
    let rest = Math.hypot(endX - x, endY - y);
    if (!(rest > 0 && rest < 1e5)) continue;
    while (rest > 0) {
      const step = Math.min(left, rest);
      const [nextX, nextY] = [x + ((endX - x) * step) / rest, y + ((endY - y) * step) / rest];
      if (drawn) out.push(x, y, nextX, nextY, NaN, NaN);
      [x, y, rest, left] = [nextX, nextY, rest - step, left - step];
      if (left > 0) continue;
      index = (index + 1) % pattern.length;
      left = Math.max(0.1, pattern[index] ?? 1);
      drawn = !drawn;
    }
  }
  return out;
}

/** The part of a segment inside a rectangle (Liang and Barsky), or null. */
export function clippedSegment(
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  left: number,
  top: number,
  right: number,
  bottom: number,
): [number, number, number, number] | null {
  const [dx, dy] = [x1 - x0, y1 - y0];
  let [enter, leave] = [0, 1];
  for (const [p, q] of [
    [-dx, x0 - left],
    [dx, right - x0],
    [-dy, y0 - top],
    [dy, bottom - y0],
  ] as const) {
    if (p === 0 && q < 0) return null;
    if (p < 0) enter = Math.max(enter, q / p);
    else if (p > 0) leave = Math.min(leave, q / p);
  }
  return enter > leave
    ? null
    : [x0 + enter * dx, y0 + enter * dy, x0 + leave * dx, y0 + leave * dy];
}

/** The line along which values [height, width] pass 0, as segments with NaN between, in cells whose
 * values lie at their middles. No arrays are made in the loop: it runs over every cell of a frame. */
export function zeroLine(values: ArrayLike<number>, width: number, height: number): number[] {
  const out: number[] = [];
  let ends = 0; // of the segment under way
  const add = (x: number, y: number): void => {
    out.push(x + 0.5, y + 0.5);
    if (++ends % 2 === 0) out.push(NaN, NaN);
  };
  for (let row = 0; row + 1 < height; row++)
    for (let at = row * width; at + 1 < (row + 1) * width; at++) {
      const a = values[at]!;
      const b = values[at + 1]!;
      const c = values[at + width + 1]!;
      const d = values[at + width]!;
      const sides = (a > 0 ? 1 : 0) + (b > 0 ? 1 : 0) + (c > 0 ? 1 : 0) + (d > 0 ? 1 : 0);
      if (sides === 0 || sides === 4) continue;
      const column = at - row * width;
      if (a > 0 !== b > 0) add(column + a / (a - b), row);
      if (b > 0 !== c > 0) add(column + 1, row + b / (b - c));
      if (c > 0 !== d > 0) add(column + d / (d - c), row + 1);
      if (d > 0 !== a > 0) add(column, row + a / (a - d));
    }
  return out;
}
