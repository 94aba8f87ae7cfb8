// What is at a time on a device: for pointing, clicking and the keyboard.
import { Lane, Run, Thing } from "../data/run";
import { firstAbove } from "../data/search";
import { DeviceRow } from "./rows";

// The span or gap of a device's compute lane at `time`.
export function computeAt(run: Run, device: number, time: number): Thing | undefined {
  const last = run.spanBegin[device + 1]!;
  const k = firstAbove(run.spans.end, time, run.spanBegin[device]!, last);
  if (k < last && run.spans.begin[k]! <= time) return { lane: Lane.span, index: k };
  const lastGap = run.gapBegin[device + 1]!;
  const gap = firstAbove(run.gaps.end, time, run.gapBegin[device]!, lastGap);
  return gap < lastGap && run.gaps.begin[gap]! <= time ? { lane: Lane.gap, index: gap } : undefined;
}

// The thing at `time`, `y` pixels below the top of the device's rows; near by where it is narrower than `reach`.
export function thingAt(run: Run, row: DeviceRow, y: number, time: number, reach: number): Thing | undefined {
  if (y < row.compute) return computeAt(run, row.device, time);
  const lane = row.lanes.find((one) => y < one.y - row.y + one.height + 1);
  if (lane === undefined) return undefined;
  const { begin, end } = run.times(lane.lane);
  let best: Thing | undefined;
  for (const index of lane.order) {
    if (begin[index]! > time + reach) break;
    if (end[index]! >= time - reach && end[index]! > begin[index]!) best = { lane: lane.lane, index };
  }
  return best;
}

// Whether an op's name is what was typed: "2F3" one op, "F3" that of any stage, else a part of the name.
function isNamed(name: string, text: string): boolean {
  if (/^\d+[A-Z]\d+$/.test(text)) return name === text;
  return /^[A-Z]\d+$/.test(text) ? name.replace(/^\d+/, "") === text : name.includes(text);
}

// The next span after `from`, around the end, with such an op; -1 where there is none.
export function findOp(run: Run, wanted: string, from: number, nameOf: (span: number) => string): number {
  const text = wanted.trim().toUpperCase().replace(/^PP:/, "");
  const count = run.spans.table.rows;
  for (let k = 1; text !== "" && k <= count; ++k) {
    const span = (from + k) % count;
    if (
      nameOf(span)
        .split("+")
        .some((name) => isNamed(name, text))
    )
      return span;
  }
  return -1;
}
