// A picture of the whole stage, of any size: what stands on it, drawn with any pen. It knows nothing
// of the page's elements.

import type { Box } from "../drawing/axes";
import type { Pen, TextStyle } from "../drawing/pen";
import { textWidth } from "../drawing/text";
import type { Mark } from "../model/marks";
import { percent, short } from "../model/number-text";
import type { Palette } from "../model/palette";
import { phaseAt } from "../model/phase-bands";
import type { Panel, ViewState } from "../model/types";
import { weightsNote } from "../model/weights-note";
import { painterOf, TITLES } from "../panels/all-panels";
import type { Frame, Painter } from "../panels/painter";
import { halfTitle } from "../panels/panel-grid";
import { planeShare } from "../panels/panel-notes";
import { slotEpoch, sumKindOf, verdictOf, type Slot } from "../state/page-state";
import { differing } from "../state/difference";
import { pictureScale } from "../state/presentation";
import {
  readableSize,
  stageLayout,
  type PanelPlace,
  type StageLayout,
  type StageSize,
} from "./stage-layout";
import { TrackPainter } from "./track-painter";

/** What is to be seen, apart from the moment. */
export interface StageView {
  name: string; // of the folder of runs
  slots: readonly Slot[];
  panels: readonly (readonly Panel[])[]; // of each slot
  big: boolean; // one panel alone, enlarged
  presenting: boolean;
  axes: ViewState["axes"];
  palette: Palette;
  mark(slot: Slot): Mark | null;
}

/** A moment of a film: axes glide by its time, not by the clock's. */
export interface StageMoment {
  epoch: number;
  time: number; // milliseconds
}

/** A painter and the place where it paints. */
export interface StagePicture {
  box: Box;
  painter: Painter;
  frame(moment: StageMoment): Frame;
}

export class StageComposer {
  readonly pictures: readonly StagePicture[];
  readonly size: StageSize;
  private readonly layout: StageLayout;

  constructor(
    private readonly view: StageView,
    wanted: StageSize,
  ) {
    const halves = view.panels.map((panels) => panels.length);
    const contents = { halves, presenting: view.presenting };
    this.size = readableSize(wanted, contents);
    this.layout = stageLayout(this.size.width, this.size.height, contents);
    this.pictures = [...this.panelPictures(), this.trackPicture()];
  }

  get palette(): Palette {
    return this.view.palette;
  }

  /** Moves the axes on to a moment, and with them what the maps are wanted for. */
  settle(moment: StageMoment): void {
    for (const { painter, frame } of this.pictures) painter.key(frame(moment));
  }

  /** What stays as it is through a film. */
  ground(pen: Pen): void {
    const { colours } = this.palette;
    pen.rect(0, 0, this.size.width, this.size.height, colours.page);
    this.layout.halves.forEach((half, i) =>
      half.panels.forEach((place, j) => this.panel(pen, place, this.view.panels[i]![j]!)),
    );
    this.head(pen);
    this.boxed(pen, this.layout.track);
  }

  /** The texts that change with the epoch, or lie over a picture. */
  texts(pen: Pen, moment: StageMoment): void {
    this.layout.halves.forEach(({ title, panels }, i) => {
      const slot = this.view.slots[i]!;
      if (title) this.halfTitle(pen, title, slot, moment.epoch);
      panels.forEach((place, j) => this.note(pen, place, this.view.panels[i]![j]!, slot));
    });
    this.told(pen, moment.epoch);
  }

  /** A word on what a picture shows, above it. */
  private panel(pen: Pen, { frame, title }: PanelPlace, name: Panel): void {
    const { colours } = this.palette;
    this.boxed(pen, frame);
    const heading = TITLES[name];
    const style = { colour: colours.ink, size: 11.5 * this.layout.type, bold: true };
    const y = middle(title);
    const right = title.x + title.width - 6;
    const [text, end] = fitted(heading.title, style, title.x + 7, right);
    pen.text(text, title.x + 7, y, style);
    const formula = { colour: colours.quiet, size: 11 * this.layout.type, italic: true };
    if (end + 6 + textWidth(heading.formula, formula) < right)
      pen.text(heading.formula, end + 6, y, formula);
  }

  /** That a plane is a projection: painters leave room for it above their points. */
  private note(pen: Pen, { picture }: PanelPlace, name: Panel, slot: Slot): void {
    const share = planeShare(name, slot);
    if (share === null) return;
    const [right, top] = [picture.x + picture.width - 9, picture.y + 7 * this.layout.type];
    const style = { colour: this.palette.colours.quiet, size: 9.5 * this.layout.type };
    pen.text(`plane, ${share}`, right, top, { ...style, anchor: "end" });
  }

  private head(pen: Pen): void {
    const { colours } = this.palette;
    const { head, type } = this.layout;
    const bold = { colour: colours.ink, size: 13 * type, bold: true };
    const quiet = { colour: colours.quiet, size: 12 * type };
    const ending = endingOf(this.view.slots);
    const right = head.x + head.width;
    if (ending) pen.text(ending, right, middle(head), { ...quiet, anchor: "end" });
    const limit = ending ? right - textWidth(ending, quiet) - 16 : right;
    const where = `${this.view.name} › ${namesOf(this.view.slots)}`;
    const [text] = fitted(where, bold, head.x + 2, limit);
    pen.text(text, head.x + 2, middle(head), bold);
  }

  private halfTitle(pen: Pen, box: Box, slot: Slot, epoch: number): void {
    const style = { colour: this.palette.colours.quiet, size: 12 * this.layout.type, bold: true };
    const shown = slotEpoch(slot, epoch);
    const staying = slot.role === "run" && epoch > shown ? `, stays at epoch ${shown}` : "";
    const [text] = fitted(halfTitle(slot, shown) + staying, style, box.x + 2, box.x + box.width);
    pen.text(text, box.x + 2, middle(box), style);
  }

  /** What matters now: epoch, phase, losses and accuracies. */
  private told(pen: Pen, epoch: number): void {
    const { colours } = this.palette;
    const { told, type } = this.layout;
    const [size, y] = [12 * type, middle(told)];
    const right = told.x + told.width;
    let x = told.x + 2;
    const write = (text: string, style: Omit<TextStyle, "size">, gap: number): void => {
      const width = textWidth(text, { size, ...style });
      if (!text || x + width > right) return;
      pen.text(text, x, y, { size, ...style });
      x += width + gap * type;
    };
    const { slots } = this.view;
    const after = slots.find((slot) => slot.role === "after");
    const slot = after ?? slots[0]!;
    const most = `epoch ${slots.reduce((most, each) => Math.max(most, each.info.epochs), 0)}`;
    const room = textWidth(most, { size, bold: true }); // so that what follows stands still
    const start = x;
    write(`epoch ${epoch}`, { colour: colours.ink, bold: true }, 0);
    x = start + room + 10 * type;
    const analysis = slot.analysis.value;
    write(analysis ? (phaseAt(analysis, epoch)?.name ?? "") : "", { colour: colours.quiet }, 14);
    if (slots[1]?.role === "run") write("left:", { colour: colours.quiet }, 6);
    for (const set of ["train", "test"] as const)
      write(lossTold(slot, set, slotEpoch(slot, epoch)), { colour: colours.curves[set] }, 14);
    write(notKept(slot, slotEpoch(slot, epoch)), { colour: colours.warning }, 14);
    if (slots[1]?.role === "run") write("— left run ┄ right run", { colour: colours.quiet }, 0);
  }

  private boxed(pen: Pen, { x, y, width, height }: Box): void {
    const { colours } = this.palette;
    pen.rect(x, y, width, height, colours.border);
    pen.rect(x + 1, y + 1, width - 2, height - 2, colours.panel);
  }

  private panelPictures(): StagePicture[] {
    const { view, layout } = this;
    return layout.halves.flatMap((half, i) =>
      half.panels.map(({ picture }, j) => {
        const slot = view.slots[i]!;
        const scale = pictureScale(picture.width, picture.height, view.presenting);
        return this.picture(picture, painterOf(view.panels[i]![j]!), slot, scale);
      }),
    );
  }

  private trackPicture(): StagePicture {
    const { x, y, width, height } = this.layout.track;
    const box = { x: x + 1, y: y + 1, width: width - 2, height: height - 2 };
    return this.picture(box, new TrackPainter(), this.view.slots[0]!, this.layout.type);
  }

  private picture(box: Box, painter: Painter, slot: Slot, scale: number): StagePicture {
    const { view, size } = this;
    const whole = onPixels(box, size.ratio);
    const still = {
      width: whole.width / scale,
      height: whole.height / scale,
      ratio: size.ratio * scale,
      big: view.big,
      slot,
      axes: view.axes,
      together: view.slots,
      mark: view.mark(slot),
      palette: view.palette,
      difference: differing.value,
    };
    const track = painter instanceof TrackPainter;
    const frame = ({ epoch, time }: StageMoment): Frame => ({
      ...still,
      scene: slot.scene.value,
      epoch: track ? epoch : slotEpoch(slot, epoch),
      time,
    });
    return { box: whole, painter, frame };
  }
}

const middle = (box: Box): number => box.y + box.height / 2;

/** A box whose edges lie between pixels. */
function onPixels({ x, y, width, height }: Box, ratio: number): Box {
  const whole = (value: number): number => Math.round(value * ratio) / ratio;
  const [left, top] = [whole(x), whole(y)];
  return { x: left, y: top, width: whole(x + width) - left, height: whole(y + height) - top };
}

/** A text, cut if it would go beyond `right`; and where it ends. */
function fitted(
  text: string,
  style: Omit<TextStyle, "colour">,
  x: number,
  right: number,
): [string, number] {
  let cut = text;
  while (cut.length > 1 && x + textWidth(cut, style) > right) cut = `${cut.slice(0, -2)}…`;
  return [cut, x + textWidth(cut, style)];
}

/** The run, or both of two that are compared. */
export function namesOf(all: readonly Slot[]): string {
  const names = all.map(
    ({ info, live }) => `seed ${info.seed} · ${live?.name ?? info.id.slice(0, 6)}`,
  );
  return [...new Set(names)].join(" | ");
}

/** What the analysis calls a run at its end; of two that are compared it would be ambiguous. */
function endingOf(slots: readonly Slot[]): string {
  const [slot] = slots;
  if (!slot || slots[1]?.role === "run") return "";
  const found = [sumKindOf(slot), verdictOf(slot)].filter((each) => each !== null);
  return found.length ? `at the end: ${found.join(" · ")}` : "";
}

/** That the weights are those of another epoch, where there are no others. */
function notKept({ scene, notReplayable }: Slot, wanted: number): string {
  const shown = scene.value;
  if (shown?.source !== "nearest") return "";
  const why = notReplayable.value;
  return (
    weightsNote({ wanted, shown, awaited: null, reached: null, recomputable: false, why })?.text ??
    ""
  );
}

function lossTold(slot: Slot, set: "train" | "test", epoch: number): string {
  const [loss, accuracy] = [slot.curves[`${set}_loss`], slot.curves[`${set}_accuracy`]];
  const value = loss?.[epoch];
  if (value === undefined || Number.isNaN(value)) return "";
  const right = accuracy?.[epoch];
  const told = right === undefined || Number.isNaN(right) ? "" : ` (${percent(right)})`;
  return `${set} ${short(value)}${told}`;
}
