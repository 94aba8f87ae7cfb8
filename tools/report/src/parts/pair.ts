// Two runs above each other on one time axis, each chosen from a list.
import { PipelineChart } from "../charts/pipeline";
import { TimeWindow } from "../charts/window";
import { Run } from "../data/run";
import { duration } from "../text/format";
import { node } from "./dom";
import { pipelinePart } from "./pipeline_part";

function chooser(runs: Run[], label: string, chosen: number, change: (index: number) => void): HTMLSelectElement {
  const options = runs.map((run, k) => {
    const option = node("option", { value: k }, `${run.header.label}: ${duration(run.makespan)}`);
    option.selected = k === chosen;
    return option;
  });
  const select = node("select", { "aria-label": label }, ...options);
  select.addEventListener("change", () => change(Number(select.value)));
  return select;
}

export class Pair {
  readonly node = node("div", {});
  readonly charts: PipelineChart[] = [];
  private chosen: [number, number];
  private readonly places = [node("div", { class: "half" }), node("div", { class: "half" })];
  private readonly difference = node("p", { role: "status" });

  constructor(private readonly runs: Run[], first: number, second: number, private readonly labels: [string, string]) {
    this.chosen = [first, second];
    this.node.append(...this.places, this.difference);
  }

  // Once it is in the document, for charts are as wide as their place.
  show(): void {
    const [a, b] = this.chosen.map((k) => this.runs[k]!) as [Run, Run];
    const window = new TimeWindow(Math.max(a.makespan, b.makespan));
    this.charts.length = 0;
    [a, b].forEach((run, k) => {
      const choose = chooser(this.runs, this.labels[k]!, this.chosen[k]!, (index) => this.choose(k, index));
      const label = `${this.labels[k]}: ${run.header.label}`;
      const part = pipelinePart(run, window, label);
      const heading = node("div", { class: "tools" }, node("b", {}, this.labels[k]!), choose);
      this.places[k]!.replaceChildren(heading, part.node);
      part.chart.surface.redraw();
      this.charts.push(part.chart);
    });
    const more = b.makespan - a.makespan;
    const how =
      more === 0 ? "takes as long as" : `takes ${duration(Math.abs(more))} ${more > 0 ? "more" : "less"} than`;
    this.difference.textContent = `${b.header.label} ${how} ${a.header.label}. Both are on one time axis: zoom and pan move both.`;
  }

  choose(which: number, index: number): void {
    this.chosen[which] = index;
    this.show();
  }
}
