import assert from "node:assert/strict";
import { test } from "node:test";
import { filmEpochs, filmSize, gifDelay } from "../../../src/model/film/film-plan";

const span = (from: number, to: number, every = 1, slow = 1) => ({ from, to, every, slow });

test("every epoch is a frame, in order, both ends among them", () => {
  assert.deepEqual(filmEpochs(span(3, 7)), [3, 4, 5, 6, 7]);
  assert.deepEqual(filmEpochs(span(5, 5)), [5]);
  assert.equal(filmEpochs(span(0, 1000)).length, 1001);
});

test("the last epoch is shown, also where steps do not lead to it", () => {
  assert.deepEqual(filmEpochs(span(0, 10, 4)), [0, 4, 8, 10]);
  assert.deepEqual(filmEpochs(span(2, 4, 100)), [2, 4]);
});

test("frames are repeated evenly where less than an epoch passes between them", () => {
  assert.deepEqual(filmEpochs(span(0, 2, 0.5)), [0, 0, 1, 1, 2, 2]);
  for (const parts of [3, 7, 10, 30]) {
    const frames = filmEpochs(span(0, 50, 1 / parts));
    for (let epoch = 0; epoch <= 50; epoch++) {
      const count = frames.filter((each) => each === epoch).length;
      assert.ok(Math.abs(count - parts) <= 1, `${count} of ${parts} at ${epoch}`);
    }
  }
});

test("around a spike the film is slower by just as much, and nowhere else", () => {
  const spike = { start: 50, peak: 54 };
  const frames = filmEpochs(span(0, 100, 1, 4), [spike]);
  const count = (epoch: number): number => frames.filter((each) => each === epoch).length;
  for (let epoch = 0; epoch <= 100; epoch++)
    assert.equal(count(epoch), epoch >= 42 && epoch < 62 ? 4 : 1, `epoch ${epoch}`);
  const fast = filmEpochs(span(0, 100, 4, 4), [spike]);
  assert.deepEqual(
    fast.filter((epoch) => epoch >= 44 && epoch < 60),
    Array.from({ length: 16 }, (_, i) => 44 + i),
  );
});

test("epochs without weights are not shown: the nearest before is, and once", () => {
  const kept = (epoch: number): boolean => epoch % 7 === 0;
  assert.deepEqual(filmEpochs(span(0, 30), [], kept), [0, 7, 14, 21, 28]);
  assert.deepEqual(filmEpochs(span(3, 15), [], kept), [7, 14]);
  assert.deepEqual(filmEpochs(span(1, 6), [], kept), []);
  assert.deepEqual(filmEpochs(span(6, 8, 0.5), [], kept), [7, 7]); // a frame of its own is repeated
});

test("whatever is asked for, frames rise from the first to the last and can be shown", () => {
  for (const every of [0.1, 0.3, 1, 2.5, 17])
    for (const slow of [1, 3, 8])
      for (const keep of [1, 5]) {
        const canShow = (epoch: number): boolean => epoch % keep === 0;
        const frames = filmEpochs(span(10, 120, every, slow), [{ start: 60, peak: 70 }], canShow);
        assert.deepEqual(frames[0], 10);
        assert.deepEqual(frames.at(-1), 120);
        for (const [i, epoch] of frames.entries())
          assert.ok(canShow(epoch) && epoch >= (frames[i - 1] ?? 0));
      }
});

test("the times of a GIF add up", () => {
  for (const fps of [10, 12, 15, 20, 24, 30, 50]) {
    const delays = Array.from({ length: 600 }, (_, i) => gifDelay(i, fps));
    const total = delays.reduce((sum, each) => sum + each, 0);
    assert.ok(Math.abs(total - (100 * 600) / fps) <= 0.5, `${fps}`);
    assert.ok(Math.min(...delays) >= 2, `${fps}`);
  }
});

test("a film has as many pixels as asked for, and larger letters where it is large", () => {
  for (const [across, down] of [
    [1280, 720],
    [1920, 1080],
    [640, 360],
    [3840, 2160],
    [1080, 1920],
  ] as const) {
    const { width, height, ratio } = filmSize(across, down);
    assert.deepEqual([Math.round(width * ratio), Math.round(height * ratio)], [across, down]);
    assert.ok(ratio >= 1 && ratio <= 3);
  }
  assert.equal(filmSize(1920, 1080).ratio, 1.5);
});
