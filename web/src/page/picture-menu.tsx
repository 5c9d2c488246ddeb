// The stage as a picture: what the head of the page offers.

import { printStage } from "../stage/print-stage";
import { saveStage } from "../stage/stage-picture";
import { trouble } from "../state/page-state";

export function PictureMenu({ close }: { close: () => void }) {
  const pick = (make: () => Promise<void>) => () => {
    close();
    make().catch((error: Error) => (trouble.value = error.message));
  };
  return (
    <div class="entries">
      <button onClick={pick(() => saveStage("svg"))}>Save as SVG</button>
      <button onClick={pick(() => saveStage("png"))}>Save as PNG</button>
      <button onClick={pick(printStage)}>Print, or save as PDF</button>
    </div>
  );
}
