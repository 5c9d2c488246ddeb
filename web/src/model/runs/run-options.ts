// The options in which the runs of a store differ, told where there is little room: "d 8", "sgd".

import { OPTION_SYMBOLS } from "../symbols";
import type { Cell, Columns } from "./run-filter";

const SYMBOLS: Readonly<Record<string, string>> = OPTION_SYMBOLS;

/** How long, and what was kept: told only of runs that differ in nothing else. */
const MINOR = new Set([
  ...["train_size", "test_size", "epochs", "weights_every", "state_every"],
  ...["gradients", "full_gradients", "unseen", "steps"],
]);

/** What there is in a column. */
interface Counts {
  of: ReadonlyMap<string, number>; // runs with a value
  commonest: string; // of equally common values, that which comes first
  lengths: boolean; // whether lists differ in their length
}

/** Whether the rows of a column are not all the same. */
export function columnDiffers(cells: readonly Cell[]): boolean {
  return cells.some((cell) => String(cell) !== String(cells[0]));
}

export class RunOptions {
  /** Options in which runs differ, in the store's order: there they come before the accuracy. */
  readonly names: readonly string[];
  private readonly counts: ReadonlyMap<string, Counts>;

  constructor(private readonly columns: Columns) {
    const names = Object.keys(columns);
    this.names = names
      .slice(0, Math.max(0, names.indexOf("accuracy")))
      .filter((name) => name !== "id" && name !== "seed" && columnDiffers(columns[name]!));
    this.counts = new Map(this.names.map((name) => [name, valueCounts(columns[name]!)]));
  }

  /** All of them for a row. */
  all(row: number): string[] {
    return this.applying(row).map((name) => this.told(name, row));
  }

  /** At most two: where there are more, those in which this run is not as most are, the rarest
   * value first. */
  brief(row: number): string[] {
    if (this.names.length <= 2) return this.all(row);
    const key = (name: string): string => String(this.columns[name]![row]);
    const count = (name: string): number => this.counts.get(name)!.of.get(key(name))!;
    const own = this.applying(row).filter((name) => key(name) !== this.counts.get(name)!.commonest);
    const telling = own.filter((name) => !MINOR.has(name));
    return (telling.length ? telling : own)
      .sort((a, b) => count(a) - count(b))
      .slice(0, 2)
      .map((name) => this.told(name, row));
  }

  /** A run with data of its own has no relevant positions, not none of them. */
  private applying(row: number): readonly string[] {
    return this.names.filter((name) => name !== "relevant" || this.columns[name]![row] !== null);
  }

  private told(name: string, row: number): string {
    const cell = this.columns[name]![row] ?? null;
    const symbol = SYMBOLS[name] ?? name.replaceAll("_", " ");
    if (cell === null || cell === false || cell === "none") return `no ${symbol}`;
    if (cell === true) return symbol;
    if (typeof cell === "string") return cell;
    if (typeof cell === "number") return `${symbol} ${Number(cell.toPrecision(6))}`;
    return this.counts.get(name)!.lengths ? `${symbol} ${cell.length}` : cell.join(" ");
  }
}

function valueCounts(cells: readonly Cell[]): Counts {
  const of = new Map<string, number>();
  for (const cell of cells) of.set(String(cell), (of.get(String(cell)) ?? 0) + 1);
  const commonest = [...of].reduce((best, each) => (each[1] > best[1] ? each : best))[0];
  const lengths = columnDiffers(cells.map((cell) => (Array.isArray(cell) ? cell.length : 0)));
  return { of, commonest, lengths };
}
