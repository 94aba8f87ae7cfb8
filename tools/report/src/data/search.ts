// Binary search in a part of a sorted column.

// The first index in [from, to) whose value is above `value`; `to` where none is.
export function firstAbove(values: Float64Array, value: number, from: number, to: number): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (values[middle]! > value) to = middle;
    else from = middle + 1;
  }
  return from;
}

// The same where it is likely near `from`: its cost is the logarithm of how far it is.
export function nextAbove(values: Float64Array, value: number, from: number, to: number): number {
  let step = 1;
  while (from + step < to && values[from + step - 1]! <= value) {
    from += step;
    step *= 2;
  }
  return firstAbove(values, value, from, Math.min(from + step, to));
}

// Where each device's rows begin in a column of devices that is sorted: devices + 1 entries.
export function beginOfDevices(device: Int32Array, devices: number): Int32Array {
  const begin = new Int32Array(devices + 1);
  for (let k = 0; k < device.length; ++k) ++begin[device[k]! + 1];
  for (let d = 0; d < devices; ++d) begin[d + 1] += begin[d]!;
  return begin;
}

// Rows by device, each device's in order of `begin`: what a lane of its own shows.
export function rowsByDevice(device: Int32Array, begin: Float64Array, devices: number): Int32Array[] {
  const first = beginOfDevices(device, devices);
  const next = first.slice();
  const rows = new Int32Array(device.length);
  for (let k = 0; k < device.length; ++k) rows[next[device[k]!]++] = k;
  return Array.from({ length: devices }, (_, d) => {
    const own = rows.subarray(first[d]!, first[d + 1]!);
    const sorted = own.every((row, k) => k === 0 || begin[own[k - 1]!]! <= begin[row]!);
    return sorted ? own : own.sort((a, b) => begin[a]! - begin[b]! || a - b);
  });
}
