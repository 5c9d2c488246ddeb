// Numbers as people read them. Shares follow the rule of src/dynascope/number_text.py, operation by
// operation: rounded to the nearest last digit, but 100% and 0% are said of exactly 1 and 0 alone.
// What would be rounded to them is ">99.9%" and "<0.1%".

const LARGEST = 1e9; // in size: beyond it is no share, whatever a file says

export const percent = (share: number | null | undefined, places = 1): string => {
  if (share === null || share === undefined || !(Math.abs(share) <= LARGEST)) return "–";
  const unit = 10 ** places;
  const [sign, units] = rounded(share, 100 * unit);
  if (!sign && (units === 0 || units === 100 * unit)) return `${units / unit}%`; // exactly
  return `${sign}${decimal(units, places)}%`;
};

/** The share in units of which `whole` make 1, and the sign for what lies between the last unit and
 * an end. */
function rounded(share: number, whole: number): [sign: "" | "<" | ">", units: number] {
  const units = Math.floor(share * whole + 0.5);
  if (units === whole && share < 1) return [">", whole - 1];
  if (units === 0 && share > 0) return ["<", 1];
  return ["", units];
}

function decimal(units: number, places: number): string {
  const size = String(Math.abs(units)).padStart(places + 1, "0");
  const [minus, cut] = [units < 0 ? "-" : "", size.length - places];
  return `${minus}${size.slice(0, cut)}${places ? "." : ""}${size.slice(cut)}`;
}

/** Three digits that count, without needless zeros; powers of ten only where they help. What is just
 * below 1 is not told as 1. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2).replace("e+", "e");
  const text = String(Number(value.toPrecision(3)));
  return text === "1" && value < 1 ? ">0.999" : text;
}

/** A difference of log-probabilities; beyond what can be told, only that it is beyond. */
export function nats(value: number, farthest: number): string {
  if (Math.abs(value) > farthest) return `${value > 0 ? "> " : "< -"}${farthest} nats`;
  return Number.isNaN(value) ? "–" : `${short(value)} nats`;
}

/** A time as people say it: 0:07, 1:35, 2:03:04. The same as in src/dynascope/progress.py. */
export function clock(seconds: number): string {
  const all = Math.round(Math.max(seconds, 0));
  const two = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(all / 3600), Math.floor(all / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(all % 60)}` : `${minutes}:${two(all % 60)}`;
}
