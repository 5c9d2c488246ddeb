import assert from "node:assert/strict";
import { test } from "node:test";
import { Axes, epochRange } from "../../src/drawing/axes";
import type { Pen, TextStyle } from "../../src/drawing/pen";
import { coloursOf } from "../../src/model/theme";

Object.assign(globalThis, { document: { createElement: () => ({ getContext: () => null }) } });

/** The numbers along x, and where the last of them ends. */
function numbers(last: number, whole: boolean): { texts: string[]; end: number } {
  const texts: string[] = [];
  let end = 0;
  const pen = {
    line: () => {},
    text: (text: string, x: number, _y: number, { anchor }: TextStyle) => {
      texts.push(text);
      const width = 0.6 * 9 * text.length; // as measured without a canvas
      end = Math.max(end, anchor === "end" ? x : x + width / 2);
    },
  } as unknown as Pen;
  const box = { x: 36, y: 20, width: 155, height: 100 };
  const axes = new Axes({ ...epochRange(last), y0: 0, y1: 1 }, box);
  axes.draw(pen, coloursOf("light"), { flat: true, whole });
  return { texts, end };
}

for (const [last, wanted] of [
  [0, ["0"]],
  [1, ["0", "1"]],
  [2, ["0", "1", "2"]],
  [1000, ["0", "200", "400", "600", "800", "1000"]],
] as const)
  test(`whole numbers along ${last} epochs`, () => {
    assert.deepEqual(numbers(last, true).texts, wanted);
  });

test("other axes have fractions, and no number touches the panel's edge", () => {
  assert.ok(numbers(1, false).texts.includes("0.2"));
  for (const last of [10, 1000, 100000]) assert.ok(numbers(last, true).end <= 36 + 155 + 5);
});

test("the only epoch of a run without any lies in the middle", () => {
  const box = { x: 10, y: 0, width: 100, height: 10 };
  assert.equal(new Axes({ ...epochRange(0), y0: 0, y1: 1 }, box).x(0), 60);
});
