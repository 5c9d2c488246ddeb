import assert from "node:assert/strict";
import { test } from "node:test";
import { multisetCount, multisets, orderingCount, orderings } from "../../src/model/prefixes";
import { chooseSequences, groupName, sequenceName } from "../../src/model/sequences";
import { parseSequences, writeSequences } from "../../src/model/typed-sequences";
import type { Sequences, Task } from "../../src/model/types";

const first = (k: number): number[] => Array.from({ length: k }, (_, t) => t);
const task = (vocab: number, length: number, positions: number[]): Task => ({
  vocab,
  length,
  positions,
});

const TASKS: [string, Task][] = [
  ["the default", task(2, 12, first(5))],
  ["three tokens", task(3, 12, first(5))],
  ["ten tokens", task(10, 12, first(5))],
  ["many tokens", task(4096, 40, first(20))],
  ["scattered", task(2, 9, [1, 4, 8])],
  ["all relevant", task(3, 4, first(4))],
  ["one position", task(2, 1, [0])],
  ["long", task(2, 1024, first(300))],
];

function rowOf(sequences: Sequences, i: number): number[] {
  return Array.from(sequences.tokens.subarray(i * sequences.length, (i + 1) * sequences.length));
}

for (const [name, each] of TASKS)
  test(`choice for ${name}: sound, bounded, the same each time`, () => {
    const chosen = chooseSequences(each);
    assert.deepEqual(chosen, chooseSequences(each));
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
      assert.equal(chosen.targets[i], prefix.reduce((a, b) => a + b, 0) % each.vocab);
      assert.equal(
        chosen.groupNames[chosen.group[i]!],
        groupName(
          prefix.sort((a, b) => a - b),
          each.vocab,
        ),
      );
      const rest = row.filter((_, t) => !each.positions.includes(t)).join();
      suffixes.set(chosen.prefix[i]!, (suffixes.get(chosen.prefix[i]!) ?? new Set()).add(rest));
    }
    const kinds = new Set([...suffixes.values()].map((set) => [...set].sort().join("|")));
    assert.equal(kinds.size, 1, "every prefix meets the same suffixes");
  });

test("all multisets, several orderings and suffixes of the default task", () => {
  const chosen = chooseSequences(task(2, 12, first(5)));
  assert.deepEqual(chosen.groupNames, ["0×1", "1×1", "2×1", "3×1", "4×1", "5×1"]);
  const perGroup = first(6).map(
    (g) => new Set(chosen.prefix.filter((_, i) => chosen.group[i] === g)).size,
  );
  assert.deepEqual(perGroup, [1, 4, 4, 4, 4, 1]);
  assert.equal(chosen.count, 18 * 8);
  assert.equal(new Set(chooseSequences(task(3, 12, first(5))).group).size, 21);
  assert.equal(new Set(chooseSequences(task(2, 9, [1, 4, 8])).group).size, 4);
});

test("fewer where fewer are asked for, all multisets still there", () => {
  const few = chooseSequences(task(2, 12, first(5)), 16);
  assert.ok(few.count <= 16);
  assert.equal(few.groupNames.length, 6);
});

test("counts against enumeration", () => {
  for (const [p, k] of [
    [2, 5],
    [3, 5],
    [4, 3],
    [5, 1],
  ] as const)
    assert.equal(multisets(p, k, 1000).length, multisetCount(p, k));
  assert.equal(multisetCount(2, 5), 6);
  assert.equal(multisetCount(10, 5), 2002);
  assert.equal(multisetCount(4096, 1000), Infinity);
  assert.equal(orderingCount([0, 0, 1, 1, 2]), 30);
  assert.equal(orderings([0, 1, 2], 100).length, 6);
});

test("typed sequences", () => {
  const default12 = task(2, 12, first(5));
  const typed = parseSequences("01101 0110010, 111110000000\n00000·0000000;", default12);
  assert.equal(typed.count, 3);
  assert.deepEqual([...typed.targets], [0, 1, 1]);
  assert.deepEqual(typed.groupNames, ["0×1", "3×1", "5×1"]);
  assert.equal(sequenceName(typed, 1), "01101·0110010");
  assert.deepEqual(parseSequences(writeSequences(typed), default12), typed);
  const wide = parseSequences("10, 2 3; 11 0 0", task(12, 3, [0, 2]));
  assert.deepEqual([...wide.tokens], [11, 0, 0, 10, 2, 3]);
  assert.deepEqual([...wide.targets], [11, 1]);
  assert.deepEqual(parseSequences(writeSequences(wide), task(12, 3, [0, 2])), wide);
  const all = chooseSequences(default12);
  assert.deepEqual(parseSequences(writeSequences(all), default12), all);
});

const BAD: [string, Task, RegExp][] = [
  ["", task(2, 3, [0]), /^sequences: expected at least one, such as 010\.$/],
  [" , ;\n", task(2, 3, [0]), /at least one/],
  [
    "010,021",
    task(2, 3, [0]),
    /^sequence 2: expected tokens from 0 to 1, but position 1 is '2'\.$/,
  ],
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
    assert.throws(() => parseSequences(text, each), { name: "ReadableError", message });
  });
