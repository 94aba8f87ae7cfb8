// TimeWindow: which part of a run charts show, and the time that is pointed at. Charts that share one move together.

type Listener = () => void;

export class TimeWindow {
  begin = 0;
  end: number;
  cursor: number | undefined;
  marked: [number, number] | undefined; // begin and end of what is about to be shown
  private readonly listeners: Listener[] = [];

  constructor(readonly length: number) {
    this.end = Math.max(length, 1);
  }

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  get span(): number {
    return this.end - this.begin;
  }
  get isWhole(): boolean {
    return this.begin <= 0 && this.end >= this.length;
  }

  show(begin: number, end: number): void {
    const shortest = Math.min(20, this.length);
    const span = Math.min(Math.max(end - begin, shortest), Math.max(this.length, 1));
    this.begin = Math.min(Math.max(begin, 0), Math.max(this.length - span, 0));
    this.end = this.begin + span;
    this.tell();
  }
  whole(): void {
    this.show(0, this.length);
  }
  // Below 1: nearer. The time `at` stays where it is on the screen.
  zoom(factor: number, at = (this.begin + this.end) / 2): void {
    const begin = at - (at - this.begin) * factor;
    this.show(begin, begin + this.span * factor);
  }
  // By a part of what is shown.
  pan(share: number): void {
    this.show(this.begin + share * this.span, this.end + share * this.span);
  }
  // Moves as little as it must so that [begin, end] is to be seen.
  reveal(begin: number, end: number): void {
    if (begin >= this.begin && end <= this.end) return;
    const span = Math.max(this.span, (end - begin) * 1.2);
    this.show((begin + end - span) / 2, (begin + end + span) / 2);
  }
  mark(range: [number, number] | undefined): void {
    if (range === undefined && this.marked === undefined) return;
    this.marked = range;
    this.tell();
  }
  point(time: number | undefined): void {
    if (this.cursor === time) return;
    this.cursor = time;
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

// Round times from `begin` to `end`, at least `apart` pixels of `perPixel` ns from each other.
export function ticks(begin: number, end: number, perPixel: number, apart: number): number[] {
  const least = Math.max(perPixel * apart, 1);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10);
  const list: number[] = [];
  for (let at = Math.ceil(begin / step) * step; at <= end; at += step) list.push(at);
  return list;
}
