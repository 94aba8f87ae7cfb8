// Which transfers bring a span its inputs and take its outputs away.
import { Run } from "../data/run";

// Rows by the value of a column: those of value v are rows[begin[v]] ... rows[begin[v + 1] - 1].
class Grouped {
  private readonly begin: Int32Array;
  private readonly rows: Int32Array;

  constructor(column: Int32Array, values: number) {
    this.begin = new Int32Array(values + 2);
    for (const value of column) if (value >= 0) ++this.begin[value + 2];
    for (let v = 0; v < values; ++v) this.begin[v + 2] += this.begin[v + 1]!;
    this.rows = new Int32Array(column.length);
    for (let k = 0; k < column.length; ++k) {
      const value = column[k]!;
      if (value >= 0) this.rows[this.begin[value + 1]++] = k;
    }
  }
  of(value: number): Int32Array {
    return this.rows.subarray(this.begin[value]!, this.begin[value + 1]!);
  }
}

export class Links {
  private into: Grouped | undefined;
  private outOf: Grouped | undefined;

  constructor(private readonly run: Run) {}

  // Rows of the table of transfers.
  inputs(span: number): Int32Array {
    this.into ??= new Grouped(this.run.table("transfers").ints("to_span"), this.run.spans.table.rows);
    return this.into.of(span);
  }
  outputs(span: number): Int32Array {
    this.outOf ??= new Grouped(this.run.table("transfers").ints("from_span"), this.run.spans.table.rows);
    return this.outOf.of(span);
  }
}
