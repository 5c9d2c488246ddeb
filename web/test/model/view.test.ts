import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_VIEW, readView, sameView, writeView } from "../../src/model/view";
import type { ViewState } from "../../src/model/types";

const full: ViewState = {
  runs: ["0f3a55aa0f3a55aa0f3a", "b1"],
  epoch: 466,
  speed: 0.25,
  axes: "follow",
  hidden: ["attention", "values"],
  big: "decision_map",
  theme: "dark",
  spike: 2,
  sequences: "01101 0110010, 000000000000",
  page: "runs",
  sort: "-accuracy",
  filter: 'accuracy>0.9 tag:"a & b" <script>#%25+é',
};

test("a view is a link, and back", () => {
  assert.deepEqual(readView(writeView(full)), full);
  assert.deepEqual(readView(writeView({ ...DEFAULT_VIEW } as ViewState)), DEFAULT_VIEW);
  assert.equal(writeView({ ...DEFAULT_VIEW } as ViewState), "");
  const short = writeView({ ...DEFAULT_VIEW, runs: ["ab"], epoch: 3 } as ViewState);
  assert.equal(short, "#v=1&run=ab&t=3");
  assert.ok(sameView(readView(short.replace("#", "?")), readView(short)));
  assert.ok(!sameView(readView(short), full));
});

test("a fragment survives the browser's own URL parsing", () => {
  const url = new URL(`http://localhost:1/${writeView(full)}`);
  assert.deepEqual(readView(url.hash), full);
});

const HOSTILE = [
  "#v=2&t=5",
  "#t=-1&t=2",
  "#t=1e9&speed=Infinity&speed=1",
  "#t=99999999999999999999",
  "#speed=0&axes=__proto__&theme=constructor&page=x",
  "#hide=__proto__,nosuch&big=<img src=x onerror=alert(1)>",
  "#run=../../etc/passwd,%00,a%2Fb",
  "#__proto__=1&constructor=2&toString=3",
  "#%E0%A4%A&=&&&==%",
  "#sort=accuracy;drop table&spike=-1",
  `#filter=${"a".repeat(9000)}`,
  "#".repeat(100),
];
for (const text of HOSTILE)
  test(`harmless: ${text.slice(0, 40)}`, () => {
    assert.deepEqual(readView(text), DEFAULT_VIEW);
    assert.equal(Object.getPrototypeOf(readView(text)), Object.prototype);
  });

test("what makes sense is taken, the rest left", () => {
  const view = readView("#run=ok,../x,ok,b2,c3&t=7&axes=up&new=thing&hide=values,nosuch");
  assert.deepEqual(view, { ...DEFAULT_VIEW, runs: ["ok", "b2"], epoch: 7, hidden: ["values"] });
  assert.notEqual(readView("").runs, DEFAULT_VIEW.runs, "no shared arrays");
});
