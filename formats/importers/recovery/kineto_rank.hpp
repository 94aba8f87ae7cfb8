// A trace of torch.profiler without PP: ranges, as RankEvents.
//
// Also the list of events that PyTorch wrote before it used Kineto, and writes where it was built without: there is no
// rank, no category, no sequence number in it.
#pragma once

#include <string>
#include <string_view>

#include "formats/importers/recovery/rank_events.hpp"

namespace debubble {

// By its content: PyTorch's events, and no PP: range.
[[nodiscard]] bool is_trace_without_names(std::string_view text);

// Throws InputError P001, P002, P004, P006, P007, P010 as read_pipeline_trace.
[[nodiscard]] RankEvents read_kineto_rank(std::string text, const std::string& file);

}  // namespace debubble
