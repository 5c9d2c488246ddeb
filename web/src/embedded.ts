// The page as one file that asks no server: what it answers from is part of it, or comes from whoever
// has put it into a frame.

import { BROWSERS } from "./model/browser-support";
import { ReadableError } from "./model/errors";
import { Archive } from "./model/server/archive";
import { bytesOfBase64 } from "./model/server/base64";
import { ARCHIVE_ELEMENT } from "./model/server/one-file";
import { askThrough } from "./model/server/relay";
import { startPage } from "./page/start-page";
import { answerFrom } from "./state/answering";
import { linkView } from "./state/linked-view";

function start(): void {
  const archive = document.getElementById(ARCHIVE_ELEMENT);
  archive?.remove(); // what it holds is read once; and the page without it can be shared again
  const shell = `<!doctype html>\n${document.documentElement.outerHTML}\n`;
  if (!archive) return beAsked(shell);
  if (typeof DecompressionStream === "undefined")
    throw new ReadableError(`This browser cannot decompress the file; use ${BROWSERS}.`);
  answerFrom(new Archive(bytesOfBase64(archive.textContent?.trim() ?? "")).send, shell);
  startPage();
}

/** Waits for who is around this frame: one port answers, the other follows the view. */
function beAsked(shell: string): void {
  addEventListener("message", function begin({ source, ports: [answers, view] }: MessageEvent) {
    if (source !== parent || !answers || !view) return;
    removeEventListener("message", begin);
    answerFrom(askThrough(answers), shell);
    startPage();
    linkView(view);
  });
}

try {
  start();
} catch (error) {
  const notice = document.querySelector("#app .notice");
  if (notice)
    notice.textContent =
      error instanceof ReadableError
        ? error.message
        : "This file is damaged; export the run again.";
}
