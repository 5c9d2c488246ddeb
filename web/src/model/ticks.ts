// Round numbers along an axis.

/** About `count` round numbers within [from, to]: steps of 1, 2 or 5 times a power of 10. */
export function ticks(from: number, to: number, count = 4): number[] {
  const size = to - from;
  if (!(size > 0) || !Number.isFinite(size)) return [];
  const power = 10 ** Math.floor(Math.log10(size / count));
  const rest = size / count / power;
  const step = power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
  if (from + step === from) return []; // beyond what numbers can tell apart
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

/** A tick as text; the same number of digits for all of an axis. */
export function tickLabels(values: readonly number[]): string[] {
  const step = values.length > 1 ? Math.abs(values[1]! - values[0]!) : Math.abs(values[0] ?? 1);
  const largest = Math.max(...values.map(Math.abs), 0);
  if (largest >= 1e5 || (largest > 0 && largest < 1e-3))
    return values.map((v) => (v === 0 ? "0" : minus(v.toExponential().replace("e+", "e"))));
  const digits = Math.max(0, -Math.floor(Math.log10(step || 1) + 1e-9));
  return values.map((v) => minus(v.toFixed(Math.min(digits, 6))));
}

const minus = (text: string): string => text.replaceAll("-", "−");
