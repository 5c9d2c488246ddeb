// Errors that a person is shown: one sentence that says what is wrong and how to go on.

/** Bad input or a failed request; `message` stands alone. */
export class ReadableError extends Error {
  override name = "ReadableError";
}

const LONGEST = 40;

/** A value as a sentence can carry it: on one line, in quotes, cut. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? value : String(JSON.stringify(value));
  const plain = text.replace(/[\s\u0000-\u001f\u007f]+/g, " ");
  return `'${plain.length > LONGEST ? `${plain.slice(0, LONGEST - 3)}...` : plain}'`;
}

/** "field: expected what, but got value." with an optional way on. */
export function expected(field: string, what: string, got: unknown, hint = ""): ReadableError {
  return new ReadableError(
    `${field}: expected ${what}, but got ${shown(got)}${hint && `; ${hint}`}.`,
  );
}

/** The choice nearest to a misspelt name, or nothing when none is near. */
export function nearestName(name: string, choices: Iterable<string>): string | null {
  let best: string | null = null;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const choice of choices) {
    const far = distance(name.toLowerCase(), choice.toLowerCase(), least);
    if (far < least) [best, least] = [choice, far];
  }
  return best;
}

/** Levenshtein's distance, or `limit` as soon as it is that large. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return Math.min(row[b.length] ?? limit, limit);
}
