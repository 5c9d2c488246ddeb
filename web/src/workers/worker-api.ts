// Within a worker: its questions. The first message of the page says who answers them.

import { Api } from "../model/server/api";
import { askThrough } from "../model/server/relay";
import { fromServer, type Send } from "../model/server/send";
import type { WorkerStart } from "./protocol";

const answerer = new Promise<Send>((known) => {
  self.addEventListener(
    "message",
    (event: MessageEvent<WorkerStart>) => {
      event.stopImmediatePropagation(); // for nobody else
      const { answers, server } = event.data;
      known(answers ? askThrough(answers) : fromServer(server));
    },
    { once: true },
  );
});

export const workerApi = new Api(async (path, asked) => (await answerer)(path, asked));
