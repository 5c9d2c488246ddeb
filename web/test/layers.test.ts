// Folders import only from those below them, and an exported name means one thing.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

declare const __ROOT__: string;
const SRC = join(__ROOT__, "web/src");

/** From the lowest to the highest. What lies in no folder (main.tsx) may import from all. */
const LAYERS = [
  "model",
  "drawing",
  "workers",
  "state",
  "terms",
  "panels",
  "guided",
  "live",
  "cards",
  "time",
  "stage",
  "film",
  "page",
];

/** `model` is arithmetic and data, free of the DOM and of packages; colours and words are shared. */
const MODEL_MAY_IMPORT = ["theme", "glossary"].map((name) => `../../src/dynascope/${name}.json`);

const IMPORT =
  /(?:\bfrom|^import|\bimport\s*\(|\brequire\s*\(|\bnew URL\(|\bimportScripts\()\s*["'`]([^"'`]+)["'`]/gm;
const EXPORT =
  /^export (?:declare |abstract |async )*(?:class|interface|type|const|let|function\*?|enum) (\w+)/gm;

const FILES = readdirSync(SRC, { recursive: true })
  .map(String)
  .filter((path) => /\.tsx?$/.test(path))
  .sort();

const layerOf = (path: string): string => path.split("/")[0]!;
const textOf = (path: string): string => readFileSync(join(SRC, path), "utf8");

/** What a file names in its imports: paths from `src`, and packages as they are. */
function importsOf(path: string, text = textOf(path)): string[] {
  return [...text.matchAll(IMPORT)].map(([, name]) =>
    name!.startsWith(".") ? relative(".", join(dirname(path), name!)) : name!,
  );
}

/** The imports of a file that its folder may not have. */
function upward(path: string, imports: readonly string[]): string[] {
  const own = LAYERS.indexOf(layerOf(path));
  if (own < 0) return [];
  return imports.filter((name) => {
    const layer = LAYERS.indexOf(layerOf(name));
    if (own === 0) return layer !== 0 && !MODEL_MAY_IMPORT.includes(name);
    return layer > own || name === "main";
  });
}

test("every folder of scripts has its place among the layers", () => {
  const folders = new Set(FILES.filter((path) => path.includes("/")).map(layerOf));
  assert.deepEqual([...folders].sort(), [...LAYERS].sort());
});

test("folders import from those below them, and model from nowhere else", () => {
  for (const path of FILES) assert.deepEqual(upward(path, importsOf(path)), [], path);
});

test("every way to import upwards is noticed", () => {
  const ways = [
    'import { seen } from "../state/page-state";',
    'import type { Slot } from "../state/page-state";',
    'import {\n  seen,\n  slots,\n} from "../state/page-state";',
    'import "../state/page-state";',
    'export { seen } from "../state/page-state";',
    'const lazy = await import("../state/page-state");',
    'new Worker(new URL("../state/page-state", import.meta.url));',
  ];
  for (const text of ways)
    for (const path of ["model/marks.ts", "drawing/pen.ts", "workers/protocol.ts"])
      assert.deepEqual(upward(path, importsOf(path, text)), ["state/page-state"], text);
  assert.deepEqual(upward("model/marks.ts", ["@preact/signals"]), ["@preact/signals"]);
  assert.deepEqual(upward("page/app.tsx", ["state/page-state", "preact"]), []);
});

test("an exported name means one thing", () => {
  const files = new Map<string, string[]>();
  for (const path of FILES)
    for (const [, name] of textOf(path).matchAll(EXPORT))
      files.set(name!, [...(files.get(name!) ?? []), path]);
  const twice = [...files].filter(([, paths]) => paths.length > 1);
  assert.deepEqual(twice, []);
});
