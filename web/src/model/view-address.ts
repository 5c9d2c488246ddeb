// The whole view as a short text in the URL's fragment, and back.
//
// `#v=1&run=0f3a...&t=466&speed=1&axes=follow&hide=&theme=auto`: what has its default is left out,
// but for preferences. What a URL does not say of those is as the reader prefers, so one that is to
// show all readers the same, and its writer too after a change of mind, says all of them.
// Anything can stand in a URL: unknown keys and values that make no sense are passed over, one by
// one, and never fail.

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
  axes: "follow",
  colour: "multiset",
  hidden: [],
  big: null,
  theme: "auto",
  spike: null,
  held: null,
  difference: "off",
  linear: [],
  sequences: null,
  page: "run",
  guide: null,
  mode: "explore",
  presented: ["attention", "sequence", "decision_map", "probabilities"], // where it looks, to what it answers
  sort: "",
  filter: "",
};

/** What is a matter of taste: remembered for URLs that do not say it. */
export const PREFERENCES = ["speed", "axes", "hidden", "theme"] as const;
export type Preferences = Pick<ViewState, (typeof PREFERENCES)[number]>;

/** How one part of the view is written and read (undefined = makes no sense). */
interface Field<T> {
  key: string;
  write(value: T): string;
  read(text: string): T | undefined;
}

const FIELDS: { [Name in keyof ViewState]: Field<ViewState[Name]> } = {
  runs: list("run", (id) => /^[0-9a-zA-Z_-]{1,64}$/.test(id), 2),
  epoch: number("t", 0, LAST_EPOCH, true),
  speed: number("speed", ...SPEEDS, false),
  axes: choice("axes", ["follow", "fixed"]),
  colour: choice("colour", ["multiset", "sum"]),
  hidden: list("hide", isPanel, PANELS.length),
  big: optional("big", (text) => (isPanel(text) ? text : undefined)),
  theme: choice("theme", ["auto", "light", "dark"]),
  spike: optional("spike", (text) => whole(text, LAST_EPOCH)),
  held: optional("held", (text) => whole(text, LAST_EPOCH)),
  difference: choice("difference", ["off", "on"]),
  linear: list("linear", isPanel, PANELS.length),
  sequences: optional("seq", (text) => text),
  page: choice("page", ["run", "runs", "seeds"]),
  guide: optional("guide", (text) => (/^[a-z-]{1,32}$/.test(text) ? text : undefined)),
  mode: choice("mode", ["explore", "present"]),
  presented: list("panels", isPanel, PANELS.length),
  sort: text("sort", /^-?[A-Za-z_][\w./]{0,63}$/),
  filter: text("filter", /^[^]+$/),
};
const NAMES = Object.keys(FIELDS) as (keyof ViewState)[];

/** A fragment with its "#". */
export function writeView(view: ViewState): string {
  const said = NAMES.filter((name) => isPreference(name) || differs(name, view));
  return `#${[`v=${VERSION}`, ...said.map((name) => written(name, view[name]))].join("&")}`;
}

/** The view of a fragment (or query); what it does not say, or says wrongly, is as preferred, and
 * what is not preferred either has its default. */
export function readView(fragment: string, preferred: Partial<Preferences> = {}): ViewState {
  const plain = structuredClone(DEFAULT_VIEW) as ViewState;
  return { ...plain, ...preferred, ...saidIn(fragment) };
}

/** Preferences as a text to keep, in the manner of a fragment; reading it gets the same checks. */
export function writePreferences(preferred: Partial<Preferences>): string {
  const said = PREFERENCES.filter((name) => preferred[name] !== undefined);
  return said.map((name) => written(name, preferred[name])).join("&");
}

export function readPreferences(text: string): Partial<Preferences> {
  return preferredIn(saidIn(text));
}

/** The preferences among parts of a view. */
export function preferredIn(part: Partial<ViewState>): Partial<Preferences> {
  const found = PREFERENCES.filter((name) => part[name] !== undefined);
  return Object.fromEntries(found.map((name) => [name, part[name]]));
}

function isPreference(name: keyof ViewState): boolean {
  return (PREFERENCES as readonly string[]).includes(name);
}

function differs(name: keyof ViewState, view: ViewState): boolean {
  return written(name, view[name]) !== written(name, DEFAULT_VIEW[name]);
}

function written(name: keyof ViewState, value: unknown): string {
  const { key, write } = FIELDS[name] as Field<unknown>;
  return `${key}=${escaped(write(value))}`;
}

/** What a text says of the view and what makes sense of it. */
function saidIn(text: string): Partial<ViewState> {
  const said = new URLSearchParams(text.slice(0, LONGEST).replace(/^[#?]+/, ""));
  if ((said.get("v") ?? VERSION) !== VERSION) return {};
  const found: [string, unknown][] = NAMES.map((name) => {
    const { key, read } = FIELDS[name] as Field<unknown>;
    const value = said.get(key);
    return [name, value === null || value.length > LONGEST_TEXT ? undefined : read(value)];
  });
  return Object.fromEntries(found.filter(([, meant]) => meant !== undefined));
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
      if (text === "") return []; // none, and that is said
      const items = [...new Set(text.split(",").filter(fits))].slice(0, most);
      return items.length ? items : undefined;
    },
  };
}
