// A schedule written by hand, as PyTorch's table: a line per device, a cell per op.
import { button, node, section } from "../../report/src/parts/dom";
import { Engine } from "./engine";
import { filesOf, jobWords, ownTable, Settings } from "./settings";

const help =
  "A line per device, cells between commas: stage, letter, microbatch. F forward, B backward, or I and W, its two " +
  "halves. Orders that wait for each other in a circle are shown as the deadlock they are.";

export function tableEditor(
  engine: Engine,
  settings: Settings,
  change: () => void,
  choose: (side: 0 | 1) => void
): HTMLElement {
  const text = node("textarea", { rows: 8, spellcheck: "false", "aria-label": "own schedule, as a table" });
  text.value = settings.table;
  text.addEventListener("input", () => {
    settings.table = text.value;
    if (settings.sides.some((side) => side.schedule === ownTable)) change();
  });
  const told = node("span", { role: "status", class: "error" });
  const take = async (side: 0 | 1): Promise<void> => {
    const from = settings.sides[side];
    const words = ["export", "--to", "pytorch-csv", ...jobWords(settings, from)];
    const result = await engine.one(words, filesOf(settings, from));
    told.textContent = result.status === 0 ? "" : result.error;
    if (result.status !== 0) return;
    text.value = settings.table = result.out;
    change();
  };
  return section(
    "Write your own",
    node("p", { class: "faint" }, help),
    text,
    node(
      "div",
      { class: "tools" },
      button("show as first", "show this table as the first schedule", () => choose(0)),
      button("show as second", "show this table as the second schedule", () => choose(1)),
      button("copy the first here", "write the first schedule into the table", () => void take(0)),
      button("copy the second here", "write the second schedule into the table", () => void take(1)),
      told
    )
  );
}
