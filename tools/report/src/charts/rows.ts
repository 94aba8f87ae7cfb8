// Where each device's lanes are in a pipeline chart.
import { Lane, Run } from "../data/run";
import { rowsByDevice } from "../data/search";

export interface LaneRow {
  lane: Lane;
  device: number;
  y: number;
  height: number;
  order: Int32Array; // rows of the lane's table on this device, by begin
}

export interface DeviceRow {
  device: number;
  y: number;
  height: number; // of all its lanes
  compute: number; // height of the compute lane, at y
  lanes: LaneRow[];
}

export const axisHeight = 22;

interface SideLane {
  lane: Lane;
  orders: Int32Array[];
}

// Transfers are shown where they leave; those that take no time are not.
function sideLanes(run: Run): SideLane[] {
  const lanes: SideLane[] = [];
  const transfers = run.times(Lane.transfer);
  const takesTime = run.header.transfers_hold_lanes || transfers.end.some((end, k) => end > transfers.begin[k]!);
  if (takesTime)
    lanes.push({
      lane: Lane.transfer,
      orders: rowsByDevice(run.table("transfers").ints("from_device"), transfers.begin, run.devices),
    });
  for (const lane of [Lane.copy, Lane.step]) {
    const times = run.times(lane);
    if (times.table.rows > 0) lanes.push({ lane, orders: rowsByDevice(times.device, times.begin, run.devices) });
  }
  return lanes;
}

const side = 9;

export class Rows {
  readonly devices: DeviceRow[] = [];
  readonly height: number;
  private readonly sides: SideLane[];

  constructor(readonly run: Run, withSides: boolean) {
    this.sides = withSides ? sideLanes(run) : [];
    const compute = run.devices <= 8 ? 30 : run.devices <= 32 ? 22 : 14;
    let y = axisHeight;
    for (let device = 0; device < run.devices; ++device) {
      const row: DeviceRow = { device, y, height: compute, compute, lanes: [] };
      for (const { lane, orders } of this.sides) {
        if (orders[device]!.length === 0) continue;
        row.lanes.push({ lane, device, y: y + row.height + 1, height: side - 2, order: orders[device]! });
        row.height += side;
      }
      this.devices.push(row);
      y += row.height + (run.devices <= 32 ? 6 : 2);
    }
    this.height = y + 2;
  }

  // The device whose rows hold this y.
  at(y: number): DeviceRow | undefined {
    let low = 0;
    let high = this.devices.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.devices[middle]!.y <= y) low = middle + 1;
      else high = middle;
    }
    const row = this.devices[low - 1];
    return row !== undefined && y < row.y + row.height ? row : undefined;
  }
}
