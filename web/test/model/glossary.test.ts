import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  axesTerm,
  causeTerms,
  columnTerm,
  docsAddress,
  EXPLANATIONS,
  explanationsOf,
  FACT_TERMS,
  optionTerm,
  panelTerm,
  sumTerm,
} from "../../src/model/glossary";
import { OPTIONS, SUM_KINDS } from "../../src/model/kernel/names";
import { phaseBands } from "../../src/model/phase-bands";
import type { Analysis } from "../../src/model/server/answers";
import { PANELS } from "../../src/model/types";

declare const __ROOT__: string;
const SRC = join(__ROOT__, "web/src");

function known(ids: string): void {
  for (const id of ids.split(" ")) assert.ok(EXPLANATIONS.has(id), `${id} (of ${ids})`);
}

test("an explanation is one to three short sentences", () => {
  for (const { id, term, text, docs } of EXPLANATIONS.values()) {
    assert.match(text, /^[\p{L}\p{N}].*\.$/u, id);
    assert.ok(text.length <= 200, `${id}: ${text.length} characters`);
    assert.ok(term.length <= 40, id);
    assert.match(docs, /^[a-z]+\.md#[a-z0-9-]+$/, id);
  }
});

test("every panel and its axes, every fact, cause, verdict, option is explained", () => {
  for (const panel of PANELS) known(`${panelTerm(panel, false)} ${axesTerm(panel)}`);
  for (const panel of PANELS) known(panelTerm(panel, true));
  for (const ids of Object.values(FACT_TERMS)) known(ids);
  known(causeTerms("normalisation+feed-forward+optimizer"));
  for (const cause of ["batch order", "unstable state", "other", "unexplained"]) {
    known(causeTerms(cause));
    assert.equal(explanationsOf(causeTerms(cause)).length, 1);
  }
  known("ideal value-corrected partial fuzzy unsolved");
  known(SUM_KINDS.map(sumTerm).join(" "));
  for (const { name } of OPTIONS) known(optionTerm(name));
});

test("every band of the time bar is explained", () => {
  const snapshots = { before: 0, clustered: 1, partly_classified: 2, fitted: 3 };
  for (const name of ["ideal", "unsolved"]) {
    const analysis = { phases: { snapshots }, circuit: { verdict: { name } } };
    const bands = phaseBands(analysis as unknown as Analysis, 9);
    assert.equal(bands.length, 4);
    for (const band of bands) known(`phase.${band.name}`);
  }
});

test("the card under the pointer names no fact that is not explained", () => {
  const card = readFileSync(join(SRC, "cards/pointer-card.tsx"), "utf8");
  const names = [...card.matchAll(/\[\s*"([^"]+)",|place\("([^"]+)",/g)].map(([, a, b]) => a ?? b!);
  assert.ok(names.length > 15);
  for (const name of names) assert.ok(FACT_TERMS[name], name);
});

test("whatever the page asks for is there", () => {
  const files = readdirSync(SRC, { recursive: true }).map(String);
  const asked = files
    .filter((path) => path.endsWith(".tsx"))
    .flatMap((path) => [
      ...readFileSync(join(SRC, path), "utf8").matchAll(/(?:\bof="|explained\(")([^"]+)"/g),
    ])
    .map(([, ids]) => ids!);
  assert.ok(asked.length > 25);
  for (const ids of asked) known(ids);
});

test("columns lead to their entry, or to their option", () => {
  assert.equal(columnTerm("suffix_share"), "share.irrelevant");
  assert.equal(columnTerm("lr"), "option.training.lr");
  assert.equal(columnTerm("task"), "option.task.name");
  assert.equal(columnTerm("nothing of the kind"), "");
  assert.deepEqual(explanationsOf("nothing of the kind"), []);
});

test("the docs are served beside the page", () => {
  assert.equal(docsAddress("analysis.md#spikes"), "docs/analysis.html#spikes");
  assert.equal(docsAddress("glossary.md"), "docs/glossary.html");
});
