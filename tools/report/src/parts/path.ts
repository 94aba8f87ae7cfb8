// The critical path in words: what it is made of, and its parts one after another.
import { Report } from "../data/report";
import { Run, Thing } from "../data/run";
import { thingName } from "../text/describe";
import { counted, duration } from "../text/format";
import { details, node, section } from "./dom";
import { pathWords } from "./numbers";
import { table } from "./table";

const mostRows = 500;

function pathTable(run: Run, path: Thing[]): HTMLElement {
  const shown = path.slice(0, mostRows);
  const rest = path.length > shown.length ? `; the first ${mostRows}` : "";
  const begin = (thing: Thing): number => run.times(thing.lane).begin[thing.index]!;
  const length = (thing: Thing): number => run.times(thing.lane).end[thing.index]! - begin(thing);
  return table<Thing>({
    caption: `What to shorten to shorten the step, first to last: ${counted(path.length, "part")}${rest}`,
    columns: [
      { title: "part", text: (thing) => thingName(run, thing) },
      { title: "begins", text: (thing) => duration(begin(thing)), value: begin },
      { title: "takes", text: (thing) => duration(length(thing)), value: length },
    ],
    rows: shown,
  });
}

export function pathSection(report: Report, run: Run | undefined): HTMLElement {
  const words = node("p", {}, `${duration(report.makespan_ns!)}: ${pathWords(report)}`);
  return section(
    "Critical path",
    words,
    run === undefined ? "" : details("Part by part", () => pathTable(run, run.path()))
  );
}
