import assert from "node:assert/strict";
import { test } from "node:test";
import { dismissable, dismissLast } from "../../src/state/dismissal";

test("what was opened last is closed first, and each once", () => {
  const closed: string[] = [];
  const open = (name: string): (() => void) => dismissable(() => void closed.push(name));
  open("sheet");
  const release = open("menu");
  open("tooltip");
  release(); // it has closed by itself
  assert.ok(dismissLast() && dismissLast());
  assert.ok(!dismissLast());
  assert.deepEqual(closed, ["tooltip", "sheet"]);
  release(); // once more does no harm
});
