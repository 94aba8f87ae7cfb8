#include "tools/views/whatif/whatif_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/exporters/report_json.hpp"
#include "sim/core/quantities.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/assumption_lines.hpp"
#include "tools/views/diagnostics.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/summary.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

using enum Table::Side;

constexpr std::size_t kMostDevicesShown = 16;

Bytes largest_peak(const Report& report) {
  Bytes most = 0;
  for (const DeviceReport& device : report.devices) most = std::max(most, device.peak_memory);
  return most;
}

double change_ratio(Nanoseconds now, Nanoseconds before) {
  return before == 0 ? 0 : static_cast<double>(now) / static_cast<double>(before) - 1;
}

// "+1.2 pp" of two shares; "0.0 pp" where that is all that is left of it.
std::string points_change(double now, double before) {
  std::string text = format_change(now - before, "pp");
  return text.substr(1) == "0.0 pp" ? text.substr(1) : text;
}

std::string compared_numbers(const Report& base, const Report& changed, const ViewStyle& style) {
  Table table({{"", kLeft}, {"base", kRight}, {"changed", kRight}, {"change", kRight}, {"", kRight}});
  const auto time = [&](const char* what, Nanoseconds before, Nanoseconds now) {
    table.add_row({what, format_duration(before), format_duration(now), duration_change(now - before),
                   before == 0 ? "" : percent_change(change_ratio(now, before))});
  };
  time("step time", base.makespan, changed.makespan);
  table.add_row({"bubble / step", format_percent(base.bubble_ratio), format_percent(changed.bubble_ratio),
                 points_change(changed.bubble_ratio, base.bubble_ratio)});
  table.add_row({"bubble / ideal", format_percent(base.bubble_over_ideal), format_percent(changed.bubble_over_ideal),
                 points_change(changed.bubble_over_ideal, base.bubble_over_ideal)});
  if (base.samples_per_second && changed.samples_per_second) {
    table.add_row({"samples/s", fmt::format("{:.4g}", *base.samples_per_second),
                   fmt::format("{:.4g}", *changed.samples_per_second), "",
                   percent_change(*changed.samples_per_second / *base.samples_per_second - 1)});
  }
  const std::string memory = format_size(largest_peak(changed));
  if (format_size(largest_peak(base)) != memory)
    table.add_row({"peak memory", format_size(largest_peak(base)), memory, "", ""});
  const CriticalPath& before = base.critical_path;
  const CriticalPath& now = changed.critical_path;
  time("path: compute", before.compute, now.compute);
  if (before.transfer != 0 || now.transfer != 0) time("path: transfers", before.transfer, now.transfer);
  if (before.collective != 0 || now.collective != 0) time("path: collectives", before.collective, now.collective);
  return table.text(static_cast<std::size_t>(style.width));
}

std::string causes(const Report& base, const Report& changed, const ViewStyle& style) {
  const Scale scale = duration_scale(std::max(base.makespan, changed.makespan));
  Table table({{"idle, all devices", kLeft},
               {fmt::format("base {}", scale.unit), kRight},
               {"changed", kRight},
               {"change", kRight}});
  const auto add = [&](const std::string& what, Nanoseconds before, Nanoseconds now) {
    const std::string change = format_scaled(now - before, scale);
    const bool grows = now > before && change != format_scaled(0, scale);
    table.add_row({what, format_scaled(before, scale), format_scaled(now, scale), (grows ? "+" : "") + change});
  };
  Nanoseconds all_before = 0;
  Nanoseconds all_now = 0;
  for (int k = 0; k < kIdleCauses; ++k) {
    const auto cause = static_cast<IdleCause>(k);
    const Nanoseconds before = idle_by(base, cause);
    const Nanoseconds now = idle_by(changed, cause);
    all_before += before;
    all_now += now;
    if (before != 0 || now != 0) add(in_words(cause), before, now);
  }
  add("together", all_before, all_now);
  return table.text(static_cast<std::size_t>(style.width));
}

// "straggler +6.00, drain -1.00": the causes that changed, most first.
std::string moved(const DeviceReport& before, const DeviceReport& now, const Scale& scale) {
  std::vector<std::pair<Nanoseconds, std::string>> parts;
  for (std::size_t k = 0; k < kIdleCauses; ++k) {
    const Nanoseconds by = now.idle_by_cause[k] - before.idle_by_cause[k];
    if (format_scaled(std::abs(by), scale) == format_scaled(0, scale)) continue;  // too little to show
    parts.emplace_back(std::abs(by), fmt::format("{} {}{}", in_words(static_cast<IdleCause>(k)), by > 0 ? "+" : "",
                                                 format_scaled(by, scale)));
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [size, part] : parts) text += (text.empty() ? "" : ", ") + part;
  return text.empty() ? "nothing" : text;
}

std::string devices(const Report& base, const Report& changed, const ViewStyle& style) {
  if (base.devices.size() != changed.devices.size()) return "";
  const Scale scale = duration_scale(std::max(base.makespan, changed.makespan));
  Table table({{"device", kLeft},
               {fmt::format("idle {}", scale.unit), kRight},
               {"changed", kRight},
               {"what the change did to it", kLeft}});
  const std::size_t count = base.devices.size();
  for (std::size_t d = 0; d < count; ++d) {
    if (count > kMostDevicesShown && d == kMostDevicesShown / 2) {
      table.add_row({"..."});
      d = count - kMostDevicesShown / 2;
    }
    const DeviceReport& before = base.devices[d];
    const DeviceReport& now = changed.devices[d];
    table.add_row({fmt::format("d{}", d), format_scaled(before.idle, scale), format_scaled(now.idle, scale),
                   moved(before, now, scale)});
  }
  return table.text(static_cast<std::size_t>(style.width));
}

std::string alone(const WhatIfResult& result, const ViewStyle& style) {
  if (result.alone.empty()) return "";
  Table table({{"step", kRight}, {"change", kRight}, {"", kRight}, {"alone", kLeft}});
  for (const AloneChange& one : result.alone) {
    if (!one.step) {
      table.add_row({"deadlock", "", "", one.label});
      continue;
    }
    table.add_row({format_duration(*one.step), duration_change(*one.step - result.base.makespan),
                   percent_change(change_ratio(*one.step, result.base.makespan)), one.label});
  }
  return "\n" + table.text(static_cast<std::size_t>(style.width));
}

std::string change_lines(const WhatIfResult& result, const ViewStyle& style) {
  std::string text;
  for (const std::string& change : result.changes) {
    text += paragraph_after(text.empty() ? paint(style.color, kBold, "changed") + "  " : std::string(9, ' '), change,
                            style, 9);
  }
  return text;
}

}  // namespace

std::string duration_change(Nanoseconds value) { return (value > 0 ? "+" : "") + format_duration(value); }

namespace {

// In place of tables with the same numbers twice.
std::string no_effect(const WhatIfResult& result, const ViewStyle& style) {
  std::string text = paragraph("Nothing changes: the step stays " + format_duration(result.base.makespan) +
                                   ", and no device works or waits longer or shorter.",
                               style);
  for (const std::string& reason : result.no_effect) text += paragraph("Why: " + reason + ".", style);
  return text;
}

}  // namespace

std::string percent_change(double by) {
  const std::string text = format_percent(by);
  if (text == "-0.0 %") return "0.0 %";
  return by > 0 && text != "0.0 %" ? "+" + text : text;
}

std::string whatif_view(const WhatIfResult& result, const ViewStyle& style) {
  const ScheduleFacts& facts = result.base.schedule;
  const std::string title =
      fmt::format("what if: {} on {} device{}, {} microbatch{}", facts.name, facts.devices,
                  facts.devices == 1 ? "" : "s", facts.microbatches, facts.microbatches == 1 ? "" : "es");
  std::string text = title_lines(title, style) + "\n";
  const std::string assumed = "\n" + assumption_lines(result.base.assumptions, style);
  if (!has_result(result.base)) return text + findings_view(result.base, style) + assumed;
  if (!result.changes.empty()) {
    text += change_lines(result, style) + "\n";
    if (!has_result(result.changed)) {
      text += findings_view(result.changed, style);
    } else if (!result.no_effect.empty()) {
      text += no_effect(result, style);
    } else {
      text += compared_numbers(result.base, result.changed, style) + "\n" + causes(result.base, result.changed, style) +
              "\n" + devices(result.base, result.changed, style);
    }
    text += alone(result, style);
    if (!result.note.empty()) text += "\n" + paragraph(result.note, style);
  } else {
    text += fmt::format("step time  {}\n", format_duration(result.base.makespan));
  }
  if (result.seeds) text += "\n" + seeds_view(result, style);
  if (result.sensitivity) text += "\n" + sensitivity_view(result, style);
  return text + assumed;
}

}  // namespace debubble
