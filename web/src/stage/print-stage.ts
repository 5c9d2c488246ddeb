// The stage on paper, or as PDF: as a drawing, in light colours, with nothing else on the sheet.

import { Palette } from "../model/palette";
import { stageSvg, withStage } from "./stage-picture";

const SHEET = { width: 1120, height: 780, ratio: 2 }; // the shape of A4 and Letter, on their side

export async function printStage(): Promise<void> {
  const svg = await withStage(SHEET, stageSvg, new Palette("light"));
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const sheet = document.createElement("div");
  sheet.className = "sheet-of-paper";
  sheet.append(document.adoptNode(parsed));
  document.body.append(sheet);
  addEventListener("afterprint", () => sheet.remove(), { once: true });
  print();
}
