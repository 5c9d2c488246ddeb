import assert from "node:assert/strict";
import { test } from "node:test";
import { cellText, headingOf, numericColumns } from "../../../src/model/runs/run-columns";

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

test("the limit of a sparsity is a number", () => {
  assert.equal(headingOf("sparsity_0_001"), "sparsity < 0.001");
  assert.equal(headingOf("sparsity_100"), "sparsity < 100");
});

test("cells, also those of several numbers, have no more digits than people read", () => {
  assert.equal(cellText(null), "–");
  assert.equal(cellText(1234567), "1234567");
  assert.equal(cellText(0.2909469, true), "29.1%");
  assert.equal(cellText(["a", "b"]), "a, b");
  assert.equal(cellText([]), "");
  assert.equal(cellText([54.746079437339525, 3]), `${cellText(54.746079437339525)}, 3`);
  assert.ok(cellText(54.746079437339525).length < 7);
});
