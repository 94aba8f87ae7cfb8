#include "studies/planners/job.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {

namespace {

class PlannerJobProblems {
 public:
  void require(bool holds, std::string what, std::string help) {
    if (!holds) found_.push_back({"Z001", "planner", std::move(what), std::move(help)});
  }
  void throw_if_any() const {
    if (!found_.empty()) throw InputError(found_);
  }

 private:
  std::vector<Diagnostic> found_;
};

bool fits_level_product(const PlannerJob& job) {
  std::int64_t product = 1;
  for (const PlannerLevel& level : job.levels) {
    if (level.members < 1 || level.bandwidth <= 0) return false;
    product *= level.members;
    if (product > job.device_count()) return false;
  }
  return product == job.device_count();
}

bool valid_links(const PlannerJob& job) {
  const auto count = job.devices.size();
  if (job.links.size() != count * count) return false;
  for (std::size_t i = 0; i < job.links.size(); ++i) {
    if (i / count != i % count && job.links[i] <= 0) return false;
  }
  return true;
}

bool within_sums(const PlannerJob& job) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 52;
  std::int64_t total = 0;
  for (const PlannerLayer& layer : job.layers) {
    for (const std::int64_t value :
         {layer.forward, layer.backward, layer.output, layer.activation, layer.parameters, layer.state.value_or(0)}) {
      if (value > kLargest || value < -kLargest) return false;
      total += value < 0 ? -value : value;
      if (total > (std::int64_t{1} << 61)) return false;
    }
  }
  return true;
}

}  // namespace

PlannerJob equal_devices(int devices, std::int64_t bandwidth, Bytes memory) {
  PlannerJob job;
  job.types = {{"device", 1, memory, 0}};
  job.devices.assign(static_cast<std::size_t>(std::max(devices, 0)), 0);
  job.levels = {{devices, bandwidth}};
  return job;
}

void check_planner_job(const PlannerJob& job) {
  PlannerJobProblems problems;
  problems.require(!job.layers.empty(), "the job has no layers", "give a model or a profile with layers");
  problems.require(!job.devices.empty(), "the job has no devices", "name at least one device");
  problems.require(job.microbatches >= 1, "a step needs at least 1 microbatch; got " + std::to_string(job.microbatches),
                   "use 1 or more");
  problems.require(within_sums(job), "the times or sizes of all layers together overflow", "check the layers' numbers");
  const auto known = [&](int type) { return type >= 0 && type < static_cast<int>(job.types.size()); };
  problems.require(std::all_of(job.devices.begin(), job.devices.end(), known),
                   "a device is of a type that the job does not describe", "describe every type");
  for (const PlannerDeviceType& type : job.types) {
    problems.require(type.time_factor > 0 && type.time_factor < 1e9 && type.memory >= 0 && type.bandwidth >= 0,
                     "device type \"" + type.name + "\" has a time factor, memory or bandwidth that cannot be",
                     "factors are above 0; memory and bandwidth are 0 (not limited) or more");
  }
  if (job.links.empty()) {
    problems.require(fits_level_product(job),
                     "the levels of the topology do not make up " + counted(job.device_count(), "device"),
                     "the members of all levels multiply to the number of devices; bandwidths are above 0");
  } else {
    problems.require(valid_links(job), "the links are not one bandwidth above 0 for every pair of devices",
                     "give devices x devices numbers, row by row");
  }
  problems.throw_if_any();
}

std::int64_t pair_bandwidth(const PlannerJob& job, int one, int other) {
  if (!job.links.empty()) return at(job.links, one * job.device_count() + other);
  std::int64_t slowest = std::numeric_limits<std::int64_t>::max();
  for (const PlannerLevel& level : job.levels) {
    if (one == other) break;
    // A message that leaves a component crosses the links of every level up to the one that joins both ends.
    slowest = std::min(slowest, level.bandwidth);
    one /= level.members;
    other /= level.members;
  }
  return slowest;
}

std::int64_t card_bandwidth(const PlannerJob& job, int one, int other) {
  std::int64_t least = pair_bandwidth(job, one, other);
  for (const int device : {one, other}) {
    const std::int64_t card = at(job.types, at(job.devices, device)).bandwidth;
    if (card > 0) least = std::min(least, card);
  }
  return least;
}

int machine_size(const PlannerJob& job) {
  return job.levels.size() < 2 ? job.device_count() : job.levels.front().members;
}

int machine_of(const PlannerJob& job, int device) { return device - device % machine_size(job); }

bool equal_types(const PlannerJob& job) {
  return std::all_of(job.devices.begin(), job.devices.end(), [&](int type) {
    const PlannerDeviceType& first = at(job.types, job.devices.front());
    return at(job.types, type).time_factor == first.time_factor && at(job.types, type).memory == first.memory;
  });
}

double slowest_factor(const PlannerJob& job) {
  double factor = 0;
  for (const int type : job.devices) factor = std::max(factor, at(job.types, type).time_factor);
  return factor;
}

Bytes least_memory(const PlannerJob& job) {
  Bytes least = 0;
  for (const int type : job.devices) {
    const Bytes memory = at(job.types, type).memory;
    if (memory > 0 && (least == 0 || memory < least)) least = memory;
  }
  return least;
}

PlannerSums::PlannerSums(const PlannerJob& job) : time_{0}, forward_{0}, parameters_{0}, activation_{0}, state_{0} {
  for (const PlannerLayer& layer : job.layers) {
    time_.push_back(time_.back() + layer.forward + layer.backward);
    forward_.push_back(forward_.back() + layer.forward);
    parameters_.push_back(parameters_.back() + layer.parameters);
    activation_.push_back(activation_.back() + layer.activation);
    state_.push_back(state_.back() + layer.state.value_or(3 * layer.parameters));
  }
}

}  // namespace debubble
