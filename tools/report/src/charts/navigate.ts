// Mouse, touch and keyboard of a pipeline chart.
import { Lane } from "../data/run";
import type { PipelineChart } from "./pipeline";

const zoomStep = 0.7;

// What the pointers that are down do: one pans, with Shift it marks a range to zoom into; two fingers pinch.
class Drag {
  private readonly pointers = new Map<number, number>(); // offsetX, by pointer
  private from: { x: number; marks: boolean } | undefined;
  private moved = false;

  constructor(private readonly chart: PipelineChart) {}

  down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, event.offsetX);
    this.from = { x: event.offsetX, marks: event.shiftKey };
    this.moved = this.pointers.size > 1; // a pinch selects nothing
    this.chart.surface.canvas.setPointerCapture(event.pointerId);
  }

  // Whether the pointer is down and so does not merely point.
  move(event: PointerEvent): boolean {
    const before = this.pointers.get(event.pointerId);
    if (before === undefined || this.from === undefined) return false;
    if (this.pointers.size > 1) {
      this.pinch(event);
      return true;
    }
    if (!this.moved && Math.abs(event.offsetX - this.from.x) <= 4) return false;
    this.moved = true;
    this.pointers.set(event.pointerId, event.offsetX);
    if (this.from.marks) {
      const times = [this.from.x, event.offsetX].map((x) => this.chart.painter.time(x)).sort((one, two) => one - two);
      this.chart.window.mark([times[0]!, times[1]!]);
    } else {
      this.chart.window.pan((before - event.offsetX) / this.chart.painter.plotWidth);
    }
    return true;
  }

  up(event: PointerEvent): void {
    if (!this.pointers.delete(event.pointerId)) return;
    const { window } = this.chart;
    if (!this.moved) this.chart.select(this.chart.pick(event.offsetX, event.offsetY));
    if (window.marked !== undefined) {
      const [begin, end] = window.marked;
      window.mark(undefined);
      window.show(begin, end);
    }
  }

  cancel(event: PointerEvent): void {
    this.pointers.delete(event.pointerId);
    this.chart.window.mark(undefined);
  }

  // The times below both fingers stay below them.
  private pinch(event: PointerEvent): void {
    const { painter, window } = this.chart;
    const other = [...this.pointers].find(([pointer]) => pointer !== event.pointerId)![1];
    const [mine, its] = [painter.time(this.pointers.get(event.pointerId)!), painter.time(other)];
    this.pointers.set(event.pointerId, event.offsetX);
    const apart = event.offsetX - other;
    if (Math.abs(apart) < 8) return;
    const perPixel = (mine - its) / apart;
    if (!(perPixel > 0)) return; // they have crossed
    const begin = its - (other - painter.left) * perPixel;
    window.show(begin, begin + painter.plotWidth * perPixel);
  }
}

export function bindPointer(chart: PipelineChart): void {
  const { canvas } = chart.surface;
  const drag = new Drag(chart);
  canvas.addEventListener("pointerdown", (event) => drag.down(event));
  canvas.addEventListener("pointerup", (event) => drag.up(event));
  canvas.addEventListener("pointercancel", (event) => drag.cancel(event));
  canvas.addEventListener("pointermove", (event) => {
    if (drag.move(event)) return;
    chart.hover(chart.pick(event.offsetX, event.offsetY));
    const time = chart.painter.time(event.offsetX);
    chart.window.point(event.offsetX >= chart.painter.left ? Math.max(0, time) : undefined);
  });
  canvas.addEventListener("pointerleave", () => {
    chart.hover({ lane: Lane.nothing, index: -1 });
    chart.window.point(undefined);
  });
  canvas.addEventListener("dblclick", (event) => chart.window.zoom(0.35, chart.painter.time(event.offsetX)));
  canvas.addEventListener(
    "wheel",
    (event) => {
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        chart.window.zoom(Math.exp(event.deltaY * 0.002), chart.painter.time(event.offsetX));
      } else if (sideways !== 0) {
        event.preventDefault();
        chart.window.pan((sideways / chart.painter.plotWidth) * 0.8);
      }
    },
    { passive: false }
  );
}

// Also the text of the help below the chart (parts/toolbar.ts).
export const keyHelp =
  "Keys: left and right pan, + and - zoom, 0 shows all; , and . the previous and next op, up and down the device beside, " +
  "Enter what it waited for, n and p the next and previous idle time, / searches. Ctrl and wheel, or two fingers, zoom; " +
  "dragging pans; dragging with Shift zooms into what it passes over.";

export function bindKeys(chart: PipelineChart): void {
  const actions: Record<string, () => void> = {
    ArrowLeft: () => chart.window.pan(-0.15),
    ArrowRight: () => chart.window.pan(0.15),
    ArrowUp: () => chart.stepDevice(-1),
    ArrowDown: () => chart.stepDevice(1),
    "+": () => chart.window.zoom(zoomStep),
    "=": () => chart.window.zoom(zoomStep),
    "-": () => chart.window.zoom(1 / zoomStep),
    "0": () => chart.window.whole(),
    Home: () => chart.window.whole(),
    ".": () => chart.step(1),
    ",": () => chart.step(-1),
    n: () => chart.stepGap(1),
    p: () => chart.stepGap(-1),
    Enter: () => chart.follow(),
    Escape: () => chart.select({ lane: Lane.nothing, index: -1 }),
  };
  chart.surface.canvas.addEventListener("keydown", (event) => {
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}
