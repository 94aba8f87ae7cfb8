// A table of the page's data: columns of whole numbers, decoded when they are first asked for.

export interface ColumnHeader {
  offset: number;
  bytes: number;
  delta: boolean;
}

export interface TableHeader {
  rows: number;
  columns: Record<string, ColumnHeader>;
}

type Numbers = Int32Array | Float64Array;

// Zigzag LEB128. Values beyond 2^31 need more than bit operations, so the rest of a long one is multiplied.
function decode(bytes: Uint8Array, header: ColumnHeader, out: Numbers): void {
  let at = header.offset;
  let last = 0;
  for (let row = 0; row < out.length; ++row) {
    let byte = bytes[at++]!;
    let value = byte & 127;
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = bytes[at++]!;
      value += (byte & 127) * scale;
    }
    const number = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    out[row] = last + number;
    if (header.delta) last += number;
  }
}

export class Table {
  private readonly decoded = new Map<string, Numbers>();

  constructor(private readonly header: TableHeader, private readonly bytes: Uint8Array) {}

  get rows(): number {
    return this.header.rows;
  }
  get names(): string[] {
    return Object.keys(this.header.columns);
  }
  has(name: string): boolean {
    return name in this.header.columns;
  }

  // Small numbers: kinds, indices. Of a column that is not there: zeros.
  ints(name: string): Int32Array {
    return this.column(name, () => new Int32Array(this.rows));
  }
  // Times and sizes, exact below 2^53.
  numbers(name: string): Float64Array {
    return this.column(name, () => new Float64Array(this.rows));
  }

  private column<Kind extends Numbers>(name: string, make: () => Kind): Kind {
    const known = this.decoded.get(name);
    if (known !== undefined) return known as Kind;
    const column = make();
    const header = this.header.columns[name];
    if (header !== undefined) decode(this.bytes, header, column);
    this.decoded.set(name, column);
    return column;
  }
}
