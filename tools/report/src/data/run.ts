// Run: what each device did, op by op. Rows are told apart by a Thing: a table and a row of it.
import { beginOfDevices } from "./search";
import { Table, TableHeader } from "./table";

export interface RunHeader {
  label: string;
  report: number; // which of the runs in report.json
  devices: number;
  stages: number;
  pieces: number;
  sliced: boolean;
  makespan_ns: number;
  measured: boolean;
  transfers_hold_lanes: boolean;
  replica_of: number[];
  words: { kinds: { letter: string; word: string }[]; causes: string[]; categories: string[]; what: string[] };
  tables: Record<string, TableHeader>;
}

// The numbers of Gate::Kind.
export enum Lane {
  nothing = 0,
  span = 1,
  transfer = 2,
  copy = 3,
  collective = 4,
  step = 5,
  gap = 6, // no gate, but something to point at
}

export interface Thing {
  lane: Lane;
  index: number;
}

const tableNames = ["", "spans", "transfers", "copies", "collectives", "steps", "gaps"];

// A lane's begin and end times, and its gate.
export class Times {
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly device: Int32Array;

  constructor(readonly table: Table) {
    this.begin = table.numbers("begin");
    const duration = table.numbers("duration");
    this.end = this.begin.map((begin, k) => begin + duration[k]!);
    this.device = table.ints("device");
  }
}

export class Run {
  // Decoded when first asked for: of a page's many runs few are looked at.
  private readonly lazy: { spans?: Times; gaps?: Times; spanBegin?: Int32Array; gapBegin?: Int32Array; causes?: Uint8Array } = {};
  private readonly tables = new Map<string, Table>();
  private readonly others = new Map<string, Times>();
  private lightStages: Set<number>[] | undefined;

  constructor(readonly header: RunHeader, bytes: Uint8Array) {
    for (const name of Object.keys(header.tables)) this.tables.set(name, new Table(header.tables[name]!, bytes));
  }

  get spans(): Times {
    return (this.lazy.spans ??= new Times(this.table("spans")));
  }
  get gaps(): Times {
    return (this.lazy.gaps ??= new Times(this.table("gaps")));
  }
  // Where each device's begin.
  get spanBegin(): Int32Array {
    return (this.lazy.spanBegin ??= beginOfDevices(this.spans.device, this.devices));
  }
  get gapBegin(): Int32Array {
    return (this.lazy.gapBegin ??= beginOfDevices(this.gaps.device, this.devices));
  }

  get devices(): number {
    return this.header.devices;
  }
  get makespan(): number {
    return this.header.makespan_ns;
  }

  table(name: string): Table {
    const table = this.tables.get(name);
    if (table === undefined) throw new Error(`the data has no table ${name}`);
    return table;
  }
  times(lane: Lane): Times {
    if (lane === Lane.span) return this.spans;
    if (lane === Lane.gap) return this.gaps;
    const name = tableNames[lane]!;
    let times = this.others.get(name);
    if (times === undefined) this.others.set(name, (times = new Times(this.table(name))));
    return times;
  }

  gateOf(thing: Thing): Thing {
    if (thing.lane === Lane.nothing || thing.lane === Lane.gap) return { lane: Lane.nothing, index: -1 };
    const table = this.table(tableNames[thing.lane]!);
    return { lane: table.ints("gate")[thing.index]!, index: table.ints("gate_index")[thing.index]! };
  }

  // What it waited for, what that waited for, and so on to the beginning; `thing` first.
  chain(thing: Thing): Thing[] {
    const chain: Thing[] = [];
    const most = 200_000;
    for (let at = thing; at.lane !== Lane.nothing && at.index >= 0 && chain.length < most; at = this.gateOf(at)) {
      chain.push(at);
    }
    return chain;
  }

  path(): Thing[] {
    const table = this.table("path");
    const lanes = table.ints("gate");
    const indices = table.ints("gate_index");
    return Array.from(lanes, (lane, k) => ({ lane, index: indices[k]! }));
  }

  // Of each gap the cause of most of it, as a number of words.causes.
  get mainCauses(): Uint8Array {
    return (this.lazy.causes ??= this.findMainCauses());
  }

  // "3", or where microbatches are cut "1.1": microbatch and part.
  microbatchName(piece: number): string {
    const pieces = this.header.pieces;
    return pieces === 1 ? String(piece) : `${Math.floor(piece / pieces)}.${piece % pieces}`;
  }

  // Whether an op is drawn lighter: every second stage of a device, or every second replica.
  isLight(device: number, stage: number, piece: number): boolean {
    const replicas = this.header.replica_of;
    if (replicas.length > 0) return replicas[piece]! % 2 === 1;
    if (this.lightStages === undefined) this.lightStages = this.findLightStages();
    return this.lightStages[device]!.has(stage);
  }

  private findMainCauses(): Uint8Array {
    const table = this.gaps.table;
    const main = new Uint8Array(table.rows);
    const most = new Float64Array(table.rows);
    this.header.words.causes.forEach((cause, number) => {
      if (!table.has(cause)) return;
      const times = table.numbers(cause);
      for (let k = 0; k < main.length; ++k) {
        if (times[k]! <= most[k]!) continue;
        most[k] = times[k]!;
        main[k] = number;
      }
    });
    return main;
  }

  private findLightStages(): Set<number>[] {
    const table = this.spans.table;
    const stage = table.ints("stage");
    const kind = table.ints("kind");
    const stages = Array.from({ length: this.devices }, () => new Set<number>());
    const isVocabulary = this.header.words.kinds.map(({ letter }) => letter === "S" || letter === "T");
    for (let k = 0; k < table.rows; ++k) {
      if (!isVocabulary[kind[k]!]) stages[this.spans.device[k]!]!.add(stage[k]!);
    }
    return stages.map((set) => new Set([...set].sort((a, b) => a - b).filter((_, k) => k % 2 === 1)));
  }
}
