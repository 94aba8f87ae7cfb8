// One run of the engine with everything that can be asked about it, and the ways it may disagree with the rules.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/analyse.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/schedule.hpp"
#include "sim/engine/program.hpp"
#include "sim/engine/simulate.hpp"
#include "tests/support/reference_simulator.hpp"

namespace debubble::testing {

// What any order can be run under; joined exchanges are interleaved 1F1B's alone (random_groups).
inline constexpr std::array<P2p, 5> kEveryP2p{P2p::kOverlapped, P2p::kBlocking, P2p::kCoupled, P2p::kLate,
                                              P2p::kRendezvous};

struct HopFigures {
  Nanoseconds latency = 0;
  std::int64_t bandwidth = 0;  // bytes per second, 0: unlimited
};

struct EngineRun {
  std::optional<Deadlock> deadlock;  // then everything below is empty
  Totals totals;
  Timeline timeline;
  Report report;
  std::vector<std::vector<MemoryPoint>> curves;
};

[[nodiscard]] EngineRun run_engine(const Schedule& schedule, const StageCosts& costs, const HopFigures& link,
                                   P2p p2p = P2p::kOverlapped);

[[nodiscard]] reference::Mode reference_mode(P2p p2p);
[[nodiscard]] std::string name_of(P2p p2p);

// The first thing in which the engine and the reference simulator do not agree, in words; "" when they agree.
[[nodiscard]] std::string difference(const EngineRun& run, const reference::Outcome& expected, const HopFigures& link);

// The first promise of Timeline, Report and MemoryPoint that the run breaks, in words; "" when it keeps them all.
[[nodiscard]] std::string broken_promise(const EngineRun& run, const reference::Outcome& expected);

// What is wrong with the cycle that a deadlock names; "" when every entry waits for what the next one has not reached.
[[nodiscard]] std::string broken_cycle(const Deadlock& deadlock, const Schedule& schedule);

// Runs both, in `p2p` mode; "" when verdicts, times and bytes agree and all promises are kept.
[[nodiscard]] std::string disagreement(const Schedule& schedule, const StageCosts& costs, const HopFigures& link,
                                       P2p p2p);

}  // namespace debubble::testing
