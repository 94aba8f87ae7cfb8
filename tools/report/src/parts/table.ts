// A table that can be sorted by a click on a heading. Numbers are sorted by their value, not by their text.
import { node } from "./dom";

export interface Column<Row> {
  title: string;
  // What is shown, and, for numbers, by what rows are sorted.
  text: (row: Row) => string | Node;
  value?: (row: Row) => number | string | null;
  key?: string; // of the JSON: marks the cell for tests and for copying
}

export interface TableOptions<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  onRow?: (row: Row) => void;
  sortable?: boolean; // unless rows are of different kinds
}

function cell<Row>(column: Column<Row>, row: Row, first: boolean): HTMLTableCellElement {
  const shown = column.text(row);
  const value = column.value?.(row);
  const attributes: Record<string, string> = {};
  if (first) attributes["scope"] = "row";
  if (typeof value === "number" && !first) attributes["class"] = "number";
  if (column.key !== undefined) Object.assign(attributes, { "data-key": column.key, "data-value": String(value) });
  return node(first ? "th" : "td", attributes, shown);
}

function compare(a: number | string | null | undefined, b: number | string | null | undefined): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1; // what is not known comes last
  if (b === null || b === undefined) return -1;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

export function table<Row>({ caption, columns, rows, onRow, sortable = true }: TableOptions<Row>): HTMLElement {
  const body = node("tbody");
  const isNumber = (column: Column<Row>, k: number): boolean =>
    k > 0 && typeof (rows[0] && column.value?.(rows[0])) === "number";
  const headings = columns.map((column, k) =>
    node("th", { scope: "col", class: isNumber(column, k) ? "number" : "" }, column.title)
  );
  const fill = (list: Row[]): void => {
    body.replaceChildren(
      ...list.map((row) => {
        const line = node("tr", {}, ...columns.map((column, k) => cell(column, row, k === 0)));
        if (onRow !== undefined) line.addEventListener("click", () => onRow(row));
        return line;
      })
    );
  };
  columns.forEach((column, k) => {
    const { value } = column;
    if (value === undefined || !sortable) return;
    let up = false;
    const sort = node("button", { type: "button", class: "sort" }, column.title);
    headings[k]!.replaceChildren(sort);
    sort.addEventListener("click", () => {
      up = !up;
      for (const heading of headings) heading.removeAttribute("aria-sort");
      headings[k]!.setAttribute("aria-sort", up ? "ascending" : "descending");
      fill([...rows].sort((a, b) => (up ? 1 : -1) * compare(value(a), value(b))));
    });
  });
  fill(rows);
  const all = node("table", {}, node("caption", {}, caption), node("thead", {}, node("tr", {}, ...headings)), body);
  // Scrolls on its own where a screen is narrow, so it must take the focus for who has no mouse.
  return node("div", { class: "table", tabindex: 0, role: "region", "aria-label": caption }, all);
}
