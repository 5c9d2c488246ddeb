import assert from "node:assert/strict";
import { test } from "node:test";
import { existingValues, type Columns } from "../../../src/model/runs/run-filter";
import { RunTable } from "../../../src/model/runs/run-table";

const columns: Columns = {
  id: ["aa01", "bb02", "cc03", "dd04"],
  seed: [0, 1, 2, 10],
  accuracy: [1, 0.5, null, 0.965],
  lr: [0.003, 0.01, Math.fround(0.003), 0.003],
  sum_kind: ["folded", "unexplained", null, "signed"],
  verdict: ["ideal", "unsolved", null, "value-corrected"],
  tags: [["nice", "old one"], [], [], ["nice"]],
  spikes: [2, null, 0, 11],
  drops: [[40, 110], [7], [], null],
  note: ["", "look <b>here</b>", null, "Ideal?"],
  bias: [true, false, true, true],
  nothing: [null, null, null, null],
};
const table = new RunTable(columns);

const FILTERS: [string, number[]][] = [
  ["", [0, 1, 2, 3]],
  ["  ", [0, 1, 2, 3]],
  ["accuracy>0.9", [0, 3]],
  ["accuracy>=96.5%", [0, 3]],
  ["accuracy<=0.5", [1]],
  ["accuracy=none", [2]],
  ["accuracy!=none", [0, 1, 3]],
  ["accuracy!=1", [1, 3]],
  ["verdict:ideal", [0]],
  ["sum_kind = folded", [0]],
  ["sum:signed", [3]],
  ["-sum:unexplained verdict!=none", [0, 3]],
  ["ideal", [0, 3]],
  ["IDEAL -verdict:ideal", [3]],
  ["lr=0.003", [0, 2, 3]],
  ["training.lr=3e-3 tag:nice", [0, 3]],
  ["tag:nice spikes>=2", [0, 3]],
  ["-tag:nice", [1, 2]],
  ['tag="old one"', [0]],
  ['"old one"', [0]],
  ["tag=nice accuracy<1", [3]],
  ["tags=none", [1, 2]],
  ["tags>=1", [0, 3]],
  ["drops:110", [0]],
  ["verdict!=ideal", [1, 3]],
  ["bias:false", [1]],
  ["bias=true", [0, 2, 3]],
  ["<b>", [1]],
  ["cc03", [2]],
  ["nothing:x", []],
  ["nothing>3", []],
  ["ACCURACY>0.9", [0, 3]],
  ["accuracy > 0.9", [0, 3]],
  ["accuracy> 0.9", [0, 3]],
  ["accuracy >0.9", [0, 3]],
  ["  accuracy   >=\t96.5%  spikes >= 3 ", [3]],
  ["verdict : ideal", [0]],
  ["verdict: ideal", [0]],
  ['-tag = "old one" accuracy != none', [1, 3]],
  ["look <b>", [1]],
  ["here nice", []],
];
for (const [filter, rows] of FILTERS)
  test(`filter ${JSON.stringify(filter)}`, () =>
    assert.deepEqual([...table.rows(filter, "")], rows));

const REFUSED: [string, RegExp][] = [
  ["acuracy>0.9", /^filter: there is no column 'acuracy'; did you mean accuracy\?$/],
  ["zzz=1", /^filter: there is no column 'zzz'; the columns are id, seed, .*\.$/],
  ["accuracy>high", /^filter: accuracy>: expected a number, but got 'high'; such as accuracy>1\.$/],
  ["accuracy>", /^filter: accuracy> needs a value after it, such as accuracy>=1\.$/],
  ["accuracy > ", /^filter: accuracy> needs a value after it/],
  ["tag:nice accuracy >=", /^filter: accuracy>= needs a value after it/],
  ["verdict:", /^filter: verdict: needs a value after it, such as verdict:ideal\.$/],
  ["nothing >", /^filter: nothing> needs a value after it, such as nothing=none\.$/],
  ["acuracy > 0.9", /did you mean accuracy/],
  ["acc", /no run has the word 'acc'; to compare the column accuracy, write accuracy>=1\.$/],
  ["accuracy", /no run has the word 'accuracy'/],
  ["accuracy !", /no run has the word 'accuracy'/],
  ["ideal ver", /no run has the word 'ver'; to compare the column verdict, write verdict:ideal\.$/],
  ["-", /- needs a word or a comparison after it/],
  ["tag:nice -", /- needs a word or a comparison after it/],
  ['"old', /a quote is missing at the end of "old\.$/],
  ['tag:"old', /a quote is missing at the end of "old\.$/],
  ["verdict>ideal", /^filter: verdict is text, so > has no meaning; write verdict:ideal\.$/],
  ["__proto__=1", /no column/],
  ["constructor:x", /no column/],
  ["a".repeat(3000), /too long/],
];
for (const [filter, message] of REFUSED)
  test(`refused ${filter.slice(0, 30)}`, () => {
    assert.throws(() => table.rows(filter, ""), { name: "ReadableError", message });
  });

test("a filter that is being typed never empties the table without a word", () => {
  const filter = 'accuracy > 0.9 verdict : ideal tag = "old one" spikes >= 2';
  for (let end = 1; end <= filter.length; end++) {
    const part = filter.slice(0, end);
    try {
      assert.ok(table.rows(part, "").length > 0, part);
    } catch (error) {
      assert.equal((error as Error).name, "ReadableError", part);
    }
  }
});

test("what there is in the columns that a filter names", () => {
  const told = existingValues("verdict:nosuch tag=old accuracy>2 spikes=3 nothing:x word", table);
  assert.equal(
    told,
    "verdict here: ideal, unsolved, value-corrected. tags here: nice, old one. nothing here: none.",
  );
});

const SHARED: [string, number[]][] = [
  ["lr=0.003", [0, 1]],
  ["training.lr>0.003", []],
  ["lr!=0.003", []],
  ["optimizer:adam seed=1", [1]],
  ["-optimizer:adam", []],
  ["ADAM", [0, 1]],
  ["bias=true", [0, 1]],
  ["clip=none", [0, 1]],
  ["relevant=3", [0, 1]],
];
for (const [filter, rows] of SHARED)
  test(`filter of what all runs share ${filter}`, () => {
    const same = { lr: 0.003, optimizer: "adam", bias: true, clip: null, relevant: [0, 3] };
    const alike = new RunTable({ id: ["aa01", "bb02"], seed: [0, 1] }, same);
    assert.deepEqual([...alike.rows(filter, "")], rows);
    assert.deepEqual([...alike.rows(filter, "-lr")], rows);
    assert.equal(alike.cell(1, "lr"), 0.003);
  });

const SORTS: [string, number[]][] = [
  ["seed", [0, 1, 2, 3]],
  ["-seed", [3, 2, 1, 0]],
  ["accuracy", [1, 3, 0, 2]],
  ["-accuracy", [0, 3, 1, 2]],
  ["verdict", [0, 1, 3, 2]],
  ["-verdict", [3, 1, 0, 2]],
  ["drops", [1, 0, 2, 3]],
  ["bias", [1, 0, 2, 3]],
  ["nosuch", [0, 1, 2, 3]],
  ["nothing", [0, 1, 2, 3]],
];
for (const [sort, rows] of SORTS)
  test(`sort ${sort}`, () => assert.deepEqual([...table.rows("", sort)], rows));

test("an empty table has no rows", () => {
  assert.equal(new RunTable({}).rows("", "seed").length, 0);
  assert.equal(new RunTable({ id: [], seed: [] }).rows("seed>1", "-seed").length, 0);
});

test("ten thousand rows are filtered and sorted as a plain sort has it", () => {
  const count = 10_000;
  const value = (i: number): number => ((i * 7919) % count) / count;
  const big = new RunTable({
    id: Array.from({ length: count }, (_, i) => ((i * 2654435761) % 2 ** 32).toString(16)),
    accuracy: Array.from({ length: count }, (_, i) => (i % 50 ? value(i) : null)),
    verdict: Array.from({ length: count }, (_, i) => ["ideal", "partial", "fuzzy", null][i % 4]!),
    tags: Array.from({ length: count }, (_, i) => (i % 7 ? [] : ["nice"])),
    note: Array.from({ length: count }, (_, i) => `run number ${i}`),
  });
  const rows = big.rows("accuracy>0.25", "-accuracy");
  const plain = Array.from({ length: count }, (_, i) => i)
    .filter((i) => i % 50 && value(i) > 0.25)
    .sort((a, b) => value(b) - value(a) || a - b);
  assert.deepEqual([...rows], plain);
});
