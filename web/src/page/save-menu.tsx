// The stage as a picture or a film: what the head of the page offers.

import { useState } from "preact/hooks";
import { FilmForm } from "../film/film-form";
import { printStage } from "../stage/print-stage";
import { saveStage } from "../stage/stage-picture";
import { trouble } from "../state/page-state";

export function SaveMenu({ close }: { close: () => void }) {
  const pick = (make: () => Promise<void>) => () => {
    close();
    make().catch((error: Error) => (trouble.value = error.message));
  };
  const [film, setFilm] = useState(false);
  if (film) return <FilmForm close={close} />;
  return (
    <div class="entries">
      <button onClick={pick(() => saveStage("svg"))}>Save as SVG</button>
      <button onClick={pick(() => saveStage("png"))}>Save as PNG</button>
      <button onClick={pick(printStage)}>Print, or save as PDF</button>
      <button onClick={() => setFilm(true)}>Film</button>
    </div>
  );
}
