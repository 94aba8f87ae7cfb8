#include "formats/importers/runs/slow_workers.hpp"

#include <algorithm>

#include "formats/text/quantities.hpp"
#include "sim/core/median.hpp"

namespace debubble {

namespace {

constexpr double kSlower = 1.2;
constexpr double kMostSteps = 0.9;

std::string two_digits(double value) {
  const auto hundredths = static_cast<std::int64_t>(value * 100 + 0.5);
  return std::to_string(hundredths / 100) + "." + std::to_string(hundredths / 10 % 10) +
         std::to_string(hundredths % 10);
}

}  // namespace

Nanoseconds WorkerTimes::median_of(const WorkerKey& worker) const {
  std::vector<Nanoseconds> all;
  for (const auto& [step, times] : times_.at(worker)) all.insert(all.end(), times.begin(), times.end());
  return lower_median(all);
}

Nanoseconds WorkerTimes::median_in(const WorkerKey& worker, std::int64_t step) const {
  const auto& steps = times_.at(worker);
  const auto found = steps.find(step);
  return found == steps.end() ? 0 : lower_median(found->second);
}

std::vector<std::string> WorkerTimes::notes(const std::vector<std::int64_t>& processes) const {
  std::vector<std::string> notes;
  for (const auto& entry : times_) {
    const WorkerKey& worker = entry.first;
    const auto& steps = entry.second;
    std::vector<Nanoseconds> others;
    for (const auto& [other, unused] : times_) {
      if (other.rank == worker.rank && other.kind == worker.kind && other.process != worker.process) {
        others.push_back(median_of(other));
      }
    }
    if (others.empty()) continue;
    const Nanoseconds usual = lower_median(others);
    const auto slower = [&](Nanoseconds time) {
      return static_cast<double>(time) >= kSlower * static_cast<double>(usual);
    };
    const Nanoseconds own = median_of(worker);
    const auto slow = std::count_if(steps.begin(), steps.end(),
                                    [&](const auto& step) { return slower(median_in(worker, step.first)); });
    if (!slower(own) || usual <= 0 || static_cast<double>(slow) < kMostSteps * static_cast<double>(steps.size()))
      continue;
    const auto replica = std::find(processes.begin(), processes.end(), worker.process) - processes.begin();
    notes.push_back("rank " + std::to_string(worker.rank) + " of replica " + std::to_string(replica) + " is " +
                    two_digits(static_cast<double>(own) / static_cast<double>(usual)) +
                    " times slower than in the other replicas (" + std::string(1, letter(worker.kind)) + " " +
                    format_duration(own) + " against " + format_duration(usual) + "), in " + std::to_string(slow) +
                    " of " + std::to_string(steps.size()) + " steps");
  }
  return notes;
}

}  // namespace debubble
