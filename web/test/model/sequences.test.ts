import assert from "node:assert/strict";
import { test } from "node:test";
import { groupsOf, itemWidth, orderingCount, orderings } from "../../src/model/prefixes";
import { chooseSequences, sequenceName } from "../../src/model/sequences";
import {
  howToType,
  parseRows,
  parseSequences,
  writeSequences,
} from "../../src/model/typed-sequences";
import type { KernelTask, Sequences } from "../../src/model/types";
import { modularAddition as task, tasks } from "../tasks";

const first = (k: number): number[] => Array.from({ length: k }, (_, t) => t);
const products = (vocab: number, length: number, positions: number[]): KernelTask => ({
  ...task(vocab, length, positions),
  name: "products",
});

const TASKS: [string, KernelTask][] = [
  ["the default", task(2, 12, first(5))],
  ["three tokens", task(3, 12, first(5))],
  ["ten tokens", task(10, 12, first(5))],
  ["many tokens", task(4096, 40, first(20))],
  ["scattered", task(2, 9, [1, 4, 8])],
  ["all relevant", task(3, 4, first(4))],
  ["one position", task(2, 1, [0])],
  ["long", task(2, 1024, first(300))],
  ["the most frequent", { ...task(3, 8, [0, 2, 3, 7]), name: "most-frequent" }],
  ["products", products(2, 12, first(4))],
  ["products of many tokens", products(11, 30, first(20))],
];

/** What a prefix should give and what its group is called, by loops of our own. */
function expectedOf(each: KernelTask, prefix: readonly number[]): [number, string] {
  const width = each.name === "products" ? 2 : 1;
  const items = prefix.flatMap((token, i) =>
    i % width ? [] : [width === 1 ? [token] : [token, prefix[i + 1]!].sort((a, b) => a - b)],
  );
  items.sort((a, b) => a[0]! - b[0]! || (a[1] ?? 0) - (b[1] ?? 0));
  const names = items.map((item) => item.join(each.vocab > 10 ? "·" : ""));
  const times = (name: string): number => names.filter((other) => other === name).length;
  const name =
    each.vocab === 2 && width === 1
      ? `${times("1")}×1`
      : names.length <= 8
        ? names.join(" ")
        : [...new Set(names)].map((one) => `${times(one)}×${one}`).join(" ");
  if (each.name === "most-frequent") {
    const counts = first(each.vocab).map((token) => prefix.filter((t) => t === token).length);
    return [counts.indexOf(Math.max(...counts)), name];
  }
  const sum = items.reduce((total, item) => total + item.reduce((a, b) => a * b), 0);
  return [sum % each.vocab, name];
}

function rowOf(sequences: Sequences, i: number): number[] {
  return Array.from(sequences.tokens.subarray(i * sequences.length, (i + 1) * sequences.length));
}

for (const [name, each] of TASKS)
  test(`choice for ${name}: sound, bounded, the same each time`, () => {
    const chosen = chooseSequences(tasks, each);
    assert.deepEqual(chosen, chooseSequences(tasks, each));
    assert.ok(chosen.count >= 1 && chosen.count <= 256);
    assert.equal(
      new Set(Array.from({ length: chosen.count }, (_, i) => rowOf(chosen, i).join())).size,
      chosen.count,
    );
    const suffixes = new Map<number, Set<string>>();
    for (let i = 0; i < chosen.count; i++) {
      const row = rowOf(chosen, i);
      assert.ok(row.every((token) => token >= 0 && token < each.vocab));
      const prefix = each.positions.map((t) => row[t]!);
      assert.deepEqual(Array.from(chosen.prefixes[chosen.prefix[i]!]!), prefix);
      const [target, name] = expectedOf(each, prefix);
      assert.equal(chosen.targets[i], target);
      assert.equal(chosen.groupNames[chosen.group[i]!], name);
      const rest = row.filter((_, t) => !each.positions.includes(t)).join();
      suffixes.set(chosen.prefix[i]!, (suffixes.get(chosen.prefix[i]!) ?? new Set()).add(rest));
    }
    const kinds = new Set([...suffixes.values()].map((set) => [...set].sort().join("|")));
    assert.equal(kinds.size, 1, "every prefix meets the same suffixes");
  });

test("all multisets, several orderings and suffixes of the default task", () => {
  const chosen = chooseSequences(tasks, task(2, 12, first(5)));
  assert.deepEqual(chosen.groupNames, ["0×1", "1×1", "2×1", "3×1", "4×1", "5×1"]);
  const perGroup = first(6).map(
    (g) => new Set(chosen.prefix.filter((_, i) => chosen.group[i] === g)).size,
  );
  assert.deepEqual(perGroup, [1, 4, 4, 4, 4, 1]);
  assert.equal(chosen.count, 18 * 8);
  assert.equal(new Set(chooseSequences(tasks, task(3, 12, first(5))).group).size, 21);
  assert.equal(new Set(chooseSequences(tasks, task(2, 9, [1, 4, 8])).group).size, 4);
});

test("fewer where fewer are asked for, all multisets still there", () => {
  const few = chooseSequences(tasks, task(2, 12, first(5)), 16);
  assert.ok(few.count <= 16);
  assert.equal(few.groupNames.length, 6);
});

test("counts against enumeration", () => {
  const count = (p: number, k: number): number => tasks.groupCount(task(p, k, first(k)));
  for (const [p, k] of [
    [2, 5],
    [3, 5],
    [4, 3],
    [5, 1],
  ] as const)
    assert.equal(groupsOf(tasks, task(p, k, first(k)), 1000).length, count(p, k));
  assert.equal(count(2, 5), 6);
  assert.equal(count(10, 5), 2002);
  assert.equal(count(4096, 1000), Infinity);
  assert.equal(orderingCount([0, 0, 1, 1, 2]), 30);
  assert.equal(orderings([0, 1, 2], 100).length, 6);
});

test("pairs: all groups, and orderings that keep partners together", () => {
  const each = products(3, 6, first(4));
  const groups = groupsOf(tasks, each, 1000);
  assert.equal(groups.length, 21); // multisets of two of the six unordered pairs
  assert.equal(tasks.groupCount(each), 21);
  for (const group of groups) {
    assert.deepEqual([...tasks.canonical(each, Int32Array.from(group))], group);
    const members = orderings(group, 100, itemWidth(tasks, each));
    assert.equal(members.length, orderingCount(group, 2));
    for (const member of members)
      assert.deepEqual([...tasks.canonical(each, Int32Array.from(member))], group);
  }
  assert.equal(orderingCount([0, 1, 0, 1], 2), 4);
  assert.equal(orderingCount([0, 0, 1, 2], 2), 4);
  assert.equal(orderingCount([0, 1, 1, 2], 2), 8);
});

test("chance is the best constant answer", () => {
  assert.deepEqual([...tasks.classShares(task(4, 3, [1]))!], [0.25, 0.25, 0.25, 0.25]);
  assert.equal(tasks.classShares(products(2, 4, first(4)))![0], 0.625);
  assert.deepEqual([...tasks.exchangeable(products(2, 4, first(4)))].slice(0, 4), [1, 1, 0, 0]);
  assert.throws(() => tasks.targets(products(2, 3, first(3)), Int32Array.of(0, 1, 0)), {
    message: "relevant: expected an even number of positions, which this task takes in pairs.",
  });
});

test("typed sequences", () => {
  const default12 = task(2, 12, first(5));
  const typed = parseSequences(tasks, "01101 0110010, 111110000000\n00000·0000000;", default12);
  assert.equal(typed.count, 3);
  assert.deepEqual([...typed.targets], [0, 1, 1]);
  assert.deepEqual(typed.groupNames, ["0×1", "3×1", "5×1"]);
  assert.equal(sequenceName(typed, 1), "01101·0110010");
  assert.deepEqual(parseSequences(tasks, writeSequences(typed), default12), typed);
  const wide = parseSequences(tasks, "10, 2 3; 11 0 0", task(12, 3, [0, 2]));
  assert.deepEqual([...wide.tokens], [11, 0, 0, 10, 2, 3]);
  assert.deepEqual([...wide.targets], [11, 1]);
  assert.deepEqual(parseSequences(tasks, writeSequences(wide), task(12, 3, [0, 2])), wide);
  const every = chooseSequences(tasks, task(13, 6, first(3)));
  assert.deepEqual(parseSequences(tasks, writeSequences(every), task(13, 6, first(3))), every);
  const all = chooseSequences(tasks, default12);
  assert.deepEqual(parseSequences(tasks, writeSequences(all), default12), all);
});

const SEPARATED: [text: string, of: KernelTask, rows: number[][]][] = [
  ["3 11 0 12", task(13, 4, [0]), [[3, 11, 0, 12]]],
  ["3,11,0,12", task(13, 4, [0]), [[3, 11, 0, 12]]],
  [" 3, 11, 0, 12 ", task(13, 4, [0]), [[3, 11, 0, 12]]],
  [
    "3 11 0 12, 1 2 3 4",
    task(13, 4, [0]),
    [
      [3, 11, 0, 12],
      [1, 2, 3, 4],
    ],
  ],
  [
    "3,11,0,12\n1 2 3 4;5,6 7·8",
    task(13, 4, [0]),
    [
      [3, 11, 0, 12],
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ],
  ],
  ["0,1,1", task(2, 3, [0]), [[0, 1, 1]]],
  ["0 1 1", task(2, 3, [0]), [[0, 1, 1]]],
  [
    "011, 100",
    task(2, 3, [0]),
    [
      [0, 1, 1],
      [1, 0, 0],
    ],
  ],
  ["12, 3", task(13, 1, [0]), [[12], [3]]],
  ["1, 0", task(2, 1, [0]), [[1], [0]]],
];
for (const [text, of, rows] of SEPARATED)
  test(`separated: ${JSON.stringify(text)}`, () => assert.deepEqual(parseRows(text, of), rows));

test("how to type says how, with an example that can be typed", () => {
  assert.match(
    howToType(task(13, 4, [0])),
    /4 numbers from 0 to 12 with spaces between, such as 0 1 4 9/,
  );
  assert.match(howToType(task(2, 3, [0])), /3 digits from 0 to 1, such as 010/);
});

const BAD: [string, KernelTask, RegExp][] = [
  ["", task(2, 3, [0]), /^sequences: expected at least one, such as 010\.$/],
  [" , ;\n", task(2, 3, [0]), /at least one/],
  [
    "010,021",
    task(2, 3, [0]),
    /^sequence 2: expected tokens from 0 to 1, but position 1 is '2'\.$/,
  ],
  ["31101", task(13, 4, [0]), /expected tokens from 0 to 12 with spaces between, but .* '31101'/],
  ["01", task(2, 3, [0]), /^sequence 1: expected 3 tokens, but got '2'; an example is 010\.$/],
  ["0x1", task(2, 3, [0]), /position 1 is 'x'/],
  ["1 2 -3", task(12, 3, [0]), /position 2 is '-3'/],
  ["1 2 1e1", task(12, 3, [0]), /position 2 is '1e1'/],
  ["1 2 3, 4", task(12, 3, [0]), /expected 3 tokens/],
  ["1 2 ٣", task(12, 3, [0]), /position 2/],
  ["0\u0000 1 1", task(2, 3, [0]), /position 1 is ' '/],
  ["000,".repeat(257), task(2, 3, [0]), /at most 256, but got 257/],
];
for (const [text, each, message] of BAD)
  test(`refused: ${JSON.stringify(text.slice(0, 20))}`, () => {
    assert.throws(() => parseSequences(tasks, text, each), { name: "ReadableError", message });
  });
