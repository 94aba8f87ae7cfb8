// MemoryChart: what each device holds over time, stacked by category, on the time axis of the pipeline chart above it.
import { Run } from "../data/run";
import { beginOfDevices, firstAbove, nextAbove } from "../data/search";
import { size, spaced } from "../text/format";
import { font } from "./paint";
import { categoryFill, Theme, themeOf } from "./palette";
import { pixelOf, Pixels } from "./pixels";
import { Surface } from "./surface";
import { TimeWindow } from "./window";

export interface MemoryPeak {
  device: number;
  at: number;
  bytes: number;
}

const block = 64;

export class MemoryChart {
  readonly surface: Surface;
  readonly categories: string[];
  onPoint: (device: number, time: number) => void = () => undefined;
  private readonly at: Float64Array;
  private readonly total: Float64Array;
  private readonly begin: Int32Array;
  private readonly highest: Int32Array; // of each block of levels, the one that holds most
  private readonly columns: Float64Array[];
  private readonly colours: number[];
  private readonly pixels = new Pixels();
  private readonly rowHeight: number;
  private readonly most: number;

  constructor(
    host: Element,
    readonly run: Run,
    readonly window: TimeWindow,
    private readonly left: number,
    private readonly peaks: MemoryPeak[],
    private readonly capacity: number | undefined
  ) {
    const table = run.table("memory");
    this.at = table.numbers("at");
    this.begin = beginOfDevices(table.ints("device"), run.devices);
    this.categories = table.names.filter((name) => name !== "device" && name !== "at");
    this.colours = this.categories.map((category) => pixelOf(categoryFill(category)));
    this.columns = this.categories.map((name) => table.numbers(name));
    this.total = new Float64Array(table.rows);
    for (const column of this.columns) for (let k = 0; k < column.length; ++k) this.total[k] += column[k]!;
    this.highest = this.findHighest();
    const peak = this.total.reduce((a, b) => Math.max(a, b), 1);
    this.most = capacity !== undefined && capacity < 4 * peak ? Math.max(capacity, peak) * 1.04 : peak * 1.08;
    this.rowHeight = run.devices <= 8 ? 64 : run.devices <= 32 ? 44 : 30;
    const label = "Memory of every device over time, stacked by category; the table below has its numbers";
    this.surface = new Surface(host, label, run.devices * this.rowHeight + 4, 560, () => this.draw());
    window.onChange(() => this.surface.request());
    this.bind();
    this.surface.redraw();
  }

  // What a device holds at a time, by category.
  levels(device: number, time: number): { category: string; bytes: number }[] {
    const k = firstAbove(this.at, time, this.begin[device]!, this.begin[device + 1]!) - 1;
    if (k < this.begin[device]!) return [];
    return this.categories
      .map((category, c) => ({ category, bytes: this.columns[c]![k]! }))
      .filter(({ bytes }) => bytes > 0);
  }

  describe(device: number, time: number): string {
    const levels = this.levels(device, time);
    const sum = levels.reduce((bytes, level) => bytes + level.bytes, 0);
    const parts = levels.map(({ category, bytes }) => `${spaced(category)} ${size(bytes)}`);
    return `d${device} holds ${size(sum)}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
  }

  private findHighest(): Int32Array {
    const highest = new Int32Array(Math.ceil(this.total.length / block));
    for (let b = 0; b < highest.length; ++b) {
      let best = b * block;
      for (let k = best; k < Math.min((b + 1) * block, this.total.length); ++k)
        if (this.total[k]! > this.total[best]!) best = k;
      highest[b] = best;
    }
    return highest;
  }

  // Among levels from ... to: the one that holds most.
  private highestIn(from: number, to: number): number {
    let best = from;
    for (let k = from; k <= to; ) {
      if (k % block === 0 && k + block - 1 <= to) {
        const candidate = this.highest[k / block]!;
        if (this.total[candidate]! > this.total[best]!) best = candidate;
        k += block;
      } else {
        if (this.total[k]! > this.total[best]!) best = k;
        ++k;
      }
    }
    return best;
  }

  private get plotWidth(): number {
    return Math.max(this.surface.width - this.left - 4, 10);
  }

  private bind(): void {
    const { canvas } = this.surface;
    canvas.addEventListener("pointermove", (event) => {
      const device = Math.floor((event.offsetY + this.surface.top) / this.rowHeight);
      if (device < 0 || device >= this.run.devices || event.offsetX < this.left) return;
      const time = this.window.begin + ((event.offsetX - this.left) / this.plotWidth) * this.window.span;
      this.window.point(time);
      this.onPoint(device, time);
    });
    canvas.addEventListener("pointerleave", () => this.window.point(undefined));
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "ArrowLeft") this.window.pan(-0.15);
      else if (event.key === "ArrowRight") this.window.pan(0.15);
      else if (event.key === "+") this.window.zoom(0.7);
      else if (event.key === "-") this.window.zoom(1 / 0.7);
      else if (event.key === "0") this.window.whole();
    });
  }

  private draw(): void {
    const pen = this.surface.context;
    const theme = themeOf(this.surface.canvas);
    pen.fillStyle = theme.background;
    pen.fillRect(0, 0, this.surface.width, this.surface.height);
    pen.font = font;
    pen.textBaseline = "middle";
    for (let device = 0; device < this.run.devices; ++device) {
      const y = device * this.rowHeight - this.surface.top;
      if (y + this.rowHeight >= 0 && y <= this.surface.height) this.device(device, y + 3, this.rowHeight - 6, theme);
    }
    if (this.window.cursor === undefined) return;
    const x = this.left + ((this.window.cursor - this.window.begin) / this.window.span) * this.plotWidth;
    pen.fillStyle = theme.accent;
    if (x >= this.left) pen.fillRect(x, 0, 1, this.surface.height);
  }

  private device(device: number, y: number, height: number, theme: Theme): void {
    const pen = this.surface.context;
    this.stack(device, y, height, theme);
    pen.fillStyle = theme.text;
    pen.textAlign = "left";
    pen.fillText(`d${device}`, 4, y + height / 2);
    this.limit(y, height, theme);
    this.peak(device, y, height, theme);
  }

  // One column of pixels after another, each as high as the most that is held in its time.
  private stack(device: number, y: number, height: number, theme: Theme): void {
    const [from, to] = [this.begin[device]!, this.begin[device + 1]!];
    const { ratio, context } = this.surface;
    this.pixels.start(Math.round(this.plotWidth * ratio), Math.round(height * ratio), theme.idle);
    const perPixel = this.window.span / this.pixels.width;
    let next = firstAbove(this.at, this.window.begin, from, to);
    for (let x = 0; x < this.pixels.width; ++x) {
      const first = Math.max(next - 1, from);
      next = nextAbove(this.at, this.window.begin + (x + 1) * perPixel, next, to);
      if (next > from) this.column(x, this.highestIn(first, next - 1));
    }
    this.pixels.show(context, this.left, y, this.plotWidth, height);
  }

  private column(x: number, level: number): void {
    let bytes = 0;
    let drawn = 0;
    for (let c = 0; c < this.columns.length; ++c) {
      bytes += this.columns[c]![level]!;
      const until = Math.round((this.pixels.height * bytes) / this.most);
      this.pixels.column(x, drawn, until, this.colours[c]!);
      drawn = until;
    }
  }

  private limit(y: number, height: number, theme: Theme): void {
    if (this.capacity === undefined || this.capacity > this.most) return;
    const pen = this.surface.context;
    pen.strokeStyle = theme.text;
    pen.setLineDash([5, 3]);
    pen.lineWidth = 1;
    pen.beginPath();
    const line = y + height * (1 - this.capacity / this.most);
    pen.moveTo(this.left, line);
    pen.lineTo(this.left + this.plotWidth, line);
    pen.stroke();
    pen.setLineDash([]);
  }

  private peak(device: number, y: number, height: number, theme: Theme): void {
    const peak = this.peaks.find((one) => one.device === device);
    if (peak === undefined) return;
    const x = this.left + ((peak.at - this.window.begin) / this.window.span) * this.plotWidth;
    const pen = this.surface.context;
    if (x < this.left || x > this.left + this.plotWidth) return;
    const top = y + height * (1 - peak.bytes / this.most);
    pen.fillStyle = theme.text;
    pen.beginPath();
    pen.moveTo(x, top);
    pen.lineTo(x - 4, top - 6);
    pen.lineTo(x + 4, top - 6);
    pen.fill();
    const text = `peak ${size(peak.bytes)}`;
    const toLeft = x > this.left + this.plotWidth - 110;
    pen.textAlign = toLeft ? "right" : "left";
    pen.strokeStyle = theme.background;
    pen.lineWidth = 3;
    pen.strokeText(text, toLeft ? x - 8 : x + 8, Math.max(top - 2, y + 6));
    pen.fillText(text, toLeft ? x - 8 : x + 8, Math.max(top - 2, y + 6));
  }
}
