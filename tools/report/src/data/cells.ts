// How the ways of a plan stand for each pair of values of two dimensions: cells.json, read for a heat map.

export interface CellCount {
  fits: number;
  illegal: number;
  tooLarge: number;
  open: number;
}

export interface PlanCells {
  dimensions: { name: string; values: string[] }[];
  pairs: { across: number; down: number; counts: [number, number, number, number][] }[];
}

export type Standing = "illegal" | "too large" | "not simulated";

// Of a cell without a run. Illegal: all ways with these values, or there is none.
export function standing(count: CellCount): Standing {
  if (count.open > 0) return "not simulated";
  return count.tooLarge > 0 ? "too large" : "illegal";
}

// In either orientation; zeros where a value is none of the dimension's.
export function countOf(cells: PlanCells, across: string, down: string, x: string, y: string): CellCount {
  const at = (name: string): number => cells.dimensions.findIndex((one) => one.name === name);
  let [first, second, one, other] = [at(across), at(down), x, y];
  if (first > second) [first, second, one, other] = [second, first, y, x];
  const pair = cells.pairs.find((candidate) => candidate.across === first && candidate.down === second);
  const columns = cells.dimensions[first]?.values ?? [];
  const column = columns.indexOf(one);
  const row = cells.dimensions[second]?.values.indexOf(other) ?? -1;
  const counts = column < 0 || row < 0 ? undefined : pair?.counts[row * columns.length + column];
  const [fits, illegal, tooLarge, open] = counts ?? [0, 0, 0, 0];
  return { fits, illegal, tooLarge, open };
}
