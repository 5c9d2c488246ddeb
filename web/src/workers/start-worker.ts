// Starts workers, and answers what they ask where they cannot ask a server.

import { answerThrough } from "../model/server/relay";
import type { Send } from "../model/server/send";
import type { CircuitNow, SumNow, WorkerStart } from "./protocol";
import { newWorker } from "./worker-scripts";

/** A worker that answers each request once, in turn; null: it cannot be measured. */
export interface Meter<Answer> extends Worker {
  onmessage: ((this: Worker, event: MessageEvent<Answer | null>) => void) | null;
}

/** The folder that the page came from, where the server answers; a worker's own address is another.
 * A page that no server sent has none. */
export const SERVED_FROM = location.protocol.startsWith("http")
  ? new URL(".", location.href).href.replace(/\/$/, "")
  : "";

let answerer: Send | null = null; // null: a server, whom they ask themselves

/** From now on workers ask the page. */
export function answerWorkers(send: Send): void {
  answerer = send;
}

export const sceneWorker = (): Worker => started("scene");
export const circuitWorker = (): Meter<CircuitNow> => started("circuit");
/** A thread of its own: of three tokens a sum may take a second, for which no circuit waits. */
export const sumWorker = (): Meter<SumNow> => started("sum");

export const liveWorker = (): Worker => started("live");

function started(name: Parameters<typeof newWorker>[0]): Worker {
  const worker = newWorker(name);
  const answers = answerer && answeredPort(answerer);
  const start: WorkerStart = { answers, server: SERVED_FROM };
  worker.postMessage(start, answers ? [answers] : []);
  return worker;
}

/** The end of a channel whose other end answers. */
export function answeredPort(send: Send): MessagePort {
  const { port1, port2 } = new MessageChannel();
  answerThrough(port1, send);
  return port2;
}
