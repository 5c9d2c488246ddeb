// What the built kernel says of tasks, for tests.

import type { KernelTask } from "../src/model/types";
import { builtKernel } from "./built-kernel";

export const kernel = await builtKernel();
export const { tasks } = kernel;

export const modularAddition = (
  vocab: number,
  length: number,
  positions: readonly number[],
): KernelTask => ({ name: "modular-addition", vocab, length, positions });
