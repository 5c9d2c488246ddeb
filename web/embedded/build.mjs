// Builds the page that asks no server: one classic script, in which those of the workers are strings,
// and one style sheet. `dynascope export` and the notebook's widget put them into a page; and the
// script of that widget.

import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const OUT = here("../../src/dynascope/sandbox/static/embedded");

const OPTIONS = {
  bundle: true,
  format: "iife",
  target: "es2022",
  minify: true,
  charset: "ascii", // whatever the page around it says of its letters
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
};

/** `worker:scene` is the script of src/workers/scene-worker.ts. */
const workersInside = {
  name: "workers-inside",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/worker-scripts$/ }, () => ({ path: here("worker-scripts.ts") }));
    onResolve({ filter: /^worker:/ }, ({ path }) => ({
      path: here(`../src/workers/${path.slice("worker:".length)}-worker.ts`),
      namespace: "worker",
    }));
    onLoad({ filter: /.*/, namespace: "worker" }, async ({ path }) => {
      const made = await build({ ...OPTIONS, entryPoints: [path], write: false });
      return { contents: made.outputFiles[0].text, loader: "text" };
    });
  },
};

await rm(OUT, { recursive: true, force: true });
await build({
  ...OPTIONS,
  entryPoints: { page: here("../src/embedded.ts") },
  outdir: OUT,
  plugins: [workersInside],
});
// The notebook's side, which is no page: a module, small enough to go with every cell.
await build({ ...OPTIONS, format: "esm", entryPoints: [here("../src/widget.ts")], outdir: OUT });
