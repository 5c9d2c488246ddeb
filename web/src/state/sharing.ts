// What the page shows as one HTML file, which opens without a server and without a network.

import { packed, type StoredAnswer } from "../model/server/archive-writer";
import { base64OfBytes } from "../model/server/base64";
import { gatheredAnswers, type Gathering } from "../model/server/gathered-answers";
import { pageWith } from "../model/server/one-file";
import { writeView } from "../model/view-address";
import { store } from "./all-runs";
import { api, pageShell } from "./answering";
import type { LiveEntry } from "./live-runs";
import { markSaved } from "./unsaved-runs";
import { epoch, slots, view, type Slot } from "./page-state";
import { sharedRuns } from "./shared-runs";

export interface SharedFile {
  name: string;
  blob: Blob;
}

/** The runs that are shown, each once. */
function shownRuns(): Slot[] {
  return slots
    .peek()
    .filter(({ info }, i, all) => all.findIndex((s) => s.info.id === info.id) === i);
}

export const storedShown = (): Slot[] => shownRuns().filter(({ live }) => !live);

/** Gathers, packs, and puts it into the page. */
export async function makeSharedFile(
  how: Pick<Gathering, "every" | "signal" | "tell">,
): Promise<SharedFile> {
  const [shell, kernel] = await Promise.all([pageShell(), api.kernel()]);
  const runs = shownRuns();
  const answers = new Map<string, StoredAnswer>([
    ["/kernel.wasm", { bytes: new Uint8Array(kernel), coding: null }],
  ]);
  const live = runs.flatMap((slot) => slot.live ?? []);
  live.forEach(markSaved);
  for (const [path, told] of Object.entries(documents(live)))
    answers.set(path, documentAnswer(told));
  for (const slot of storedShown()) {
    const curvature = slot.curvature.value === "there" && store.value!.offers.includes("curvature");
    const found = await gatheredAnswers(api, slot.info.id, { ...how, curvature });
    for (const [path, answer] of found) answers.set(path, answer);
  }
  how.tell("Packing the file.");
  const archive = base64OfBytes(await packed(answers));
  how.signal.throwIfAborted();
  const names = runs.map(nameOf);
  const blob = new Blob(pageWith(shell, `dynascope: ${names.join(" and ")}`, archive), {
    type: "text/html",
  });
  const file = names
    .join("-and-")
    .replace(/[^\w-]+/g, "-")
    .replace(/-+$/, "");
  return { name: `dynascope-${file}.html`, blob };
}

const nameOf = ({ info, live }: Slot): string =>
  `seed ${info.seed} (${live?.name ?? info.id.slice(0, 6)})`;

const documentAnswer = (told: object): StoredAnswer => ({
  bytes: new TextEncoder().encode(JSON.stringify(told)),
  coding: null,
});

/** What is asked about no stored run in particular. */
function documents(live: readonly LiveEntry[]): Record<string, object> {
  const { api, dynascope, name } = store.value!;
  const stored = storedShown().map(({ info }) => info.id);
  const shown = {
    ...{ run: stored[0] ?? null, beside: stored[1] ?? null, epoch: epoch.value },
    view: writeView({ ...view.value, epoch: epoch.value }),
  };
  const about = { api, dynascope, name, runs: stored.length, damage: [], shown, offers: [] };
  if (!live.length) return { "/api/store": about };
  return { "/api/store": { ...about, live: true }, "/api/live": sharedRuns(live, dynascope) };
}
