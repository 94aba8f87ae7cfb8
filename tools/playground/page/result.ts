// What a run gave: its page data with a chart, or why there is none.
import { PipelineChart, PipelineOptions } from "../../report/src/charts/pipeline";
import { TimeWindow } from "../../report/src/charts/window";
import { PageData, pageOf } from "../../report/src/data/page";
import { hasResult, Report, worstMemory } from "../../report/src/data/report";
import { details, node, pre } from "../../report/src/parts/dom";
import { findings } from "../../report/src/parts/facts";
import { Figure, figures } from "../../report/src/parts/figures";
import { idle, memoryTable } from "../../report/src/parts/idle";
import { numbers, pathWords } from "../../report/src/parts/numbers";
import { pipelinePart } from "../../report/src/parts/pipeline_part";
import { JobResult } from "./jobs";

export const pageFile = "/page";

export interface Outcome {
  page: PageData | undefined;
  report: Report | undefined;
  error: string; // the command's own words; empty where there is a report
}

export function outcomeOf({ files, error }: JobResult): Outcome {
  const bytes = files[pageFile];
  if (bytes === undefined) return { page: undefined, report: undefined, error };
  const page = pageOf(bytes);
  return { page, report: JSON.parse(page.text("report.json")) as Report, error: "" };
}

export function stepOf({ report }: Outcome): number {
  return report?.makespan_ns ?? 0;
}

// One of the two results; its chart is on a time axis that both share.
export class Result {
  readonly node = node("div", { class: "half" });
  private chart: PipelineChart | undefined;
  private shown: Partial<PipelineOptions> = {};

  constructor(private readonly name: string) {}

  show(outcome: Outcome, window: TimeWindow): void {
    if (this.chart !== undefined) {
      this.shown = this.chart.options;
      this.chart.surface.dispose();
      this.chart = undefined;
    }
    const { page, report } = outcome;
    if (page === undefined || report === undefined) {
      this.node.replaceChildren(node("h2", {}, this.name), pre(`${this.name}: why it does not run`, outcome.error));
      return;
    }
    const run = page.runs[0];
    const title = node("h2", {}, `${this.name}: ${page.header.title}`);
    const children: Node[] = [title, node("p", { class: "verdict", role: "status" }, page.header.verdict)];
    if (report.findings.length > 0) children.push(findings(report.findings));
    if (run === undefined || !hasResult(report)) {
      this.node.replaceChildren(...children, pre(`${this.name}: the report as text`, page.text("report.txt"), "report"));
      return;
    }
    const place = node("div", {});
    this.node.replaceChildren(...children, place);
    const part = pipelinePart(run, window, this.name, this.shown);
    this.chart = part.chart;
    place.append(part.node);
    part.chart.surface.redraw();
    this.node.append(this.more(page, report));
  }

  get pipeline(): PipelineChart | undefined {
    return this.chart;
  }

  private more(page: PageData, report: Report): HTMLElement {
    return node(
      "div",
      {},
      details(`Numbers of ${this.name}, idle time by cause, memory`, () =>
        node(
          "div",
          {},
          numbers(report),
          idle(report, `Idle time by cause: ${this.name}`),
          memoryTable(report),
          node("p", {}, `Critical path: ${pathWords(report)}`)
        )
      ),
      details(`${this.name}: the report as text`, () => pre("the report as text", page.text("report.txt"), "report"))
    );
  }
}

// Both beside each other; nothing where one of them has no result.
export function besides(a: Outcome, b: Outcome): HTMLElement {
  const [first, second] = [a.report, b.report];
  const both = first !== undefined && second !== undefined && hasResult(first) && hasResult(second);
  if (!both) return node("p", { class: "faint" }, "Numbers of both stand here when both run.");
  const rows: Figure[] = [
    row("step time", "time", "makespan_ns", (one) => one.makespan_ns!),
    row("ideal", "time", "ideal_ns", (one) => one.ideal_ns),
    row("bubble, of the step", "ratio", "bubble_ratio", (one) => one.bubble_ratio),
    row("bubble, of the ideal", "ratio", "bubble_over_ideal", (one) => one.bubble_over_ideal),
    row("peak memory", "size", "peak_memory_bytes", (one) => worstMemory(one).peak_memory_bytes),
    row("messages", "count", "p2p_messages", (one) => one.p2p_messages),
  ];
  return figures("The two schedules in numbers", [first.schedule.name, second.schedule.name], rows);

  function row(what: string, unit: Figure["unit"], key: string, value: (report: Report) => number): Figure {
    return { what, unit, key, first: value(first!), second: value(second!) };
  }
}
