// Numbers of two runs beside each other, with what is between them.
import { duration, percent, size } from "../text/format";
import { Column, table } from "./table";

export type Unit = "time" | "ratio" | "size" | "count";

export interface Figure {
  what: string;
  unit: Unit;
  first: number | null; // null: not known
  second: number | null;
  key?: string;
}

function text(value: number | null, unit: Unit): string {
  if (value === null) return "-";
  if (unit === "time") return duration(value);
  if (unit === "size") return size(value);
  return unit === "ratio" ? percent(value) : String(value);
}

// "+5.250 ms", "+6.1 pp"
export function gapText(gap: number | null, unit: Unit): string {
  if (gap === null) return "-";
  const sign = gap > 0 ? "+" : "";
  return unit === "ratio" ? `${sign}${(100 * gap).toFixed(1)} pp` : sign + text(gap, unit);
}

function relative({ first, second, unit }: Figure): string {
  if (unit === "ratio" || first === null || second === null || first === 0 || first === second) return "";
  const by = second / first - 1;
  return `${by > 0 ? "+" : ""}${percent(by)}`;
}

export function figures(caption: string, names: [string, string], rows: Figure[]): HTMLElement {
  const gap = ({ first, second }: Figure): number | null => (first === null || second === null ? null : second - first);
  const columns: Column<Figure>[] = [
    { title: "figure", text: (row) => row.what },
    { title: names[0], key: "first", text: (row) => text(row.first, row.unit), value: (row) => row.first },
    { title: names[1], key: "second", text: (row) => text(row.second, row.unit), value: (row) => row.second },
    { title: "gap", key: "gap", text: (row) => gapText(gap(row), row.unit), value: gap },
    { title: "relative", text: relative },
  ];
  return table({ caption, columns, rows, sortable: false });
}
