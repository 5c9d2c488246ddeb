// The server's routes (src/dynascope/sandbox/API.md) as functions. Every request can be aborted;
// whatever goes wrong is one sentence.

import { ReadableError } from "../errors";
import { bytesOf } from "../kernel/heap";
import type { Examples, Numbers, Precision, RunInfo } from "../types";
import {
  detailsOf,
  type Analysis,
  type RunDetails,
  type RunsAnswer,
  type SavedAnswer,
  type SequencesAnswer,
  type StoreAnswer,
} from "./answers";
import {
  checkedAnalysis,
  checkedRun,
  checkedRuns,
  checkedSaved,
  checkedSequences,
  checkedStore,
  checkExamples,
} from "./checked-answers";
import type { Posted, Send } from "./send";

export const SPARKLINE = 32; // points of one run

const NO_ANSWER = "The server does not answer; is `dynascope show` still running?";

/** A request that failed; `status` is 0 where no answer came. */
export class ApiError extends ReadableError {
  override name = "ApiError";

  constructor(
    message: string,
    readonly status: number,
    readonly reached: number | null = null, // the epoch that was computed last, of one under way
  ) {
    super(message);
  }
}

/** Whether something was merely called off. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

export class Api {
  constructor(private readonly send: Send) {}

  /** The kernel as WebAssembly. */
  async kernel(): Promise<ArrayBuffer> {
    const answer = await this.answered("/kernel.wasm", null, null);
    if (answer.ok) return answer.arrayBuffer();
    throw new ApiError("kernel.wasm: it is not there; run scripts/build-web.", answer.status);
  }

  /** The page itself as one file, without what it answers from. */
  async page(): Promise<string> {
    const answer = await this.answered("/page.html", null, null);
    if (!answer.ok) throw await refusalOf(answer);
    return answer.text();
  }

  async store(signal?: AbortSignal): Promise<StoreAnswer> {
    return checkedStore(await this.json("store", signal));
  }

  /** Runs that were trained in the page that made a file, as they are: whoever trains them again
   * checks them. */
  live(): Promise<unknown> {
    return this.json("live");
  }

  async runs(signal?: AbortSignal): Promise<RunsAnswer> {
    return checkedRuns(await this.json("runs", signal));
  }

  /** Saves a run as a recipe; the server trains it again, so it can take as long as that did. */
  async save(posted: Posted, signal?: AbortSignal): Promise<SavedAnswer> {
    const answer = await this.answered("/api/runs", signal ?? null, null, posted);
    if (!answer.ok) throw await refusalOf(answer);
    try {
      return checkedSaved(await answer.json());
    } catch (error) {
      throw cutOff(error);
    }
  }

  /** uint8 [count, 32]: 0..254 mean accuracies from 0 to 1, 255 nothing. */
  async sparklines(table: RunsAnswer, signal?: AbortSignal): Promise<Uint8Array> {
    const path = `runs/sparklines?state=${encodeURIComponent(table.state)}`;
    return new Uint8Array(await this.bytes(path, table.count * SPARKLINE, signal));
  }

  async run(id: string, signal?: AbortSignal): Promise<RunDetails> {
    return detailsOf(checkedRun(await this.json(`run/${encodeURIComponent(id)}`, signal), id));
  }

  async curves(run: RunInfo, signal?: AbortSignal): Promise<Record<string, Numbers>> {
    const [width, points] = [bytesOf(run.config.precision), run.epochs + 1];
    const size = run.curveNames.length * points * width;
    const bytes = await this.bytes(`run/${run.id}/curves`, size, signal);
    const all = numbersOf(bytes, run.config.precision);
    return Object.fromEntries(
      run.curveNames.map((name, i) => [name, all.subarray(i * points, (i + 1) * points)]),
    );
  }

  /** Packed weights of the kept epochs number `first` to before `end`. */
  async weights(run: RunInfo, first: number, end: number, signal?: AbortSignal): Promise<Numbers> {
    const row = run.size * bytesOf(run.config.precision);
    const range: [number, number] = [first * row, end * row];
    const bytes = await this.bytes(`run/${run.id}/weights`, range[1] - range[0], signal, range);
    return numbersOf(bytes, run.config.precision);
  }

  /** Packed weights after the epochs `first` to before `end`, kept or computed again. The server may
   * need several requests for it (503). */
  async replayed(run: RunInfo, first: number, end: number, signal?: AbortSignal): Promise<Numbers> {
    const size = (end - first) * run.size * bytesOf(run.config.precision);
    const path = `run/${run.id}/replayed?first=${first}&last=${end - 1}`;
    return numbersOf(await this.bytes(path, size, signal), run.config.precision);
  }

  /** [3, size]: weights, first and second moments after a kept epoch. */
  async state(run: RunInfo, epoch: number, signal?: AbortSignal): Promise<Numbers> {
    const bytes = await this.bytes(
      `run/${run.id}/state/${epoch}`,
      3 * run.size * bytesOf(run.config.precision),
      signal,
    );
    return numbersOf(bytes, run.config.precision);
  }

  async examples(
    run: RunDetails,
    split: "train" | "test",
    signal?: AbortSignal,
  ): Promise<Examples> {
    const count = run.sets[split];
    if (count === null) throw new ApiError(`The ${split} set of this run is not known.`, 422);
    const length = run.config.task.length;
    const path = `run/${run.id}/examples?split=${split}`;
    const all = new Int32Array(await this.bytes(path, 4 * count * (length + 1), signal));
    const [tokens, targets] = [all.subarray(0, count * length), all.subarray(count * length)];
    checkExamples({ tokens, targets }, run);
    return { tokens, targets };
  }

  /** At most so many different sequences of a run, with their targets. */
  async sequences(run: RunInfo, most: number, signal?: AbortSignal): Promise<SequencesAnswer> {
    return checkedSequences(await this.json(`run/${run.id}/sequences?most=${most}`, signal), run);
  }

  /** What happened in a run; computed by the server, so it can take seconds. */
  async analysis(id: string, curvature = false, signal?: AbortSignal): Promise<Analysis> {
    const query = curvature ? "?curvature=1" : "";
    return checkedAnalysis(
      await this.json(`run/${encodeURIComponent(id)}/analysis${query}`, signal),
    );
  }

  /** An answer as it is. */
  async raw(path: string, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const answer = await this.ask(path, signal);
    try {
      return new Uint8Array(await answer.arrayBuffer());
    } catch (error) {
      throw cutOff(error);
    }
  }

  private async json(path: string, signal?: AbortSignal): Promise<unknown> {
    const answer = await this.ask(path, signal);
    try {
      return (await answer.json()) as unknown;
    } catch (error) {
      throw cutOff(error);
    }
  }

  private async bytes(
    path: string,
    size: number,
    signal?: AbortSignal,
    range?: [number, number],
  ): Promise<ArrayBuffer> {
    if (size === 0) return new ArrayBuffer(0); // no server has a range of nothing
    const answer = await this.ask(path, signal, range);
    let body: ArrayBuffer;
    try {
      body = await answer.arrayBuffer();
    } catch (error) {
      throw cutOff(error);
    }
    if (range && answer.status === 200) body = body.slice(...range); // the whole was sent instead
    if (body.byteLength === size) return body;
    throw new ApiError(
      `The server sent ${body.byteLength} bytes where ${size} were due; reload the page.`,
      answer.status,
    );
  }

  private async ask(
    path: string,
    signal?: AbortSignal,
    range?: [number, number],
  ): Promise<Response> {
    const answer = await this.answered(`/api/${path}`, signal ?? null, range ?? null);
    if (answer.ok) return answer;
    throw await refusalOf(answer);
  }

  private async answered(
    path: string,
    signal: AbortSignal | null,
    range: [number, number] | null,
    posted?: Posted,
  ): Promise<Response> {
    try {
      return await this.send(path, { range, signal, ...(posted && { posted }) });
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new ApiError(error instanceof ReadableError ? error.message : NO_ANSWER, 0);
    }
  }
}

/** The server's own sentence, or one for an answer without it. */
async function refusalOf(answer: Response): Promise<ApiError> {
  const { status } = answer;
  if (status === 403)
    return new ApiError(
      "The server does not know this browser; open the address that `dynascope show` printed.",
      status,
    );
  const said = (await answer.json().catch(() => null)) as Record<string, unknown> | null;
  const [error, reached] = [said?.["error"], said?.["reached"]];
  return new ApiError(
    typeof error === "string" ? error : `The server answered with status ${status}.`,
    status,
    typeof reached === "number" ? reached : null,
  );
}

function cutOff(error: unknown): unknown {
  return isAbort(error)
    ? error
    : new ApiError("The server's answer was cut off; reload the page.", 0);
}

/** Bytes as numbers. They are little-endian, as is every machine that runs a browser. */
function numbersOf(bytes: ArrayBuffer, precision: Precision): Numbers {
  return precision === "float64" ? new Float64Array(bytes) : new Float32Array(bytes);
}
