// What a result rests on and comes from: findings, assumptions with their source, the command, the data to save.
import { PageData } from "../data/page";
import { Assumption, Finding } from "../data/report";
import { button, details, node, pre, section } from "./dom";
import { table } from "./table";

export function findings(list: Finding[]): HTMLElement {
  const items = list.map(({ severity, code, message }) =>
    node("li", { class: severity }, node("b", {}, `${severity}[${code}]: `), message)
  );
  return node("ul", { class: "findings" }, ...items);
}

const sources: Record<string, string> = {
  given: "given on the command line",
  default: "default: nobody said it",
  measured: "measured",
  published: "published",
  modelled: "modelled",
};

export function assumptions(list: Assumption[]): HTMLElement {
  const rows = table<Assumption>({
    caption: "What the result assumes, and who says so",
    columns: [
      { title: "what", text: (one) => one.what, value: (one) => one.what },
      { title: "value", text: (one) => one.value },
      {
        title: "source",
        text: (one) => node("span", { class: `source ${one.source}` }, sources[one.source] ?? one.source),
        value: (one) => one.source,
      },
    ],
    rows: list,
  });
  return section("Assumptions", rows);
}

export function save(name: string, text: string): void {
  const type = name.endsWith(".json") ? "application/json" : name.endsWith(".csv") ? "text/csv" : "text/plain";
  const link = node("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The command, and what can be saved; `more` are files that the page makes itself.
export function origin(page: PageData, more: { name: string; text: () => string }[] = []): HTMLElement {
  const own = page.documents.map((name) => ({ name, text: () => page.text(name) }));
  const buttons = [...own, ...more].map(({ name, text }) => button(name, `save ${name}`, () => save(name, text())));
  const { tool, command_line } = page.header;
  return section(
    "Command and data",
    details("The report as text", () => pre("the report as text", page.text("report.txt"), "report")),
    pre("the command that made this page", command_line),
    node("div", { class: "tools" }, "Save ", ...buttons),
    node("p", { class: "faint" }, `Made by ${tool.name} ${tool.version}. This file asks the network for nothing.`)
  );
}
