import assert from "node:assert/strict";
import { test } from "node:test";
import { headingOf, numericColumns } from "../../../src/model/runs/run-columns";

test("columns of numbers, whatever is missing", () => {
  const found = numericColumns({
    seed: [1, 2],
    lead: [null, -3],
    none: [null, null],
    verdict: ["ideal", null],
    drops: [[1, 2], null],
    mixed: [1, "two"],
    flag: [true, false],
  });
  assert.deepEqual([...found], ["seed", "lead"]);
});

test("no heading says what files call the irrelevant tokens", () => {
  for (const name of ["suffix_share", "suffix_survival"]) {
    assert.doesNotMatch(headingOf(name), /suffix/);
    assert.match(headingOf(name), /irrelevant tokens/);
  }
  assert.equal(headingOf("learning_epoch"), "learning epoch");
});
