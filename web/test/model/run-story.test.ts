import assert from "node:assert/strict";
import { test } from "node:test";
import { momentAt, momentsOf, type StoryMoment } from "../../src/model/run-story";
import type { Analysis } from "../../src/model/server/answers";

const moment = (epoch: number, caption = ""): StoryMoment => ({
  epoch,
  kind: "drop",
  caption,
  text: "",
  panels: ["loss"],
});
const STORY = [moment(5), moment(20, "a"), moment(20, "b"), moment(90)];

const CASES: [name: string, epoch: number, chosen: number | null, index: number][] = [
  ["before the first there is none", 4, null, -1],
  ["at a moment", 5, null, 0],
  ["between two, the one that was passed", 19, null, 0],
  ["of two at one epoch, the later", 20, null, 2],
  ["or the one that was chosen", 20, 1, 1],
  ["which no longer counts elsewhere", 21, 1, 2],
  ["nor in another story", 20, 7, 2],
  ["after the last", 1000, null, 3],
];

for (const [name, epoch, chosen, index] of CASES)
  test(`the moment at an epoch: ${name}`, () =>
    assert.equal(momentAt(STORY, epoch, chosen), index));

test("a run without an analysis, and a file of an earlier version, have no story", () => {
  assert.deepEqual(momentsOf(null), []);
  assert.deepEqual(momentsOf({ notes: {} } as unknown as Analysis), []);
});

test("panels of a later version are left out", () => {
  const told = { ...moment(3), panels: ["loss", "of tomorrow", "sequence"] };
  const analysis = { story: [told], notes: {} } as unknown as Analysis;
  assert.deepEqual(momentsOf(analysis)[0]?.panels, ["loss", "sequence"]);
});
