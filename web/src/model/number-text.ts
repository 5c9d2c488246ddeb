// Numbers as people read them.

export const percent = (share: number | null | undefined, digits = 1): string =>
  share === null || share === undefined || !Number.isFinite(share)
    ? "–"
    : `${(100 * share).toFixed(digits)}%`;

/** Three digits that count, without needless zeros; powers of ten only where they help. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2).replace("e+", "e");
  return String(Number(value.toPrecision(3)));
}

/** A difference of log-probabilities; beyond what can be told, only that it is beyond. */
export function nats(value: number, farthest: number): string {
  if (Math.abs(value) > farthest) return `${value > 0 ? "> " : "< -"}${farthest} nats`;
  return Number.isNaN(value) ? "–" : `${short(value)} nats`;
}
