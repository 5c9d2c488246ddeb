// An arrow from here to there; too short for a head, it is a line.

import type { LineStyle, Pen } from "./pen";

export function arrow(
  pen: Pen,
  [x0, y0, x1, y1]: readonly [number, number, number, number],
  { colour, width = 1.5, alpha = 1 }: LineStyle,
): void {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (!(length > 0.5) || !Number.isFinite(length)) return;
  const head = Math.min(4 * width + 3, length * 0.6);
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const [bx, by] = [x1 - ux * head, y1 - uy * head];
  pen.line([x0, y0, bx, by], { colour, width, alpha });
  const half = head * 0.45;
  pen.area([x1, y1, bx - uy * half, by + ux * half, bx + uy * half, by - ux * half], colour, alpha);
}
