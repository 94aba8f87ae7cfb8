// What a thing of a run is, when it ran, and what it waited for, in words.
import { Lane, Run, Thing } from "../data/run";
import { duration, percent, size, spaced } from "./format";

function kindAt(run: Run, table: string, index: number): { letter: string; word: string } {
  return run.header.words.kinds[run.table(table).ints("kind")[index]!]!;
}

// "2F3": stage, letter, microbatch.
function opOf(run: Run, table: string, index: number): string {
  const columns = run.table(table);
  return `${columns.ints("stage")[index]}${kindAt(run, table, index).letter}${columns.ints("microbatch")[index]}`;
}

// The second op of an overlapped pair; empty where there is none.
function partnerOf(run: Run, index: number): string {
  const table = run.spans.table;
  const kind = table.ints("partner_kind")[index]!;
  if (kind === 0) return "";
  const letter = run.header.words.kinds[kind - 1]!.letter;
  return `${table.ints("partner_stage")[index]}${letter}${table.ints("partner_microbatch")[index]}`;
}

export function spanName(run: Run, index: number): string {
  const partner = partnerOf(run, index);
  return opOf(run, "spans", index) + (partner === "" ? "" : `+${partner}`);
}

// "PP:2F3" in a few words, for lists and sentences.
export function thingName(run: Run, thing: Thing): string {
  switch (thing.lane) {
    case Lane.span:
      return `${spanName(run, thing.index)} on d${run.spans.device[thing.index]}`;
    case Lane.transfer: {
      const table = run.table("transfers");
      const [from, to] = [table.ints("from_device")[thing.index], table.ints("to_device")[thing.index]];
      return `the output of ${opOf(run, "transfers", thing.index)} from d${from} to d${to}`;
    }
    case Lane.copy: {
      const out = run.table("copies").ints("way")[thing.index] === 0;
      return `the activation of ${opOf(run, "copies", thing.index)} ${out ? "leaving" : "coming back"}`;
    }
    case Lane.collective:
      return `the barrier of microbatch ${run.table("collectives").ints("microbatch")[thing.index]}`;
    case Lane.step:
      return run.header.words.what[run.table("steps").ints("what")[thing.index]!]!;
    case Lane.gap:
      return `idle time of d${run.gaps.device[thing.index]}`;
    case Lane.nothing:
      return "nothing";
  }
}

export interface CausePart {
  cause: string;
  time: number;
}

// Of a gap, the longest first.
export function causesOf(run: Run, gap: number): CausePart[] {
  const parts: CausePart[] = [];
  for (const cause of run.header.words.causes) {
    const time = run.gaps.table.has(cause) ? run.gaps.table.numbers(cause)[gap]! : 0;
    if (time !== 0) parts.push({ cause, time });
  }
  return parts.sort((a, b) => b.time - a.time);
}

function causesText(run: Run, gap: number): string {
  return causesOf(run, gap)
    .map(({ cause, time }) => `${duration(time)} ${causeWords(cause)}`)
    .join(", ");
}

const causeMeaning: Record<string, string> = {
  fill: "fill (the pipeline ramps up: compute elsewhere, before its first backward)",
  drain: "drain (the pipeline runs empty: compute elsewhere, after its last forward)",
  dependency: "dependency (compute elsewhere in between: uneven stages, or the order)",
  transfer_latency: "latency of transfers",
  transfer_bandwidth: "transfers (bandwidth)",
  transfer_contention: "transfers that shared their links",
  collective: "a collective",
  straggler: "a straggler",
  memory_limit: "an activation that was moved away",
  launch_gap: "launch gap",
};

export function causeWords(cause: string): string {
  return causeMeaning[cause] ?? spaced(cause);
}

// The gap that ends where a span begins; -1 where its device had work until then.
export function gapBefore(run: Run, span: number): number {
  const device = run.spans.device[span]!;
  const before = run.gaps.table.ints("before");
  for (let low = run.gapBegin[device]!, high = run.gapBegin[device + 1]!; low < high; ) {
    const middle = (low + high) >>> 1;
    const end = run.gaps.end[middle]!;
    if (end === run.spans.begin[span]) return before[middle] === span ? middle : -1;
    if (end < run.spans.begin[span]!) low = middle + 1;
    else high = middle;
  }
  return -1;
}

function whenLine(begin: number, end: number): string {
  return `${duration(begin)} to ${duration(end)}, takes ${duration(end - begin)}`;
}

function spanLines(run: Run, index: number): string[] {
  const table = run.spans.table;
  const kind = kindAt(run, "spans", index);
  const piece = table.ints("microbatch")[index]!;
  const part = run.header.pieces === 1 ? "" : run.header.sliced ? " (microbatch.slice)" : " (microbatch.part)";
  let what = `${kind.word} of stage ${table.ints("stage")[index]}, microbatch ${run.microbatchName(piece)}${part}`;
  if (run.header.replica_of.length > 0) what += `, replica ${run.header.replica_of[piece]}`;
  const partner = table.ints("partner_kind")[index]!;
  if (partner > 0) {
    const other = run.header.words.kinds[partner - 1]!.word;
    what += `, together with ${other} of stage ${table.ints("partner_stage")[index]}, microbatch `;
    what += run.microbatchName(table.ints("partner_microbatch")[index]!);
  }
  const lines = [what, whenLine(run.spans.begin[index]!, run.spans.end[index]!)];
  const gap = gapBefore(run, index);
  if (gap >= 0) {
    const idle = run.gaps.end[gap]! - run.gaps.begin[gap]!;
    lines.push(`d${run.spans.device[index]} was idle ${duration(idle)} before it: ${causesText(run, gap)}`);
  }
  const wait = table.numbers("wait")[index]!;
  if (wait > 0) lines.push(`its inputs were there ${duration(wait)} earlier`);
  const straggled = table.numbers("straggled")[index]!;
  if (straggled !== 0) lines.push(`${duration(straggled)} of it beyond what its stage costs`);
  const slowed = table.numbers("slowed")[index]!;
  if (slowed !== 0) lines.push(`${duration(slowed)} of it because a collective overlapped it`);
  return lines;
}

function bytesLine(bytes: number): string[] {
  return bytes > 0 ? [size(bytes)] : [];
}

// What a panel says about it, line by line; the first is a name.
export function describe(run: Run, thing: Thing): string[] {
  const { lane, index } = thing;
  const name = thingName(run, thing);
  if (lane === Lane.nothing) return [];
  const times = run.times(lane);
  const when = whenLine(times.begin[index]!, times.end[index]!);
  if (lane === Lane.gap) {
    const share = (times.end[index]! - times.begin[index]!) / run.makespan;
    return [name, `${when} (${percent(share)} of the step)`, `because of ${causesText(run, index)}`];
  }
  const lines = lane === Lane.span ? [name, ...spanLines(run, index)] : [name, when];
  if (lane === Lane.transfer) {
    const table = run.table("transfers");
    lines.push(...bytesLine(table.numbers("bytes")[index]!), `latency ${duration(table.numbers("latency")[index]!)}`);
  }
  if (lane === Lane.copy || lane === Lane.step) lines.push(...bytesLine(times.table.numbers("bytes")[index]!));
  lines.push(`waited for ${thingName(run, run.gateOf(thing))}`);
  return lines;
}
