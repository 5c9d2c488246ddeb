import assert from "node:assert/strict";
import { test } from "node:test";
import type { SumKind } from "../../src/model/kernel/names";
import { bySum, formulaOf, isSummed, type KeptSum } from "../../src/model/kept-sum";
import { OWN_DATA } from "../../src/model/own-data";
import { chooseSequences, sequencesOf } from "../../src/model/sequences";
import { whyRight } from "../../src/model/sum-reasons";
import type { OwnTask } from "../../src/model/types";
import { modularAddition, tasks } from "../tasks";

/** A sum by what each token at each position adds: [position][token][count]. */
function sumOf(
  kind: SumKind,
  positions: number[],
  sums: readonly (readonly number[][])[][],
  apart: number[] = [],
): KeptSum {
  const terms = sums.map((adds) => Int32Array.from(adds.flat(2)));
  const [length, vocab] = [sums[0]!.length, sums[0]![0]!.length];
  const told = { share: 1, corrected: 1, values: 0, best: {} };
  return { kind, ...told, positions, apart, length, vocab, terms };
}

const [PLUS, MINUS, NONE] = [[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, 0], [0, 0]]]; // prettier-ignore
const [TWICE, LESS] = [[[0, 0], [-2, 2]], [[0, 0], [2, -2]]]; // prettier-ignore
const SHIFTED = (by: number): number[][] =>
  [0, 1, 2].map((x) => [0, 1, 2].map((j) => Number((x + by) % 3 === j)));
const NOTHING = [0, 1, 2].map(() => [0, 0, 0]);

// Formula, why it is right, and the names of values of some sequences.
const SUMS: [KeptSum, string, string | null, [string, string][]][] = [
  [
    sumOf("plain", [0, 1], [[PLUS, PLUS, NONE, NONE]]),
    "x0 + x1",
    null,
    [["0011", "0"], ["1100", "2"]], // prettier-ignore
  ],
  [
    sumOf("signed", [0, 1], [[PLUS, MINUS, NONE, NONE]]),
    "x0 - x1",
    "−1 is 1 modulo 2: the remainder is the same.",
    [["0111", "−1"], ["1000", "1"], ["1100", "0"]], // prettier-ignore
  ],
  [
    sumOf("folded", [0, 1], [[PLUS, PLUS, NONE, TWICE]]),
    "x0 + x1 + 2 x3",
    "2 is 0 modulo 2: the remainder is the same.",
    [["1101", "4"], ["1110", "2"]], // prettier-ignore
  ],
  [
    sumOf("folded", [0, 1], [[PLUS, MINUS, LESS, TWICE]]),
    "x0 - x1 - 2 x2 + 2 x3",
    "−1 is 1 modulo 2, and 2 is 0: the remainder is the same.",
    [["0110", "−3"], ["1001", "3"]], // prettier-ignore
  ],
  [
    sumOf("split", [0, 1], [[NONE, PLUS, NONE, NONE]], [0, 3]),
    "x1, and x0 and x3 apart",
    "The sum and x0 together tell the remainder; x3 is kept too.",
    [["1100", "1, x0 = 1, x3 = 0"]],
  ],
  [
    sumOf("split", [0, 1], [[PLUS, PLUS, NONE, NONE]], [2, 3]),
    "x0 + x1, and x2 and x3 apart",
    "The sum tells the remainder; x2 and x3 are kept too.",
    [["1101", "2, x2 = 0, x3 = 1"]],
  ],
  [
    sumOf("two", [0, 1], [[PLUS, PLUS, NONE, NONE], [PLUS, MINUS, NONE, NONE]]), // prettier-ignore
    "x0 + x1 and x0 - x1",
    "Either sum tells the remainder; the embedding keeps both.",
    [["0100", "1 and −1"]],
  ],
  [
    sumOf("signed", [0, 1], [[SHIFTED(0), SHIFTED(2), NOTHING]]),
    "{x0, x1 + 2} mod 3",
    "Shifts add the same to every sequence, so the remainder can still be told.",
    [["000", "0 2"], ["210", "0 2"], ["122", "1 1"]], // prettier-ignore
  ],
  [
    sumOf("folded", [0, 1], [[SHIFTED(0), SHIFTED(0), [[0, 0, 0], [1, -2, 1], [0, 0, 0]]]]), // prettier-ignore
    "{x0, x1}, with x2 = 1 as 0 and 2 for two 1",
    "A fold changes the sum by a multiple of 3: the remainder is the same.",
    [["011", "0 0 2 less 1"], ["111", "0 2"]], // prettier-ignore
  ],
  [sumOf("unexplained", [0, 1], [[PLUS, PLUS, NONE, NONE]]), "x0 + x1", null, [["0100", "1"]]],
];

test("a sum is told, with the reason why it is right", () => {
  for (const [sum, formula, why] of SUMS) {
    assert.equal(formulaOf(sum), formula);
    assert.equal(whyRight(sum), why);
  }
});

test("sequences are grouped by their value, which has the name that the formula gives", () => {
  for (const [sum, formula, , named] of SUMS) {
    const task = modularAddition(sum.vocab, sum.length, sum.positions);
    for (const [text, name] of named) {
      const { group, groupNames } = bySum(sum, sequencesOf(tasks, task, [[...text].map(Number)]));
      assert.deepEqual([[...group], groupNames], [[0], [name]], formula);
    }
  }
});

test("of the plain sum, groups are the multisets, in their order", () => {
  for (const vocab of [2, 3]) {
    const task = modularAddition(vocab, 4, [0, 1]);
    const sequences = chooseSequences(tasks, task);
    const relevant = vocab === 2 ? PLUS : SHIFTED(0);
    const other = vocab === 2 ? NONE : NOTHING;
    const sum = sumOf("plain", [0, 1], [[relevant, relevant, other, other]]);
    assert.deepEqual(bySum(sum, sequences).group, sequences.group);
  }
});

test("sums are looked for in modular addition of few tokens", () => {
  assert.ok(isSummed(modularAddition(16, 4, [0])));
  assert.ok(!isSummed(modularAddition(17, 4, [0])));
  assert.ok(!isSummed({ ...modularAddition(2, 4, [0]), name: "products" }));
  const own: OwnTask = { name: OWN_DATA, length: 4, vocab: 2, positions: null, classes: 2, chance: null }; // prettier-ignore
  assert.ok(!isSummed(own));
});
