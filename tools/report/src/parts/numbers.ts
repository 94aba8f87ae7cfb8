// The numbers that answer, in boxes: step time, bubble, speed, memory.
import { hasResult, Report, worstMemory } from "../data/report";
import { duration, percent, rate, size } from "../text/format";
import { node } from "./dom";

function box(key: string, value: number, label: string, shown: string, more = ""): HTMLElement {
  const text = node("dd", { "data-key": key, "data-value": String(value) }, shown);
  return node("div", { class: "box" }, node("dt", {}, label), text, node("dd", { class: "more" }, more));
}

export function numbers(report: Report): HTMLElement {
  const list = node("dl", { class: "boxes" });
  if (!hasResult(report)) return list;
  list.append(
    box(
      "makespan_ns",
      report.makespan_ns!,
      "Step time",
      duration(report.makespan_ns!),
      `${duration(report.ideal_ns)} would be ideal`
    ),
    box(
      "bubble_ratio",
      report.bubble_ratio,
      "Bubble, of the step",
      percent(report.bubble_ratio),
      "idle / (devices x step)"
    ),
    box(
      "bubble_over_ideal",
      report.bubble_over_ideal,
      "Bubble, of the ideal",
      percent(report.bubble_over_ideal),
      "idle / ideal compute"
    )
  );
  const samples = report.throughput_samples_per_s;
  const tokens = report.throughput_tokens_per_s;
  if (samples !== null) {
    const more = tokens === null ? "" : `${rate(tokens)} tokens/s`;
    list.append(box("throughput_samples_per_s", samples, "Throughput", `${rate(samples)} samples/s`, more));
  }
  if (report.mfu !== null) list.append(box("mfu", report.mfu, "MFU", percent(report.mfu), "model FLOPs over peak"));
  const worst = worstMemory(report);
  const by = worst.peak_memory_op === null ? "" : `, reached by ${worst.peak_memory_op}`;
  list.append(
    box(
      "peak_memory_bytes",
      worst.peak_memory_bytes,
      "Peak memory",
      size(worst.peak_memory_bytes),
      `on d${worst.device}${by}`
    )
  );
  const fit = report.memory_fit;
  if (fit !== undefined && fit !== null) {
    const label = fit.spare_bytes < 0 ? "Does not fit" : "Fits";
    const shown = `${size(Math.abs(fit.spare_bytes))} ${fit.spare_bytes < 0 ? "lacking" : "to spare"}`;
    list.append(box("spare_bytes", fit.spare_bytes, label, shown, `of ${size(fit.capacity_bytes)} on d${fit.device}`));
  }
  return list;
}

// "33.00 ms compute + 1.600 ms transfer, 16 hops between devices"
export function pathWords(report: Report): string {
  const path = report.critical_path;
  const parts = [`${duration(path.compute_ns)} compute`];
  if (path.transfer_ns > 0) parts.push(`${duration(path.transfer_ns)} transfer`);
  if (path.collective_ns > 0) parts.push(`${duration(path.collective_ns)} collective`);
  if (path.wait_ns > 0) parts.push(`${duration(path.wait_ns)} waiting`);
  const hops = path.hops > 0 ? `, ${path.hops} hop${path.hops === 1 ? "" : "s"} between devices` : "";
  return parts.join(" + ") + hops;
}
