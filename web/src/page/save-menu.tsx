// The stage as a picture, a film or a page of its own: what the head of the page offers.

import { useState } from "preact/hooks";
import { FilmForm } from "../film/film-form";
import { printStage } from "../stage/print-stage";
import { saveStage } from "../stage/stage-picture";
import { canSave, saveIntoStore } from "../live/save-into-store";
import { saveRecipe } from "../live/save-recipe";
import { isOffered, store } from "../state/all-runs";
import { liveShown } from "../state/live-control";
import { ShareForm } from "./share-form";
import { trouble } from "../state/page-state";

export function SaveMenu({ close }: { close: () => void }) {
  const pick = (make: () => Promise<void>) => () => {
    close();
    make().catch((error: Error) => (trouble.value = error.message));
  };
  const [form, setForm] = useState<"film" | "share" | null>(null);
  if (form === "film") return <FilmForm close={close} />;
  if (form === "share") return <ShareForm />;
  return (
    <div class="entries">
      <button onClick={pick(() => saveStage("svg"))}>Save as SVG</button>
      <button onClick={pick(() => saveStage("png"))}>Save as PNG</button>
      <button onClick={pick(printStage)}>Print, or save as PDF</button>
      <button onClick={() => setForm("film")}>Film</button>
      <button onClick={() => setForm("share")}>Share as one file</button>
      {liveShown.value && isOffered("save") && (
        <button disabled={!canSave()} onClick={pick(() => saveIntoStore(liveShown.value!))}>
          Save {liveShown.value.name} into {store.value?.name}
        </button>
      )}
      {liveShown.value && (
        <button onClick={pick(async () => saveRecipe(liveShown.value!))}>
          Save {liveShown.value.name}, for Python
        </button>
      )}
    </div>
  );
}
