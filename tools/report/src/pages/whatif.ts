// The page of a what-if: the run as it is and as it would be.
import { PageData } from "../data/page";
import { hasResult, Report } from "../data/report";
import { node, section } from "../parts/dom";
import { assumptions, findings, origin } from "../parts/facts";
import { Figure, figures, gapText } from "../parts/figures";
import { head } from "../parts/head";
import { idle } from "../parts/idle";
import { Pair } from "../parts/pair";
import { table } from "../parts/table";
import { duration, percent, spaced } from "../text/format";

interface Alone {
  change: string;
  makespan_ns: number | null;
  makespan_ratio: number | null;
}

interface Derivative {
  cost: string;
  growing?: number | null;
  growing_bytes?: number | null;
  at_stake_ns: number;
}

interface Candidate {
  change: string;
  makespan_ns: number;
  gain_ratio: number | null;
}

interface WhatIf {
  base: Report;
  changed?: Report;
  alone?: Alone[];
  seeds?: Record<string, number | string | number[]>;
  sensitivity?: { derivatives: Derivative[] };
  candidates?: Candidate[];
}

function idleBy(report: Report, cause: string): number {
  return report.devices.reduce((sum, device) => sum + device.idle_by_cause_ns[cause]!, 0);
}

function rowsOf(base: Report, changed: Report): Figure[] {
  const rows: Figure[] = [
    { what: "step time", unit: "time", first: base.makespan_ns!, second: changed.makespan_ns! },
    { what: "bubble / step", unit: "ratio", first: base.bubble_ratio, second: changed.bubble_ratio },
    { what: "bubble / ideal", unit: "ratio", first: base.bubble_over_ideal, second: changed.bubble_over_ideal },
  ];
  for (const key of ["compute_ns", "transfer_ns", "collective_ns", "wait_ns"] as const) {
    const [first, second] = [base.critical_path[key], changed.critical_path[key]];
    if (first !== 0 || second !== 0)
      rows.push({ what: `critical path: ${key.replace("_ns", "")}`, unit: "time", first, second });
  }
  for (const cause of Object.keys(base.devices[0]!.idle_by_cause_ns)) {
    const [first, second] = [idleBy(base, cause), idleBy(changed, cause)];
    if (first !== 0 || second !== 0)
      rows.push({ what: `idle, all devices: ${spaced(cause)}`, unit: "time", first, second });
  }
  return rows;
}

function aloneSection(list: Alone[]): HTMLElement {
  const time = (one: Alone): string => (one.makespan_ns === null ? "deadlock" : duration(one.makespan_ns));
  return section(
    "Each change alone",
    table<Alone>({
      caption: "Step time with one of the changes only",
      columns: [
        { title: "change", text: (one) => one.change, value: (one) => one.change },
        { title: "step", text: time, value: (one) => one.makespan_ns },
        {
          title: "against the base",
          text: (one) => (one.makespan_ratio === null ? "" : gapText(one.makespan_ratio, "ratio").replace("pp", "%")),
          value: (one) => one.makespan_ratio,
        },
      ],
      rows: list,
    })
  );
}

function sensitivitySections(result: WhatIf): HTMLElement[] {
  if (result.sensitivity === undefined) return [];
  const cost = table<Derivative>({
    caption: "By how much the step grows when a cost does, and how much of the step is at stake",
    columns: [
      { title: "cost", text: (one) => one.cost, value: (one) => one.cost },
      {
        title: "growing",
        text: (one) => String(one.growing ?? one.growing_bytes ?? ""),
        value: (one) => one.growing ?? one.growing_bytes ?? null,
      },
      { title: "at stake", text: (one) => duration(one.at_stake_ns), value: (one) => one.at_stake_ns },
    ],
    rows: result.sensitivity.derivatives,
  });
  const help = table<Candidate>({
    caption: "What would help, tried",
    columns: [
      { title: "change", text: (one) => one.change, value: (one) => one.change },
      { title: "step", text: (one) => duration(one.makespan_ns), value: (one) => one.makespan_ns },
      {
        title: "gain",
        text: (one) => (one.gain_ratio === null ? "" : percent(one.gain_ratio)),
        value: (one) => one.gain_ratio,
      },
    ],
    rows: result.candidates ?? [],
  });
  return [section("What the step depends on", cost), section("What would help", help)];
}

function seedsSection(seeds: NonNullable<WhatIf["seeds"]>): HTMLElement {
  const keys = ["least_ns", "p50_ns", "p95_ns", "p99_ns", "most_ns", "mean_ns"];
  const rows = keys.filter((key) => typeof seeds[key] === "number");
  return section(
    `Step time over ${seeds["seeds"]} seeds`,
    table<string>({
      caption: `Drawn: ${seeds["drawn"]}`,
      columns: [
        { title: "figure", text: (key) => key.replace("_ns", "") },
        { title: "step", text: (key) => duration(seeds[key] as number), value: (key) => seeds[key] as number },
      ],
      rows,
      sortable: false,
    })
  );
}

export function whatIfPage(page: PageData, main: HTMLElement): void {
  const result = JSON.parse(page.text("report.json")) as WhatIf;
  const { base, changed } = result;
  main.append(head(page.header), findings([...(base.findings ?? []), ...(changed?.findings ?? [])]));
  const both = changed !== undefined && hasResult(base) && hasResult(changed);
  if (both)
    main.append(
      section(
        "Before and after",
        figures("The run as it is and as it would be", ["base", "changed"], rowsOf(base, changed))
      )
    );
  if (page.runs.length > 0) {
    const pair = new Pair(page.runs, 0, Math.min(1, page.runs.length - 1), ["base", "changed"]);
    main.append(section("Side by side", pair.node));
    pair.show();
    Object.assign(window, { debubblePair: pair, debubbleChart: pair.charts[0] });
  }
  if (result.alone !== undefined) main.append(aloneSection(result.alone));
  if (result.seeds !== undefined) main.append(seedsSection(result.seeds));
  main.append(...sensitivitySections(result));
  if (hasResult(base)) main.append(idle(base, both ? "Idle time by cause: base" : "Idle time by cause"));
  if (both) main.append(idle(changed, "Idle time by cause: changed"));
  main.append(assumptions((changed ?? base).assumptions), node("div", {}), origin(page));
}
