#include "scenario/job/measured_slow.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/run/run_file.hpp"
#include "scenario/job/stage_costs.hpp"
#include "scenario/request/factors.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/median.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/run_record.hpp"

namespace debubble {
namespace {

constexpr double kDecimals = 1000;

// Durations of single ops, by kind and stage. Of overlapped pairs nobody knows whose the time is.
using OpTimesByKind = std::map<std::pair<OpKind, std::int32_t>, std::vector<Nanoseconds>>;

std::vector<OpTimesByKind> durations_by_device(const RunRecord& run) {
  std::vector<OpTimesByKind> found(to_index(run.schedule.devices));
  for (const RunIteration& iteration : run.iterations) {
    for (const Span& span : iteration.timeline.spans) {
      if (iteration.timeline.partner(span) != nullptr) continue;
      at(found, span.device)[{span.op.kind, span.op.stage}].push_back(span.end - span.begin);
    }
  }
  return found;
}

// Measured over expected time of one device's ops; 0 where none of them can be judged.
double time_ratio(const OpTimesByKind& durations, const StageCosts& costs) {
  double measured = 0;
  double expected = 0;
  for (const auto& [key, times] : durations) {
    if (is_vocabulary(key.first)) continue;
    const Nanoseconds cost = duration_of(key.first, at(costs.stages, key.second));
    if (cost == 0) continue;
    const auto count = static_cast<double>(times.size());
    measured += static_cast<double>(lower_median(times)) * count;
    expected += static_cast<double>(cost) * count;
  }
  return expected > 0 ? measured / expected : 0;
}

std::vector<double> factors_of(const Scenario& scenario, const RunRecord& run, const std::string& file) {
  Scenario alike = scenario;
  alike.variation.slow.clear();
  alike.partition.for_devices = false;
  const StageCosts costs = make_stage_costs(alike, run.schedule).costs;
  std::vector<double> ratios;
  for (const OpTimesByKind& durations : durations_by_device(run)) {
    ratios.push_back(time_ratio(durations, costs));
    if (ratios.back() > 0) continue;
    fail("O030", "--slow",
         file + " has no op of device " + std::to_string(ratios.size() - 1) + " whose time tells how fast it is",
         "take a run with measured iterations, of a schedule without overlapped pairs");
  }
  const double usual = lower_median(ratios);
  for (double& ratio : ratios) {
    ratio = std::round(ratio / usual * kDecimals) / kDecimals;
    if (is_factor(ratio)) continue;
    fail("O030", "--slow", file + ": its devices differ by more than a factor of 1000", "was it measured on this job?");
  }
  return ratios;
}

}  // namespace

void add_rank_speeds(Scenario& scenario, const std::string& file) {
  if (!scenario.profile || scenario.profile->ranks.empty()) return;
  SlowItem item;
  item.list = true;
  item.of_profile = true;
  item.file = file;
  item.text = "devices=";
  for (const RankSpeed& rank : scenario.profile->ranks) {
    item.factors.push_back(rank.factor());
    item.text += (item.factors.size() == 1 ? "" : ",") + plain(rank.factor());
  }
  scenario.variation.slow.push_back(std::move(item));
}

void read_measured_slow(Scenario& scenario) {
  const auto measured = [](const SlowItem& item) { return !item.file.empty() && !item.of_profile; };
  std::vector<SlowItem>& items = scenario.variation.slow;
  if (std::any_of(items.begin(), items.end(), measured)) {
    std::erase_if(items, [](const SlowItem& item) { return item.of_profile; });  // the run shows them, too
  }
  for (SlowItem& item : items) {
    if (!measured(item)) continue;
    const RunRecord run = read_run_file(item.file);
    const int devices = scenario.devices.value_or(run.schedule.devices);
    if (run.schedule.devices != devices) {
      fail(
          "O005", "--slow",
          item.file + " was measured on " + std::to_string(run.schedule.devices) + " devices, and there are " +
              std::to_string(devices),
          "use -p " + std::to_string(run.schedule.devices) + ", or the factors of the devices: --slow devices=1,1.2,1");
    }
    item.factors = factors_of(scenario, run, item.file);
    item.text = "devices=";
    for (const double factor : item.factors) {
      item.text += (item.text.back() == '=' ? "" : ",") + plain(factor);
    }
  }
}

}  // namespace debubble
