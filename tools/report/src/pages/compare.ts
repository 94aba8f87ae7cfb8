// The page of a comparison: all runs in a table, time against memory, and two of them side by side.
import { Point, scatter } from "../charts/scatter";
import { PageData } from "../data/page";
import { hasResult, Report, worstMemory } from "../data/report";
import { node, section } from "../parts/dom";
import { assumptions, origin } from "../parts/facts";
import { head } from "../parts/head";
import { Pair } from "../parts/pair";
import { Column, table } from "../parts/table";
import { duration, durationScale, percent, rate, size, sizeScale, spaced } from "../text/format";

interface Compared extends Report {
  weight_copies: number;
  config?: string;
  needs?: Record<string, unknown>;
}

function labelOf(run: Compared): string {
  const chunks = run.schedule.chunks > 1 ? ` v=${run.schedule.chunks}` : "";
  return (run.config === undefined ? "" : `${run.config}: `) + run.schedule.name + chunks;
}

function needsOf(run: Compared): string {
  return Object.entries(run.needs ?? {})
    .filter(([, value]) => value === true)
    .map(([key]) => spaced(key))
    .join(", ");
}

function notesOf(run: Compared): string {
  return (run.findings ?? []).map(({ code, message }) => `[${code}] ${message}`).join(" ");
}

function isBroken(run: Compared): boolean {
  return (run.findings ?? []).some(({ severity }) => severity === "error");
}

// Step times compare only between runs of the same work.
function isSameWork(runs: Compared[]): boolean {
  const work = new Set(runs.map(({ schedule }) => `${schedule.devices} ${schedule.microbatches}`));
  return work.size <= 1 && runs.every((run) => run.config === undefined);
}

function columnsOf(runs: Compared[]): Column<Compared>[] {
  const fastest = Math.min(...runs.map((run) => run.makespan_ns!));
  const columns: Column<Compared>[] = [
    { title: "schedule", text: labelOf, value: labelOf },
    { title: "step", key: "makespan_ns", text: (run) => duration(run.makespan_ns!), value: (run) => run.makespan_ns! },
    {
      title: "over the fastest",
      text: (run) => percent(run.makespan_ns! / fastest - 1),
      value: (run) => run.makespan_ns! / fastest - 1,
    },
    {
      title: "bubble / step",
      key: "bubble_ratio",
      text: (run) => percent(run.bubble_ratio),
      value: (run) => run.bubble_ratio,
    },
    {
      title: "bubble / ideal",
      key: "bubble_over_ideal",
      text: (run) => percent(run.bubble_over_ideal),
      value: (run) => run.bubble_over_ideal,
    },
    {
      title: "peak memory",
      key: "peak_memory_bytes",
      text: (run) => size(worstMemory(run).peak_memory_bytes),
      value: (run) => worstMemory(run).peak_memory_bytes,
    },
    { title: "on", text: (run) => `d${worstMemory(run).device}`, value: (run) => worstMemory(run).device },
    {
      title: "weight copies",
      key: "weight_copies",
      text: (run) => String(run.weight_copies),
      value: (run) => run.weight_copies,
    },
    {
      title: "messages",
      key: "p2p_messages",
      text: (run) => String(run.p2p_messages),
      value: (run) => run.p2p_messages,
    },
    { title: "needs", text: (run) => node("span", { class: "needs" }, needsOf(run)), value: needsOf },
    { title: "notes", text: (run) => node("span", { class: "notes" }, notesOf(run)) },
  ];
  if (!isSameWork(runs)) columns.splice(2, 1);
  if (runs.some((run) => run.throughput_samples_per_s !== null)) {
    columns.splice(-6, 0, {
      title: "samples/s",
      key: "throughput_samples_per_s",
      text: (run) => rate(run.throughput_samples_per_s ?? 0),
      value: (run) => run.throughput_samples_per_s,
    });
  }
  return columns;
}

function pointOf(run: Compared): Point {
  const memory = worstMemory(run).peak_memory_bytes;
  const title = `${labelOf(run)}: ${duration(run.makespan_ns!)}, ${size(memory)}${
    isBroken(run) ? "; it has an error" : ""
  }`;
  return { name: labelOf(run), x: run.makespan_ns!, y: memory, title, crossed: isBroken(run) };
}

// Assumptions that all share once, the others with whose they are.
function sharedAssumptions(runs: Compared[]): HTMLElement {
  const owners = new Map<string, { one: Report["assumptions"][0]; of: string[] }>();
  for (const run of runs) {
    for (const one of run.assumptions) {
      const key = JSON.stringify(one);
      const entry = owners.get(key) ?? { one, of: [] };
      entry.of.push(labelOf(run));
      owners.set(key, entry);
    }
  }
  return assumptions(
    [...owners.values()].map(({ one, of }) =>
      of.length === runs.length ? one : { ...one, what: `${one.what} (${of.join(", ")})` }
    )
  );
}

export function comparePage(page: PageData, main: HTMLElement): void {
  const all = (JSON.parse(page.text("report.json")) as { runs: Compared[] }).runs;
  const runs = all.filter(hasResult);
  main.append(head(page.header));
  main.append(
    section(
      "All runs",
      table({
        caption: `${runs.length} runs, in the order of the text report; a click on a heading sorts`,
        columns: columnsOf(runs),
        rows: runs,
      })
    )
  );
  const others = all.filter((run) => !hasResult(run));
  if (others.length > 0) {
    const why = others.map((run) => node("li", {}, node("b", {}, labelOf(run)), ` ${notesOf(run)}`));
    main.append(node("details", {}, node("summary", {}, `${others.length} that do not run`), node("ul", {}, ...why)));
  }
  const pairOf = page.runs.length > 1 ? new Pair(page.runs, 0, rivalOf(page), ["first", "second"]) : undefined;
  const chart = scatter(
    runs.map(pointOf),
    "Step time against peak memory of every run, with the Pareto front; the table above has the numbers",
    {
      xTitle: "step time",
      yTitle: "peak memory of a device",
      xUnit: durationScale(runs[0]?.makespan_ns ?? 1).divisor,
      yUnit: sizeScale(Math.max(...runs.map((run) => worstMemory(run).peak_memory_bytes), 1)).divisor,
      xText: duration,
      yText: size,
      front: isSameWork(runs),
      onPoint: (k) => {
        const shown = page.runs.findIndex((run) => all[run.header.report] === runs[k]);
        if (shown >= 0) pairOf?.choose(1, shown);
      },
    }
  );
  main.append(
    section(
      "Time against memory",
      node("div", { class: "chart" }, chart),
      node(
        "p",
        { class: "faint" },
        isSameWork(runs)
          ? "Squares: nothing else is both faster and smaller. A click shows the run below."
          : "The runs differ in their work, so a shorter step is not a better one. A click shows the run below."
      )
    )
  );
  if (pairOf !== undefined) {
    main.append(section("Side by side", pairOf.node));
    pairOf.show();
    Object.assign(window, { debubblePair: pairOf, debubbleChart: pairOf.charts[0] });
  }
  main.append(sharedAssumptions(all), origin(page));
}

// What the first is shown beside: 1f1b, which everybody has, else the second.
function rivalOf(page: PageData): number {
  const known = page.runs.findIndex((run, k) => k > 0 && run.header.label === "1f1b");
  return known > 0 ? known : 1;
}
