// Mouse, touch and keyboard of a pipeline chart.
import { Lane } from "../data/run";
import type { PipelineChart } from "./pipeline";

const zoomStep = 0.7;

export function bindPointer(chart: PipelineChart): void {
  const { canvas } = chart.surface;
  let drag: { x: number; moved: boolean } | undefined;

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.offsetX, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag !== undefined && (drag.moved || Math.abs(event.offsetX - drag.x) > 4)) {
      chart.window.pan((drag.x - event.offsetX) / chart.painter.plotWidth);
      drag = { x: event.offsetX, moved: true };
      return;
    }
    chart.hover(chart.pick(event.offsetX, event.offsetY));
    const time = chart.painter.time(event.offsetX);
    chart.window.point(event.offsetX >= chart.painter.left ? Math.max(0, time) : undefined);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag !== undefined && !drag.moved) chart.select(chart.pick(event.offsetX, event.offsetY));
    drag = undefined;
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
  "Enter what it waited for, n and p the next and previous idle time, / searches. Ctrl and wheel zoom, dragging pans.";

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
