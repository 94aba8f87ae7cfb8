// The top of every page: what was run, the answer, what to do next.
import { PageHeader } from "../data/page";
import { node } from "./dom";
import { themeButton } from "./theme";

export function head(header: PageHeader): HTMLElement {
  const answers = header.answers.filter(([, text]) => text !== "");
  const list = node("dl", { class: "answers" });
  for (const [label, text] of answers)
    list.append(node("dt", {}, label), node("dd", {}, label === "try" ? node("code", {}, text) : text));
  const top = node("div", { class: "top" }, node("h1", {}, header.title), themeButton());
  return node("header", {}, top, node("p", { class: "verdict" }, header.verdict), list);
}
