// A scatter of a few dozen points as SVG: one of them is better than another where it is further left and lower. Those
// that none is better than are joined: the Pareto front.

export interface Point {
  name: string;
  x: number;
  y: number;
  title: string;
  crossed: boolean; // cannot be used: does not fit, or has an error
  marked?: boolean; // the chosen one
}

export interface ScatterOptions {
  xTitle: string;
  yTitle: string;
  xUnit: number; // what ticks are round numbers of
  yUnit: number;
  xText: (value: number) => string;
  yText: (value: number) => string;
  front?: boolean; // false: less is not better, so there is none
  onPoint: (index: number) => void;
}

function svg(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  if (text !== "") node.textContent = text;
  return node;
}

// Indices of the points that none is better than, from left to right.
export function paretoFront(points: Point[]): number[] {
  const usable = points.map((_, k) => k).filter((k) => !points[k]!.crossed);
  const order = usable.sort((a, b) => points[a]!.x - points[b]!.x || points[a]!.y - points[b]!.y);
  let lowest = Infinity;
  return order.filter((k) => {
    const better = points[k]!.y < lowest;
    if (better) lowest = points[k]!.y;
    return better;
  });
}

const width = 760;
const height = 380;
const left = 78;
const right = 20;
const top = 14;
const bottom = 46;

// Of values that differ by more than this, the axis is logarithmic.
const logarithmicFrom = 2.5;

class Axis {
  readonly isLog: boolean;
  private readonly from: number;
  private readonly to: number;

  // `unit`: of what round numbers are marked, such as 1 MiB.
  constructor(
    values: number[],
    private readonly start: number,
    private readonly end: number,
    private readonly unit: number
  ) {
    const least = Math.min(...values);
    const most = Math.max(...values);
    this.isLog = least > 0 && most / least > logarithmicFrom;
    const [low, high] = [this.turn(least), this.turn(most)];
    const room = (high - low || high || 1) * 0.08;
    this.from = this.isLog || low < 0 ? low - room : Math.max(low - room, 0);
    this.to = high + room;
  }
  at(value: number): number {
    return this.start + ((this.turn(value) - this.from) / (this.to - this.from)) * (this.end - this.start);
  }
  ticks(): number[] {
    const [from, to] = [this.back(this.from) / this.unit, this.back(this.to) / this.unit];
    const list: number[] = [];
    if (this.isLog) {
      for (let power = 10 ** Math.floor(Math.log10(from)); power <= to; power *= 10) {
        for (const factor of to / from > 20 ? [1, 3] : [1, 1.5, 2, 3, 5, 7]) list.push(factor * power);
      }
    } else {
      const rough = (to - from) / 5;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
      for (let at = Math.ceil(from / step) * step; at <= to; at += step) list.push(at);
    }
    return list.filter((at) => at >= from && at <= to).map((at) => at * this.unit);
  }

  private turn(value: number): number {
    return this.isLog ? Math.log(value) : value;
  }
  private back(value: number): number {
    return this.isLog ? Math.exp(value) : value;
  }
}

function drawAxes(chart: SVGElement, x: Axis, y: Axis, options: ScatterOptions): void {
  for (const value of x.ticks()) {
    chart.append(svg("line", { x1: x.at(value), x2: x.at(value), y1: top, y2: height - bottom, class: "grid" }));
    chart.append(
      svg(
        "text",
        { x: x.at(value), y: height - bottom + 16, "text-anchor": "middle", class: "tick" },
        options.xText(value)
      )
    );
  }
  for (const value of y.ticks()) {
    chart.append(svg("line", { x1: left, x2: width - right, y1: y.at(value), y2: y.at(value), class: "grid" }));
    chart.append(
      svg("text", { x: left - 8, y: y.at(value) + 4, "text-anchor": "end", class: "tick" }, options.yText(value))
    );
  }
  chart.append(
    svg(
      "text",
      { x: (left + width) / 2, y: height - 6, "text-anchor": "middle", class: "title" },
      options.xTitle + (x.isLog ? " (logarithmic)" : "")
    )
  );
  const turned = `translate(14 ${(top + height - bottom) / 2}) rotate(-90)`;
  chart.append(
    svg(
      "text",
      { transform: turned, "text-anchor": "middle", class: "title" },
      options.yTitle + (y.isLog ? " (logarithmic)" : "")
    )
  );
}

// Names that would lie on one another are left out; a point's title has its name, too.
class Names {
  private readonly taken: { x: number; y: number; width: number }[] = [];

  // A point's own mark.
  keep(x: number, y: number): void {
    this.taken.push({ x: x - 5, y, width: 10 });
  }

  place(chart: SVGElement, name: string, x: number, y: number): void {
    if (name === "") return;
    const wide = name.length * 6.4;
    const box = { x: x + wide + 10 > width - right ? x - wide - 8 : x + 8, y, width: wide };
    const clash = this.taken.some(
      (one) => Math.abs(one.y - box.y) < 13 && one.x < box.x + box.width && box.x < one.x + one.width
    );
    if (clash) return;
    this.taken.push(box);
    chart.append(svg("text", { x: box.x, y: y + 4, class: "name" }, name));
  }
}

function mark(point: Point, x: number, y: number, onFront: boolean): SVGElement {
  const group = svg("g", {
    class: `point${onFront ? " front" : ""}${point.crossed ? " crossed" : ""}${point.marked ? " marked" : ""}`,
  });
  if (point.crossed)
    group.append(svg("path", { d: `M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x - 5} ${y + 5}L${x + 5} ${y - 5}` }));
  else if (onFront) group.append(svg("rect", { x: x - 5, y: y - 5, width: 10, height: 10 }));
  else group.append(svg("circle", { cx: x, cy: y, r: 5 }));
  group.append(svg("title", {}, point.title));
  return group;
}

export function scatter(points: Point[], label: string, options: ScatterOptions): SVGElement {
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "scatter" });
  if (points.length === 0) return chart;
  const x = new Axis(
    points.map((point) => point.x),
    left,
    width - right,
    options.xUnit
  );
  const y = new Axis(
    points.map((point) => point.y),
    height - bottom,
    top,
    options.yUnit
  );
  drawAxes(chart, x, y, options);
  const front = options.front === false ? [] : paretoFront(points);
  const steps = front.map((k, n) => {
    const before = n > 0 ? `H${x.at(points[k]!.x)}` : `M${x.at(points[k]!.x)} ${top}`;
    return `${before}V${y.at(points[k]!.y)}`;
  });
  if (steps.length > 0) chart.append(svg("path", { d: `${steps.join("")}H${width - right}`, class: "frontline" }));
  const names = new Names();
  for (const point of points) names.keep(x.at(point.x), y.at(point.y));
  const rest = points.map((_, k) => k).filter((k) => !front.includes(k));
  for (const k of [...rest, ...front]) {
    const shape = mark(points[k]!, x.at(points[k]!.x), y.at(points[k]!.y), front.includes(k));
    shape.addEventListener("click", () => options.onPoint(k));
    chart.append(shape);
  }
  for (const k of [...front, ...rest]) names.place(chart, points[k]!.name, x.at(points[k]!.x), y.at(points[k]!.y));
  return chart;
}
