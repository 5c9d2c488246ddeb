import assert from "node:assert/strict";
import { test } from "node:test";
import type { ViewState } from "../../src/model/types";
import {
  DEFAULT_VIEW,
  PREFERENCES,
  preferredIn,
  readPreferences,
  readView,
  sameView,
  writePreferences,
  writeView,
  type Preferences,
} from "../../src/model/view-address";

const full: ViewState = {
  runs: ["0f3a55aa0f3a55aa0f3a", "b1"],
  epoch: 466,
  speed: 0.25,
  axes: "follow",
  colour: "sum",
  hidden: ["attention", "values"],
  big: "decision_map",
  theme: "dark",
  spike: 2,
  held: 60,
  difference: "on",
  linear: ["loss"],
  sequences: "01101 0110010, 000000000000",
  page: "runs",
  guide: "spike",
  mode: "present",
  presented: ["loss", "attention"],
  sort: "-accuracy",
  filter: 'accuracy>0.9 tag:"a & b" <script>#%25+é',
};

test("a view is a link, and back", () => {
  assert.deepEqual(readView(writeView(full)), full);
  assert.deepEqual(readView(writeView({ ...DEFAULT_VIEW } as ViewState)), DEFAULT_VIEW);
  const short = writeView({ ...DEFAULT_VIEW, runs: ["ab"], epoch: 3 } as ViewState);
  assert.equal(short, `#v=1&run=ab&t=3&speed=1&axes=${DEFAULT_VIEW.axes}&hide=&theme=auto`);
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
  "#speed=0&axes=__proto__&colour=constructor&theme=constructor&page=x&mode=1&panels=nosuch,__proto__",
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

// What two people may have chosen once, and what is seen: any of it may meet any other.
const TASTES: Partial<Preferences>[] = [
  {},
  { theme: "dark" },
  { hidden: ["values"], axes: "follow" },
  { speed: 4, axes: "fixed", hidden: [], theme: "auto" }, // chosen, though it is the default
  { speed: 0.1, axes: "follow", hidden: ["attention", "loss"], theme: "light" },
];

test("a link shows everyone what its writer saw, and a reload what was seen", () => {
  for (const writer of TASTES)
    for (const reader of TASTES) {
      const seen = readView("#run=ab&t=3", writer);
      assert.deepEqual(readView(writeView(seen), reader), seen);
    }
});

test("what a URL says wins, what it does not say is as preferred", () => {
  const preferred = TASTES[4]!;
  const said = { ...DEFAULT_VIEW, epoch: 7, ...preferred };
  const cases: [fragment: string, wins: Partial<ViewState>][] = [
    ["#t=7", {}],
    ["#t=7&hide=", { hidden: [] }],
    ["#t=7&hide=values", { hidden: ["values"] }],
    ["#t=7&theme=auto&speed=1", { theme: "auto", speed: 1 }],
    ["#t=7&axes=up&hide=nosuch&speed=1e9", {}], // which makes no sense
  ];
  for (const [fragment, wins] of cases)
    assert.deepEqual(readView(fragment, preferred), { ...said, ...wins }, fragment);
  assert.deepEqual(readView("#v=2&t=7&hide=", preferred), { ...said, epoch: 0 });
});

test("preferences are kept, and checked as a URL is", () => {
  for (const taste of TASTES) assert.deepEqual(readPreferences(writePreferences(taste)), taste);
  assert.deepEqual(preferredIn(full), readPreferences(writeView(full)));
  assert.deepEqual(Object.keys(preferredIn(full)).sort(), [...PREFERENCES].sort());
  assert.deepEqual(preferredIn({ epoch: 3, runs: ["ab"] }), {});
  for (const text of [...HOSTILE, '{"theme":"dark"}', "run=ab&t=3&filter=x"])
    assert.deepEqual(readPreferences(text), {}, text);
});
