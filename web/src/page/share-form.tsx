// Sharing what is shown as one file: what is to be in it, and how far it is.

import { useEffect, useRef, useState } from "preact/hooks";
import { isAbort } from "../model/server/api";
import { LARGE, smallerEvery } from "../model/server/one-file";
import { download } from "../panels/save-panel";
import { makeSharedFile, storedShown, type SharedFile } from "../state/sharing";

const LARGEST_EVERY = 1e6;

export function ShareForm() {
  const [every, setEvery] = useState(1);
  const [told, setTold] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [large, setLarge] = useState<SharedFile | null>(null);
  const work = useRef<AbortController | null>(null);
  useEffect(() => () => work.current?.abort(), []);
  const thins = storedShown().length > 0;
  const isEvery = Number.isInteger(every) && every >= 1 && every <= LARGEST_EVERY;

  const save = (file: SharedFile): void => {
    download(file.name, file.blob);
    setLarge(null);
    setTold(`Saved ${file.name}, ${megabytes(file)} MB.`);
  };
  const make = async (): Promise<void> => {
    const control = (work.current = new AbortController());
    setTrouble(null);
    setLarge(null);
    setTold("Reading the run.");
    try {
      const file = await makeSharedFile({ every, signal: control.signal, tell: setTold });
      if (file.blob.size <= LARGE) return save(file);
      setLarge(file);
      setTold(null);
    } catch (error) {
      if (isAbort(error)) return;
      setTold(null);
      setTrouble(error instanceof Error ? error.message : String(error));
    } finally {
      if (work.current === control) work.current = null;
    }
  };
  const begin = (): void => {
    if (isEvery && !work.current) void make();
  };
  // Not a form: a notebook's frame may send none, and its browser refuses to begin.
  return (
    <div class="film share">
      <p class="hint">
        What you see as an HTML file: it opens by a double click, without dynascope and without a
        network. It also holds the run's config, tags and note, and data of your own.
      </p>
      {thins && (
        <div class="fields">
          <label>
            keep the weights of every N-th epoch
            <input
              type="number"
              aria-label="keep the weights of every N-th epoch"
              min={1}
              value={Number.isNaN(every) ? "" : every}
              onInput={(event) => setEvery(event.currentTarget.valueAsNumber)}
              onKeyDown={(event) => event.key === "Enter" && begin()}
            />
          </label>
        </div>
      )}
      {!isEvery && (
        <p class="trouble" role="alert">
          every N-th epoch: expected a whole number of at least 1.
        </p>
      )}
      {trouble && (
        <p class="trouble" role="alert">
          {trouble}
        </p>
      )}
      {large && (
        <p class="trouble" role="alert">
          The file has {megabytes(large)} MB, which is slow to open, and many do not accept it as an
          attachment.{" "}
          {thins && `With one epoch in ${smallerEvery(large.blob.size, every)} it is smaller.`}
        </p>
      )}
      <div class="buttons">
        <button class="primary" disabled={!isEvery || work.current !== null} onClick={begin}>
          Make the file
        </button>
        {large && <button onClick={() => save(large)}>Save it anyway</button>}
        <span class="hint" role="status">
          {told}
        </span>
      </div>
    </div>
  );
}

const megabytes = ({ blob }: SharedFile): string => {
  const size = blob.size / 1e6;
  return size.toFixed(size < 10 ? 1 : 0);
};
