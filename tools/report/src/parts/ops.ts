// The ops behind a pipeline chart as a table, a page at a time, and as CSV.
import { Run } from "../data/run";
import { causesOf, gapBefore, spanName } from "../text/describe";
import { duration, spaced } from "../text/format";
import { button, node } from "./dom";
import { table } from "./table";

const perPage = 100;

function waitWords(run: Run, span: number): string {
  const gap = gapBefore(run, span);
  return gap < 0
    ? ""
    : causesOf(run, gap)
        .map(({ cause, time }) => `${duration(time)} ${spaced(cause)}`)
        .join(", ");
}

function rowsFrom(run: Run, first: number): HTMLElement {
  const count = Math.min(perPage, run.spans.table.rows - first);
  return table<number>({
    caption: `Ops ${first + 1} to ${first + count} of ${run.spans.table.rows} (${
      run.header.label
    }), by device, then in running order`,
    columns: [
      { title: "op", text: (k) => spanName(run, k) },
      { title: "device", text: (k) => `d${run.spans.device[k]}`, value: (k) => run.spans.device[k]! },
      { title: "begins", text: (k) => duration(run.spans.begin[k]!), value: (k) => run.spans.begin[k]! },
      { title: "ends", text: (k) => duration(run.spans.end[k]!), value: (k) => run.spans.end[k]! },
      {
        title: "takes",
        text: (k) => duration(run.spans.end[k]! - run.spans.begin[k]!),
        value: (k) => run.spans.end[k]! - run.spans.begin[k]!,
      },
      { title: "idle before it", text: (k) => waitWords(run, k) },
    ],
    rows: Array.from({ length: count }, (_, k) => first + k),
  });
}

export function opTable(run: Run): HTMLElement {
  const place = node("div");
  let first = 0;
  const show = (at: number): void => {
    first = Math.min(Math.max(at, 0), Math.max(run.spans.table.rows - 1, 0));
    place.replaceChildren(rowsFrom(run, first));
  };
  show(0);
  const turn = node(
    "div",
    { class: "tools" },
    button("previous", "previous page of ops", () => show(first - perPage)),
    button("next", "next page of ops", () => show(first + perPage < run.spans.table.rows ? first + perPage : first))
  );
  return node("div", {}, run.spans.table.rows > perPage ? turn : "", place);
}

// Every op with what a spreadsheet needs; times in ns.
export function opsCsv(run: Run): string {
  const { begin, end, device, table: columns } = run.spans;
  const { kinds, causes } = run.header.words;
  const used = causes.filter((cause) => run.gaps.table.has(cause));
  const lines = [
    [
      "op",
      "device",
      "kind",
      "stage",
      "microbatch",
      "begin_ns",
      "end_ns",
      ...used.map((cause) => `idle_before_${cause}_ns`),
    ].join(","),
  ];
  const [kind, stage, microbatch] = [columns.ints("kind"), columns.ints("stage"), columns.ints("microbatch")];
  for (let k = 0; k < columns.rows; ++k) {
    const gap = gapBefore(run, k);
    const idle = used.map((cause) => (gap < 0 ? 0 : run.gaps.table.numbers(cause)[gap]!));
    lines.push(
      [spanName(run, k), device[k], kinds[kind[k]!]!.word, stage[k], microbatch[k], begin[k], end[k], ...idle].join(",")
    );
  }
  return lines.join("\n") + "\n";
}
