// The events of a Kineto file as a stream of records.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/importers/kineto_events.hpp"
#include "profiler/importers/kineto_nest.hpp"
#include "profiler/records/record.hpp"

namespace debubble {

// Facts first, then everything in the order of host time; GPU work follows its launch at once, so that a sink need not
// keep it. `forward_threads` gives the thread for a "Fwd thread id", 0 where it is not known. Losses come last.
void replay_kineto(const KinetoEvents& events, const KinetoNest& nest,
                   const std::vector<std::uint32_t>& forward_threads, RecordSink& sink);

}  // namespace debubble
