// What can be saved of each run: all of it is what the command would write.
import { save } from "../../report/src/parts/facts";
import { button, node } from "../../report/src/parts/dom";
import { opsCsv } from "../../report/src/parts/ops";
import { Engine } from "./engine";
import { Outcome } from "./result";
import { filesOf, jobWords, Settings, Side } from "./settings";

const formats: { name: string; words: string[]; ending: string }[] = [
  { name: "SVG", words: ["export", "--to", "svg", "--width", "170mm"], ending: "svg" },
  { name: "trace", words: ["export", "--to", "chrome-trace"], ending: "trace.json" },
  { name: "JSON", words: ["simulate", "--format", "json"], ending: "json" },
  { name: "devices as CSV", words: ["simulate", "--format", "csv"], ending: "csv" },
  { name: "table for PyTorch", words: ["export", "--to", "pytorch-csv"], ending: "schedule.csv" },
];

export function saveButtons(
  name: string,
  engine: Engine,
  settings: Settings,
  side: Side,
  outcome: () => Outcome | undefined
): HTMLElement {
  const told = node("span", { role: "status", class: "error" });
  const file = (ending: string): string => `${side.schedule.replace(/\W+/g, "-")}.${ending}`;
  const buttons = formats.map(({ name: format, words, ending }) =>
    button(format, `save ${name} as ${format}`, async () => {
      const result = await engine.one([...words, ...jobWords(settings, side)], filesOf(settings, side));
      told.textContent = result.status === 0 || result.out !== "" ? "" : result.error;
      if (result.out !== "") save(file(ending), result.out);
    })
  );
  const ops = button("ops as CSV", `save every op of ${name} as CSV`, () => {
    const run = outcome()?.page?.runs[0];
    if (run !== undefined) save(file("ops.csv"), opsCsv(run));
  });
  return node("div", { class: "tools" }, `Save ${name}: `, ...buttons, ops, told);
}
