// Host events of a Kineto file put into the order in which they happened, each inside of what it happened in.
//
//     thread 1   | ProfilerStep#3                                            |
//                  | nn.Module: Block_0              |  | nn.Module: Block_1 |
//                    | aten::linear        |  | relu |
//                      | aten::addmm |
//                            ^ launch 41: innermost range aten::addmm
//
// Events that overlap without nesting (asynchronous ranges, clocks of two tracers) end with the range around them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "profiler/importers/kineto_events.hpp"

namespace debubble {

inline constexpr std::uint32_t kNoIndex = std::numeric_limits<std::uint32_t>::max();

enum class KinetoStepKind : std::uint8_t { kPush, kPop, kLaunch, kMemory, kOverhead, kWork };

struct KinetoStep {
  Nanoseconds time = 0;
  std::uint32_t index = 0;  // into the vector of KinetoEvents that the kind says; of a pop: the range
  KinetoStepKind kind = KinetoStepKind::kPush;
};

struct KinetoNest {
  std::vector<KinetoStep> steps;            // by time, threads merged; each thread's pushes and pops are balanced
  std::vector<std::uint32_t> parent;        // of each range: the range around it, or kNoIndex
  std::vector<std::uint32_t> order;         // ranges as they are pushed: a parent comes before its children
  std::vector<std::uint32_t> launch_range;  // of each launch: the innermost range around it, or kNoIndex
  std::vector<std::uint32_t> work_range;    // of each GPU event: the range it was launched from, or kNoIndex
  std::vector<std::uint32_t> work_launch;   // of each GPU event: its launch, or kNoIndex
  std::vector<std::uint32_t> work_order;    // GPU events, those of one launch side by side
  std::vector<std::uint32_t> launch_work;   // of each launch: where its GPU events begin in work_order, or kNoIndex
  std::int64_t overlaps = 0;                // events that were cut
  std::int64_t by_id = 0;                   // GPU events linked by their External id
  std::int64_t by_time = 0;                 // ... by the thread and time of their launch
  std::int64_t unlinked = 0;                // ... not at all
  std::int64_t contradictions = 0;          // External id names an op that was not running at the launch
};

[[nodiscard]] KinetoNest nest_kineto(const KinetoEvents& events);

}  // namespace debubble
