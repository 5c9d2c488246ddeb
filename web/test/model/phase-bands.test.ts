import assert from "node:assert/strict";
import { test } from "node:test";
import { phaseBands, phasesUnknown } from "../../src/model/phase-bands";
import type { Analysis } from "../../src/model/server/answers";

function analysed(
  clustered: number | null,
  partly: number | null,
  fitted: number | null,
  verdict = "ideal",
): Analysis {
  return {
    circuit: { verdict: { name: verdict } },
    phases: {
      snapshots: { before: 0, clustered, partly_classified: partly, fitted },
      measured_to: 90,
      told: "Neither rose.",
    },
    spikes: null,
    shares: null,
    notes: {},
  } as unknown as Analysis;
}

const CASES: [name: string, of: Analysis, bands: [string, number, number][]][] = [
  ["nothing is known to come", analysed(null, null, null), []],
  [
    "all four",
    analysed(10, 20, 40),
    [
      ["before", 0, 10],
      ["clustered", 10, 20],
      ["fitting", 20, 40],
      ["solved", 40, 90],
    ],
  ],
  [
    "only clustered, up to where it was measured",
    analysed(10, null, null),
    [
      ["before", 0, 10],
      ["clustered", 10, 90],
    ],
  ],
  [
    "fitted, but not solved",
    analysed(null, 20, 30, "unsolved"),
    [
      ["before", 0, 20],
      ["fitting", 20, 30],
      ["settled", 30, 90],
    ],
  ],
];

for (const [name, of, bands] of CASES)
  test(`bands: ${name}`, () => {
    const found = phaseBands(of).map(({ name, from, to }) => [name, from, to]);
    assert.deepEqual(found, bands);
    assert.equal(phasesUnknown(of), bands.length ? null : "Neither rose.");
  });

test("a run whose phases could not be analysed says why", () => {
  const none = { ...analysed(null, null, null), phases: null, notes: { phases: "Too few." } };
  assert.deepEqual(phaseBands(none), []);
  assert.equal(phasesUnknown(none), "Too few.");
});
