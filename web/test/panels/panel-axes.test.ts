import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frame } from "../../src/panels/painter";
import { PanelAxes } from "../../src/panels/panel-axes";
import type { Extent } from "../../src/model/types";

const BOX = { x: 0, y: 0, width: 100, height: 100 };

/** A frame in which the points of a panel fill a square of this size. */
function frameOf(size: number, time: number): Frame {
  const points = { x: Float64Array.of(0, size), y: Float64Array.of(0, size), count: 2 };
  const slot = {
    info: { id: "a" },
    scene: { value: { points: { tokens: points } } },
    plan: { value: { radius: null } },
  };
  return { slot, together: [slot], axes: "follow", time } as unknown as Frame;
}

function glide(pause: () => void): Extent[] {
  const axes = new PanelAxes("tokens", undefined);
  return Array.from({ length: 40 }, (_, i) => {
    pause();
    return axes.extent(frameOf(i < 5 ? 1 : 10, (1000 * i) / 30), BOX);
  });
}

test("axes glide by the time of the frames, however long drawing takes", () => {
  const fast = glide(() => undefined);
  const slow = glide(() => {
    for (const end = performance.now() + 3; performance.now() < end;);
  });
  assert.deepEqual(slow, fast);
  const widths = fast.map(({ x0, x1 }) => x1 - x0);
  assert.ok(widths[6]! > widths[4]! && widths[6]! < widths[39]!); // it is a glide, not a jump
});

test("a frame that is drawn twice moves nothing", () => {
  const axes = new PanelAxes("tokens", undefined);
  axes.extent(frameOf(1, 0), BOX);
  for (let i = 1; i < 30; i++) {
    const frame = frameOf(20, 33 * i);
    const first = axes.extent(frame, BOX);
    assert.deepEqual(axes.extent(frame, BOX), first);
  }
});
