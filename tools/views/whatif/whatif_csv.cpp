// What-ifs as CSV: one table, whose first field says which part a row belongs to.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "formats/text/csv.hpp"
#include "tools/views/whatif/whatif_json.hpp"

namespace debubble {

namespace {

class Csv {
 public:
  Csv() {
    std::string header = "part,name,makespan_ns,gain_ratio,growing,shrinking,at_stake_ns,busy_ns,idle_ns";
    for (int k = 0; k < kIdleCauses; ++k) header += fmt::format(",idle_{}_ns", to_string(static_cast<IdleCause>(k)));
    text_ = header + "\n";
  }

  // A run as a whole, and its devices.
  void add_run(const std::string& part, const Report& report) {
    if (!has_result(report)) return add(part, "deadlock", {}, {});
    add(part, "all devices", {fmt::format("{}", report.makespan)}, {});
    for (const DeviceReport& device : report.devices) {
      std::vector<std::string> times{fmt::format("{}", device.busy), fmt::format("{}", device.idle)};
      for (const Nanoseconds idle : device.idle_by_cause) times.push_back(fmt::format("{}", idle));
      add(part, fmt::format("device {}", device.device), {}, times);
    }
  }

  // `numbers` from makespan_ns on, `times` from busy_ns on; the rest is empty.
  void add(const std::string& part, const std::string& name, std::vector<std::string> numbers,
           std::vector<std::string> times) {
    numbers.resize(kNumbers);
    times.resize(2 + kIdleCauses);
    text_ += part + "," + csv_cell(name);
    for (const std::string& field : numbers) text_ += "," + field;
    for (const std::string& field : times) text_ += "," + field;
    text_ += "\n";
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static constexpr std::size_t kNumbers = 5;
  std::string text_;
};

}  // namespace

std::string whatif_csv(const WhatIfResult& result) {
  Csv csv;
  csv.add_run("base", result.base);
  if (!result.changes.empty()) csv.add_run("changed", result.changed);
  for (const AloneChange& one : result.alone) {
    csv.add("alone", one.label, {one.step ? fmt::format("{}", *one.step) : ""}, {});
  }
  if (result.seeds) {
    const SeedTimes& seeds = *result.seeds;
    for (std::size_t k = 0; k < seeds.times.size(); ++k) {
      csv.add("seed", fmt::format("{}", seeds.first_seed + k), {fmt::format("{}", seeds.times[k])}, {});
    }
  }
  if (!result.sensitivity) return csv.text();
  for (const Derivative& derivative : result.sensitivity->derivatives) {
    csv.add("derivative", to_string(derivative.name),
            {"", "", fmt::format("{}", derivative.times.growing), fmt::format("{}", derivative.times.shrinking),
             fmt::format("{}", derivative.at_stake)},
            {});
  }
  for (const Candidate& candidate : result.candidates) {
    csv.add("candidate", candidate.label, {fmt::format("{}", candidate.step), fmt::format("{}", candidate.gain)}, {});
  }
  return csv.text();
}

}  // namespace debubble
