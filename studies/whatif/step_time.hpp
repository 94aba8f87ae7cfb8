// The step time of a prepared run, without its timeline: for thousands of seeds and changes.
#pragma once

#include <optional>
#include <vector>

#include "scenario/job/job.hpp"
#include "sim/core/units.hpp"
#include "sim/engine/program.hpp"

namespace debubble {

// The lowered schedule; nothing where it deadlocks.
[[nodiscard]] std::optional<Program> lowered(const Job& job, P2p p2p);

// Whether transfers that meet, or tasks in addition to the schedule's ops, take part: then the event-driven engine is
// asked.
[[nodiscard]] bool needs_events(const Job& job);

// Of the slowest pipeline replica. Thread-safe.
[[nodiscard]] Nanoseconds step_time(const Job& job, const Program& program);
// The same under another variation.
[[nodiscard]] Nanoseconds step_time(const Job& job, const Program& program, const Variation& variation);

}  // namespace debubble
