// In the head of the page: back to the seeds that are trained here, or from them to the run.

import { leaveSeeds, seedBrowser, seedCounts, showSeeds } from "../state/seed-browser";
import { seen } from "../state/page-state";

export function SeedsButton() {
  if (!seedBrowser.value) return null;
  if (seen.page.value !== "seeds") return <Back />;
  const nowhere = !seen.runs.value.length;
  return nowhere ? null : <button onClick={leaveSeeds}>Back to the run</button>;
}

function Back() {
  const { trained, all } = seedCounts.value;
  return (
    <button onClick={showSeeds} title="The seeds that were trained here, as you left them">
      Seeds {trained < all ? `${trained}/${all}` : ""}
    </button>
  );
}
