// Who answers the questions of this page and of its workers: the server that it came from, unless
// somebody else is named before anything is asked.

import { Api } from "../model/server/api";
import { fromServer, type Send } from "../model/server/send";
import { answerWorkers, SERVED_FROM } from "../workers/start-worker";

let answerer = fromServer(SERVED_FROM);

export const api = new Api((path, asked) => answerer(path, asked));

/** Names who answers instead of the server. */
export function answerFrom(send: Send): void {
  answerer = send;
  answerWorkers(send);
}
