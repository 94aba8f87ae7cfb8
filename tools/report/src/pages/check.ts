// The page of the gate: every scenario with its outcome, what changed in its prediction, and its measurement.
import { PageData } from "../data/page";
import { node, pre, section } from "../parts/dom";
import { origin } from "../parts/facts";
import { head } from "../parts/head";
import { Column, table } from "../parts/table";

interface Metric {
  metric: string;
  unit: string;
  predicted: number;
  measured: number | null;
  error: number | null;
  verdict: string;
}

interface Scenario {
  name: string;
  outcome: string;
  prediction: { state: string; changes: { what?: string; name?: string; text?: string }[] };
  measurement: { metrics?: Metric[]; missing?: string | null } | null;
}

interface Suite {
  file: string;
  name: string | null;
  scenarios: Scenario[];
  errors: { code: string; place: string; message: string; help: string }[];
}

interface CheckReport {
  exit_status: number;
  summary: Record<string, number>;
  suites: Suite[];
}

const columns: Column<Scenario>[] = [
  { title: "scenario", text: (one) => one.name, value: (one) => one.name },
  {
    title: "outcome",
    text: (one) => node("b", { class: `outcome ${one.outcome}` }, one.outcome),
    value: (one) => one.outcome,
  },
  { title: "prediction", text: (one) => one.prediction.state, value: (one) => one.prediction.state },
  {
    title: "numbers changed",
    text: (one) => String(one.prediction.changes.length),
    value: (one) => one.prediction.changes.length,
  },
  {
    title: "measured",
    text: (one) =>
      one.measurement === null
        ? ""
        : one.measurement.metrics?.map((metric) => `${metric.metric} ${metric.verdict}`).join(", ") ?? "",
  },
];

function suiteSection(suite: Suite): HTMLElement {
  const errors = suite.errors.map(({ code, place, message, help }) =>
    node("li", {}, node("b", {}, `error[${code}] ${place}: `), `${message}. ${help}`)
  );
  return section(
    `Suite ${suite.name ?? suite.file}`,
    node("ul", { class: "findings" }, ...errors),
    table({ caption: `Scenarios of ${suite.file}`, columns, rows: suite.scenarios })
  );
}

export function checkPage(page: PageData, main: HTMLElement): void {
  const report = JSON.parse(page.text("report.json")) as CheckReport;
  const parts = Object.entries(report.summary)
    .filter(([key, count]) => count > 0 && key !== "scenarios")
    .map(([key, count]) => `${count} ${key.replace("_", " ")}`);
  const header = {
    ...page.header,
    verdict: `${report.summary["scenarios"]} scenarios: ${parts.join(", ")}; exit status ${report.exit_status}`,
  };
  main.append(head(header), ...report.suites.map(suiteSection));
  main.append(section("The report", pre("the report", page.text("report.txt"), "report")), origin(page));
}
