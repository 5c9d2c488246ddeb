// Questions and answers over a port: a worker asks its page, a page in a frame asks who made it.

import { ReadableError } from "../errors";
import type { Asked, Send } from "./send";

export type ToAnswerer =
  { id: number; path: string; range: Asked["range"] } | { id: number; abort: true };

export type FromAnswerer =
  { id: number; status: number; body: ArrayBuffer } | { id: number; failed: string };

/** What of a port is needed: a worker's own scope has it, too. */
export interface Port<Sent, Received> {
  postMessage(message: Sent, transfer: Transferable[]): void;
  onmessage: ((event: MessageEvent<Received>) => void) | null;
}

interface Waiting {
  done: (answer: Response) => void;
  fail: (error: Error) => void;
}

/** Asks whoever `answerThrough` the port's other end. */
export function askThrough(port: Port<ToAnswerer, FromAnswerer>): Send {
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  port.onmessage = ({ data }) => {
    const asker = waiting.get(data.id);
    waiting.delete(data.id);
    if ("failed" in data) asker?.fail(new ReadableError(data.failed));
    else asker?.done(new Response(data.body, { status: data.status }));
  };
  return (path, { range, signal }) =>
    new Promise((done, fail) => {
      signal?.throwIfAborted();
      const id = ++asked;
      waiting.set(id, { done, fail });
      signal?.addEventListener("abort", () => {
        if (!waiting.delete(id)) return;
        port.postMessage({ id, abort: true }, []);
        fail(signal.reason as Error);
      });
      port.postMessage({ id, path, range }, []);
    });
}

/** Answers what is asked through a port. */
export function answerThrough(port: Port<FromAnswerer, ToAnswerer>, send: Send): void {
  const underWay = new Map<number, AbortController>();
  port.onmessage = ({ data }) => {
    if ("abort" in data) return underWay.get(data.id)?.abort();
    const control = new AbortController();
    underWay.set(data.id, control);
    void answerOf(data.path, { range: data.range, signal: control.signal }, send).then((answer) => {
      underWay.delete(data.id);
      const transfer = "body" in answer ? [answer.body] : [];
      if (!control.signal.aborted) port.postMessage({ id: data.id, ...answer }, transfer);
    });
  };
}

type Answered = { status: number; body: ArrayBuffer } | { failed: string };

async function answerOf(path: string, asked: Asked, send: Send): Promise<Answered> {
  try {
    const answer = await send(path, asked);
    return { status: answer.status, body: await answer.arrayBuffer() };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}
