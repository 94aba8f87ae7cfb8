// The page of a plan: the best runs, the front of time and memory, and how good each choice of two dimensions can be.
import { Point, scatter } from "../charts/scatter";
import { TimeWindow } from "../charts/window";
import { PlanCells } from "../data/cells";
import { PageData } from "../data/page";
import { Assumption } from "../data/report";
import { node, pre, section } from "../parts/dom";
import { assumptions, origin } from "../parts/facts";
import { head } from "../parts/head";
import { heatMap } from "../parts/heat";
import { pipelinePart } from "../parts/pipeline_part";
import { Column, table } from "../parts/table";
import { duration, durationScale, percent, rate, size, sizeScale } from "../text/format";

interface Choice {
  tp: number;
  cp: number;
  ep: number;
  pp: number;
  dp: number;
  zero: number;
  microbatch: number;
  microbatches: number;
  recompute: string;
  schedule: string;
  chunks: number;
  text: string;
}

interface PlannedRun {
  choice: Choice;
  makespan_ns: number;
  bubble_ratio: number;
  peak_memory_bytes: number;
  memory_spare_bytes: number | null;
  throughput_samples_per_s: number | null;
  throughput_tokens_per_s: number | null;
  mfu: number | null;
  command: string;
}

interface PlanReport {
  runs: PlannedRun[];
  front?: { points: { run: PlannedRun }[] } | null;
  frameworks: { framework: string; text: string; note: string }[];
  assumptions: Assumption[];
}

const columns: Column<PlannedRun>[] = [
  { title: "choice", text: (run) => run.choice.text, value: (run) => run.choice.text },
  { title: "step", key: "makespan_ns", text: (run) => duration(run.makespan_ns), value: (run) => run.makespan_ns },
  { title: "bubble", key: "bubble_ratio", text: (run) => percent(run.bubble_ratio), value: (run) => run.bubble_ratio },
  { title: "MFU", key: "mfu", text: (run) => (run.mfu === null ? "" : percent(run.mfu)), value: (run) => run.mfu },
  {
    title: "tokens/s",
    key: "throughput_tokens_per_s",
    text: (run) => (run.throughput_tokens_per_s === null ? "" : rate(run.throughput_tokens_per_s)),
    value: (run) => run.throughput_tokens_per_s,
  },
  {
    title: "peak memory",
    key: "peak_memory_bytes",
    text: (run) => size(run.peak_memory_bytes),
    value: (run) => run.peak_memory_bytes,
  },
  {
    title: "to spare",
    key: "memory_spare_bytes",
    text: (run) => (run.memory_spare_bytes === null ? "" : size(run.memory_spare_bytes)),
    value: (run) => run.memory_spare_bytes,
  },
  { title: "command", text: (run) => node("code", { class: "notes" }, run.command) },
];

function pointOf(run: PlannedRun, best: PlannedRun): Point {
  const marked = run.command === best.command;
  return {
    name: marked ? "the best" : run.choice.text.split(";")[0]!,
    x: run.makespan_ns,
    y: run.peak_memory_bytes,
    title: `${run.choice.text}: ${duration(run.makespan_ns)}, ${size(run.peak_memory_bytes)}`,
    crossed: false,
    marked,
  };
}

function frontSection(report: PlanReport, runs: PlannedRun[]): HTMLElement {
  const points = report.front ? report.front.points.map(({ run }) => run) : runs;
  const told = node("p", { role: "status", class: "panel" }, "A click on a point shows its choice and its command.");
  const chart = scatter(
    points.map((run) => pointOf(run, runs[0]!)),
    "Step time against peak memory; the table has the numbers",
    {
      xTitle: "step time",
      yTitle: "peak memory of a device",
      xUnit: durationScale(points[0]?.makespan_ns ?? 1).divisor,
      yUnit: sizeScale(Math.max(...points.map((run) => run.peak_memory_bytes), 1)).divisor,
      xText: duration,
      yText: size,
      onPoint: (k) =>
        told.replaceChildren(node("b", {}, points[k]!.choice.text), node("br"), node("code", {}, points[k]!.command)),
    }
  );
  const what = report.front ? "The front of time and memory" : "Time against memory of what was simulated and fits";
  const hint = report.front ? "" : "--front proves the front.";
  return section(what, node("div", { class: "chart" }, chart), told, node("p", { class: "faint" }, hint));
}

function heatSection(runs: PlannedRun[], cells: PlanCells): HTMLElement {
  const of = (
    name: string,
    key: keyof Choice
  ): { name: string; key: string; of: (run: PlannedRun) => string | number } => ({
    name,
    key,
    of: (run) => run.choice[key],
  });
  const map = heatMap<PlannedRun>({
    rows: runs,
    cells,
    dimensions: [
      of("tp", "tp"),
      of("pp", "pp"),
      of("dp", "dp"),
      of("microbatch", "microbatch"),
      of("chunks", "chunks"),
      of("schedule", "schedule"),
      of("recompute", "recompute"),
      of("ZeRO", "zero"),
      of("cp", "cp"),
      of("ep", "ep"),
    ],
    value: (run) => run.makespan_ns,
    text: duration,
    title: (run) => run.choice.text,
  });
  return section("Step time over two dimensions", map);
}

export function planPage(page: PageData, main: HTMLElement): void {
  const report = JSON.parse(page.text("report.json")) as PlanReport;
  const best = report.runs[0];
  const mfu = best === undefined || best.mfu === null ? "" : `, ${percent(best.mfu)} MFU`;
  const verdict =
    best === undefined ? "nothing fits" : `${duration(best.makespan_ns)} per step${mfu}: ${best.choice.text}`;
  main.append(head({ ...page.header, verdict }));
  if (report.runs.length > 0) {
    const { runs } = JSON.parse(page.text("runs.json")) as PlanReport;
    const cells = JSON.parse(page.text("cells.json")) as PlanCells;
    main.append(section("The best runs", table({ caption: "Predicted; the best first", columns, rows: report.runs })));
    const flags = report.frameworks.map(({ framework, text, note }) =>
      node("div", {}, node("b", {}, framework), pre(`flags for ${framework}`, text), node("p", {}, note))
    );
    if (flags.length > 0) main.append(section("To paste", ...flags));
    main.append(frontSection(report, runs), heatSection(runs, cells));
  } else {
    main.append(pre("the report", page.text("report.txt"), "report"));
  }
  const run = page.runs[0];
  if (run !== undefined) {
    const place = section("The best, op by op");
    main.append(place);
    const part = pipelinePart(run, new TimeWindow(run.makespan), "The best");
    place.append(part.node);
    part.chart.surface.redraw();
    Object.assign(window, { debubbleChart: part.chart });
  }
  main.append(assumptions(report.assumptions), origin(page));
}
