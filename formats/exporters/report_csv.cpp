#include "formats/exporters/report_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/exporters/finding_text.hpp"
#include "formats/exporters/report_json.hpp"
#include "formats/text/csv.hpp"
#include "sim/analysis/path_parts.hpp"
#include "sim/core/step_work.hpp"

namespace debubble {
namespace {

using Fields = std::vector<std::string>;

std::string csv_line(const Fields& fields) {
  std::string result;
  for (std::size_t i = 0; i < fields.size(); ++i) result += (i == 0 ? "" : ",") + csv_cell(fields[i]);
  return result + "\n";
}

std::string real_cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string real_cell(const std::optional<double>& value) { return value ? real_cell(*value) : ""; }

std::string whole(std::int64_t value) { return fmt::format("{}", value); }

std::string whole(const std::optional<std::int64_t>& value) { return value ? whole(*value) : ""; }

Fields device_header() {
  Fields header = {"device", "busy_ns", "idle_ns", "bubble_ratio"};
  for (int i = 0; i < kIdleCauses; ++i) {
    header.push_back(fmt::format("idle_{}_ns", to_string(static_cast<IdleCause>(i))));
  }
  header.insert(header.end(), {"peak_memory_bytes", "peak_memory_at_ns", "peak_memory_op"});
  for (int i = 0; i < kMemoryCategories; ++i) {
    header.push_back(fmt::format("peak_{}_bytes", to_string(static_cast<MemoryCategory>(i))));
  }
  header.insert(header.end(), {"peak_activation_bytes", "peak_activation_shares"});
  return header;
}

Fields device_row(const DeviceReport& device) {
  Fields row = {whole(device.device), whole(device.busy), whole(device.idle), real_cell(device.bubble_ratio)};
  for (const Nanoseconds idle : device.idle_by_cause) row.push_back(whole(idle));
  row.insert(row.end(), {whole(device.peak_memory), whole(device.peak_memory_at), to_string(device.peak_memory_op)});
  for (const Bytes bytes : device.peak_by_category) row.push_back(whole(bytes));
  row.insert(row.end(), {whole(device.peak_activation), real_cell(device.peak_activation_shares)});
  return row;
}

std::string params(const ScheduleFacts& facts) {
  std::string result;
  for (const auto& [name, value] : facts.params) result += (result.empty() ? "" : " ") + name + "=" + value;
  return result;
}

std::string status(const Report& report) {
  if (report.deadlock) return "deadlock";
  for (const Finding& finding : report.findings) {
    if (is_error(finding)) return finding_text(finding, report);
  }
  return has_result(report) ? "ok" : "no result";
}

// The device that needs most memory, the first of them when several do.
const DeviceReport& fullest_device(const Report& report) {
  return *std::max_element(report.devices.begin(), report.devices.end(),
                           [](const auto& a, const auto& b) { return a.peak_memory < b.peak_memory; });
}

struct RunColumn {
  std::string name;
  std::function<std::string(const Report&)> text;
};

// Who ran what: known of runs without result, too.
const std::vector<RunColumn>& schedule_columns() {
  using R = const Report&;
  static const std::vector<RunColumn> columns{{"schedule", [](R r) { return r.schedule.name; }},
                                              {"params", [](R r) { return params(r.schedule); }},
                                              {"devices", [](R r) { return whole(r.schedule.devices); }},
                                              {"stages", [](R r) { return whole(r.schedule.stages); }},
                                              {"microbatches", [](R r) { return whole(r.schedule.microbatches); }},
                                              {"chunks", [](R r) { return whole(r.schedule.chunks); }},
                                              {"replicas", [](R r) { return whole(r.schedule.replicas); }}};
  return columns;
}

// "" where the training step has no such task, or there is no step.
std::string step_part(const Report& report, StepTask::Kind kind, Nanoseconds StepPart::*time) {
  if (!report.step) return "";
  const std::vector<StepPart>& parts = report.step->parts;
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const StepPart& part) { return part.kind == kind; });
  return found == parts.end() ? "" : whole((*found).*time);
}

std::string of_fit(const Report& report, Bytes MemoryFit::*size) {
  return report.memory_fit ? whole((*report.memory_fit).*size) : "";
}

void add_result_columns(std::vector<RunColumn>& columns) {
  using R = const Report&;
  columns.insert(columns.end(), {{"makespan_ns", [](R r) { return whole(r.makespan); }},
                                 {"span_ns", [](R r) { return whole(r.span); }},
                                 {"steady_period_ns", [](R r) { return whole(r.steady_period); }},
                                 {"ideal_ns", [](R r) { return whole(r.ideal); }},
                                 {"bubble_ratio", [](R r) { return real_cell(r.bubble_ratio); }},
                                 {"bubble_over_ideal", [](R r) { return real_cell(r.bubble_over_ideal); }},
                                 {"span_bubble_ratio", [](R r) { return real_cell(r.span_bubble_ratio); }},
                                 {"throughput_samples_per_s", [](R r) { return real_cell(r.samples_per_second); }},
                                 {"throughput_tokens_per_s", [](R r) { return real_cell(r.tokens_per_second); }},
                                 {"peak_memory_bytes", [](R r) { return whole(fullest_device(r).peak_memory); }},
                                 {"peak_memory_device", [](R r) { return whole(fullest_device(r).device); }},
                                 {"weight_copies", [](R r) { return whole(r.weight_copies); }},
                                 {"p2p_bytes", [](R r) { return whole(r.p2p_bytes); }},
                                 {"p2p_messages", [](R r) { return whole(r.p2p_messages); }},
                                 {"mfu", [](R r) { return real_cell(r.mfu); }},
                                 {"memory_capacity_bytes", [](R r) { return of_fit(r, &MemoryFit::capacity); }},
                                 {"memory_reserved_bytes", [](R r) { return of_fit(r, &MemoryFit::reserved); }},
                                 {"memory_spare_bytes", [](R r) { return of_fit(r, &MemoryFit::spare); }},
                                 {"inside_collectives_ns", [](R r) { return whole(r.inside_collectives); }},
                                 {"pipeline_end_ns", [](R r) { return r.step ? whole(r.step->pipeline_end) : ""; }}});
}

// The parts of the training step and the causes of idle time.
void add_parts(std::vector<RunColumn>& columns) {
  for (std::size_t k = 0; k < kStepKinds; ++k) {
    const auto kind = static_cast<StepTask::Kind>(k);
    columns.push_back({fmt::format("step_{}_ns", to_string(kind)),
                       [kind](const Report& report) { return step_part(report, kind, &StepPart::time); }});
    columns.push_back({fmt::format("step_{}_exposed_ns", to_string(kind)),
                       [kind](const Report& report) { return step_part(report, kind, &StepPart::exposed); }});
  }
  for (std::size_t k = 0; k < std::size_t{kIdleCauses}; ++k) {
    columns.push_back({fmt::format("idle_{}_ns", to_string(static_cast<IdleCause>(k))),
                       [k](const Report& report) { return whole(idle_by(report, static_cast<IdleCause>(k))); }});
  }
}

const std::vector<RunColumn>& result_columns() {
  static const std::vector<RunColumn> columns = [] {
    std::vector<RunColumn> all;
    add_result_columns(all);
    add_parts(all);
    return all;
  }();
  return columns;
}

Fields run_header() {
  Fields header;
  for (const RunColumn& column : schedule_columns()) header.push_back(column.name);
  for (const RunColumn& column : result_columns()) header.push_back(column.name);
  header.insert(header.end(), {"status", "fits"});
  return header;
}

// "" where the memory of the devices is not known.
std::string fits_cell(const Report& report) {
  return report.memory_fit ? (report.memory_fit->spare >= 0 ? "true" : "false") : "";
}

Fields run_row(const Report& report) {
  Fields row;
  for (const RunColumn& column : schedule_columns()) row.push_back(column.text(report));
  for (const RunColumn& column : result_columns()) row.push_back(has_result(report) ? column.text(report) : "");
  row.insert(row.end(), {status(report), fits_cell(report)});
  return row;
}

// The totals of the run, the same in the row of each device.
void add_totals_of_run(const Fields& totals, std::string_view prefix, Fields& fields) {
  for (const std::string& field : totals) fields.push_back(std::string(prefix) + field);
}

}  // namespace

std::string devices_csv(const Report& report) {
  Fields header = device_header();
  add_totals_of_run(run_header(), "run_", header);
  std::string csv = csv_line(header);
  if (!has_result(report)) return csv;
  const Fields totals = run_row(report);
  for (const DeviceReport& device : report.devices) {
    Fields row = device_row(device);
    add_totals_of_run(totals, "", row);
    csv += csv_line(row);
  }
  return csv;
}

std::string runs_csv(std::span<const Report> reports) {
  std::string csv = csv_line(run_header());
  for (const Report& report : reports) csv += csv_line(run_row(report));
  return csv;
}

}  // namespace debubble
