// The page as one file that asks no server: what it answers from is part of it.

import { ReadableError } from "./model/errors";
import { Archive } from "./model/server/archive";
import { bytesOfBase64 } from "./model/server/base64";
import { startPage } from "./page/start-page";
import { answerFrom } from "./state/answering";

const ARCHIVE = "dynascope-archive"; // the element that holds it, as text

function start(): void {
  if (typeof DecompressionStream === "undefined")
    throw new ReadableError(
      "This browser cannot decompress the file; use Chrome or Edge 91, Firefox 113, Safari 16.4, " +
        "or a later one.",
    );
  const archive = document.getElementById(ARCHIVE);
  answerFrom(new Archive(bytesOfBase64(archive?.textContent?.trim() ?? "")).send);
  startPage();
}

try {
  start();
} catch (error) {
  const notice = document.querySelector("#app .notice");
  if (notice) notice.textContent = error instanceof ReadableError ? error.message : String(error);
}
