// Where everything stands on a picture of the stage: one line about the run, the panels of one run or
// of two halves, and the time bar. Only numbers, so that a picture of any size can be laid out.

import type { Box } from "../drawing/axes";
import { presentedColumns } from "../panels/presented-grid";

export interface StageContents {
  halves: readonly number[]; // how many panels each of them shows
  presenting: boolean;
}

export interface PanelPlace {
  frame: Box;
  title: Box;
  picture: Box;
}

export interface HalfPlace {
  title: Box | null; // only one of two has one
  panels: PanelPlace[];
}

export interface StageLayout {
  type: number; // how much larger than usual letters are
  head: Box;
  halves: HalfPlace[];
  told: Box; // epoch and losses
  track: Box;
}

export interface StageSize {
  width: number; // as a page would say it
  height: number;
  ratio: number; // pixels of the picture for each of these
}

const READABLE = { width: 150, height: 110 }; // of a panel's picture
const FINER = 1.05; // step by step

/** The same pixels with finer units where panels would be too small to be read: letters get smaller,
 * but not below a pixel for each unit, and all else gets more room. */
export function readableSize(size: StageSize, contents: StageContents): StageSize {
  let found = size;
  while (found.ratio >= FINER && !isReadable(found, contents))
    found = {
      width: found.width * FINER,
      height: found.height * FINER,
      ratio: found.ratio / FINER,
    };
  return found;
}

function isReadable({ width, height }: StageSize, contents: StageContents): boolean {
  return stageLayout(width, height, contents).halves.every(({ panels }) =>
    panels.every(
      ({ picture }) => picture.width >= READABLE.width && picture.height >= READABLE.height,
    ),
  );
}

const GAP = 8;
const LINE = 22; // of text
const EDGE = 1; // of a panel around its picture
const SHAPE = 1.2; // width over height that a panel looks best at, its title included
const TRACK = { share: 0.13, least: 56, most: 120 }; // of the height; pixels

export function stageLayout(
  width: number,
  height: number,
  { halves, presenting }: StageContents,
): StageLayout {
  const type = presenting ? within(height / 540, 1, 2) : 1;
  const [gap, line] = [GAP, LINE * type];
  const inner = { x: gap, y: gap, width: width - 2 * gap, height: height - 2 * gap };
  const track = within(height * TRACK.share * type, TRACK.least, TRACK.most * type);
  const bottom = inner.y + inner.height;
  const top = inner.y + line + gap / 2;
  const room = { ...inner, y: top, height: bottom - track - line - gap - top };
  const split = halvesOf(room, halves.length, gap);
  return {
    type,
    head: { ...inner, height: line },
    halves: split.map((box, i) => half(box, halves[i]!, split.length > 1, line)),
    told: { ...inner, y: bottom - track - line, height: line },
    track: { ...inner, y: bottom - track, height: track },
  };
}

/** Side by side, or one above the other where there is more room that way. */
function halvesOf(room: Box, count: number, gap: number): Box[] {
  const across = room.width >= room.height;
  const size = ((across ? room.width : room.height) - (count - 1) * gap) / count;
  return Array.from({ length: count }, (_, i) =>
    across
      ? { ...room, x: room.x + i * (size + gap), width: size }
      : { ...room, y: room.y + i * (size + gap), height: size },
  );
}

function half(box: Box, count: number, titled: boolean, line: number): HalfPlace {
  const title = titled ? { ...box, height: line } : null;
  const below = titled ? { ...box, y: box.y + line, height: box.height - line } : box;
  return { title, panels: grid(below, count).map((frame) => panel(frame, line)) };
}

function grid(room: Box, count: number): Box[] {
  const columns = presentedColumns(count, room.width, room.height, SHAPE);
  const rows = Math.ceil(count / columns);
  const width = (room.width - (columns - 1) * GAP) / columns;
  const height = (room.height - (rows - 1) * GAP) / rows;
  return Array.from({ length: count }, (_, i) => ({
    x: room.x + (i % columns) * (width + GAP),
    y: room.y + Math.floor(i / columns) * (height + GAP),
    width,
    height,
  }));
}

/** However small a panel is, it has a picture. */
function panel(frame: Box, line: number): PanelPlace {
  const inner = { x: frame.x + EDGE, y: frame.y + EDGE, width: frame.width - 2 * EDGE };
  const title = Math.min(line, frame.height / 3);
  return {
    frame,
    title: { ...inner, height: title },
    picture: { ...inner, y: inner.y + title, height: frame.height - title - 2 * EDGE },
  };
}

const within = (value: number, least: number, most: number): number =>
  Math.max(least, Math.min(most, value));
