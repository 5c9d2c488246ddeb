// The kernel as scripts/build-web makes it.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { Kernel } from "../src/model/kernel";

declare const __ROOT__: string;
const WASM = `${__ROOT__}/src/dynascope/sandbox/static/kernel.wasm`;

export async function builtKernel(): Promise<Kernel> {
  assert.ok(existsSync(WASM), "kernel.wasm is not built; run scripts/build-web --wasm-only.");
  return Kernel.load(readFileSync(WASM));
}
