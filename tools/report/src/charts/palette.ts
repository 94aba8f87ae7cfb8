// Colours: the Okabe-Ito set, which the colour-blind tell apart; every chart says the same with letters or hatches.

export interface Ink {
  fill: string;
  text: string;
  light: string; // every second stage of a device, or replica
  lightText: string;
}

const white = "#ffffff";
const black = "#000000";

function ink(fill: string, light: string, text = black): Ink {
  return { fill, text, light, lightText: black };
}

const kindInks: Record<string, Ink> = {
  F: ink("#0072b2", "#7fc4ee", white),
  B: ink("#e69f00", "#f8d58c"),
  I: ink("#f0e442", "#f9f4ad"),
  W: ink("#009e73", "#7fd6bb", black),
  R: ink("#cc79a7", "#ebc5da"),
  S: ink("#6a5acd", "#bdb5ee", white),
  T: ink("#8b5a2b", "#d8b999", white),
};
export function inkOf(letter: string): Ink {
  return kindInks[letter] ?? ink("#999999", "#cccccc");
}

export const transferFill = "#56b4e9";
export const copyFill = "#b07aa1";
export const collectiveFill = "#8c6bb1";
export const stepFill = "#999999";
export const pathStroke = "#d55e00";

const causeFills: Record<string, string> = {
  fill: "#9ecae1",
  drain: "#c6dbef",
  dependency: "#fdae6b",
  transfer_latency: "#56b4e9",
  transfer_bandwidth: "#2b8cbe",
  transfer_contention: "#045a8d",
  collective: "#8c6bb1",
  straggler: "#d7301f",
  memory_limit: "#cc79a7",
  launch_gap: "#969696",
};
export function causeFill(cause: string): string {
  return causeFills[cause] ?? "#969696";
}

// Stands beside the colour of a cause.
const causeSigns: Record<string, string> = {
  fill: "f",
  drain: "d",
  dependency: "=",
  transfer_latency: "l",
  transfer_bandwidth: "b",
  transfer_contention: "c",
  collective: "*",
  straggler: "s",
  memory_limit: "m",
  launch_gap: "g",
};
export function causeSign(cause: string): string {
  return causeSigns[cause] ?? "?";
}

const categoryFills: Record<string, string> = {
  weights: "#4e79a7",
  gradients: "#76b7b2",
  optimizer: "#9c9c9c",
  extra_weights: "#a0cbe8",
  activations: "#e69f00",
  held_for_weight_grad: "#009e73",
  received: "#56b4e9",
  comm_buffers: "#b07aa1",
  workspace: "#d4a6c8",
};
export function categoryFill(category: string): string {
  return categoryFills[category] ?? "#969696";
}

// What a chart takes from the page's style, so that it follows its theme.
export interface Theme {
  text: string;
  faint: string;
  line: string;
  background: string;
  idle: string;
  accent: string;
}

export function themeOf(node: Element): Theme {
  const style = getComputedStyle(node);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return {
    text: of("--text"),
    faint: of("--faint"),
    line: of("--line"),
    background: of("--chart"),
    idle: of("--idle"),
    accent: of("--accent"),
  };
}

export type Hatch = "none" | "up" | "down" | "dots";

// Of a kind of op, in addition to its colour.
export function hatchOf(letter: string): Hatch {
  if (letter === "B") return "up";
  if (letter === "W") return "down";
  return letter === "I" || letter === "R" ? "dots" : "none";
}

const patterns = new Map<string, CanvasPattern | null>();

export function hatchPattern(context: CanvasRenderingContext2D, hatch: Hatch): CanvasPattern | null {
  const known = patterns.get(hatch);
  if (known !== undefined) return known;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const pen = tile.getContext("2d")!;
  pen.strokeStyle = pen.fillStyle = "rgba(0, 0, 0, 0.35)";
  pen.lineWidth = 1.2;
  const slope = hatch === "up" ? 1 : -1;
  if (hatch === "dots") pen.fillRect(2, 2, 2, 2);
  for (let x = -8; hatch !== "dots" && x <= 8; x += 8) {
    pen.beginPath();
    pen.moveTo(x, slope > 0 ? 8 : 0);
    pen.lineTo(x + 8, slope > 0 ? 0 : 8);
    pen.stroke();
  }
  const pattern = context.createPattern(tile, "repeat");
  patterns.set(hatch, pattern);
  return pattern;
}
