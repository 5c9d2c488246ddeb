// The built kernel, and what it says of tasks, for tests.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { Kernel } from "../src/model/kernel";
import type { KernelTask } from "../src/model/types";

declare const __ROOT__: string;
const WASM = `${__ROOT__}/src/dynascope/sandbox/static/kernel.wasm`;

assert.ok(existsSync(WASM), "kernel.wasm is not built; run scripts/build-web --wasm-only.");
export const kernel = await Kernel.load(readFileSync(WASM));
export const { tasks } = kernel;

export const modularAddition = (
  vocab: number,
  length: number,
  positions: readonly number[],
): KernelTask => ({ name: "modular-addition", vocab, length, positions });
