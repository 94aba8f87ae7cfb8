// The page of one run.
import { MemoryChart } from "../charts/memory";
import { categoryFill } from "../charts/palette";
import { PipelineChart } from "../charts/pipeline";
import { TimeWindow } from "../charts/window";
import { PageData } from "../data/page";
import { hasResult, Report } from "../data/report";
import { Run } from "../data/run";
import { node, section } from "../parts/dom";
import { assumptions, findings, origin } from "../parts/facts";
import { head } from "../parts/head";
import { idle, memoryTable } from "../parts/idle";
import { numbers } from "../parts/numbers";
import { opsCsv } from "../parts/ops";
import { pathSection } from "../parts/path";
import { pipelinePart } from "../parts/pipeline_part";
import { duration, size, spaced } from "../text/format";

function memorySection(run: Run, report: Report, pipeline: PipelineChart): HTMLElement {
  const place = node("div", { class: "chart" });
  const peaks = report.devices.map((one) => ({
    device: one.device,
    at: one.peak_memory_at_ns,
    bytes: one.peak_memory_bytes,
  }));
  const capacity = report.memory_fit?.capacity_bytes;
  const chart = new MemoryChart(place, run, pipeline.window, pipeline.painter.left, peaks, capacity);
  const held = node("p", { class: "panel" }, "Point at a time: the line is at the same time in both charts.");
  chart.onPoint = (device, time) => (held.textContent = `${duration(time)}: ${chart.describe(device, time)}`);
  const items = chart.categories.map((category) =>
    node("li", {}, node("span", { class: "swatch", style: `background:${categoryFill(category)}` }), spaced(category))
  );
  if (capacity !== undefined) items.push(node("li", {}, `dashed: the limit of ${size(capacity)}`));
  return section(
    "Memory",
    place,
    node("ul", { class: "key", "aria-label": "kinds of memory" }, ...items),
    held,
    memoryTable(report)
  );
}

export function runPage(page: PageData, main: HTMLElement): void {
  const report = JSON.parse(page.text("report.json")) as Report;
  main.append(head(page.header), numbers(report));
  if (report.findings.length > 0) main.append(findings(report.findings));
  const run = page.runs[0];
  if (run !== undefined) {
    const place = section("Pipeline");
    main.append(place); // in the document before it is drawn, so that it knows its width
    const part = pipelinePart(run, new TimeWindow(run.makespan));
    place.append(part.node);
    part.chart.surface.redraw();
    main.append(memorySection(run, report, part.chart));
    Object.assign(window, { debubbleChart: part.chart });
  } else if (hasResult(report)) {
    main.append(
      section(
        "Pipeline",
        node("p", {}, "No chart: of so many ops a page would be too large; the numbers are all here.")
      )
    );
  }
  if (hasResult(report)) {
    main.append(idle(report), pathSection(report, run));
  }
  main.append(assumptions(report.assumptions));
  main.append(origin(page, run === undefined ? [] : [{ name: "ops.csv", text: () => opsCsv(run) }]));
}
