// Numbers as the command prints them (formats/text/quantities_format.cpp): four digits of a time, three of a size.

interface Scale {
  unit: string;
  divisor: number;
  decimals: number;
}

function decimalsFor(value: number, divisor: number, significant: number): number {
  if (divisor === 1) return 0;
  const whole = String(Math.floor(value / divisor)).length;
  return Math.min(Math.max(significant - whole, 0), significant - 1);
}

export function durationScale(largest: number): Scale {
  const size = Math.abs(largest);
  if (size < 1e3) return { unit: "ns", divisor: 1, decimals: 0 };
  if (size < 999_950) return { unit: "us", divisor: 1e3, decimals: decimalsFor(size, 1e3, 4) };
  if (size < 999_950_000) return { unit: "ms", divisor: 1e6, decimals: decimalsFor(size, 1e6, 4) };
  return { unit: "s", divisor: 1e9, decimals: decimalsFor(size, 1e9, 4) };
}

export function sizeScale(largest: number): Scale {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let index = 0;
  let divisor = 1;
  for (; index + 1 < units.length && Math.floor(Math.abs(largest) / divisor) >= 1024; ++index) divisor *= 1024;
  return { unit: units[index]!, divisor, decimals: decimalsFor(Math.abs(largest), divisor, 3) };
}

// Rounded half away from zero, as integers are there; toFixed would round 1.0005 by what its double is.
export function scaled(value: number, scale: Scale): string {
  const power = 10 ** scale.decimals;
  const rounded = Math.floor((Math.abs(value) * power) / scale.divisor + 0.5);
  const sign = value < 0 && rounded > 0 ? "-" : "";
  return sign + (rounded / power).toFixed(scale.decimals);
}

export function duration(value: number): string {
  const scale = durationScale(value);
  return `${scaled(value, scale)} ${scale.unit}`;
}

export function size(value: number): string {
  const scale = sizeScale(value);
  return `${scaled(value, scale)} ${scale.unit}`;
}

export function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(1)} %`;
}

export function rate(value: number): string {
  return value >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
}

export function counted(count: number, noun: string): string {
  const plural = noun.endsWith("ch") ? "es" : "s";
  return `${count} ${noun}${count === 1 ? "" : plural}`;
}

// "transfer_latency" -> "transfer latency"
export function spaced(key: string): string {
  return key.replace(/_/g, " ");
}
