// The filter language of the run table: free words and comparisons, all of which must hold.
//
//   accuracy>0.9 verdict:ideal lr=0.003 tag:nice spikes>=2 -tag:old "two words"
//
// A word is looked for in every text of a row. `column:text` looks in one column (a list: in its
// items), `= != < <= > >=` compare; `column=none` finds what is missing. "-" before a term negates.

import { expected, nearestName, ReadableError, shown } from "../errors";

export type Cell = string | number | boolean | null | readonly (string | number)[];
export type Columns = Readonly<Record<string, readonly Cell[]>>;
/** Columns by name, wherever they are kept. */
export interface RowSource {
  names: readonly string[];
  cells(name: string): readonly Cell[];
}
/** Whether a row passes. */
export type RowTest = (row: number) => boolean;

const LONGEST = 2000;
const TERM = /(-?)(?:"([^"]*)"|(?:([A-Za-z_][\w./]*)(:|!=|<=|>=|=|<|>)(?:"([^"]*)"|(\S*)))|(\S+))/y;
const ALIASES: Readonly<Record<string, string>> = { tag: "tags", test_accuracy: "accuracy" };

/** The test that a filter stands for; an error says what was not understood. `has` says whether a
 * row has a word, in lower case. */
export function parseFilter(
  text: string,
  source: RowSource,
  has: (row: number, word: string) => boolean,
): RowTest {
  if (text.length > LONGEST) throw new ReadableError("filter: the text is too long to be read.");
  const tests: RowTest[] = [];
  for (const [minus, phrase, name, operator, quoted, bare, word] of terms(text)) {
    const wanted = (phrase ?? word ?? "").toLowerCase();
    const test: RowTest = name
      ? comparison(name, operator!, quoted ?? bare ?? "", source)
      : (row) => has(row, wanted);
    tests.push(minus ? (row) => !test(row) : test);
  }
  return (row) => tests.every((test) => test(row));
}

function* terms(text: string): Generator<(string | undefined)[]> {
  let at = 0;
  for (;;) {
    while (/\s/.test(text[at] ?? "")) at++;
    if (at >= text.length) return;
    TERM.lastIndex = at;
    const found = TERM.exec(text);
    if (found === null) throw expected("filter", "words and comparisons", text.slice(at));
    at = TERM.lastIndex;
    yield found.slice(1);
  }
}

function comparison(name: string, operator: string, value: string, source: RowSource): RowTest {
  const cells = source.cells(columnOf(name, source.names));
  if (value === "") throw new ReadableError(`filter: ${name}${operator} needs a value after it.`);
  if (/^(none|null)$/i.test(value) && /^(:|=|!=)$/.test(operator))
    return operator === "!=" ? (row) => !missing(cells[row]!) : (row) => missing(cells[row]!);
  const sample = cells.find((cell) => !missing(cell)) ?? null;
  if (typeof sample === "number") return numeric(name, operator, value, cells);
  if (operator === ":") return within(cells, value.toLowerCase());
  if (operator === "=") return equal(cells, value.toLowerCase());
  if (operator === "!=") return not(cells, equal(cells, value.toLowerCase()));
  if (sample === null) return () => false; // nothing to compare with: no row passes
  if (Array.isArray(sample)) return counted(name, operator, value, cells);
  throw new ReadableError(
    `filter: ${name} is text, so ${operator} has no meaning; write ${name}:${value}.`,
  );
}

function columnOf(name: string, names: readonly string[]): string {
  if (names.includes(name)) return name;
  const lower = name.toLowerCase();
  const alias = ALIASES[lower] ?? lower;
  const last = lower.slice(lower.lastIndexOf(".") + 1); // training.lr is lr
  const known = names.find((each) => [alias, last].includes(each.toLowerCase()));
  if (known !== undefined) return known;
  const meant = nearestName(name, names);
  const listed = names.slice(0, 12).join(", ");
  const hint = meant === null ? `the columns are ${listed}.` : `did you mean ${meant}?`;
  throw new ReadableError(`filter: there is no column ${shown(name)}; ${hint}`);
}

function numeric(name: string, operator: string, value: string, cells: readonly Cell[]): RowTest {
  const compare = against(name, operator, value);
  return (row) => {
    const cell = cells[row];
    return typeof cell === "number" && compare(cell);
  };
}

/** A list against a number: how many items it has. */
function counted(name: string, operator: string, value: string, cells: readonly Cell[]): RowTest {
  const compare = against(name, operator, value);
  return (row) => compare(Array.isArray(cells[row]) ? (cells[row] as unknown[]).length : 0);
}

function against(name: string, operator: string, value: string): (cell: number) => boolean {
  const percent = /%$/.test(value);
  const number = Number(percent ? value.slice(0, -1) : value) / (percent ? 100 : 1);
  if (Number.isNaN(number))
    throw expected(`filter: ${name}${operator}`, "a number", value, `such as ${name}${operator}1`);
  const near = Math.abs(number) * 1e-9; // 0.003 as a float32 widened to a double is not 0.003
  const float = Math.max(near, Math.abs(number - Math.fround(number)));
  switch (operator) {
    case "<":
      return (cell) => cell < number;
    case "<=":
      return (cell) => cell <= number;
    case ">":
      return (cell) => cell > number;
    case ">=":
      return (cell) => cell >= number;
    case "!=":
      return (cell) => Math.abs(cell - number) > float;
    default:
      return (cell) => Math.abs(cell - number) <= float;
  }
}

function within(cells: readonly Cell[], wanted: string): RowTest {
  return (row) => items(cells[row]!).some((item) => String(item).toLowerCase().includes(wanted));
}

function equal(cells: readonly Cell[], wanted: string): RowTest {
  return (row) => items(cells[row]!).some((item) => String(item).toLowerCase() === wanted);
}

function not(cells: readonly Cell[], test: RowTest): RowTest {
  return (row) => !missing(cells[row]!) && !test(row);
}

function missing(cell: Cell): boolean {
  return cell === null || cell === "" || (Array.isArray(cell) && cell.length === 0);
}

function items(cell: Cell): readonly (string | number | boolean)[] {
  return cell === null ? [] : Array.isArray(cell) ? cell : [cell as string | number | boolean];
}
