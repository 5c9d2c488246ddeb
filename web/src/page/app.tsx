// The shell: head, and below it the panels of a run or the table of all.

import { SideCards } from "../cards/side-cards";
import { FilmProgress } from "../film/film-progress";
import { PanelGrids } from "../panels/panel-grid";
import { loading, slots, trouble, seen } from "../state/page-state";
import { experiment } from "../state/guided";
import { presenting } from "../state/presentation";
import { Explanations } from "../terms/explanation";
import { TimeBar } from "../time/time-bar";
import { Header } from "./header";
import { SavingNotice } from "../live/save-into-store";
import { SeedsPage } from "../live/seeds-page";
import { Playground } from "../live/playground";
import { GuideCard } from "../guided/guide-card";
import { isPlayground } from "../state/all-runs";
import { Intro } from "./intro";
import { RunsPage } from "./runs-page";

export function App() {
  return (
    <div class={presenting.value ? "app presenting" : "app"}>
      <SkipLink />
      <Header />
      <Page />
      <Loading />
      <Trouble />
      <FilmProgress />
      <SavingNotice />
      <Intro />
      <Explanations />
    </div>
  );
}

function Page() {
  switch (seen.page.value) {
    case "runs":
      return <RunsPage />;
    case "seeds":
      return <SeedsPage />;
    case "run":
      return <RunPage />;
  }
}

const SKIPS = {
  run: ["Skip to the time bar", ".play"],
  runs: ["Skip to the table", ".table"],
  seeds: ["Skip to the seeds", ".seed-cell[tabindex='0']"],
} as const;

/** The first that Tab comes to: from there the keyboard is where most of the work is done. */
function SkipLink() {
  const [name, goal] = SKIPS[seen.page.value];
  const go = (): void => document.querySelector<HTMLElement>(goal)?.focus();
  return (
    <button class="skip" onClick={go}>
      {name}
    </button>
  );
}

function RunPage() {
  if (!slots.value.length) {
    if (hasStart()) return experiment.value ? <GuideStart /> : <Playground />;
    if (trouble.value) return <p class="notice">{trouble.value}</p>;
    return <p class="notice">{loading.value ?? "Loading."}</p>;
  }
  return (
    <div class="work">
      <PanelGrids />
      {!presenting.value && <SideCards />}
      <TimeBar />
    </div>
  );
}

/** Whether there is something to begin with where no run is open. */
const hasStart = (): boolean =>
  !loading.value && (isPlayground.value || (experiment.value !== null && !seen.runs.value.length));

/** An experiment that was opened by its link, before it has a run. */
function GuideStart() {
  return (
    <main class="guide-start">
      <GuideCard />
    </main>
  );
}

/** While the run before is still to be seen. */
function Loading() {
  if (!loading.value || seen.page.value !== "run" || !slots.value.length) return null;
  return (
    <p class="toast loading" role="status">
      {loading.value}
    </p>
  );
}

/** What went wrong while something is still to be seen. */
function Trouble() {
  const isNotice = seen.page.value === "run" && !slots.value.length && !hasStart();
  if (!trouble.value || isNotice) return null;
  return (
    <div class="toast" role="alert">
      <span>{trouble.value}</span>
      <button class="plain" aria-label="Dismiss" onClick={() => (trouble.value = null)}>
        ✕
      </button>
    </div>
  );
}
