// The shell: head, and below it the panels of a run or the table of all.

import { SideCards } from "../cards/side-cards";
import { FilmProgress } from "../film/film-progress";
import { PanelGrids } from "../panels/panel-grid";
import { loading, slots, trouble, seen } from "../state/page-state";
import { presenting } from "../state/presentation";
import { Explanations } from "../terms/explanation";
import { TimeBar } from "../time/time-bar";
import { Header } from "./header";
import { Intro } from "./intro";
import { RunsPage } from "./runs-page";

export function App() {
  return (
    <div class={presenting.value ? "app presenting" : "app"}>
      <SkipLink />
      <Header />
      {seen.page.value === "runs" ? <RunsPage /> : <RunPage />}
      <Loading />
      <Trouble />
      <FilmProgress />
      <Intro />
      <Explanations />
    </div>
  );
}

/** The first that Tab comes to: from there the keyboard is where most of the work is done. */
function SkipLink() {
  const [name, goal] =
    seen.page.value === "runs"
      ? ["Skip to the table", ".table"]
      : ["Skip to the time bar", ".play"];
  const go = (): void => document.querySelector<HTMLElement>(goal)?.focus();
  return (
    <button class="skip" onClick={go}>
      {name}
    </button>
  );
}

function RunPage() {
  if (!slots.value.length) {
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
  if (!trouble.value || (seen.page.value === "run" && !slots.value.length)) return null;
  return (
    <div class="toast" role="alert">
      <span>{trouble.value}</span>
      <button class="plain" aria-label="Dismiss" onClick={() => (trouble.value = null)}>
        ✕
      </button>
    </div>
  );
}
