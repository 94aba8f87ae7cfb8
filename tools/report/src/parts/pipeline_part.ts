// A pipeline chart with its tool bar, legend, what is selected, and its table.
import { keyHelp } from "../charts/navigate";
import { inkOf, transferFill, copyFill, stepFill, collectiveFill } from "../charts/palette";
import { PipelineChart, PipelineOptions } from "../charts/pipeline";
import { TimeWindow } from "../charts/window";
import { Lane, Run, Thing } from "../data/run";
import { describe } from "../text/describe";
import { button, checkbox, details, node } from "./dom";
import { causeKey } from "./idle";
import { opTable } from "./ops";

function swatch(fill: string, text: string, sign: string, word: string): HTMLElement {
  return node("li", {}, node("span", { class: "swatch", style: `background:${fill};color:${text}` }, sign), word);
}

export function legend(run: Run): HTMLElement {
  const items: HTMLElement[] = [];
  const table = run.spans.table;
  const kinds = new Set([...table.ints("kind"), ...Array.from(table.ints("partner_kind"), (kind) => kind - 1)]);
  run.header.words.kinds.forEach(({ letter, word }, kind) => {
    const ink = inkOf(letter);
    if (kinds.has(kind)) items.push(swatch(ink.fill, ink.text, letter, word));
  });
  const chunks =
    run.header.replica_of.length > 0 ? "lighter: every second replica" : "lighter: every second stage of a device";
  if (run.header.replica_of.length > 0 || run.header.stages > run.devices) items.push(node("li", {}, chunks));
  if (
    run
      .table("transfers")
      .numbers("duration")
      .some((time) => time > 0)
  )
    items.push(swatch(transferFill, "#000", "", "transfer, below its sender"));
  if (run.table("copies").rows > 0) items.push(swatch(copyFill, "#000", "", "activation moved away or back"));
  if (run.table("steps").rows > 0)
    items.push(swatch(collectiveFill, "#000", "", "collective"), swatch(stepFill, "#000", "", "optimizer"));
  return node("ul", { class: "key", "aria-label": "kinds of op" }, ...items);
}

// What is selected, or else what is pointed at.
class Panel {
  readonly node = node("div", { class: "panel", "aria-live": "polite" });
  private selected: string[] = [];
  private readonly follow: HTMLButtonElement;

  constructor(chart: PipelineChart, run: Run) {
    this.follow = button("what it waited for", "select what the selected op waited for", () => chart.follow());
    chart.onSelect = (thing) => {
      this.selected = describe(run, thing);
      this.node.dataset["op"] = this.selected[0] ?? "";
      this.show(this.selected, this.selected.length > 0 && thing.lane !== Lane.gap);
    };
    chart.onHover = (thing: Thing) => {
      if (this.selected.length === 0) this.show(describe(run, thing), false);
    };
    this.show([], false);
  }

  private show(lines: string[], canFollow: boolean): void {
    const items =
      lines.length === 0
        ? [node("p", { class: "faint" }, "Point at an op or an idle time; click to select it and see what it waited for.")]
        : lines.map((line, k) => node(k === 0 ? "b" : "p", {}, line));
    this.node.replaceChildren(...items, ...(canFollow ? [this.follow] : []));
  }
}

function searchBox(chart: PipelineChart): HTMLElement {
  const input = node("input", { type: "search", size: 8 });
  const result = node("span", { class: "faint", role: "status" });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") result.textContent = chart.search(input.value) ? "" : `no op ${input.value.trim()}`;
    if (event.key === "Escape") chart.surface.canvas.focus();
  });
  chart.surface.canvas.addEventListener("keydown", (event) => {
    if (event.key !== "/") return;
    event.preventDefault();
    input.focus();
  });
  return node("span", {}, node("label", {}, "find an op, such as 2F3: ", input), " ", result);
}

export interface PipelinePart {
  chart: PipelineChart;
  node: HTMLElement;
}

// `shown` is what is switched on at first.
export function pipelinePart(
  run: Run,
  window: TimeWindow,
  label = "Pipeline",
  shown: Partial<PipelineOptions> = {}
): PipelinePart {
  const place = node("div", { class: "chart" });
  const summary = `${label}: every op of ${run.devices} devices over time. ${keyHelp} The table below has the same ops.`;
  const chart = new PipelineChart(place, run, window, summary);
  const causes = causeKey(run.header.words.causes.filter((cause) => run.gaps.table.has(cause)));
  chart.set(shown);
  causes.hidden = !chart.options.causes;
  const tools = node(
    "div",
    { class: "tools", role: "toolbar", "aria-label": `${label}: view` },
    button("+", "zoom in", () => window.zoom(0.6)),
    button("\u2212", "zoom out", () => window.zoom(1 / 0.6)),
    button("all", "show the whole run", () => window.whole()),
    button("\u2190 idle", "previous idle time", () => chart.stepGap(-1)),
    button("idle \u2192", "next idle time", () => chart.stepGap(1)),
    checkbox("idle by cause", chart.options.causes, (on) => {
      chart.set({ causes: on });
      causes.hidden = !on;
    }),
    checkbox("critical path", chart.options.path, (on) => chart.set({ path: on })),
    checkbox("hatches", chart.options.hatches, (on) => chart.set({ hatches: on })),
    searchBox(chart)
  );
  const panel = new Panel(chart, run);
  const dense = node(
    "p",
    { class: "faint" },
    "Ops are narrower than a pixel here: each column shows how its time is shared out, idle on top. Zoom in to see ops."
  );
  chart.onDense = (on) => (dense.hidden = !on);
  const part = node(
    "div",
    {},
    tools,
    place,
    legend(run),
    dense,
    causes,
    panel.node,
    details("Keys and mouse", () => node("p", {}, keyHelp)),
    details("The ops as a table", () => opTable(run))
  );
  return { chart, node: part };
}
