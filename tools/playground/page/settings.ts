// Settings: all that a visitor has chosen, as words of a command line and as the fragment of an address.

export const ownTable = "own table";
export const ownFile = "own.csv";

export interface Side {
  schedule: string; // of the catalog, or ownTable
  chunks: string; // empty: the schedule's own
  params: Record<string, string>;
}

export interface Settings {
  devices: number;
  microbatches: number;
  forward: number; // ms of a device share
  input: number;
  weight: number;
  latency: number; // ms of a hop
  memory: number; // MiB of a device; 0: no limit
  sides: [Side, Side];
  table: string;
}

export const numberKeys = ["devices", "microbatches", "forward", "input", "weight", "latency", "memory"] as const;
export type NumberKey = typeof numberKeys[number];

// In an address.
const shortNames: Record<NumberKey, string> = {
  devices: "p",
  microbatches: "m",
  forward: "f",
  input: "i",
  weight: "w",
  latency: "comm",
  memory: "memory",
};

const exampleTable = "0F0,0F1,0F2,0F3,0B0,0B1,0B2,0B3\n1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3\n";

export function defaults(): Settings {
  return {
    devices: 4,
    microbatches: 8,
    forward: 1,
    input: 1,
    weight: 1,
    latency: 0,
    memory: 0,
    sides: [
      { schedule: "1f1b", chunks: "", params: {} },
      { schedule: "zb-h1", chunks: "", params: {} },
    ],
    table: exampleTable,
  };
}

// What all runs share, in the command's own flags.
export function jobWords(settings: Settings, side: Side): string[] {
  const { forward, input, weight } = settings;
  const words: string[] = ["--schedule"];
  if (side.schedule === ownTable) {
    words.push(ownFile); // brings its devices and microbatches
  } else {
    words.push(side.schedule, "-p", String(settings.devices), "-m", String(settings.microbatches));
    if (side.chunks !== "") words.push("-v", side.chunks);
    for (const [name, value] of Object.entries(side.params)) words.push("--param", `${name}=${value}`);
  }
  words.push("--times", `f=${forward},i=${input},w=${weight}`);
  if (settings.latency > 0) words.push("--comm", String(settings.latency));
  if (settings.memory > 0) words.push("--memory", `${settings.memory}MiB`, "--allocator", "exact");
  return words;
}

export function filesOf(settings: Settings, side: Side): Record<string, string> {
  return side.schedule === ownTable ? { [ownFile]: settings.table } : {};
}

// As a shell takes it.
export function commandLine(words: string[]): string {
  const quoted = words.map((word) => (/^[\w./:=,+-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`));
  return ["debubble", ...quoted].join(" ");
}

export function toFragment(settings: Settings): string {
  const usual = defaults();
  const parts = new URLSearchParams();
  for (const key of numberKeys) if (settings[key] !== usual[key]) parts.set(shortNames[key], String(settings[key]));
  settings.sides.forEach((side, k) => {
    const place = "ab"[k]!;
    if (side.schedule !== usual.sides[k]!.schedule) parts.set(place, side.schedule);
    if (side.chunks !== "") parts.set(`${place}.v`, side.chunks);
    for (const [name, value] of Object.entries(side.params)) parts.set(`${place}.${name}`, value);
  });
  if (settings.table !== usual.table) parts.set("table", settings.table);
  return parts.toString();
}

// What cannot be is left as it was: an address may come from anywhere, and the command refuses what it cannot run.
export function fromFragment(fragment: string, schedules: string[]): Settings {
  const settings = defaults();
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  for (const key of numberKeys) {
    const value = Number(parts.get(shortNames[key]) ?? NaN);
    if (Number.isFinite(value) && value >= 0) settings[key] = value;
  }
  settings.sides.forEach((side, k) => {
    const place = "ab"[k]!;
    const schedule = parts.get(place);
    if (schedule !== null && (schedule === ownTable || schedules.includes(schedule))) side.schedule = schedule;
    for (const [key, value] of parts) {
      if (!key.startsWith(`${place}.`)) continue;
      if (key === `${place}.v`) side.chunks = value;
      else side.params[key.slice(2)] = value;
    }
  });
  settings.table = parts.get("table") ?? settings.table;
  return settings;
}
