// Where ops are narrower than a pixel: every column of pixels shows how much of its time each kind of op takes, from
// the bottom up, and leaves the idle share empty. Its cost follows from the pixels, not from the ops.
import { Run } from "../data/run";
import { nextAbove } from "../data/search";
import { causeFill, inkOf } from "./palette";
import { pixelOf, Pixels } from "./pixels";

// Of a device, running sums of the time of each kind of op: sums[kind][k] is that of its first k spans.
interface KindSums {
  kinds: number[];
  sums: Float64Array[];
}

// How long each kind of op has run on a device, at times that only grow.
class Walk {
  readonly time: Float64Array; // by kind
  private at: number;
  private readonly last: number;
  private readonly first: number;
  private readonly kind: Int32Array;

  constructor(
    private readonly run: Run,
    device: number,
    private readonly kinds: number[],
    private readonly sums: Float64Array[]
  ) {
    this.time = new Float64Array(kinds.length);
    this.first = this.at = run.spanBegin[device]!;
    this.last = run.spanBegin[device + 1]!;
    this.kind = run.spans.table.ints("kind");
  }

  to(time: number): void {
    const { begin, end } = this.run.spans;
    this.at = nextAbove(end, time, this.at, this.last);
    for (let k = 0; k < this.kinds.length; ++k) this.time[k] = this.sums[k]![this.at - this.first]!;
    if (this.at < this.last && begin[this.at]! < time) {
      this.time[this.kinds.indexOf(this.kind[this.at]!)] += time - begin[this.at]!;
    }
  }
}

export class Density {
  private readonly sums: (KindSums | undefined)[] = [];
  private readonly colours: number[];
  private readonly causes: number[];

  constructor(private readonly run: Run) {
    this.causes = run.header.words.causes.map((cause) => pixelOf(causeFill(cause)));
    this.colours = run.header.words.kinds.map(({ letter }) => pixelOf(inkOf(letter).fill));
  }

  // Fills `pixels` for a device and the time from `begin`, `perPixel` for each column; with `causes` the idle share in the
  // colour of what the first gap in it is mostly for.
  draw(device: number, begin: number, perPixel: number, pixels: Pixels, causes: boolean): void {
    const { gaps, gapBegin, mainCauses } = this.run;
    let gap = gapBegin[device]!;
    const lastGap = gapBegin[device + 1]!;
    const { kinds, sums } = this.sumsOf(device);
    const walk = new Walk(this.run, device, kinds, sums);
    walk.to(begin);
    const from = new Float64Array(kinds.length);
    for (let x = 0; x < pixels.width; ++x) {
      from.set(walk.time);
      walk.to(begin + (x + 1) * perPixel);
      let share = 0;
      let drawn = 0;
      for (let k = 0; k < kinds.length; ++k) {
        share += (walk.time[k]! - from[k]!) / perPixel;
        const until = Math.round(share * pixels.height);
        pixels.column(x, drawn, until, this.colours[kinds[k]!]!);
        drawn = until;
      }
      if (!causes) continue;
      const time = begin + x * perPixel;
      gap = nextAbove(gaps.end, time, gap, lastGap);
      if (gap < lastGap && gaps.begin[gap]! < time + perPixel) {
        pixels.column(x, drawn, pixels.height, this.causes[mainCauses[gap]!]!);
      }
    }
  }

  private sumsOf(device: number): KindSums {
    const known = this.sums[device];
    if (known !== undefined) return known;
    const first = this.run.spanBegin[device]!;
    const count = this.run.spanBegin[device + 1]! - first;
    const kind = this.run.spans.table.ints("kind");
    const kinds = [...new Set(kind.subarray(first, first + count))].sort((a, b) => a - b);
    const sums = kinds.map(() => new Float64Array(count + 1));
    for (let k = 0; k < count; ++k) {
      const time = this.run.spans.end[first + k]! - this.run.spans.begin[first + k]!;
      for (let j = 0; j < kinds.length; ++j) sums[j]![k + 1] = sums[j]![k]! + (kinds[j] === kind[first + k] ? time : 0);
    }
    return (this.sums[device] = { kinds, sums });
  }
}
