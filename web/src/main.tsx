import "./css/theme.css";
import "./css/app.css";
import "./css/panels.css";
import "./css/time.css";
import "./css/table.css";
import "./css/overlays.css";
import { render } from "preact";
import { App } from "./app";
import { runClock } from "./clock";
import { offerIntro } from "./intro";
import { listenToKeys } from "./keys";
import { followTheme } from "./look";
import { unsupported } from "./model/support";
import { followView } from "./runs";
import { frameTimes } from "./schedule";
import { keepView, slots, trouble, view } from "./state";
import { loadStore } from "./table";

trouble.value = unsupported(); // the table can be looked at all the same
keepView();
followTheme();
const root = document.getElementById("app");
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
listenToKeys();
runClock();
followView();
offerIntro();
void loadStore();

// For tests and the curious: what is drawn, in data coordinates, and how long frames take.
Object.assign(globalThis, { dynascope: { view, slots, frameTimes } });
