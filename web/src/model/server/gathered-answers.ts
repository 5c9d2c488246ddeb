// All that a page without a server asks about a stored run, asked before it does; as Python's
// `sandbox/run_archive.py` has it. Two things differ from what was answered, and the page is told so:
// which epochs' weights there are, and whether others can be computed (nobody is there to do it).

import { bytesOf } from "../kernel/heap";
import { MOST_SEQUENCES } from "../sequences";
import type { Numbers } from "../types";
import type { RunDetails } from "./answers";
import { ApiError, type Api } from "./api";
import type { SeriesCoding } from "./archive";
import type { StoredAnswer } from "./archive-writer";
import { replayedSpan, spanRows } from "./replayed-blocks";
import type { Table } from "./shapes";

const DIFFERENT = 422; // the status where epochs cannot be computed again
const AT_ONCE = 2 ** 22; // bytes of weights in one request

export interface Gathering {
  every: number; // the weights of so many epochs are left out but for one
  curvature: boolean; // it was asked for, and is part of the analysis
  signal: AbortSignal;
  tell: (sentence: string) => void;
}

type Answers = Map<string, StoredAnswer>;

/** By the path of each question. */
export async function gatheredAnswers(api: Api, id: string, how: Gathering): Promise<Answers> {
  const { signal, tell } = how;
  const run = await api.run(id, signal);
  const about = JSON.parse(textOf(await api.raw(`run/${id}`, signal))) as Table;
  tell("Reading the curves.");
  const curves = new Uint8Array(await api.raw(`run/${id}/curves`, signal));
  const { weights, told } = await trajectory(api, run, how);
  tell("Waiting for the analysis.");
  const analysis = await api.raw(
    `run/${id}/analysis${how.curvature ? "?curvature=1" : ""}`,
    signal,
  );
  const width = bytesOf(run.config.precision);
  const rows = run.curveNames.length;
  const found: [string, StoredAnswer][] = [
    ["", plain(new TextEncoder().encode(JSON.stringify({ ...about, ...told })))],
    [
      "/curves",
      { bytes: curves, coding: { rows, columns: run.epochs + 1, width, time: "columns" } },
    ],
    ["/analysis", plain(analysis)],
    ...weights,
    ...(run.task.positions === null ? await ownData(api, run, signal) : []),
  ];
  return new Map(found.map(([name, answer]) => [`/api/run/${id}${name}`, answer]));
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const plain = (bytes: Uint8Array<ArrayBuffer>): StoredAnswer => ({ bytes, coding: null });

async function ownData(
  api: Api,
  { id, sets }: RunDetails,
  signal: AbortSignal,
): Promise<[string, StoredAnswer][]> {
  const splits = (["train", "test"] as const).filter((split) => sets[split] !== null);
  const names = [`/sequences?most=${MOST_SEQUENCES}`, ...splits.map((s) => `/examples?split=${s}`)];
  return Promise.all(
    names.map(async (name): Promise<[string, StoredAnswer]> => [
      name,
      plain(await api.raw(`run/${id}${name}`, signal)),
    ]),
  );
}

// ---- weights ---------------------------------------------------------------------------------------
interface Trajectory {
  weights: [string, StoredAnswer][];
  told: Table; // of what is otherwise than in the run
}

async function trajectory(api: Api, run: RunDetails, how: Gathering): Promise<Trajectory> {
  const { every } = how;
  const wanted = wantedEpochs(run, every);
  const kept = new Set(run.weightEpochs);
  if (every === 1 && wanted.every((epoch) => kept.has(epoch)))
    return { weights: [await keptWeights(api, run, how)], told: { state_epochs: [] } };
  try {
    const rows = table(run, await rowsAt(api, run, wanted, how));
    if (every > 1) return { weights: [["/weights", rows]], told: thinned(wanted, every) };
    const states = [...run.stateEpochs].filter((epoch) => !kept.has(epoch));
    const more = await Promise.all(states.map((epoch) => stateAt(api, run, epoch, how.signal)));
    const all = [await keptWeights(api, run, how), ...more];
    return { weights: [...all, ["/replayed", rows]], told: { state_epochs: states } };
  } catch (error) {
    // they were not those of the run: kept ones have to do
    if (!(error instanceof ApiError) || error.status !== DIFFERENT) throw error;
    const told = { state_epochs: [], not_replayable: error.message };
    return { weights: [await keptWeights(api, run, how)], told };
  }
}

function thinned(epochs: readonly number[], every: number): Table {
  const not_replayable = `The exported file has the weights of one epoch in ${every}.`;
  return { weight_epochs: epochs, state_epochs: [], not_replayable };
}

/** Every so many, the last with sound weights, the last; of those that can be had. */
export function wantedEpochs(run: RunDetails, every: number): number[] {
  const last = run.diverged ?? run.epochs;
  const spaced = Array.from({ length: Math.floor(last / every) + 1 }, (_, i) => i * every);
  const all = new Set([...spaced, Math.max(0, run.lastSoundEpoch), last]);
  const chosen = [...all].sort((a, b) => a - b);
  const kept = new Set(run.weightEpochs);
  return run.notReplayable === null ? chosen : chosen.filter((epoch) => kept.has(epoch));
}

async function keptWeights(
  api: Api,
  run: RunDetails,
  how: Gathering,
): Promise<[string, StoredAnswer]> {
  return ["/weights", table(run, await rowsAt(api, run, [...run.weightEpochs], how))];
}

async function stateAt(
  api: Api,
  { id }: RunDetails,
  epoch: number,
  signal: AbortSignal,
): Promise<[string, StoredAnswer]> {
  const name = `/state/${epoch}`;
  return [name, plain(await api.raw(`run/${id}${name}`, signal))];
}

/** Rows of weights as they are stored. */
function table(run: RunDetails, bytes: Uint8Array<ArrayBuffer>): StoredAnswer {
  const [columns, width] = [run.size, bytesOf(run.config.precision)];
  const rows = bytes.length / (columns * width);
  const coding: SeriesCoding = { rows, columns, width, time: "rows" };
  return { bytes, coding };
}

/** The weights after each of these epochs, a block of them at a time. */
async function rowsAt(
  api: Api,
  run: RunDetails,
  epochs: readonly number[],
  { signal, tell }: Gathering,
): Promise<Uint8Array<ArrayBuffer>> {
  const row = run.size * bytesOf(run.config.precision);
  const out = new Uint8Array(epochs.length * row);
  const rowOf = new Map([...run.weightEpochs].map((epoch, i) => [epoch, i]));
  const replay = epochs.some((epoch) => !rowOf.has(epoch));
  const most = replay ? spanRows(run) : Math.max(1, Math.floor(AT_ONCE / row));
  const fetched = (first: number, last: number): Promise<Numbers> =>
    replay
      ? replayedSpan(run, api, first, last + 1, signal, () => undefined)
      : api.weights(run, rowOf.get(first)!, rowOf.get(last)! + 1, signal);
  const placed = (epoch: number, first: number): number =>
    replay ? epoch - first : rowOf.get(epoch)! - rowOf.get(first)!;
  for (let at = 0; at < epochs.length;) {
    const first = epochs[at]!;
    let end = at + 1;
    while (end < epochs.length && placed(epochs[end]!, first) < most) end++;
    const block = await fetched(first, epochs[end - 1]!);
    const bytes = new Uint8Array(block.buffer, block.byteOffset, block.byteLength);
    for (; at < end; at++) {
      const from = placed(epochs[at]!, first) * row;
      out.set(bytes.subarray(from, from + row), at * row);
    }
    tell(`Reading the weights: ${at} of ${epochs.length} epochs.`);
  }
  return out;
}
