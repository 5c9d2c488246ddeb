import assert from "node:assert/strict";
import { test } from "node:test";
import { generator } from "../../src/model/random";
import { placeBeside, type Place, type Size } from "../../src/terms/placing";
import type { Extent } from "../../src/model/types";

function check(target: Extent, size: Size, window: Size, isRow: boolean): Place {
  const { x, y, height } = placeBeside(target, size, window, isRow);
  const [right, bottom] = [x + size.width, y + height];
  const told = JSON.stringify({ target, size, window, isRow, x, y, height });
  assert.ok(x >= 0 && y >= 0 && right <= window.width && bottom <= window.height, told);
  const apart = right <= target.x0 || x >= target.x1 || bottom <= target.y0 || y >= target.y1;
  assert.ok(apart, told);
  return { x, y, height };
}

test("it is in the window and not over what it explains, wherever that is", () => {
  const next = generator(1);
  const between = (low: number, high: number): number => low + next() * (high - low);
  for (let i = 0; i < 4000; i++) {
    const window = { width: between(320, 2000), height: between(400, 1200) };
    const wide = Math.min(window.width, between(8, 400));
    const high = between(8, 60);
    const x0 = between(0, window.width - wide);
    const y0 = between(0, window.height - high);
    const size = {
      width: between(60, Math.min(384, window.width - 16)),
      height: between(30, 500),
    };
    check({ x0, y0, x1: x0 + wide, y1: y0 + high }, size, window, i % 2 === 0);
  }
});

const WINDOW = { width: 1000, height: 800 };
const SIZE = { width: 300, height: 100 };

test("below, else above; a row of a list has it at its side", () => {
  const place = (y0: number, isRow = false): Place =>
    check({ x0: 600, y0, x1: 650, y1: y0 + 20 }, SIZE, WINDOW, isRow);
  assert.ok(place(100).y > 120);
  assert.ok(place(750).y < 750);
  assert.ok(place(100, true).x > 650);
  assert.equal(place(100, true).y, 100);
});

test("what does not fit anywhere is cut, not moved away", () => {
  const { height } = check(
    { x0: 0, y0: 180, x1: 300, y1: 200 },
    { width: 280, height: 400 },
    { width: 300, height: 400 },
    false,
  );
  assert.ok(height > 150 && height < 400);
});
