#include "profiler/attribution/stream_selection.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "profiler/attribution/statistics.hpp"

namespace debubble::attribution {
namespace {

constexpr std::size_t kNoUnit = std::numeric_limits<std::size_t>::max();

// A step, or the k-th execution of every layer where there are none.
struct Unit {
  Nanoseconds begin = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds end = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds time = 0;  // of its layers, on the GPU
  bool complete = true;
  bool recorded = true;
  bool kept = false;
};

struct Units {
  bool are_steps = false;
  std::vector<Unit> all;
  std::vector<std::size_t> of;  // by instance
};

Units steps_as_units(const Instances& instances, const Steps& steps) {
  Units units;
  units.are_steps = true;
  for (const Step& step : steps.all()) {
    Unit& unit = units.all.emplace_back();
    unit.begin = step.begin;
    unit.complete = step.end.has_value();
    if (step.end) unit.end = std::max(*step.end, step.begin);
  }
  for (const Instance& instance : instances.all()) {
    units.of.push_back(instance.step == kNoStep ? kNoUnit : static_cast<std::size_t>(instance.step));
  }
  return units;
}

// Executions are counted by layer; those of explicit phases and recomputed ones are executions of their own.
Units passes_as_units(const Instances& instances) {
  Units units;
  std::map<std::pair<std::uint32_t, unsigned>, std::size_t> counts;
  for (const Instance& instance : instances.all()) {
    if (instance.seen == 0) {
      units.of.push_back(kNoUnit);
      continue;
    }
    constexpr unsigned kForwardRan = 1U << kPhases;
    const unsigned kind = instance.explicit_phases | (instance.has(Phase::kForward) ? kForwardRan : 0U);
    const std::size_t pass = counts[{instance.layer, kind}]++;
    if (pass >= units.all.size()) units.all.resize(pass + 1);
    units.all[pass].begin = std::min(units.all[pass].begin, instance.begin);
    units.of.push_back(pass);
  }
  for (std::size_t pass = 0; pass + 1 < units.all.size(); ++pass) {
    units.all[pass].end = std::max(units.all[pass].begin, units.all[pass + 1].begin);
  }
  return units;
}

Units units_of(const Instances& instances, const Steps& steps) {
  const bool stepped = std::any_of(instances.all().begin(), instances.all().end(),
                                   [](const Instance& instance) { return instance.step != kNoStep; });
  Units units = stepped ? steps_as_units(instances, steps) : passes_as_units(instances);
  for (std::size_t k = 0; k < units.of.size(); ++k) {
    if (units.of[k] != kNoUnit) units.all[units.of[k]].time += instances.all()[k].total();
  }
  for (Unit& unit : units.all) unit.recorded = steps.recorded(unit.begin, unit.end);
  return units;
}

std::vector<Unit*> recorded_ones(Units& units) {
  std::vector<Unit*> recorded;
  for (Unit& unit : units.all) {
    if (unit.recorded && unit.complete) recorded.push_back(&unit);
  }
  return recorded;
}

std::vector<Nanoseconds> times_of(const std::vector<Unit*>& units) {
  std::vector<Nanoseconds> times;
  for (const Unit* unit : units) times.push_back(unit->time);
  return times;
}

// Marks the units that count and returns how many of the recorded ones do not.
std::int64_t discard_warm_up(const std::vector<Unit*>& recorded, const Steps& steps, std::int64_t fixed, bool& forced) {
  std::vector<bool> loading;
  for (const Unit* unit : recorded) loading.push_back(fixed < 0 && steps.loading(unit->begin, unit->end));
  const std::size_t warm = fixed >= 0 ? std::min(recorded.size(), static_cast<std::size_t>(fixed))
                                      : warm_up_length(times_of(recorded), loading);
  std::int64_t discarded = 0;
  for (std::size_t k = 0; k < recorded.size(); ++k) {
    recorded[k]->kept = k >= warm && !loading[k];
    discarded += recorded[k]->kept ? 0 : 1;
  }
  if (recorded.empty() || discarded < static_cast<std::int64_t>(recorded.size())) return discarded;
  // Some measurement is better than none; a note says so.
  forced = true;
  recorded.back()->kept = true;
  return discarded - 1;
}

void compare_walls(const Units& units, const Steps& steps, StreamSelection& selection) {
  for (const Unit& unit : units.all) {
    if (!unit.complete) continue;
    if (unit.kept) selection.recorded_walls.push_back(unit.end - unit.begin);
    if (steps.unrecorded(unit.begin, unit.end) && !steps.loading(unit.begin, unit.end)) {
      selection.unrecorded_walls.push_back(unit.end - unit.begin);
    }
  }
}

}  // namespace

std::size_t warm_up_length(const std::vector<Nanoseconds>& durations, const std::vector<bool>& loading) {
  // The second half is taken as settled: it is what the first half is compared with.
  const std::size_t half = durations.size() / 2;
  std::size_t warm = 0;
  for (std::size_t k = 0; k < durations.size() - half; ++k) {
    if (loading[k]) warm = k + 1;
  }
  if (durations.size() < kLeastToDetect) return warm;
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(half);
  const Nanoseconds settled = median_of(std::vector<Nanoseconds>(middle, durations.end()));
  const Nanoseconds tolerance = settled / 100 * kSettledPercent + settled % 100 * kSettledPercent / 100;
  while (warm < half && (durations[warm] > settled + tolerance || durations[warm] < settled - tolerance)) ++warm;
  return warm;
}

std::optional<std::int64_t> drift_of(const std::vector<Nanoseconds>& durations) {
  if (durations.size() < kLeastForDrift) return std::nullopt;
  const auto third = static_cast<std::ptrdiff_t>(durations.size() / 3);
  const Nanoseconds first = median_of({durations.begin(), durations.begin() + third});
  const Nanoseconds last = median_of({durations.end() - third, durations.end()});
  return change_ppm(first, last);
}

StreamSelection select_executions(const Instances& instances, Steps& steps, std::int64_t fixed) {
  steps.settle();
  StreamSelection selection;
  Units units = units_of(instances, steps);
  const std::vector<Unit*> recorded = recorded_ones(units);
  const std::int64_t discarded = discard_warm_up(recorded, steps, fixed, selection.forced);
  selection.steps = static_cast<std::int64_t>(steps.all().size());
  (units.are_steps ? selection.warm_up_steps : selection.warm_up_passes) = discarded;
  std::vector<Nanoseconds> kept_times;
  for (const Unit* unit : recorded) {
    if (unit->kept) kept_times.push_back(unit->time);
  }
  selection.drift_ppm = drift_of(kept_times);
  if (units.are_steps) compare_walls(units, steps, selection);
  for (std::size_t k = 0; k < units.of.size(); ++k) {
    const std::size_t unit = units.of[k];
    selection.kept.push_back(unit != kNoUnit && units.all[unit].kept);
    selection.outside_steps += unit == kNoUnit && instances.all()[k].seen != 0 ? 1 : 0;
  }
  return selection;
}

}  // namespace debubble::attribution
