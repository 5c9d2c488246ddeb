// A live run into the folder that the server shows, where it is analysed like any other; and what
// became of it, wherever on the page one is meanwhile.

import { signal } from "@preact/signals";
import { markSaved } from "../state/unsaved-runs";
import { isAbort } from "../model/server/api";
import type { SavedAnswer } from "../model/server/answers";
import { loadStore, store } from "../state/all-runs";
import { api } from "../state/answering";
import type { LiveEntry } from "../state/live-runs";
import { openRun, tellTrouble } from "../state/page-state";
import { recipeNow } from "./save-recipe";

interface Saving {
  name: string;
  cancel: () => void;
}

const saving = signal<Saving | null>(null);
const saved = signal<(SavedAnswer & { name: string }) | null>(null);

/** Whether the server takes runs, and has none to take at this moment. */
export const canSave = (): boolean => !!store.value?.write && !saving.value;

export async function saveIntoStore(entry: LiveEntry): Promise<void> {
  const key = store.value?.write;
  if (!key || saving.value) return;
  const stop = new AbortController();
  const { name } = entry;
  saving.value = { name, cancel: () => stop.abort() };
  saved.value = null;
  try {
    const answer = await api.save({ json: recipeNow(entry), key }, stop.signal);
    await loadStore();
    saved.value = { ...answer, name };
    markSaved(entry);
  } catch (error) {
    if (!isAbort(error)) tellTrouble(error);
  } finally {
    saving.value = null;
  }
}

export function SavingNotice() {
  if (saving.value) return <UnderWay {...saving.value} />;
  return saved.value && <Done {...saved.value} />;
}

function UnderWay({ name, cancel }: Saving) {
  return (
    <div class="toast saving" role="status">
      <span>
        Saving {name} into {store.value?.name}: the server trains it again.
      </span>
      <button onClick={cancel}>Cancel</button>
    </div>
  );
}

function Done({ id, epochs, already, name }: SavedAnswer & { name: string }) {
  const close = (): void => void (saved.value = null);
  const open = (): void => {
    close();
    openRun(id);
  };
  return (
    <div class="toast saving" role="status">
      <span>
        {already
          ? `${store.value?.name} has ${name} already, with ${epochs} epochs: run ${id}.`
          : `${name} is saved in ${store.value?.name}, with ${epochs} epochs: run ${id}.`}
      </span>
      <button onClick={open}>Open the stored run</button>
      <button class="plain" aria-label="Dismiss" onClick={close}>
        ✕
      </button>
    </div>
  );
}
