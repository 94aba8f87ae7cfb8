// What of `--format json` a page reads (docs/report.schema.json). Numbers of a run are taken from here and nowhere else.

export interface Assumption {
  what: string;
  value: string;
  source: string;
}

export interface DeviceReport {
  device: number;
  busy_ns: number;
  idle_ns: number;
  bubble_ratio: number;
  idle_by_cause_ns: Record<string, number>;
  peak_memory_bytes: number;
  peak_memory_at_ns: number;
  peak_memory_op: string | null;
  peak_by_category_bytes: Record<string, number>;
}

export interface Finding {
  severity: string;
  code: string;
  message: string;
}

export interface ScheduleFacts {
  name: string;
  devices: number;
  stages: number;
  microbatches: number;
  chunks: number;
  replicas: number;
  params: Record<string, string>;
}

export interface Report {
  command_line: string;
  schedule: ScheduleFacts;
  assumptions: Assumption[];
  makespan_ns?: number;
  ideal_ns: number;
  bubble_ratio: number;
  bubble_over_ideal: number;
  throughput_samples_per_s: number | null;
  throughput_tokens_per_s: number | null;
  mfu: number | null;
  p2p_bytes: number;
  p2p_messages: number;
  critical_path: { compute_ns: number; transfer_ns: number; collective_ns: number; wait_ns: number; hops: number };
  memory_fit?: { capacity_bytes: number; spare_bytes: number; device: number } | null;
  devices: DeviceReport[];
  findings: Finding[];
}

export function hasResult(report: Report): boolean {
  return report.makespan_ns !== undefined && report.devices !== undefined && report.devices.length > 0;
}

export function worstMemory(report: Report): DeviceReport {
  return report.devices.reduce((a, b) => (b.peak_memory_bytes > a.peak_memory_bytes ? b : a));
}
