// The whole view as a short text in the URL's fragment, and back.
//
// `#v=1&run=0f3a...&t=466&axes=follow`: what has its default is left out. Anything can stand in a
// URL: unknown keys and values that make no sense are passed over, one by one, and never fail.

import { PANELS, type ViewState } from "./types";

const VERSION = "1";
const LONGEST = 20_000; // characters of a fragment that are looked at
const LONGEST_TEXT = 8_000; // of one value
const SPEEDS = [0.01, 100] as const;
const LAST_EPOCH = 1e7;

export const DEFAULT_VIEW: Readonly<ViewState> = {
  runs: [],
  epoch: 0,
  speed: 1,
  axes: "fixed",
  hidden: [],
  big: null,
  theme: "auto",
  spike: null,
  sequences: null,
  page: "run",
  sort: "",
  filter: "",
};

/** How one part of the view is written ("" = left out) and read (undefined = makes no sense). */
interface Field<T> {
  key: string;
  write(value: T): string;
  read(text: string): T | undefined;
}

const FIELDS: { [Name in keyof ViewState]: Field<ViewState[Name]> } = {
  runs: list("run", (id) => /^[0-9a-zA-Z_-]{1,64}$/.test(id), 2),
  epoch: number("t", 0, LAST_EPOCH, true),
  speed: number("speed", ...SPEEDS, false),
  axes: choice("axes", ["fixed", "follow"]),
  hidden: list("hide", isPanel, PANELS.length),
  big: optional("big", (text) => (isPanel(text) ? text : undefined)),
  theme: choice("theme", ["auto", "light", "dark"]),
  spike: optional("spike", (text) => whole(text, LAST_EPOCH)),
  sequences: optional("seq", (text) => text),
  page: choice("page", ["run", "runs"]),
  sort: text("sort", /^-?[A-Za-z_][\w./]{0,63}$/),
  filter: text("filter", /^[^]+$/),
};
const NAMES = Object.keys(FIELDS) as (keyof ViewState)[];

/** A fragment with its "#", or "" for the default view. */
export function writeView(view: ViewState): string {
  const parts: string[] = [];
  for (const name of NAMES) {
    const { key, write } = FIELDS[name] as Field<unknown>;
    const value = write(view[name]);
    if (value !== write(DEFAULT_VIEW[name])) parts.push(`${key}=${escaped(value)}`);
  }
  return parts.length ? `#v=${VERSION}&${parts.join("&")}` : "";
}

/** The view of a fragment (or query); what it does not say, or says wrongly, has its default. */
export function readView(fragment: string): ViewState {
  const view = structuredClone(DEFAULT_VIEW) as ViewState;
  const said = new URLSearchParams(fragment.slice(0, LONGEST).replace(/^[#?]+/, ""));
  if ((said.get("v") ?? VERSION) !== VERSION) return view;
  for (const name of NAMES) {
    const { key, read } = FIELDS[name] as Field<unknown>;
    const value = said.get(key);
    const meant = value === null || value.length > LONGEST_TEXT ? undefined : read(value);
    if (meant !== undefined) Object.assign(view, { [name]: meant });
  }
  return view;
}

export function sameView(a: ViewState, b: ViewState): boolean {
  return writeView(a) === writeView(b);
}

/** Percent-encoding only where a fragment needs it: a link is read by people too. */
function escaped(value: string): string {
  return encodeURIComponent(value)
    .replace(/%(2C|3A|3B|2F|3E|3C|3D)/gi, (c) => decodeURIComponent(c))
    .replace(/%20/g, "+");
}

function isPanel(text: string): boolean {
  return (PANELS as readonly string[]).includes(text);
}

function whole(text: string, most: number): number | undefined {
  return /^\d{1,8}$/.test(text) && Number(text) <= most ? Number(text) : undefined;
}

function number(key: string, least: number, most: number, integral: boolean): Field<number> {
  const pattern = integral ? /^\d{1,8}$/ : /^\d{1,6}(\.\d{1,6})?$/;
  return {
    key,
    write: String,
    read: (text) => {
      const value = pattern.test(text) ? Number(text) : NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}

function choice<T extends string>(key: string, choices: readonly T[]): Field<T> {
  return { key, write: String, read: (text) => choices.find((each) => each === text) };
}

function text(key: string, pattern: RegExp): Field<string> {
  return { key, write: String, read: (value) => (pattern.test(value) ? value : undefined) };
}

function optional<T extends string | number>(
  key: string,
  read: (text: string) => T | undefined,
): Field<T | null> {
  return { key, write: (value) => (value === null ? "" : String(value)), read };
}

function list(key: string, fits: (item: string) => boolean, most: number): Field<string[]> {
  return {
    key,
    write: (items) => items.join(","),
    read: (text) => {
      const items = [...new Set(text.split(",").filter(fits))].slice(0, most);
      return items.length ? items : undefined;
    },
  };
}
