// Builds the client into the Python package, beside the kernel that scripts/build-web puts there.

import { readdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { docsPages } from "./docs-pages/plugin";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const OUT = here("../src/dynascope/sandbox/static");

/** Bundles of earlier builds go once the new ones are there: a page that loads meanwhile, or after a
 * build that failed, finds what it names. The kernel stays (so not `emptyOutDir`). */
const withoutOldAssets: Plugin = {
  name: "without-old-assets",
  apply: "build",
  writeBundle: async ({ dir = OUT }, bundle) => {
    const made = new Set(Object.keys(bundle).map((name) => name.replace(/^assets\//, "")));
    const old = (await readdir(`${dir}/assets`)).filter((name) => !made.has(name));
    await Promise.all(old.map((name) => rm(`${dir}/assets/${name}`, { force: true })));
  },
};

export default defineConfig({
  root: here("."),
  base: "./", // a folder of runs may be served below any path
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: OUT,
    emptyOutDir: false,
    target: "es2022",
    assetsInlineLimit: 0, // data: addresses are not allowed for scripts
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
  worker: { format: "es" },
  plugins: [withoutOldAssets, docsPages(here("../docs"))],
});
