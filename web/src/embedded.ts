// The page as one file that asks no server: what it answers from is part of it, or comes from whoever
// has put it into a frame.

import { ReadableError } from "./model/errors";
import { Archive } from "./model/server/archive";
import { bytesOfBase64 } from "./model/server/base64";
import { askThrough } from "./model/server/relay";
import { startPage } from "./page/start-page";
import { answerFrom } from "./state/answering";
import { linkView } from "./state/linked-view";

const ARCHIVE = "dynascope-archive"; // the element that holds the answers, as text

function start(): void {
  const archive = document.getElementById(ARCHIVE);
  if (!archive) return beAsked();
  if (typeof DecompressionStream === "undefined")
    throw new ReadableError(
      "This browser cannot decompress the file; use Chrome or Edge 91, Firefox 113, Safari 16.4, " +
        "or a later one.",
    );
  answerFrom(new Archive(bytesOfBase64(archive.textContent?.trim() ?? "")).send);
  startPage();
}

/** Waits for who is around this frame: one port answers, the other follows the view. */
function beAsked(): void {
  addEventListener("message", function begin({ source, ports: [answers, view] }: MessageEvent) {
    if (source !== parent || !answers || !view) return;
    removeEventListener("message", begin);
    answerFrom(askThrough(answers));
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
