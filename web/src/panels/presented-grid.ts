// Few panels, as large as the room for them allows.

const GAP = 14; // pixels, as in presenting.css
const SHAPE = 1.45; // width over height that panels look best at

/** Into how many columns panels go so that they come nearest to their best shape. */
export function presentedColumns(
  count: number,
  width: number,
  height: number,
  best = SHAPE,
): number {
  const misfit = (columns: number): number => {
    const rows = Math.ceil(count / columns);
    const shape = width / columns / (height / rows);
    const empty = (rows * columns - count) / count;
    return Math.abs(Math.log(shape / best)) + empty;
  };
  const choices = Array.from({ length: Math.max(1, count) }, (_, i) => i + 1);
  return choices.reduce((best, columns) => (misfit(columns) < misfit(best) ? columns : best));
}

/** Keeps a grid of panels so; all of them are in sight. */
export function fitToRoom(element: HTMLElement | null, count: number): (() => void) | undefined {
  if (!element) return undefined;
  const observer = new ResizeObserver(([entry]) => {
    if (!entry) return;
    const { width, height } = entry.contentRect;
    const columns = presentedColumns(count, width, height);
    const rows = Math.max(1, Math.ceil(count / columns));
    element.style.setProperty("--columns", String(columns));
    element.style.setProperty("--row", `${Math.floor((height - (rows - 1) * GAP) / rows)}px`);
  });
  observer.observe(element);
  return () => observer.disconnect();
}
