#include "formats/importers/runs/slow_workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "formats/text/quantities.hpp"
#include "sim/core/median.hpp"

namespace debubble {

namespace {

constexpr double kSlower = 1.2;
constexpr double kMostSteps = 0.9;

}  // namespace

std::vector<std::string> WorkerTimes::notes(const std::vector<std::int64_t>& processes) const {
  std::map<WorkerKey, Nanoseconds> medians;
  for (const auto& [worker, steps] : times_) {
    std::vector<Nanoseconds> all;
    for (const auto& [step, times] : steps) all.insert(all.end(), times.begin(), times.end());
    medians[worker] = lower_median(std::move(all));
  }
  std::vector<std::string> notes;
  for (const auto& entry : times_) {
    const WorkerKey& worker = entry.first;
    std::vector<Nanoseconds> others;
    for (const std::int64_t process : processes) {
      const auto other = medians.find({process, worker.rank, worker.kind});
      if (process != worker.process && other != medians.end()) others.push_back(other->second);
    }
    const Nanoseconds usual = lower_median(std::move(others));
    const Nanoseconds own = medians.at(worker);
    const auto slower = [&](Nanoseconds time) {
      return static_cast<double>(time) >= kSlower * static_cast<double>(usual);
    };
    if (usual <= 0 || !slower(own)) continue;
    const auto& steps = entry.second;
    const auto slow =
        std::count_if(steps.begin(), steps.end(), [&](const auto& step) { return slower(lower_median(step.second)); });
    if (static_cast<double>(slow) < kMostSteps * static_cast<double>(steps.size())) continue;
    const auto replica = std::find(processes.begin(), processes.end(), worker.process) - processes.begin();
    notes.push_back(fmt::format(
        "rank {} of replica {} is {:.2f} times slower than in the other replicas ({} {} against {}), in {} of {} steps",
        worker.rank, replica, static_cast<double>(own) / static_cast<double>(usual), letter(worker.kind),
        format_duration(own), format_duration(usual), slow, steps.size()));
  }
  return notes;
}

}  // namespace debubble
