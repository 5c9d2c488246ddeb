// What shape a value has that came from a file or over a wire: small checks, put together.

export type ValueShape = (value: unknown) => boolean;
export type Table = Readonly<Record<string, unknown>>;

export const anything: ValueShape = () => true;
export const flag: ValueShape = (value) => typeof value === "boolean";
export const finite: ValueShape = (value) => Number.isFinite(value);

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const text =
  (most: number): ValueShape =>
  (value) =>
    typeof value === "string" && value.length <= most;

export const oneOf =
  (words: readonly string[]): ValueShape =>
  (value) =>
    words.includes(value as string);

export const whole =
  (low: number, high: number): ValueShape =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high;

export const orNull =
  (shape: ValueShape): ValueShape =>
  (value) =>
    value === null || shape(value);

export const orMissing =
  (shape: ValueShape): ValueShape =>
  (value) =>
    value === undefined || shape(value);

export const list =
  (shape: ValueShape, most: number): ValueShape =>
  (value) =>
    Array.isArray(value) && value.length <= most && value.every(shape);

/** Whole numbers, each larger than the one before. */
export const rising =
  (low: number, high: number): ValueShape =>
  (value) =>
    Array.isArray(value) &&
    value.length <= high - low + 1 &&
    value.every((each, i) => whole(i ? value[i - 1] + 1 : low, high)(each));

/** A table whose values are all alike. */
export const tableOf =
  (shape: ValueShape, most: number): ValueShape =>
  (value) =>
    isTable(value) && Object.keys(value).length <= most && Object.values(value).every(shape);

/** A table with these names; it may have others. */
export const record =
  (shapes: Readonly<Record<string, ValueShape>>): ValueShape =>
  (value) =>
    isTable(value) && misshapen(value, shapes) === null;

/** The first name whose value has another shape; null: there is none. */
export function misshapen(
  table: Table,
  shapes: Readonly<Record<string, ValueShape>>,
): string | null {
  const own = (name: string): unknown => (Object.hasOwn(table, name) ? table[name] : undefined);
  return Object.keys(shapes).find((name) => !shapes[name]!(own(name))) ?? null;
}
