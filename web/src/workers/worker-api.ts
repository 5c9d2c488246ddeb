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
      known(event.data.answers ? askThrough(event.data.answers) : fromServer());
    },
    { once: true },
  );
});

export const workerApi = new Api(async (path, asked) => (await answerer)(path, asked));
