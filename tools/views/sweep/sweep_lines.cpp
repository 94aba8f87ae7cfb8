#include "tools/views/sweep/sweep_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <variant>

#include "formats/json/json_text.hpp"
#include "formats/text/csv.hpp"
#include "studies/sweep/block.hpp"

namespace debubble {

namespace {

// Nothing: unknown in this row.
using SweepCell = std::variant<std::monostate, std::int64_t, double, std::string>;

template <typename Value>
SweepCell known_cell(const std::optional<Value>& value) {
  return value ? SweepCell(*value) : SweepCell();
}

const DeviceReport& fullest(const Report& report) {
  return *std::max_element(report.devices.begin(), report.devices.end(),
                           [](const DeviceReport& a, const DeviceReport& b) { return a.peak_memory < b.peak_memory; });
}

SweepCell of_memory(const Report& report, Bytes MemoryFit::*size) {
  return report.memory_fit ? SweepCell((*report.memory_fit).*size) : SweepCell();
}

struct SweepColumn {
  std::string_view name;
  bool shape = false;  // known of rows that deadlock, too
  SweepCell (*cell)(const SweptRow&) = nullptr;
};

std::int64_t whole64(std::int64_t value) { return value; }

// The columns of every sweep, between the flags and the reason.
constexpr std::array<SweepColumn, 21> kColumns{{
    {"schedule", true, [](const SweptRow& row) -> SweepCell { return row.report.schedule.name; }},
    {"devices", true, [](const SweptRow& row) -> SweepCell { return whole64(row.report.schedule.devices); }},
    {"stages", true, [](const SweptRow& row) -> SweepCell { return whole64(row.report.schedule.stages); }},
    {"microbatches", true, [](const SweptRow& row) -> SweepCell { return whole64(row.report.schedule.microbatches); }},
    {"ranks", false,
     [](const SweptRow& row) -> SweepCell {
       return row.report.cluster ? row.report.cluster->ranks : whole64(row.report.schedule.devices);
     }},
    {"makespan_ns", false, [](const SweptRow& row) -> SweepCell { return row.report.makespan; }},
    {"span_ns", false, [](const SweptRow& row) -> SweepCell { return row.report.span; }},
    {"ideal_ns", false, [](const SweptRow& row) -> SweepCell { return row.report.ideal; }},
    {"bubble_ratio", false, [](const SweptRow& row) -> SweepCell { return row.report.bubble_ratio; }},
    {"bubble_over_ideal", false, [](const SweptRow& row) -> SweepCell { return row.report.bubble_over_ideal; }},
    {"span_bubble_ratio", false, [](const SweptRow& row) -> SweepCell { return row.report.span_bubble_ratio; }},
    {"throughput_samples_per_s", false,
     [](const SweptRow& row) -> SweepCell { return known_cell(row.report.samples_per_second); }},
    {"throughput_tokens_per_s", false,
     [](const SweptRow& row) -> SweepCell { return known_cell(row.report.tokens_per_second); }},
    {"mfu", false, [](const SweptRow& row) -> SweepCell { return known_cell(row.report.mfu); }},
    {"peak_memory_bytes", false, [](const SweptRow& row) -> SweepCell { return fullest(row.report).peak_memory; }},
    {"peak_memory_device", false, [](const SweptRow& row) -> SweepCell { return whole64(fullest(row.report).device); }},
    {"peak_activation_bytes", false,
     [](const SweptRow& row) -> SweepCell {
       Bytes peak = 0;
       for (const DeviceReport& device : row.report.devices) peak = std::max(peak, device.peak_activation);
       return peak;
     }},
    {"memory_capacity_bytes", false,
     [](const SweptRow& row) -> SweepCell { return of_memory(row.report, &MemoryFit::capacity); }},
    {"memory_reserved_bytes", false,
     [](const SweptRow& row) -> SweepCell { return of_memory(row.report, &MemoryFit::reserved); }},
    {"memory_spare_bytes", false,
     [](const SweptRow& row) -> SweepCell { return of_memory(row.report, &MemoryFit::spare); }},
    {"limit", false, [](const SweptRow& row) -> SweepCell { return limit_word(row); }},
}};

SweepCell cell_in_row(const SweepColumn& column, const SweptRow& row) {
  const bool known = row.reasons.empty() && (column.shape || row.has_numbers());
  return known ? column.cell(row) : SweepCell();
}

struct AppendCsv {
  std::string& out;
  void operator()(std::monostate) const {}
  void operator()(std::int64_t value) const { fmt::format_to(std::back_inserter(out), "{}", value); }
  void operator()(double value) const {
    if (std::isfinite(value)) fmt::format_to(std::back_inserter(out), "{}", value);
  }
  void operator()(const std::string& value) const { out += csv_cell(value); }
};

struct AppendJson {
  std::string& out;
  void operator()(std::monostate) const { out += "null"; }
  void operator()(std::int64_t value) const { fmt::format_to(std::back_inserter(out), "{}", value); }
  void operator()(double value) const { append_json_number(out, value); }
  void operator()(const std::string& value) const {
    if (value.empty()) {
      out += "null";
    } else {
      append_json_string(out, value);
    }
  }
};

// Digits only: what JSON takes for a number as it stands.
bool is_json_number(const std::string& value) {
  const bool digits = std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && (value.size() == 1 || value.front() != '0');
}

void append_flag(std::string& out, const SweepAxis& axis, const std::string& value) {
  append_json_string(out, axis.name);
  out += ':';
  if (axis.on_off || (axis.whole && is_json_number(value))) {
    out += value;
  } else {
    append_json_string(out, value);
  }
}

}  // namespace

SweepLines::SweepLines(const SweepSpace& space, std::uint64_t fingerprint, bool json)
    : space_(space), fingerprint_(fmt::format("{:016x}", fingerprint)), json_(json) {}

std::string SweepLines::header() const {
  if (json_) return "";
  std::string text = "row,sweep,status,code";
  for (const SweepAxis* axis : space_.varied()) text += ",--" + axis->name;
  for (const SweepColumn& column : kColumns) text.append(",").append(column.name);
  return text + ",reason\n";
}

std::string SweepLines::prefix(std::int64_t row) const {
  return json_ ? fmt::format("{{\"row\":{},\"sweep\":\"{}\",", row, fingerprint_)
               : fmt::format("{},{},", row, fingerprint_);
}

std::string SweepLines::line(const SweptRow& row) const { return json_ ? json_row(row) : csv_row(row); }

std::string SweepLines::csv_row(const SweptRow& row) const {
  const SweepVerdict verdict = verdict_of(row);
  std::string text = fmt::format("{}{},{}", prefix(row.number), verdict.status, verdict.code);
  for (std::size_t k = 0; k < row.places.size(); ++k) {
    const SweepAxis& axis = space_.axes()[k];
    if (axis.values.size() == 1) continue;
    text += ',';
    text += csv_cell(axis.values[row.places[k]]);
  }
  for (const SweepColumn& column : kColumns) {
    text += ',';
    std::visit(AppendCsv{text}, cell_in_row(column, row));
  }
  text += ',';
  text += csv_cell(verdict.reason);
  return text + "\n";
}

std::string SweepLines::json_row(const SweptRow& row) const {
  const SweepVerdict verdict = verdict_of(row);
  std::string text = fmt::format("{}\"status\":{},\"code\":", prefix(row.number), verdict.status);
  AppendJson{text}(verdict.code);
  text += ",\"flags\":{";
  bool first = true;
  for (std::size_t k = 0; k < row.places.size(); ++k) {
    const SweepAxis& axis = space_.axes()[k];
    if (axis.values.size() == 1) continue;
    if (!first) text += ',';
    first = false;
    append_flag(text, axis, axis.values[row.places[k]]);
  }
  text += '}';
  for (const SweepColumn& column : kColumns) {
    text.append(",\"").append(column.name).append("\":");
    std::visit(AppendJson{text}, cell_in_row(column, row));
  }
  text += ",\"reason\":";
  AppendJson{text}(verdict.reason);
  return text + "}\n";
}

}  // namespace debubble
