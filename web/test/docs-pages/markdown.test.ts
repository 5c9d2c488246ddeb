// The documentation as the sandbox serves it: whole, linked, and where the glossary leads.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { docsPage, type DocsPage } from "../../docs-pages/markdown";
import { EXPLANATIONS } from "../../src/model/glossary";

declare const __ROOT__: string;
const DOCS = join(__ROOT__, "docs");

const PAGES = new Map<string, DocsPage>();
for (const name of readdirSync(DOCS).filter((each) => each.endsWith(".md")))
  PAGES.set(name, await docsPage(readFileSync(join(DOCS, name), "utf8")));

test("every explanation leads to a heading that is there", () => {
  for (const { id, docs } of EXPLANATIONS.values()) {
    const [page = "", anchor = ""] = docs.split("#");
    assert.ok(PAGES.get(page)?.anchors.includes(anchor), `${id}: ${docs}`);
  }
});

test("links between pages lead somewhere, and none to what is not served", () => {
  for (const [name, { body }] of PAGES) {
    const links = [...body.matchAll(/href="([^"]+)"/g)].map(([, link]) => link!);
    for (const link of links.filter((each) => !each.startsWith("http"))) {
      const [, page, anchor] = /^(?:([\w-]+)\.html)?(?:#(.*))?$/.exec(link) ?? [];
      const target = PAGES.get(page ? `${page}.md` : name);
      assert.ok(target, `${name}: ${link}`);
      assert.ok(!anchor || target.anchors.includes(anchor), `${name}: ${link}`);
    }
  }
});

test("what stands in a text is text", async () => {
  const { body, title } = await docsPage(
    "# A <b> & `<c>`\n\n1. *one* **two**\n\n```\n<script>\n```\n\n| a | b |\n|---|--:|\n| [x](y.md#z) | 1 |\n\n<script>alert(1)</script>\n",
  );
  assert.equal(title, "A <b> & <c>");
  assert.doesNotMatch(body, /<script>|<b>|<c>/);
  assert.match(body, /<ol><li><p><em>one<\/em> <strong>two<\/strong><\/p><\/li><\/ol>/);
  assert.match(body, /<td><a href="y.html#z">x<\/a><\/td><td class="right">1<\/td>/);
});

test("what cannot be written is refused, not left out", async () => {
  await assert.rejects(docsPage("# A\n\nText[^1]\n\n[^1]: a note\n"), /footnote/);
});
