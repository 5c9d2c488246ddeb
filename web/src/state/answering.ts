// Who answers the questions of this page and of its workers: the server that it came from, unless
// somebody else is named before anything is asked.

import { Api } from "../model/server/api";
import { fromServer, type Send } from "../model/server/send";
import { answerWorkers, SERVED_FROM } from "../workers/start-worker";

let answerer = fromServer(SERVED_FROM);
let ownShell: string | null = null;

export const api = new Api((path, asked) => answerer(path, asked));

/** The page as one file, without what it answers from: its own text, or as the server has it. */
export const pageShell = async (): Promise<string> => ownShell ?? api.page();

/** Names who answers instead of the server; `shell`: the text of the page that is one file. */
export function answerFrom(send: Send, shell: string): void {
  answerer = send;
  ownShell = shell;
  answerWorkers(send);
}
