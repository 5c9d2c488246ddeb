import assert from "node:assert/strict";
import { test } from "node:test";
import {
  accepted,
  checkedOption,
  checkConfig,
  defaultConfig,
  optionNamed,
  optionOf,
  optionText,
  readOption,
  withOptions,
} from "../../../src/model/live/live-options";
import { OPTIONS } from "../../../src/model/kernel/names";

const READ: [option: string, typed: string, value: unknown][] = [
  ["training.lr", "3e-3", 0.003],
  ["training.lr", " .5 ", 0.5],
  ["training.batch", "64", 64],
  ["training.clip", "", null],
  ["training.clip", "none", null],
  ["model.bias", "false", false],
  ["model.norm", "smooth", "smooth"],
  ["task.relevant", "5", 5],
  ["task.relevant", "7, 1", [1, 7]],
  ["task.relevant", "0,1,2", 3],
  [
    "training.unit_rows",
    "position_embedding, token_embedding",
    ["token_embedding", "position_embedding"],
  ],
  ["training.frozen", "query; value[0,1]", ["query", "value[0,1]"]],
];

const REFUSED: [option: string, typed: string, sentence: string][] = [
  ["training.lr", "0", "training.lr: expected a finite number above 0, but got '0'."],
  ["training.lr", "1e999", "training.lr: expected a finite number above 0, but got '1e999'."],
  ["training.lr", "", "training.lr: expected a finite number above 0, but got ''."],
  [
    "training.beta1",
    "1",
    "training.beta1: expected a finite number of at least 0 and below 1, but got '1'.",
  ],
  [
    "training.batch",
    "3.5",
    "training.batch: expected a whole number from 1 to 16777216, but got '3.5'.",
  ],
  [
    "model.norm",
    "layer",
    "model.norm: expected one of 'rms', 'unit', 'smooth', 'none', but got 'layer'.",
  ],
  ["training.clip", "-1", "training.clip: expected none or a finite number above 0, but got '-1'."],
  ["model.bias", "1", "model.bias: expected true or false, but got '1'."],
];

test("what is typed is what Python would store", () => {
  for (const [name, typed, value] of READ)
    assert.deepEqual(readOption(optionNamed(name), typed), value, `${name} ${typed}`);
});

test("what is refused is so in a sentence", () => {
  for (const [name, typed, sentence] of REFUSED)
    assert.throws(() => readOption(optionNamed(name), typed), { message: sentence });
  for (const typed of ["0", "", "1.5", "1,1", "1, x"])
    assert.throws(() => readOption(optionNamed("task.relevant"), typed), /leading positions/);
});

test("every option is described, and its default is read as typed", () => {
  const config = defaultConfig();
  for (const option of OPTIONS) {
    assert.ok(accepted(option).length > 10, option.name);
    if (option.kind === "span") continue; // not typed
    const value = optionOf(config, option.name);
    assert.deepEqual(readOption(option, optionText(value)), value, option.name);
  }
});

const TYPED: [option: string, value: unknown][] = [
  ["training.clamps", ["attention[0,2]=1,3@0:1", "attention[0:5]=1.0@40:50"]],
  ["training.frozen", ["query", "value[0,1]"]],
  ["training.unit_rows", ["token_embedding", "position_embedding"]],
  ["task.relevant", [1, 7]],
];

test("a list is read as it is written", () => {
  for (const [name, value] of TYPED)
    assert.deepEqual(readOption(optionNamed(name), optionText(value)), value, name);
});

const NO_VALUES: [option: string, values: unknown[]][] = [
  ["training.lr", ["0.1", NaN, Infinity, 0, null, [1]]],
  ["training.batch", [1.5, "1", -1, 2 ** 60, {}, undefined]],
  ["task.relevant", [[], [3, 3], [5, 1], [0.5], 0, [-1], "5"]],
  ["training.clamps", ["attention[0]=1@0:1", [1], null, new Array(5000).fill("")]],
  ["record.steps", [[1], [1, 2, 3], "1,2"]],
  ["model.norm", ["layer", "__proto__", 0]],
];

test("a value from a file is what the table allows", () => {
  for (const [name, values] of NO_VALUES)
    for (const value of values)
      assert.throws(() => checkedOption(optionNamed(name), value), /expected/, name);
  for (const option of OPTIONS)
    assert.deepEqual(checkedOption(option, option.standard), option.standard);
});

const TOGETHER: [changes: Record<string, unknown>, sentence: RegExp][] = [
  [{ "training.batch": 4096 }, /^training.batch: expected at most task.train_size = 2048/],
  [{ "task.relevant": 13 }, /^task.relevant: expected at most task.length = 12/],
  [{ "task.relevant": [1, 12] }, /^task.relevant: /],
  [{ "task.vocab": 5, "model.embeddings": 4 }, /^model.embeddings: expected none or at least/],
  [{ "training.lr_final": 0.1 }, /^training.lr_final: expected at most training.lr = 0.003/],
];

test("options that do not go together are refused", () => {
  assert.doesNotThrow(() => checkConfig(defaultConfig()));
  for (const [changes, sentence] of TOGETHER)
    assert.throws(() => checkConfig(withOptions(defaultConfig(), changes)), { message: sentence });
});
