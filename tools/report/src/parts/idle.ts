// Why each device was idle: a bar of causes per device, and the table that says the same in numbers.
import { DeviceReport, Report } from "../data/report";
import { causeFill, causeSign } from "../charts/palette";
import { duration, percent, size, spaced } from "../text/format";
import { node, section } from "./dom";
import { Column, table } from "./table";

function causesIn(devices: DeviceReport[]): string[] {
  const causes = Object.keys(devices[0]?.idle_by_cause_ns ?? {});
  return causes.filter((cause) => devices.some((device) => device.idle_by_cause_ns[cause] !== 0));
}

export function causeKey(causes: string[]): HTMLElement {
  const items = causes.map((cause) =>
    node(
      "li",
      {},
      node("span", { class: "swatch", style: `background:${causeFill(cause)}` }, causeSign(cause)),
      spaced(cause)
    )
  );
  return node("ul", { class: "key", "aria-label": "causes of idle time" }, ...items);
}

function bar(device: DeviceReport, causes: string[], longest: number): HTMLElement {
  const parts = causes
    .filter((cause) => device.idle_by_cause_ns[cause]! > 0)
    .map((cause) => {
      const width = (100 * device.idle_by_cause_ns[cause]!) / longest;
      const title = `${spaced(cause)}: ${duration(device.idle_by_cause_ns[cause]!)}`;
      return node(
        "span",
        { style: `width:${width}%;background:${causeFill(cause)}`, title },
        width > 4 ? causeSign(cause) : ""
      );
    });
  return node("div", { class: "bar", "aria-hidden": "true" }, ...parts);
}

export function idle(report: Report, title = "Idle time by cause"): HTMLElement {
  const { devices } = report;
  const causes = causesIn(devices);
  const longest = Math.max(...devices.map((device) => device.idle_ns), 1);
  const columns: Column<DeviceReport>[] = [
    { title: "device", text: (one) => `d${one.device}`, value: (one) => one.device },
    { title: "busy", key: "busy_ns", text: (one) => duration(one.busy_ns), value: (one) => one.busy_ns },
    { title: "idle", key: "idle_ns", text: (one) => duration(one.idle_ns), value: (one) => one.idle_ns },
    {
      title: "of the step",
      key: "bubble_ratio",
      text: (one) => percent(one.bubble_ratio),
      value: (one) => one.bubble_ratio,
    },
    { title: "because of", text: (one) => bar(one, causes, longest) },
    ...causes.map((cause) => ({
      title: spaced(cause),
      key: `idle_by_cause_ns.${cause}`,
      text: (one: DeviceReport) => duration(one.idle_by_cause_ns[cause]!),
      value: (one: DeviceReport) => one.idle_by_cause_ns[cause]!,
    })),
  ];
  return section(
    title,
    causeKey(causes),
    table({
      caption:
        title === "Idle time by cause"
          ? "Busy and idle time of every device"
          : `Busy and idle time of every device. ${title}`,
      columns,
      rows: devices,
    })
  );
}

export function memoryTable(report: Report): HTMLElement {
  const { devices } = report;
  const categories = Object.keys(devices[0]?.peak_by_category_bytes ?? {});
  const used = categories.filter((category) => devices.some((one) => one.peak_by_category_bytes[category] !== 0));
  const columns: Column<DeviceReport>[] = [
    { title: "device", text: (one) => `d${one.device}`, value: (one) => one.device },
    {
      title: "peak",
      key: "peak_memory_bytes",
      text: (one) => size(one.peak_memory_bytes),
      value: (one) => one.peak_memory_bytes,
    },
    {
      title: "at",
      key: "peak_memory_at_ns",
      text: (one) => duration(one.peak_memory_at_ns),
      value: (one) => one.peak_memory_at_ns,
    },
    { title: "reached by", text: (one) => one.peak_memory_op ?? "", value: (one) => one.peak_memory_op },
    ...used.map((category) => ({
      title: spaced(category),
      key: `peak_by_category_bytes.${category}`,
      text: (one: DeviceReport) => size(one.peak_by_category_bytes[category]!),
      value: (one: DeviceReport) => one.peak_by_category_bytes[category]!,
    })),
  ];
  return table({ caption: "Peak memory of every device and what it is made of", columns, rows: devices });
}
