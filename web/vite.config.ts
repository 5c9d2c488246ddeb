// Builds the client into the Python package, beside the kernel that scripts/build-web puts there.

import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const OUT = here("../src/dynascope/sandbox/static");

/** Old bundles go, the kernel stays (so not `emptyOutDir`). */
const withoutOldAssets: Plugin = {
  name: "without-old-assets",
  apply: "build",
  buildStart: () => rm(`${OUT}/assets`, { recursive: true, force: true }),
};

export default defineConfig({
  root: here("."),
  resolve: { alias: { "@theme": here("../src/dynascope/theme.json") } },
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
  plugins: [withoutOldAssets],
});
