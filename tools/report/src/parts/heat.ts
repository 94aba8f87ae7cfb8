// A heat map that is a table: the best run for each pair of values of two dimensions, its number in the cell. A cell with
// no run is crossed.
import { node } from "./dom";

export interface HeatOptions<Row> {
  rows: Row[];
  dimensions: { name: string; of: (row: Row) => string | number }[];
  value: (row: Row) => number; // the least of a cell is shown
  text: (value: number) => string;
  title: (row: Row) => string;
}

// Viridis, from the worst (dark) to the best (light).
const ramp = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
];

function colour(share: number): { fill: string; text: string } {
  const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  const low = Math.min(Math.floor(at), ramp.length - 2);
  const rgb = ramp[low]!.map((from, k) => Math.round(from + (ramp[low + 1]![k]! - from) * (at - low)));
  const bright = 0.299 * rgb[0]! + 0.587 * rgb[1]! + 0.114 * rgb[2]!;
  return { fill: `rgb(${rgb.join(",")})`, text: bright > 110 ? "#000" : "#fff" };
}

function inOrder(values: (string | number)[]): (string | number)[] {
  return [...new Set(values)].sort((a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))
  );
}

function drawHeat<Row>(options: HeatOptions<Row>, across: number, down: number): HTMLElement {
  const [x, y] = [options.dimensions[across]!, options.dimensions[down]!];
  const best = new Map<string, Row>();
  for (const row of options.rows) {
    const key = JSON.stringify([x.of(row), y.of(row)]);
    const known = best.get(key);
    if (known === undefined || options.value(row) < options.value(known)) best.set(key, row);
  }
  const values = [...best.values()].map(options.value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const columns = inOrder(options.rows.map(x.of));
  const lines = inOrder(options.rows.map(y.of)).map((down) => {
    const cells = columns.map((across) => {
      const row = best.get(JSON.stringify([across, down]));
      if (row === undefined)
        return node("td", { class: "none", title: "no run with these that was simulated and fits" }, "\u00d7");
      const { fill, text } = colour(most === least ? 1 : (most - options.value(row)) / (most - least));
      return node(
        "td",
        { style: `background:${fill};color:${text}`, title: options.title(row) },
        options.text(options.value(row))
      );
    });
    return node("tr", {}, node("th", { scope: "row" }, `${y.name} ${down}`), ...cells);
  });
  const headings = columns.map((value) => node("th", { scope: "col" }, `${x.name} ${value}`));
  const caption = node(
    "caption",
    {},
    `The best of each ${x.name} and ${y.name}; crossed: none that was simulated fits`
  );
  const all = node(
    "table",
    { class: "heat" },
    caption,
    node("thead", {}, node("tr", {}, node("td"), ...headings)),
    node("tbody", {}, ...lines)
  );
  return node("div", { class: "table", tabindex: 0, role: "region", "aria-label": "heat map" }, all);
}

// With two lists to choose the dimensions from; dimensions of a single value are left out.
export function heatMap<Row>(given: HeatOptions<Row>): HTMLElement {
  const dimensions = given.dimensions.filter(({ of }) => new Set(given.rows.map(of)).size > 1);
  const options = { ...given, dimensions };
  if (dimensions.length < 2) return node("p", { class: "faint" }, "The runs differ in less than two dimensions.");
  const chosen: [number, number] = [0, 1];
  const place = node("div");
  const draw = (): void => place.replaceChildren(drawHeat(options, chosen[0], chosen[1]));
  const choose = (which: 0 | 1, label: string): HTMLSelectElement => {
    const list = dimensions.map(({ name }, k) => node("option", { value: k, selected: k === chosen[which] }, name));
    const select = node("select", { "aria-label": label }, ...list);
    select.addEventListener("change", () => {
      chosen[which] = Number(select.value);
      draw();
    });
    return select;
  };
  draw();
  return node(
    "div",
    {},
    node("div", { class: "tools" }, "across ", choose(0, "dimension across"), " down ", choose(1, "dimension down")),
    place
  );
}
