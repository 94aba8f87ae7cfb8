// The page of accuracy: every published figure next to its prediction, by source.
import { Point, scatter } from "../charts/scatter";
import { PageData } from "../data/page";
import { node, section } from "../parts/dom";
import { origin } from "../parts/facts";
import { head } from "../parts/head";
import { Column, table } from "../parts/table";
import { duration, durationScale, percent, spaced } from "../text/format";

interface Summary {
  quantity: string;
  group: string | null;
  records: number;
  mean_absolute_error: number;
  median_absolute_error: number;
  bias: number;
  worst: number;
  worst_record: string;
  target: number | null;
}

interface Compared {
  quantity: string;
  measured: number;
  predicted: number;
  error: number;
}

interface AccuracyRecord {
  id: string;
  command: string;
  comparisons: Compared[];
}

interface Source {
  source: string;
  title: string;
  where: string;
  without_constants: Summary[];
  records: AccuracyRecord[];
}

interface AccuracyReport {
  sources: Source[];
  unusable: { id: string; source: string; reason: string }[];
}

type SummaryRow = Summary & { source: Source };
type Row = Compared & { id: string; command: string; source: string };

// A published time is in seconds, a memory in GiB, a bubble a share of the step.
function valueText(quantity: string, value: number): string {
  if (quantity === "step_time") return duration(value * 1e9);
  return quantity.includes("memory") ? `${value.toFixed(2)} GiB` : percent(value);
}

function signed(share: number): string {
  return (share > 0 ? "+" : "") + percent(share);
}

const summaryColumns: Column<SummaryRow>[] = [
  { title: "source", text: (one) => one.source.source, value: (one) => one.source.source },
  {
    title: "quantity",
    text: (one) => spaced(one.quantity) + (one.group === null ? "" : `, ${one.group}`),
    value: (one) => one.quantity,
  },
  { title: "figures", text: (one) => String(one.records), value: (one) => one.records },
  {
    title: "mean error",
    key: "mean_absolute_error",
    text: (one) => percent(one.mean_absolute_error),
    value: (one) => one.mean_absolute_error,
  },
  {
    title: "median error",
    key: "median_absolute_error",
    text: (one) => percent(one.median_absolute_error),
    value: (one) => one.median_absolute_error,
  },
  { title: "bias", key: "bias", text: (one) => signed(one.bias), value: (one) => one.bias },
  { title: "worst", key: "worst", text: (one) => signed(one.worst), value: (one) => one.worst },
  { title: "of", text: (one) => one.worst_record },
  {
    title: "target",
    text: (one) =>
      one.target === null ? "" : `${percent(one.target)}: ${one.mean_absolute_error <= one.target ? "met" : "missed"}`,
    value: (one) => one.target,
  },
  { title: "published in", text: (one) => node("span", { class: "notes" }, one.source.where) },
];

const recordColumns: Column<Row>[] = [
  { title: "figure", text: (row) => row.id, value: (row) => row.id },
  { title: "source", text: (row) => row.source, value: (row) => row.source },
  { title: "quantity", text: (row) => spaced(row.quantity), value: (row) => row.quantity },
  { title: "measured", text: (row) => valueText(row.quantity, row.measured), value: (row) => row.measured },
  { title: "predicted", text: (row) => valueText(row.quantity, row.predicted), value: (row) => row.predicted },
  { title: "error", key: "error", text: (row) => signed(row.error), value: (row) => row.error },
  { title: "command", text: (row) => node("code", { class: "notes" }, row.command) },
];

function errorChart(rows: Row[]): HTMLElement {
  const times = rows.filter((row) => row.quantity === "step_time");
  const points: Point[] = times.map((row) => ({
    name: "",
    x: row.measured * 1e9,
    y: row.error,
    title: `${row.id}: measured ${valueText(row.quantity, row.measured)}, predicted ${valueText(
      row.quantity,
      row.predicted
    )}, ${signed(row.error)}`,
    crossed: false,
  }));
  const told = node(
    "p",
    { class: "panel", role: "status" },
    "A click on a point shows its figure and the command that predicts it."
  );
  const chart = scatter(points, "Error of every predicted step time over the measured one; the table has the numbers", {
    xTitle: "measured step time",
    yTitle: "error of the prediction",
    xUnit: durationScale(Math.max(...points.map((point) => point.x), 1)).divisor,
    yUnit: 1,
    xText: duration,
    yText: signed,
    front: false,
    onPoint: (k) =>
      told.replaceChildren(node("b", {}, points[k]!.title), node("br"), node("code", {}, times[k]!.command)),
  });
  return section("Errors of step times", node("div", { class: "chart" }, chart), told);
}

export function accuracyPage(page: PageData, main: HTMLElement): void {
  const report = JSON.parse(page.text("report.json")) as AccuracyReport;
  const rows: Row[] = report.sources.flatMap(({ source, records }) =>
    records.flatMap(({ id, command, comparisons }) => comparisons.map((one) => ({ ...one, id, command, source })))
  );
  const summaries = report.sources.flatMap((source) => source.without_constants.map((one) => ({ ...one, source })));
  const verdict = `${rows.length} figures of ${report.sources.length} sources, predicted without any fitted constant`;
  main.append(head({ ...page.header, verdict }));
  main.append(
    section(
      "By source",
      table({ caption: "Relative errors, predicted less measured", columns: summaryColumns, rows: summaries })
    )
  );
  if (rows.length > 0) main.append(errorChart(rows));
  main.append(
    section("Every figure", table({ caption: "Published, and predicted by the command", columns: recordColumns, rows }))
  );
  main.append(origin(page));
}
