// The filter language of the run table: free words and comparisons, all of which must hold.
//
//   accuracy>0.9 verdict:ideal lr=0.003 tag:nice spikes>=2 -tag:old "two words"
//
// A word is looked for in every text of a row. `column:text` looks in one column (a list: in its
// items), `= != < <= > >=` compare, with or without spaces around; `column=none` finds what is
// missing. "-" before a term negates. What is only begun, as while it is typed, is an error that says
// what is missing.

import { expected, nearestName, ReadableError, shown } from "../errors";

export type Cell = string | number | boolean | null | readonly (string | number)[];
export type Columns = Readonly<Record<string, readonly Cell[]>>;
/** Columns by name, wherever they are kept. */
export interface RowSource {
  count: number; // of rows
  names: readonly string[];
  cells(name: string): readonly Cell[];
}
/** Whether a row passes. */
export type RowTest = (row: number) => boolean;

const LONGEST = 2000;
const NAME = /(-?)([A-Za-z_][\w./]*)/y;
const OPERATOR = /(\s*)(:|!=|<=|>=|=|<|>)(\s*)(?:"([^"]*)"|(\S*))/y;
const WORD = /(-?)(?:"([^"]*)"|(\S+))/y;
const LISTED = 6; // values of a column that are offered
const ALIASES: Readonly<Record<string, string>> = {
  tag: "tags",
  sum: "sum_kind",
  test_accuracy: "accuracy",
};

/** The test that a filter stands for; an error says what was not understood. `has` says whether a
 * row has a word, in lower case. */
export function parseFilter(
  text: string,
  source: RowSource,
  has: (row: number, word: string) => boolean,
): RowTest {
  if (text.length > LONGEST) throw new ReadableError("filter: the text is too long to be read.");
  const tests: RowTest[] = [];
  let begun: ReadableError | null = null;
  for (const { minus, word, compared } of terms(text, source.names)) {
    if (!compared) begun ??= onlyBegun(word, source);
    const wanted = word.toLowerCase();
    const test: RowTest = compared
      ? comparison(word, compared.operator, compared.value, source)
      : (row) => has(row, wanted);
    tests.push(minus ? (row) => !test(row) : test);
  }
  const passes: RowTest = (row) => tests.every((test) => test(row));
  if (begun && !someRow(source.count, passes)) throw begun;
  return passes;
}

function someRow(count: number, passes: RowTest): boolean {
  for (let row = 0; row < count; row++) if (passes(row)) return true;
  return false;
}

/** What the columns of text that a filter names have in them: for who looks for something that is
 * nowhere. A sentence, or nothing. */
export function existingValues(text: string, source: RowSource): string {
  const told: string[] = [];
  for (const { word, compared } of terms(text, source.names)) {
    if (!compared || !/^(:|=)$/.test(compared.operator)) continue;
    const name = columnOf(word, source.names);
    const values = [...new Set(source.cells(name).flatMap(items).map(String))].filter(Boolean);
    const texts = source
      .cells(name)
      .some((cell) => items(cell).some((each) => isNaN(Number(each))));
    if (values.length && !texts) continue;
    const more = values.length > LISTED ? ", ..." : "";
    told.push(`${name} here: ${values.slice(0, LISTED).join(", ") || "none"}${more}.`);
  }
  return told.join(" ");
}

interface Term {
  minus: boolean;
  word: string; // a word or a phrase, or the column that is compared
  compared: { operator: string; value: string } | null;
}

function* terms(text: string, names: readonly string[]): Generator<Term> {
  let at = 0;
  for (;;) {
    while (/\s/.test(text[at] ?? "")) at++;
    if (at >= text.length) return;
    const [term, end] = comparisonAt(text, at, names) ?? wordAt(text, at);
    at = end;
    yield term;
  }
}

/** A column, an operator, and what comes after it. With a space before the operator and none after
 * it, a word and another one may be meant, unless there is such a column: `look <b>`. */
function comparisonAt(text: string, at: number, names: readonly string[]): [Term, number] | null {
  const name = matched(NAME, text, at);
  const operator = name && matched(OPERATOR, text, NAME.lastIndex);
  if (!name || !operator) return null;
  const [, minus, word] = name;
  const [, before, sign, after, quoted, bare] = operator;
  const close = before === "" || after !== "" || (quoted ?? bare) === "";
  if (!close && knownColumn(word!, names) === null) return null;
  if (bare?.startsWith('"')) throw unclosed(bare);
  const compared = { operator: sign!, value: quoted ?? bare ?? "" };
  return [{ minus: minus !== "", word: word!, compared }, OPERATOR.lastIndex];
}

function wordAt(text: string, at: number): [Term, number] {
  const [, minus, phrase, bare] = matched(WORD, text, at)!;
  if (bare?.startsWith('"')) throw unclosed(bare);
  if (!minus && bare === "-")
    throw new ReadableError("filter: - needs a word or a comparison after it, to exclude.");
  return [{ minus: minus !== "", word: phrase ?? bare!, compared: null }, WORD.lastIndex];
}

function matched(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const unclosed = (text: string): ReadableError =>
  new ReadableError(`filter: a quote is missing at the end of ${text}.`);

/** A word with which the name of a column begins may be a comparison that is only begun: that is what
 * to say if no run passes. */
function onlyBegun(word: string, source: RowSource): ReadableError | null {
  const wanted = word.toLowerCase();
  const name = source.names.find((each) => wanted && each.toLowerCase().startsWith(wanted));
  if (name === undefined) return null;
  return new ReadableError(
    `filter: no run has the word ${shown(word)}; to compare the column ${name}, write ` +
      `${exampleOf(name, source)}.`,
  );
}

/** A comparison with something that is there. */
function exampleOf(name: string, source: RowSource): string {
  const value = source.cells(name).flatMap(items)[0];
  if (value === undefined) return `${name}=none`;
  return typeof value === "number"
    ? `${name}>=${Number(value.toPrecision(2))}`
    : `${name}:${value}`;
}

function comparison(name: string, operator: string, value: string, source: RowSource): RowTest {
  const column = columnOf(name, source.names);
  const cells = source.cells(column);
  if (value === "")
    throw new ReadableError(
      `filter: ${name}${operator} needs a value after it, such as ${exampleOf(column, source)}.`,
    );
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

function knownColumn(name: string, names: readonly string[]): string | null {
  if (names.includes(name)) return name;
  const lower = name.toLowerCase();
  const alias = ALIASES[lower] ?? lower;
  const last = lower.slice(lower.lastIndexOf(".") + 1); // training.lr is lr
  return names.find((each) => [alias, last].includes(each.toLowerCase())) ?? null;
}

function columnOf(name: string, names: readonly string[]): string {
  const known = knownColumn(name, names);
  if (known !== null) return known;
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
