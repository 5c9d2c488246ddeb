// The one table of colours, markers and fonts, shared with the plots.

import table from "../../../src/dynascope/theme.json";

export type ThemeName = "light" | "dark";
export type Marker =
  | "circle"
  | "square"
  | "triangle"
  | "triangle-down"
  | "diamond"
  | "cross"
  | "plus"
  | "star"
  | "pentagon"
  | "hexagon";

export type Colours = (typeof table)["light"];

export const FONTS = table.fonts;
export const MARKERS = table.markers as {
  classes: Marker[];
  token: Marker;
  relevant: Marker;
  irrelevant: Marker;
  position: Marker; // where nobody knows which are relevant
  untold: Marker; // a sequence without a target
  receptor: Marker;
  assembler: Marker;
};

export function coloursOf(theme: ThemeName): Colours {
  return table[theme];
}
