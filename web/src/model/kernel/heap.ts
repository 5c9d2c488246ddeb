// The module's memory, and calls into it. Arrays are copied in and out: memory that grows leaves
// every older view of it empty, so no view outlives a call.

import { ReadableError } from "../errors";
import type { Numbers, Precision } from "../types";

/** A place in the module's memory. */
export type Address = number;
type Call = (...values: number[]) => number;

/** What kernel/wasm.cpp exports; its comments say what the functions take. */
const FUNCTIONS = [
  ...["version", "last_error", "allocate", "release", "catalog"],
  ...["model", "packed_size", "offset", "dims", "initialize"],
  ...["forward", "grid", "evaluate", "gradient", "circuit", "kept_sum"],
  ...["plane", "variance_shares"],
  ...["draw", "enumerate", "shuffle"],
  ...["targets", "canonical", "group_name", "group_count", "exchangeable"],
  ...["class_shares", "design_sizes", "design"],
  ...["trainer", "advance", "record_now", "progress"],
  ...["read_parameters", "set_parameters", "read_state", "write_state"],
] as const;
type Functions = Record<(typeof FUNCTIONS)[number], Call>;

export class Heap {
  readonly call: Functions;
  private readonly memory: WebAssembly.Memory;

  constructor(exports: WebAssembly.Exports) {
    const known = FUNCTIONS.every((name) => typeof exports[name] === "function");
    if (!known || !(exports["memory"] instanceof WebAssembly.Memory))
      throw new ReadableError("kernel.wasm: expected dynascope's kernel; run scripts/build-web.");
    this.call = exports as unknown as Functions;
    this.memory = exports["memory"];
  }

  /** Bytes that the module has taken from the system; it gives none back. */
  get bytes(): number {
    return this.memory.buffer.byteLength;
  }

  /** Runs `use` with a frame, whose memory is free again afterwards. */
  frame<R>(use: (frame: CallFrame) => R): R {
    const frame = new CallFrame(this);
    try {
      return use(frame);
    } finally {
      frame.release();
    }
  }

  /** Throws the kernel's sentence unless an outcome says that all went well. */
  check(outcome: number): void {
    if (outcome !== 0) throw new ReadableError(this.text(this.call.last_error()));
  }

  /** The address that a call gave; 0 means that it failed. */
  made(address: Address): Address {
    if (address === 0) this.check(1);
    return address;
  }

  text(address: Address): string {
    const bytes = new Uint8Array(this.memory.buffer, address);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  readInts(at: Address, count: number): Int32Array {
    return new Int32Array(this.memory.buffer, at, count).slice();
  }
  readDoubles(at: Address, count: number): Float64Array {
    return new Float64Array(this.memory.buffer, at, count).slice();
  }
  read(at: Address, count: number, precision: Precision): Numbers {
    if (precision === "float64") return this.readDoubles(at, count);
    return new Float32Array(this.memory.buffer, at, count).slice();
  }

  writeBytes(at: Address, values: ArrayLike<number>): void {
    new Uint8Array(this.memory.buffer, at, values.length).set(values);
  }
  writeInts(at: Address, values: ArrayLike<number>): void {
    new Int32Array(this.memory.buffer, at, values.length).set(values);
  }
  write(at: Address, values: ArrayLike<number>, precision: Precision): void {
    const View = precision === "float64" ? Float64Array : Float32Array;
    new View(this.memory.buffer, at, values.length).set(values);
  }
}

/** Memory for one call. */
export class CallFrame {
  private readonly taken: Address[] = [];

  constructor(private readonly heap: Heap) {}

  room(bytes: number): Address {
    const at = this.heap.made(this.heap.call.allocate(bytes));
    this.taken.push(at);
    return at;
  }
  roomFor(count: number, precision: Precision): Address {
    return this.room(count * bytesOf(precision));
  }

  bytes(values: ArrayLike<number>): Address {
    const at = this.room(values.length);
    this.heap.writeBytes(at, values);
    return at;
  }
  ints(values: ArrayLike<number>): Address {
    const at = this.room(4 * values.length);
    this.heap.writeInts(at, values);
    return at;
  }
  doubles(values: ArrayLike<number>): Address {
    return this.numbers(values, "float64");
  }
  numbers(values: ArrayLike<number>, precision: Precision): Address {
    const at = this.roomFor(values.length, precision);
    this.heap.write(at, values, precision);
    return at;
  }

  release(): void {
    for (const at of this.taken) this.heap.call.release(at);
  }
}

export function bytesOf(precision: Precision): number {
  return precision === "float64" ? 8 : 4;
}

/** A sentence unless an array has the size that it must have: the kernel cannot know it. */
export function checkSize(field: string, values: ArrayLike<number>, size: number): void {
  if (values.length !== size)
    throw new ReadableError(`${field}: expected ${size} numbers, but got ${values.length}.`);
}

/** The number of rows in an array of rows, which must be whole. */
export function rowsIn(field: string, values: ArrayLike<number>, width: number): number {
  const rows = values.length / width;
  if (!Number.isInteger(rows))
    throw new ReadableError(
      `${field}: expected rows of ${width} numbers, but got ${values.length} in all.`,
    );
  return rows;
}
