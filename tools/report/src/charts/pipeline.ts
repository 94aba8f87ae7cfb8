// PipelineChart: every op of a run on its device, time to the right. Zoom, pan, point, select, follow.
import { Lane, Run, Thing } from "../data/run";
import { spanName } from "../text/describe";
import { durationScale, scaled } from "../text/format";
import { Links } from "./links";
import { font, Painter, PaintOptions } from "./paint";
import { pathStroke, Theme, themeOf } from "./palette";
import { computeAt, findOp, thingAt } from "./pick";
import { axisHeight, DeviceRow, Rows } from "./rows";
import { Surface } from "./surface";
import { bindKeys, bindPointer } from "./navigate";
import { ticks, TimeWindow } from "./window";

const none: Thing = { lane: Lane.nothing, index: -1 };

export interface PipelineOptions extends PaintOptions {
  path: boolean; // the critical path is outlined
}

export class PipelineChart {
  readonly surface: Surface;
  readonly options: PipelineOptions = { causes: false, hatches: false, path: false };
  selected: Thing = none;
  hovered: Thing = none;
  drawTime = 0; // ms that the last drawing took
  onSelect: (thing: Thing) => void = () => undefined;
  onHover: (thing: Thing) => void = () => undefined;
  onDense: (dense: boolean) => void = () => undefined;
  readonly painter: Painter;
  private readonly rows: Rows;
  private readonly links: Links;
  private chain: Thing[] = [];
  private path: Thing[] | undefined;

  constructor(host: Element, readonly run: Run, readonly window: TimeWindow, label: string, mostHeight = 620) {
    this.rows = new Rows(run, true);
    this.links = new Links(run);
    this.surface = new Surface(host, label, this.rows.height, mostHeight, () => this.draw());
    const digits = String(Math.max(run.devices - 1, 0)).length;
    this.painter = new Painter(run, this.surface, window, 14 + 8 * digits);
    window.onChange(() => this.surface.request());
    bindPointer(this);
    bindKeys(this);
    this.surface.redraw();
  }

  set(options: Partial<PipelineOptions>): void {
    Object.assign(this.options, options);
    this.surface.request();
  }

  pick(x: number, y: number): Thing {
    const inside = y + this.surface.top;
    const row = y < axisHeight ? undefined : this.rows.at(inside);
    if (row === undefined || x < this.painter.left) return none;
    return thingAt(this.run, row, inside - row.y, this.painter.time(x), this.painter.perPixel * 2) ?? none;
  }

  hover(thing: Thing): void {
    if (thing.lane === this.hovered.lane && thing.index === this.hovered.index) return;
    this.hovered = thing;
    this.onHover(thing);
    this.surface.request();
  }

  select(thing: Thing): void {
    this.selected = thing;
    this.chain = thing.lane === Lane.gap ? [] : this.run.chain(thing);
    if (thing.lane !== Lane.nothing) {
      const times = this.run.times(thing.lane);
      this.window.reveal(times.begin[thing.index]!, times.end[thing.index]!);
      const row = this.rows.devices[this.deviceOf(thing)];
      if (row !== undefined) this.surface.reveal(row.y - axisHeight, row.height + axisHeight);
    }
    this.onSelect(thing);
    this.surface.request();
  }

  // What the selected one waited for.
  follow(): void {
    const gate = this.run.gateOf(this.selected);
    if (gate.lane !== Lane.nothing && gate.index >= 0) this.select(gate);
  }

  // The next (1) or previous (-1) op on the device of the selected one.
  step(by: number): void {
    const { lane, index } = this.selected;
    if (lane !== Lane.span) return this.selectAt(0, this.window.begin);
    const device = this.run.spans.device[index]!;
    const next = index + by;
    if (next >= this.run.spanBegin[device]! && next < this.run.spanBegin[device + 1]!)
      this.select({ lane, index: next });
  }

  // What runs at the same time on the device above (-1) or below (1).
  stepDevice(by: number): void {
    if (this.selected.lane === Lane.nothing) return this.selectAt(0, this.window.begin);
    const times = this.run.times(this.selected.lane);
    const middle = (times.begin[this.selected.index]! + times.end[this.selected.index]!) / 2;
    this.selectAt(this.deviceOf(this.selected) + by, middle);
  }

  // The next (1) or previous (-1) idle time of the selected one's device; of any, where nothing is selected.
  stepGap(by: number): void {
    const device = this.selected.lane === Lane.nothing ? 0 : this.deviceOf(this.selected);
    const [from, to] = [this.run.gapBegin[device]!, this.run.gapBegin[device + 1]!];
    const { begin } = this.run.gaps;
    const at =
      this.selected.lane === Lane.nothing ? -1 : this.run.times(this.selected.lane).begin[this.selected.index]!;
    let next = -1;
    for (let k = from; k < to; ++k) {
      if (by > 0 && begin[k]! > at) return this.select({ lane: Lane.gap, index: k });
      if (by < 0 && begin[k]! < at) next = k;
    }
    if (next >= 0) this.select({ lane: Lane.gap, index: next });
  }

  // Selects the next op of that name; false where there is none.
  search(text: string): boolean {
    const from = this.selected.lane === Lane.span ? this.selected.index : -1;
    const span = findOp(this.run, text, from, (k) => spanName(this.run, k));
    if (span >= 0) this.select({ lane: Lane.span, index: span });
    return span >= 0;
  }

  deviceOf(thing: Thing): number {
    if (thing.lane === Lane.transfer) return this.run.table("transfers").ints("from_device")[thing.index]!;
    return this.run.times(thing.lane).device[thing.index] ?? 0;
  }

  private selectAt(device: number, time: number): void {
    if (device < 0 || device >= this.run.devices) return;
    const thing = computeAt(this.run, device, time);
    if (thing !== undefined) this.select(thing);
  }

  private draw(): void {
    const started = performance.now();
    const pen = this.surface.context;
    const theme = themeOf(this.surface.canvas);
    pen.fillStyle = theme.background;
    pen.fillRect(0, 0, this.surface.width, this.surface.height);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const top = this.surface.top;
    this.painter.isDense = false;
    for (const row of this.rows.devices) {
      if (row.y + row.height < top || row.y > top + this.surface.height) continue;
      this.painter.device(row, row.y - top, this.options, theme);
      this.name(row, row.y - top, theme);
    }
    if (this.options.path) this.outlines((this.path ??= this.run.path()), 1.5, [3, 2]);
    this.outlines(this.chain.slice(0, 4000), 2, []);
    this.arrows(theme);
    this.outline(this.hovered, theme.text, 1);
    this.outline(this.selected, theme.text, 2.5);
    this.axis(theme);
    this.cursor(theme);
    this.marked(theme);
    this.onDense(this.painter.isDense);
    this.drawTime = performance.now() - started;
  }

  private name(row: DeviceRow, y: number, theme: Theme): void {
    const pen = this.surface.context;
    pen.font = font;
    pen.fillStyle = theme.text;
    pen.textAlign = "left";
    pen.fillText(`d${row.device}`, 4, y + row.compute / 2);
    pen.textAlign = "center";
  }

  // Where a thing is drawn.
  private boxOf(thing: Thing): { x: number; y: number; width: number; height: number } | undefined {
    if (thing.lane === Lane.nothing || thing.lane === Lane.collective || thing.index < 0) return undefined;
    const times = this.run.times(thing.lane);
    const row = this.rows.devices[this.deviceOf(thing)]!;
    const lane = row.lanes.find((one) => one.lane === thing.lane);
    const onCompute = thing.lane === Lane.span || thing.lane === Lane.gap;
    if (!onCompute && lane === undefined) return undefined;
    const x = Math.max(this.painter.x(times.begin[thing.index]!), this.painter.left - 2);
    const until = Math.min(this.painter.x(times.end[thing.index]!), this.surface.width + 2);
    if (until < this.painter.left || x > this.surface.width) return undefined;
    const y = (onCompute ? row.y : lane!.y) - this.surface.top;
    return { x, y, width: Math.max(until - x - 1, 1), height: onCompute ? row.compute : lane!.height };
  }

  private outline(thing: Thing, colour: string, width: number): void {
    const box = this.boxOf(thing);
    if (box === undefined) return;
    const pen = this.surface.context;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.strokeRect(box.x, box.y, box.width, box.height);
  }

  private outlines(things: Thing[], width: number, dash: number[]): void {
    const pen = this.surface.context;
    pen.strokeStyle = pathStroke;
    pen.lineWidth = width;
    pen.setLineDash(dash);
    pen.beginPath();
    let last = -10;
    for (const thing of things) {
      const box = this.boxOf(thing);
      if (box === undefined || (box.width < 2 && Math.abs(box.x - last) < 2)) continue;
      pen.rect(box.x + 1, box.y + 1, Math.max(box.width - 2, 0.5), box.height - 2);
      last = box.x;
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  // From the makers of the selected op's inputs to it, and from it to who uses its output.
  private arrows(theme: Theme): void {
    if (this.selected.lane !== Lane.span) return;
    const table = this.run.table("transfers");
    for (const row of this.links.inputs(this.selected.index))
      this.arrow(table.ints("from_span")[row]!, this.selected.index, theme);
    for (const row of this.links.outputs(this.selected.index))
      this.arrow(this.selected.index, table.ints("to_span")[row]!, theme);
  }

  private arrow(from: number, to: number, theme: Theme): void {
    if (from < 0 || to < 0) return;
    const [a, b] = [this.boxOf({ lane: Lane.span, index: from }), this.boxOf({ lane: Lane.span, index: to })];
    if (a === undefined || b === undefined) return;
    const pen = this.surface.context;
    const [x0, y0, x1, y1] = [a.x + a.width, a.y + a.height / 2, b.x, b.y + b.height / 2];
    pen.strokeStyle = pen.fillStyle = theme.accent;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.bezierCurveTo(x0 + 14, y0, x1 - 14, y1, x1, y1);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x1 + 1, y1);
    pen.lineTo(x1 - 6, y1 - 4);
    pen.lineTo(x1 - 6, y1 + 4);
    pen.fill();
  }

  private axis(theme: Theme): void {
    const pen = this.surface.context;
    pen.fillStyle = theme.background;
    pen.fillRect(0, 0, this.surface.width, axisHeight);
    drawAxis(pen, this.painter, this.window, axisHeight - 8, theme);
  }

  private marked(theme: Theme): void {
    if (this.window.marked === undefined) return;
    const [begin, end] = this.window.marked.map((time) => Math.max(this.painter.x(time), this.painter.left));
    const pen = this.surface.context;
    pen.fillStyle = theme.accent;
    pen.globalAlpha = 0.25;
    pen.fillRect(begin!, 0, end! - begin!, this.surface.height);
    pen.globalAlpha = 1;
  }

  private cursor(theme: Theme): void {
    if (this.window.cursor === undefined) return;
    const x = this.painter.x(this.window.cursor);
    if (x < this.painter.left || x > this.surface.width) return;
    const pen = this.surface.context;
    pen.fillStyle = theme.accent;
    pen.fillRect(x, axisHeight - 4, 1, this.surface.height);
  }
}

// Times along the top of a chart.
export function drawAxis(
  pen: CanvasRenderingContext2D,
  painter: Painter,
  window: TimeWindow,
  y: number,
  theme: Theme
): void {
  const scale = durationScale(Math.max(window.end, 1));
  const list = ticks(window.begin, window.end, painter.perPixel, 80);
  const step = list.length > 1 ? list[1]! - list[0]! : window.span;
  const decimals = Math.max(0, Math.ceil(Math.log10(scale.divisor / step) - 1e-9));
  pen.font = font;
  pen.fillStyle = theme.faint;
  pen.textAlign = "left";
  for (const at of list) {
    const x = painter.x(at);
    pen.fillRect(x, y - 2, 1, 8);
    if (x < painter.left + painter.plotWidth - 50)
      pen.fillText(`${scaled(at, { ...scale, decimals })} ${scale.unit}`, x + 3, y);
  }
  pen.textAlign = "center";
}
