// Light or dark, and the colours that go with it: on the page as CSS variables, on canvases as a palette.

import { computed, effect, signal } from "@preact/signals";
import { Palette } from "../model/palette";
import { FONTS, type Colours } from "../model/theme";
import { seen } from "./page-state";

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(prefersDark.matches);
prefersDark.addEventListener("change", (event) => {
  systemDark.value = event.matches;
});

export const theme = computed(() => {
  const chosen = seen.theme.value;
  if (chosen !== "auto") return chosen;
  return systemDark.value ? "dark" : "light";
});

export const palette = computed(() => new Palette(theme.value));

export function followTheme(): void {
  effect(() => apply(palette.value.colours));
}

function apply(colours: Colours): void {
  const { dataset, style } = document.documentElement;
  dataset["theme"] = theme.value;
  for (const [name, value] of Object.entries(colours))
    if (typeof value === "string") style.setProperty(`--${name}`, value);
  for (const [name, value] of Object.entries(colours.curves))
    style.setProperty(`--curve-${name}`, value);
  style.setProperty("--font", FONTS.text);
  style.setProperty("--mono", FONTS.mono);
}
