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
  xText: (value: number) => string;
  yText: (value: number) => string;
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

class Axis {
  constructor(readonly from: number, readonly to: number, readonly start: number, readonly end: number) {}
  at(value: number): number {
    return this.start + ((value - this.from) / (this.to - this.from)) * (this.end - this.start);
  }
  ticks(): number[] {
    const rough = (this.to - this.from) / 5;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
    const list: number[] = [];
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) list.push(at);
    return list;
  }
}

function axisOf(values: number[], start: number, end: number): Axis {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const room = (most - least || most || 1) * 0.08;
  return new Axis(Math.max(least - room, 0), most + room, start, end);
}

function drawAxes(chart: SVGElement, x: Axis, y: Axis, options: ScatterOptions): void {
  for (const value of x.ticks()) {
    chart.append(svg("line", { x1: x.at(value), x2: x.at(value), y1: top, y2: height - bottom, class: "grid" }));
    chart.append(svg("text", { x: x.at(value), y: height - bottom + 16, "text-anchor": "middle", class: "tick" }, options.xText(value)));
  }
  for (const value of y.ticks()) {
    chart.append(svg("line", { x1: left, x2: width - right, y1: y.at(value), y2: y.at(value), class: "grid" }));
    chart.append(svg("text", { x: left - 8, y: y.at(value) + 4, "text-anchor": "end", class: "tick" }, options.yText(value)));
  }
  chart.append(svg("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle", class: "title" }, options.xTitle));
  const turned = `translate(14 ${(top + height - bottom) / 2}) rotate(-90)`;
  chart.append(svg("text", { transform: turned, "text-anchor": "middle", class: "title" }, options.yTitle));
}

// Names that would lie on one another are left out; a point's title has its name, too.
class Names {
  private readonly taken: { x: number; y: number; width: number }[] = [];

  place(chart: SVGElement, name: string, x: number, y: number): void {
    const wide = name.length * 6.4;
    const box = { x: x + wide + 10 > width - right ? x - wide - 8 : x + 8, y, width: wide };
    const clash = this.taken.some((one) => Math.abs(one.y - box.y) < 13 && one.x < box.x + box.width && box.x < one.x + one.width);
    if (clash) return;
    this.taken.push(box);
    chart.append(svg("text", { x: box.x, y: y + 4, class: "name" }, name));
  }
}

function mark(point: Point, x: number, y: number, onFront: boolean): SVGElement {
  const group = svg("g", { class: `point${onFront ? " front" : ""}${point.crossed ? " crossed" : ""}${point.marked ? " marked" : ""}` });
  if (point.crossed) group.append(svg("path", { d: `M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x - 5} ${y + 5}L${x + 5} ${y - 5}` }));
  else if (onFront) group.append(svg("rect", { x: x - 5, y: y - 5, width: 10, height: 10 }));
  else group.append(svg("circle", { cx: x, cy: y, r: 5 }));
  group.append(svg("title", {}, point.title));
  return group;
}

export function scatter(points: Point[], label: string, options: ScatterOptions): SVGElement {
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "scatter" });
  if (points.length === 0) return chart;
  const x = axisOf(points.map((point) => point.x), left, width - right);
  const y = axisOf(points.map((point) => point.y), height - bottom, top);
  drawAxes(chart, x, y, options);
  const front = paretoFront(points);
  const steps = front.map((k, n) => {
    const before = n > 0 ? `H${x.at(points[k]!.x)}` : `M${x.at(points[k]!.x)} ${top}`;
    return `${before}V${y.at(points[k]!.y)}`;
  });
  chart.append(svg("path", { d: `${steps.join("")}H${width - right}`, class: "frontline" }));
  const names = new Names();
  const order = [...front, ...points.map((_, k) => k).filter((k) => !front.includes(k))];
  for (const k of order) {
    const point = points[k]!;
    const shape = mark(point, x.at(point.x), y.at(point.y), front.includes(k));
    shape.addEventListener("click", () => options.onPoint(k));
    chart.append(shape);
    names.place(chart, point.name, x.at(point.x), y.at(point.y));
  }
  return chart;
}
