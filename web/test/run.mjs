// Runs the unit tests: bundles each test file, then hands them to Node's own runner.
//
//   npm test                    all
//   npm test -- sequences       those whose name contains "sequences"

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const wanted = process.argv[2] ?? "";
const files = readdirSync(here, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith(".test.ts") && name.includes(wanted));
if (files.length === 0) {
  console.error(`No test file has '${wanted}' in its name.`);
  process.exit(2);
}

const out = mkdtempSync(join(tmpdir(), "dynascope-web-"));
try {
  await build({
    entryPoints: files.map((name) => join(here, name)),
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    logLevel: "warning",
    define: { __ROOT__: JSON.stringify(fileURLToPath(new URL("../..", import.meta.url))) },
  });
  const built = readdirSync(out, { recursive: true })
    .map(String)
    .filter((n) => n.endsWith(".mjs"));
  const args = [
    "--enable-source-maps",
    "--test-reporter=spec",
    "--test",
    ...built.map((name) => join(out, name)),
  ];
  process.exitCode = spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
