#include "tools/exporters/report_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/exporters/report_json.hpp"

namespace debubble {
namespace {

using Fields = std::vector<std::string>;

std::string quoted(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
  std::string result = "\"";
  for (const char c : field) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string line(const Fields& fields) {
  std::string result;
  for (std::size_t i = 0; i < fields.size(); ++i) result += (i == 0 ? "" : ",") + quoted(fields[i]);
  return result + "\n";
}

std::string real(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string real(const std::optional<double>& value) { return value ? real(*value) : ""; }

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
  Fields row = {whole(device.device), whole(device.busy), whole(device.idle), real(device.bubble_ratio)};
  for (const Nanoseconds idle : device.idle_by_cause) row.push_back(whole(idle));
  row.insert(row.end(), {whole(device.peak_memory), whole(device.peak_memory_at), device.peak_memory_op});
  for (const Bytes bytes : device.peak_by_category) row.push_back(whole(bytes));
  row.insert(row.end(), {whole(device.peak_activation), real(device.peak_activation_shares)});
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
    if (finding.severity == "error") return finding.message;
  }
  return has_result(report) ? "ok" : "no result";
}

// The device that needs most memory, the first of them when several do.
const DeviceReport& worst_device(const Report& report) {
  return *std::max_element(report.devices.begin(), report.devices.end(),
                           [](const auto& a, const auto& b) { return a.peak_memory < b.peak_memory; });
}

const Fields kRunHeader = {"schedule",
                           "params",
                           "devices",
                           "stages",
                           "microbatches",
                           "chunks",
                           "replicas",
                           "makespan_ns",
                           "span_ns",
                           "steady_period_ns",
                           "ideal_ns",
                           "bubble_ratio",
                           "bubble_over_ideal",
                           "span_bubble_ratio",
                           "throughput_samples_per_s",
                           "throughput_tokens_per_s",
                           "peak_memory_bytes",
                           "peak_memory_device",
                           "weight_copies",
                           "p2p_bytes",
                           "p2p_messages",
                           "status"};

Fields run_row(const Report& report) {
  const ScheduleFacts& facts = report.schedule;
  Fields row = {
      facts.name,          params(facts),        whole(facts.devices), whole(facts.stages), whole(facts.microbatches),
      whole(facts.chunks), whole(facts.replicas)};
  if (has_result(report)) {
    const DeviceReport& worst = worst_device(report);
    row.insert(row.end(),
               {whole(report.makespan), whole(report.span), whole(report.steady_period), whole(report.ideal),
                real(report.bubble_ratio), real(report.bubble_over_ideal), real(report.span_bubble_ratio),
                real(report.samples_per_second), real(report.tokens_per_second), whole(worst.peak_memory),
                whole(worst.device), whole(report.weight_copies), whole(report.p2p_bytes), whole(report.p2p_messages)});
  } else {
    row.resize(kRunHeader.size() - 1);
  }
  row.push_back(status(report));
  return row;
}

}  // namespace

std::string devices_csv(const Report& report) {
  std::string csv = line(device_header());
  if (!has_result(report)) return csv;
  for (const DeviceReport& device : report.devices) csv += line(device_row(device));
  return csv;
}

std::string runs_csv(std::span<const Report> reports) {
  std::string csv = line(kRunHeader);
  for (const Report& report : reports) csv += line(run_row(report));
  return csv;
}

}  // namespace debubble
