import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_TARGET, sequencesOfClasses, targetsIn, withOwnData } from "../../src/model/own-data";
import { Palette } from "../../src/model/palette";
import type { Columns } from "../../src/model/runs/run-filter";
import { RunOptions } from "../../src/model/runs/run-options";
import { RunTable } from "../../src/model/runs/run-table";
import { sequenceName } from "../../src/model/sequences";
import { parseRows, writeSequences } from "../../src/model/typed-sequences";
import type { OwnTask } from "../../src/model/types";

const TASK: OwnTask = {
  name: "own data",
  length: 3,
  vocab: 2,
  positions: null,
  classes: 3,
  chance: 0.5,
};
const ROWS = [
  [0, 0, 1],
  [0, 1, 1],
  [1, 1, 1],
  [1, 0, 0],
];

test("sequences of one class are a group, those without a target the last", () => {
  const made = sequencesOfClasses(TASK, ROWS, [2, NO_TARGET, 0, 2], "test");
  assert.deepEqual([...made.targets], [0, 2, 2, NO_TARGET]);
  assert.deepEqual(made.groupNames, ["class 0", "class 2", "no target"]);
  assert.deepEqual([...made.group], [0, 1, 1, 2]);
  assert.deepEqual(
    Array.from({ length: made.count }, (_, i) => sequenceName(made, i)),
    ["111", "001", "100", "011"],
    "no dot parts what nobody knows",
  );
  assert.deepEqual([made.positions, made.set], [null, "test"]);
  assert.deepEqual(parseRows(writeSequences(made), TASK).flat(), [...made.tokens]);
});

test("a class has one colour and its marker, no target a marker of its own", () => {
  const made = sequencesOfClasses(TASK, ROWS, [1, 0, 1, NO_TARGET]);
  const styles = new Palette("light").sequences(made);
  assert.deepEqual(
    styles.map((style) => style.marker),
    ["circle", "square", "square", "plus"],
  );
  assert.equal(styles[1]!.fill, styles[2]!.fill);
  assert.equal(new Set(styles.map((style) => style.fill)).size, 3);
  const told = new Palette("light").sequences(
    sequencesOfClasses(TASK, ROWS.slice(0, 3), [1, 0, 1]),
  );
  assert.deepEqual(told, styles.slice(0, 3), "a class looks the same beside what has no target");
});

test("targets are those of the data, the first of several", () => {
  const test = { tokens: Int32Array.from(ROWS.slice(0, 2).flat()), targets: Int32Array.of(1, 0) };
  const train = { tokens: Int32Array.from(ROWS.slice(1, 3).flat()), targets: Int32Array.of(2, 2) };
  assert.deepEqual([...targetsIn([test, train], ROWS)], [1, 0, 2, NO_TARGET]);
  const none = { tokens: new Int32Array(0), targets: new Int32Array(0) };
  assert.deepEqual([...targetsIn([none], ROWS.slice(0, 1))], [NO_TARGET]);
});

test("in the table, own data are a task, and have no relevant positions", () => {
  const columns = {
    id: ["a", "b", "c"],
    relevant: [[0, 1], [0, 1], [0]],
    accuracy: [1, 0.4, 1],
    data: ["0f", null, null],
  };
  const { columns: told, same } = withOwnData({ columns, same: { task: "products" } });
  const table = new RunTable(told, same);
  assert.deepEqual([...table.rows('task:"own data"', "")], [0]);
  assert.deepEqual([...table.rows("task:products", "")], [1, 2]);
  assert.equal(table.cell(0, "relevant"), null);
  assert.deepEqual(table.cell(2, "relevant"), [0]);
  const options = new RunOptions(told);
  assert.deepEqual(options.all(0), ["own data"]);
  assert.deepEqual(options.all(1), ["products", "k 2"]);
});

test("a table without own data stays as it is; one of nothing else has no other task", () => {
  const plain = { columns: { id: ["a"] }, same: { data: null, task: "products" } };
  assert.equal(withOwnData(plain), plain);
  const columns: Columns = { id: ["a", "b"], accuracy: [1, 1] };
  const own = withOwnData({ columns, same: { data: "0f", task: "products", relevant: [0] } });
  assert.deepEqual(own.columns["task"], ["own data", "own data"]);
  assert.deepEqual(own.columns["relevant"], [null, null]);
});
