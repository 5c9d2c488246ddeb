import assert from "node:assert/strict";
import { test } from "node:test";
import { presentedColumns } from "../../src/panels/presented-grid";

const SCREENS = {
  "1920x1080": [1890, 730],
  "1280x720": [1250, 480],
  portrait: [700, 1000],
} as const;

test("panels of a presentation are as near to a good shape as they can be", () => {
  const columns = (screen: keyof typeof SCREENS): number[] =>
    [1, 2, 3, 4, 6, 9].map((count) => {
      const [width, height] = SCREENS[screen];
      return presentedColumns(count, width, height);
    });
  assert.deepEqual(columns("1920x1080"), [1, 2, 3, 2, 3, 5]);
  assert.deepEqual(columns("1280x720"), columns("1920x1080"));
  assert.deepEqual(columns("portrait"), [1, 1, 1, 1, 2, 2]);
});

test("none is not an error", () => assert.equal(presentedColumns(0, 100, 100), 1));
