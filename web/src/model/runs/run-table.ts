// The run table: rows that pass a filter, in the order of a column. Columns are as the server sends
// them; ten thousand rows take a few milliseconds.

import { parseFilter, type Cell, type Columns, type RowSource } from "./run-filter";

/** A table and what was worked out of it once. `same` holds what is equal in all rows. */
export class RunTable implements RowSource {
  readonly count: number;
  readonly names: readonly string[];
  private readonly texts: string[];
  private readonly sameText: string;
  private readonly ranks = new Map<string, Float64Array>();

  constructor(
    readonly columns: Columns,
    readonly same: Readonly<Record<string, Cell>> = {},
  ) {
    const names = Object.keys(columns);
    this.names = [...names, ...Object.keys(same)];
    this.count = names.length ? columns[names[0]!]!.length : 0;
    const searched = names.map((name) => columns[name]!).filter(isText);
    this.texts = Array.from({ length: this.count }, (_, row) =>
      searched
        .map((cells) => textOf(cells[row]!))
        .join("\n")
        .toLowerCase(),
    );
    const shared = Object.values(same).filter((cell) => isText([cell]));
    this.sameText = shared.map(textOf).join("\n").toLowerCase();
  }

  /** Rows that pass, in order; `sort` is a column, with "-" before it falling, "" as they came. */
  rows(filter: string, sort: string): Int32Array {
    const has = (row: number, word: string): boolean =>
      this.texts[row]!.includes(word) || this.sameText.includes(word);
    const passes = parseFilter(filter, this, has);
    const found = new Int32Array(this.count);
    let count = 0;
    for (let row = 0; row < this.count; row++) if (passes(row)) found[count++] = row;
    return this.sorted(found.subarray(0, count), sort);
  }

  cell(row: number, name: string): Cell {
    if (Object.hasOwn(this.columns, name)) return this.columns[name]![row] ?? null;
    return Object.hasOwn(this.same, name) ? this.same[name]! : null;
  }

  cells(name: string): readonly Cell[] {
    if (Object.hasOwn(this.columns, name)) return this.columns[name]!;
    return new Array<Cell>(this.count).fill(this.cell(0, name));
  }

  private sorted(rows: Int32Array, sort: string): Int32Array {
    const name = sort.replace(/^-/, "");
    if (!Object.hasOwn(this.columns, name)) return rows;
    const keys = this.keys(name);
    const sign = sort.startsWith("-") ? -1 : 1;
    return rows.sort((a, b) => {
      const [x, y] = [keys[a]!, keys[b]!];
      if (x === y) return a - b;
      if (x !== x || y !== y) return x === x ? -1 : y === y ? 1 : a - b; // what is missing, last
      return sign * (x - y);
    });
  }

  /** A number for each row by which the column is sorted; NaN: missing. */
  private keys(name: string): Float64Array {
    const known = this.ranks.get(name);
    if (known) return known;
    const keys = keysOf(this.columns[name]!);
    this.ranks.set(name, keys);
    return keys;
  }
}

const COLLATOR = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function keysOf(cells: readonly Cell[]): Float64Array {
  if (!isText(cells)) return Float64Array.from(cells, (cell) => numberOf(cell));
  const texts = cells.map(textOf);
  const order = [...new Set(texts)].sort(COLLATOR.compare);
  const rank = new Map(order.map((text, i) => [text, i]));
  return Float64Array.from(texts, (text) => (text === "" ? NaN : rank.get(text)!));
}

function numberOf(cell: Cell): number {
  if (typeof cell === "number") return cell;
  if (typeof cell === "boolean") return Number(cell);
  return Array.isArray(cell) && cell.length ? (cell as readonly number[])[0]! : NaN;
}

/** Whether a column holds text, or lists of it; lists of numbers are sorted by their first. */
function isText(cells: readonly Cell[]): boolean {
  const sample = cells.find((cell) => cell !== null && !(Array.isArray(cell) && !cell.length));
  return typeof (Array.isArray(sample) ? sample[0] : sample) === "string";
}

function textOf(cell: Cell): string {
  return cell === null ? "" : Array.isArray(cell) ? cell.join(" ") : String(cell);
}
