// Which worker is slower than those that do the same work in other data-parallel replicas.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/core/op.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct WorkerKey {
  std::int64_t process = 0;  // its replica
  std::int32_t rank = 0;     // of the pipeline
  OpKind kind = OpKind::kForward;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the compared 0 for a pointer
  friend auto operator<=>(const WorkerKey&, const WorkerKey&) = default;
};

class WorkerTimes {
 public:
  void add(const WorkerKey& worker, std::int64_t step, Nanoseconds time) { times_[worker][step].push_back(time); }

  // One sentence for each worker whose median op takes at least a fifth longer than that of the others of its rank, in
  // most steps: "rank 0 of replica 0 is 2.5 times slower than in the other replicas (F 545.7 ms against 217.9 ms), in
  // 44 of 44 steps". `processes`: the replicas in their order.
  [[nodiscard]] std::vector<std::string> notes(const std::vector<std::int64_t>& processes) const;

 private:
  std::map<WorkerKey, std::map<std::int64_t, std::vector<Nanoseconds>>> times_;
};

}  // namespace debubble
