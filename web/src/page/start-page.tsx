// Starts the page, once it is known who answers its questions.

import "../css/theme.css";
import "../css/app.css";
import "../css/panels.css";
import "../css/time.css";
import "../css/story.css";
import "../css/table.css";
import "../css/overlays.css";
import "../css/notes.css";
import "../css/terms.css";
import "../css/presenting.css";
import "../css/film.css";
import "../css/live.css";
import "../css/seeds.css";
import "../css/guided.css";
import "../css/narrow.css";
import "../css/print.css";
import { render } from "preact";
import { frameTimes } from "../drawing/frame-queue";
import { unsupported } from "../model/browser-support";
import { App } from "./app";
import { offerIntro } from "./intro";
import { listenToKeys } from "./keys";
import { loadStore } from "../state/all-runs";
import { followTheme } from "../state/colour-scheme";
import { followView } from "../state/open-runs";
import { followGuide } from "../state/guided";
import { followSeeds, seedBrowser } from "../state/seed-browser";
import { keepStory } from "../state/story-view";
import { warnOfUnsaved } from "../state/unsaved-runs";
import { followEdits } from "../state/what-if";
import { listenToDrops } from "../state/saved-runs";
import { keepView, slots, trouble, view } from "../state/page-state";
import { listenToTerms } from "../terms/explaining";
import { runClock } from "../time/clock";

export function startPage(): void {
  trouble.value = unsupported(); // the table can be looked at all the same
  keepView();
  keepStory();
  followTheme();
  const root = document.getElementById("app");
  if (root) {
    root.replaceChildren();
    render(<App />, root);
  }
  listenToKeys();
  listenToTerms();
  listenToDrops();
  runClock();
  followView();
  followEdits();
  followSeeds();
  followGuide();
  warnOfUnsaved();
  offerIntro();
  void loadStore();
}

// For tests and the curious: what is drawn, in data coordinates, and how long frames take; and for
// `dynascope movie`, films.
const films = () => import("../film/film-service");
Object.assign(globalThis, { dynascope: { view, slots, seedBrowser, frameTimes, films } });
