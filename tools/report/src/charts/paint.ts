// Draws the rows of a pipeline chart. What is outside the window is not looked at; what is narrower than a pixel is drawn
// once per pixel.
import { Lane, Run } from "../data/run";
import { firstAbove } from "../data/search";
import { Density } from "./density";
import {
  causeFill,
  causeSign,
  collectiveFill,
  copyFill,
  hatchOf,
  hatchPattern,
  Hatch,
  inkOf,
  stepFill,
  Theme,
  transferFill,
} from "./palette";
import { Pixels } from "./pixels";
import { DeviceRow, LaneRow } from "./rows";
import { Surface } from "./surface";
import { TimeWindow } from "./window";

export interface PaintOptions {
  causes: boolean; // idle time coloured by cause
  hatches: boolean;
}

interface Box {
  x: number;
  width: number;
  span: number;
}

export class Painter {
  isDense = false; // whether some ops of the last picture were narrower than a pixel
  private readonly density: Density;
  private readonly letters: string[];
  private readonly pixels = new Pixels();

  constructor(
    private readonly run: Run,
    private readonly surface: Surface,
    private readonly window: TimeWindow,
    readonly left: number
  ) {
    this.density = new Density(run);
    this.letters = run.header.words.kinds.map(({ letter }) => letter);
  }

  get plotWidth(): number {
    return Math.max(this.surface.width - this.left - 4, 10);
  }
  get perPixel(): number {
    return this.window.span / this.plotWidth;
  }
  x(time: number): number {
    return this.left + (time - this.window.begin) / this.perPixel;
  }
  time(x: number): number {
    return this.window.begin + (x - this.left) * this.perPixel;
  }

  device(row: DeviceRow, y: number, options: PaintOptions, theme: Theme): void {
    const { begin, end } = this.run.spans;
    const from = firstAbove(
      end,
      this.window.begin,
      this.run.spanBegin[row.device]!,
      this.run.spanBegin[row.device + 1]!
    );
    const to = firstAbove(begin, this.window.end, from, this.run.spanBegin[row.device + 1]!);
    const pen = this.surface.context;
    if (to - from > this.plotWidth * 0.6) {
      this.dense(row, y, options, theme);
      this.isDense = true;
    } else {
      pen.fillStyle = theme.idle;
      pen.fillRect(this.left, y, this.plotWidth, row.compute);
      if (options.causes) this.gaps(row, y);
      this.spans(row, y, from, to, options);
    }
    for (const lane of row.lanes) this.lane(lane, y + lane.y - row.y);
  }

  private dense(row: DeviceRow, y: number, options: PaintOptions, theme: Theme): void {
    const { ratio, context } = this.surface;
    this.pixels.start(Math.round(this.plotWidth * ratio), Math.round(row.compute * ratio), theme.idle);
    this.density.draw(row.device, this.window.begin, this.window.span / this.pixels.width, this.pixels, options.causes);
    this.pixels.show(context, this.left, y, this.plotWidth, row.compute);
  }

  private gaps(row: DeviceRow, y: number): void {
    const { begin, end } = this.run.gaps;
    const last = this.run.gapBegin[row.device + 1]!;
    const pen = this.surface.context;
    pen.font = font;
    for (
      let k = firstAbove(end, this.window.begin, this.run.gapBegin[row.device]!, last);
      k < last && begin[k]! < this.window.end;
      ++k
    ) {
      const x = Math.max(this.x(begin[k]!), this.left);
      const width = Math.min(this.x(end[k]!), this.left + this.plotWidth) - x;
      const cause = this.run.header.words.causes[this.run.mainCauses[k]!]!;
      pen.fillStyle = causeFill(cause);
      pen.fillRect(x, y + row.compute * 0.3, Math.max(width, 0.6), row.compute * 0.4);
      if (width < 12 || row.compute < 20) continue;
      pen.fillStyle = "#000000";
      pen.fillText(causeSign(cause), x + width / 2, y + row.compute / 2 + 0.5);
    }
  }

  private spans(row: DeviceRow, y: number, from: number, to: number, options: PaintOptions): void {
    const table = this.run.spans.table;
    const [kind, stage, piece] = [table.ints("kind"), table.ints("stage"), table.ints("microbatch")];
    const partner = table.ints("partner_kind");
    const [left, right] = [this.left, this.left + this.plotWidth];
    const groups = new Map<string, Box[]>();
    let drawn = -1; // the pixel up to which narrow ones have been drawn
    for (let k = from; k < to; ++k) {
      const x = Math.max(this.x(this.run.spans.begin[k]!), left);
      const width = Math.min(this.x(this.run.spans.end[k]!), right) - x;
      if (width < 1 && x + width <= drawn) continue;
      if (width < 1) drawn = Math.floor(x) + 1;
      const light = this.run.isLight(row.device, stage[k]!, piece[k]!);
      const key = partner[k]! > 0 ? "+" : this.letters[kind[k]!]! + (light ? "-" : "");
      let boxes = groups.get(key);
      if (boxes === undefined) groups.set(key, (boxes = []));
      boxes.push({ x, width: Math.max(width, 1), span: k });
    }
    for (const [key, boxes] of groups) this.boxes(key, boxes, row, y, options);
  }

  private boxes(key: string, boxes: Box[], row: DeviceRow, y: number, options: PaintOptions): void {
    if (key === "+") {
      for (const box of boxes) this.pair(box, row, y);
      return;
    }
    const pen = this.surface.context;
    const ink = inkOf(key[0]!);
    const light = key.length > 1;
    pen.fillStyle = light ? ink.light : ink.fill;
    for (const { x, width } of boxes) pen.fillRect(x, y, width > 4 ? width - 1 : width, row.compute);
    if (options.hatches) this.hatch(hatchOf(key[0]!), boxes, row, y);
    pen.fillStyle = light ? ink.lightText : ink.text;
    for (const box of boxes) this.label(key[0]!, box, y + row.compute / 2, row.compute);
  }

  private hatch(hatch: Hatch, boxes: Box[], row: DeviceRow, y: number): void {
    const pattern = hatch === "none" ? null : hatchPattern(this.surface.context, hatch);
    if (pattern === null) return;
    this.surface.context.fillStyle = pattern;
    for (const { x, width } of boxes) if (width > 3) this.surface.context.fillRect(x, y, width - 1, row.compute);
  }

  // The two ops of a pair above each other.
  private pair(box: Box, row: DeviceRow, y: number): void {
    const table = this.run.spans.table;
    const members = [
      { kind: table.ints("kind")[box.span]!, stage: "stage", piece: "microbatch" },
      { kind: table.ints("partner_kind")[box.span]! - 1, stage: "partner_stage", piece: "partner_microbatch" },
    ];
    const height = row.compute / 2;
    const pen = this.surface.context;
    members.forEach(({ kind, stage, piece }, k) => {
      const letter = this.letters[kind]!;
      const ink = inkOf(letter);
      const microbatch = table.ints(piece)[box.span]!;
      const light = this.run.isLight(row.device, table.ints(stage)[box.span]!, microbatch);
      pen.fillStyle = light ? ink.light : ink.fill;
      pen.fillRect(box.x, y + k * height, box.width > 4 ? box.width - 1 : box.width, height);
      pen.fillStyle = light ? ink.lightText : ink.text;
      this.labelText(letter, microbatch, box, y + (k + 0.5) * height, height);
    });
  }

  private label(letter: string, box: Box, middle: number, height: number): void {
    this.labelText(letter, this.run.spans.table.ints("microbatch")[box.span]!, box, middle, height);
  }

  // "F12", "12" or "F", whichever fits.
  private labelText(letter: string, piece: number, box: Box, middle: number, height: number): void {
    if (box.width < 9 || height < 11) return;
    const pen = this.surface.context;
    pen.font = font;
    const number = this.run.microbatchName(piece);
    const text = [letter + number, number, letter].find((label) => label.length * digitWidth + 3 <= box.width);
    if (text !== undefined) pen.fillText(text, box.x + (box.width - 1) / 2, middle + 0.5);
  }

  private lane(lane: LaneRow, y: number): void {
    const { begin, end, table } = this.run.times(lane.lane);
    const pen = this.surface.context;
    pen.fillStyle = lane.lane === Lane.transfer ? transferFill : lane.lane === Lane.copy ? copyFill : stepFill;
    const [left, right] = [this.left, this.left + this.plotWidth];
    const narrow = this.longestIn(lane) < this.perPixel;
    const collective = lane.lane === Lane.step ? table.ints("lane") : undefined;
    // Rows overlap, so their ends are in no order: those that began long before are looked at, too.
    let k = this.beginningAt(lane, this.window.begin - this.longestIn(lane), 0);
    let [from, to] = [-1, -1]; // what is to be drawn next, grown as long as rows touch
    for (; k < lane.order.length; ++k) {
      const row = lane.order[k]!;
      if (begin[row]! > this.window.end) break;
      const x = Math.max(this.x(begin[row]!), left);
      const until = Math.max(Math.min(this.x(end[row]!), right), x + 1);
      if (this.x(end[row]!) < left || until <= to || end[row] === begin[row]) continue;
      const other = collective !== undefined && pen.fillStyle !== (collective[row] === 1 ? collectiveFill : stepFill);
      if (!narrow || other || x > to + 0.5) {
        if (to > from) pen.fillRect(from, y, to - from, lane.height);
        from = x;
      }
      if (collective !== undefined) pen.fillStyle = collective[row] === 1 ? collectiveFill : stepFill;
      to = until;
      if (narrow) k = Math.max(k, this.beginningAt(lane, this.time(to), k) - 1);
    }
    if (to > from) pen.fillRect(from, y, to - from, lane.height);
  }

  private longestIn(lane: LaneRow): number {
    let longest = this.longest.get(lane);
    if (longest === undefined) {
      const { begin, end } = this.run.times(lane.lane);
      longest = 0;
      for (const row of lane.order) longest = Math.max(longest, end[row]! - begin[row]!);
      this.longest.set(lane, longest);
    }
    return longest;
  }

  // The first in a lane's order, from `low` on, that begins at `time` or later; likely near `low`.
  private beginningAt(lane: LaneRow, time: number, low: number): number {
    const { begin } = this.run.times(lane.lane);
    const { order } = lane;
    let step = 1;
    for (; low + step < order.length && begin[order[low + step]!]! < time; step *= 2) low += step;
    for (let high = Math.min(low + step, order.length); low < high; ) {
      const middle = (low + high) >>> 1;
      if (begin[order[middle]!]! >= time) high = middle;
      else low = middle + 1;
    }
    return low;
  }
  private readonly longest = new Map<LaneRow, number>();
}

export const font = "11px system-ui, sans-serif";
const digitWidth = 6.6;
