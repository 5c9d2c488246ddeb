import assert from "node:assert/strict";
import { test } from "node:test";
import { withFindings, type Findings } from "../../../src/model/runs/known-findings";
import { RunTable } from "../../../src/model/runs/run-table";

const columns = {
  id: ["aa", "bb", "cc"],
  sum_kind: ["plain", null, null],
  verdict: ["ideal", null, null],
  spikes: [2, null, null],
  lead: [null, null, null],
};
const found: Findings = { sum_kind: "signed", verdict: "fuzzy", spikes: 0, lead: -3 };

test("what was found of an opened run is in the table, in its filter and its order", () => {
  const filled = withFindings(columns, new Map([["bb", found]]));
  assert.deepEqual(filled["sum_kind"], ["plain", "signed", null]);
  assert.deepEqual(filled["verdict"], ["ideal", "fuzzy", null]);
  assert.deepEqual(filled["spikes"], [2, 0, null]);
  const table = new RunTable(filled);
  assert.deepEqual([...table.rows("verdict:fuzzy", "")], [1]);
  assert.deepEqual([...table.rows("lead<0", "")], [1]);
  assert.deepEqual([...table.rows("verdict=none", "")], [2]);
  assert.deepEqual([...table.rows("", "spikes")], [1, 0, 2]);
});

test("what the store says counts", () => {
  const filled = withFindings(columns, new Map([["aa", found]]));
  assert.deepEqual(filled["verdict"], ["ideal", null, null]);
  assert.equal(withFindings(columns, new Map([["zz", found]])), columns);
});
