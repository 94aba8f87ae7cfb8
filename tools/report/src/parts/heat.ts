// A heat map that is a table: the best run for each pair of values of two dimensions, its number in the cell. A cell with
// no run says why: crossed where it is illegal, other signs where nothing fits or nothing was simulated.
import { CellCount, PlanCells, Standing, countOf, standing } from "../data/cells";
import { node } from "./dom";

interface HeatDimension<Row> {
  name: string;
  key: string; // in cells.json
  of: (row: Row) => string | number;
}

export interface HeatOptions<Row> {
  rows: Row[];
  dimensions: HeatDimension<Row>[];
  cells: PlanCells;
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

function inOrder(values: (string | number)[]): string[] {
  const texts = [...new Set(values.map(String))];
  const numbers = texts.every((text) => text !== "" && !Number.isNaN(Number(text)));
  return texts.sort((a, b) => (numbers ? Number(a) - Number(b) : a.localeCompare(b)));
}

// What a cell without a run shows, for eyes and for screen readers; its words are those of the legend.
const marks: Record<Standing, { sign: string; name: string; meaning: string }> = {
  illegal: { sign: "\u00d7", name: "illegal", meaning: "illegal: no run has these values" },
  "too large": { sign: "\u25b2", name: "large", meaning: "too large: none of them fits the memory" },
  "not simulated": {
    sign: "\u00b7",
    name: "open",
    meaning: "not simulated: legal as far as it was looked at, and others are faster by a bound, or the time ran out",
  },
};

function told(count: CellCount): string {
  const parts = [
    [count.fits, "fit"],
    [count.illegal, "illegal"],
    [count.tooLarge, "too large"],
    [count.open, "not simulated"],
  ].filter(([many]) => many !== 0);
  return parts.length === 0 ? "no way to run the job has both" : parts.map(([many, what]) => `${many} ${what}`).join(", ");
}

function emptyCell(count: CellCount): HTMLElement {
  const { sign, name, meaning } = marks[standing(count)];
  return node(
    "td",
    { class: `none ${name}`, title: `${meaning} (${told(count)})` },
    node("span", { "aria-hidden": "true" }, sign),
    node("span", { class: "spoken" }, standing(count))
  );
}

function legend(): HTMLElement {
  const items = Object.values(marks).map(({ sign, name, meaning }) =>
    node("li", {}, node("span", { class: `sign ${name}`, "aria-hidden": "true" }, sign), " ", meaning)
  );
  return node("ul", { class: "heat-legend", "aria-label": "legend of the heat map" }, ...items);
}

function drawHeat<Row>(options: HeatOptions<Row>, across: number, down: number): HTMLElement {
  const [x, y] = [options.dimensions[across]!, options.dimensions[down]!];
  const best = new Map<string, Row>();
  for (const row of options.rows) {
    const key = JSON.stringify([String(x.of(row)), String(y.of(row))]);
    const known = best.get(key);
    if (known === undefined || options.value(row) < options.value(known)) best.set(key, row);
  }
  const values = [...best.values()].map(options.value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const columns = inOrder(valuesOf(options, x));
  const lines = inOrder(valuesOf(options, y)).map((down) => {
    const cells = columns.map((across) => {
      const row = best.get(JSON.stringify([across, down]));
      if (row === undefined) return emptyCell(countOf(options.cells, x.key, y.key, across, down));
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
  const caption = node("caption", {}, `The best simulated run that fits, of each ${x.name} and ${y.name}`);
  const all = node(
    "table",
    { class: "heat" },
    caption,
    node("thead", {}, node("tr", {}, node("td"), ...headings)),
    node("tbody", {}, ...lines)
  );
  return node("div", { class: "table", tabindex: 0, role: "region", "aria-label": "heat map" }, all);
}

// All that the plan had, not only those with a run.
function valuesOf<Row>(options: HeatOptions<Row>, dimension: HeatDimension<Row>): (string | number)[] {
  const known = options.cells.dimensions.find(({ name }) => name === dimension.key);
  return known === undefined ? options.rows.map(dimension.of) : known.values;
}

// With two lists to choose the dimensions from; dimensions of a single value are left out.
export function heatMap<Row>(given: HeatOptions<Row>): HTMLElement {
  const dimensions = given.dimensions.filter((one) => new Set(valuesOf(given, one)).size > 1);
  const options = { ...given, dimensions };
  if (dimensions.length < 2) return node("p", { class: "faint" }, "The ways to run the job differ in less than two dimensions.");
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
    place,
    legend()
  );
}
