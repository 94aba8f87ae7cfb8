// The page of a comparison of a prediction and a measurement: both runs on one time axis, and what explains the gap.
import { PageData } from "../data/page";
import { Assumption } from "../data/report";
import { Lane } from "../data/run";
import { button, node, section } from "../parts/dom";
import { assumptions, origin } from "../parts/facts";
import { Figure, figures, gapText, Unit } from "../parts/figures";
import { head } from "../parts/head";
import { Pair } from "../parts/pair";
import { table } from "../parts/table";
import { spanName } from "../text/describe";
import { duration, spaced } from "../text/format";

interface Measured {
  predicted: number;
  measured: number;
  gap: number;
}

interface Known {
  predicted: number | null;
  measured: number | null;
}

interface DeviceFigures {
  device: number;
  busy_ns: Measured;
  bubble_ratio: Measured;
  peak_memory_bytes: Known;
}

interface GapPart {
  cause: string;
  gap_ns: number;
  text: string;
}

interface DiffReport {
  assumptions: Assumption[];
  makespan_ns: Measured;
  bubble_ratio: Measured;
  bubble_over_ideal: Measured;
  devices: DeviceFigures[];
  gap_by_cause_ns: Record<string, number>;
  gap_parts: GapPart[];
  first_divergence: { device: number; op: string; measured_begin_ns: number } | null;
}

function figure(what: string, unit: Unit, { predicted, measured }: Known): Figure {
  return { what, unit, first: predicted, second: measured };
}

function rowsOf(report: DiffReport): Figure[] {
  const rows = [
    figure("step", "time", report.makespan_ns),
    figure("bubble / step", "ratio", report.bubble_ratio),
    figure("bubble / ideal", "ratio", report.bubble_over_ideal),
  ];
  for (const one of report.devices) rows.push(figure(`busy d${one.device}`, "time", one.busy_ns));
  for (const one of report.devices) rows.push(figure(`bubble d${one.device}`, "ratio", one.bubble_ratio));
  for (const one of report.devices) rows.push(figure(`peak memory d${one.device}`, "size", one.peak_memory_bytes));
  return rows;
}

function gapSection(report: DiffReport): HTMLElement {
  const causes = Object.entries(report.gap_by_cause_ns).filter(([, gap]) => gap !== 0);
  if (causes.length === 0)
    return section(
      "Gap by reason",
      node("p", {}, "Every op and transfer took as long as predicted, in the same order.")
    );
  const sums = table<[string, number]>({
    caption: "What adds up to measured less predicted",
    columns: [
      { title: "reason", text: ([cause]) => spaced(cause), value: ([cause]) => cause },
      { title: "gap", key: "gap", text: ([, gap]) => gapText(gap, "time"), value: ([, gap]) => gap },
    ],
    rows: causes,
  });
  const parts = table<GapPart>({
    caption: "Part by part, the largest first",
    columns: [
      { title: "what", text: (part) => part.text },
      { title: "gap", text: (part) => gapText(part.gap_ns, "time"), value: (part) => part.gap_ns },
    ],
    rows: report.gap_parts.filter((part) => part.gap_ns !== 0),
  });
  return section("Gap by reason", sums, parts);
}

// Selects the op in both charts, so that one sees where it begins in each.
function showInBoth(pair: Pair, op: string, device: number): void {
  for (const chart of pair.charts) {
    const [from, to] = [chart.run.spanBegin[device]!, chart.run.spanBegin[device + 1]!];
    for (let k = from; k < to; ++k) {
      if (spanName(chart.run, k).split("+").includes(op)) chart.select({ lane: Lane.span, index: k });
    }
  }
}

export function diffPage(page: PageData, main: HTMLElement): void {
  const report = JSON.parse(page.text("report.json")) as DiffReport;
  main.append(
    head(page.header),
    section("Predicted and measured", figures("Figures of both runs", ["predicted", "measured"], rowsOf(report))),
    gapSection(report)
  );
  if (page.runs.length > 1) {
    const pair = new Pair(page.runs, 0, 1, ["predicted", "measured"]);
    const place = section("Side by side", pair.node);
    main.append(place);
    pair.show();
    Object.assign(window, { debubblePair: pair, debubbleChart: pair.charts[0] });
    const first = report.first_divergence;
    if (first !== null) {
      const label = `show the first difference: ${first.op} on d${first.device} at ${duration(
        first.measured_begin_ns
      )}`;
      place.insertBefore(
        node(
          "div",
          { class: "tools" },
          button(label, label, () => showInBoth(pair, first.op, first.device))
        ),
        pair.node
      );
      showInBoth(pair, first.op, first.device);
    }
  }
  main.append(assumptions(report.assumptions), origin(page));
}
