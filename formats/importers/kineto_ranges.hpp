// One rank's ranges of a PyTorch pipeline, sorted into iterations. Internal to the importer of kineto_run.hpp.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "formats/importers/pipeline_trace.hpp"

namespace debubble {

struct TimeRange {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// What a range does: the fields of its name in an order.
using RangeKey = std::tuple<PipelineName::Kind, OpKind, std::int32_t, std::int32_t>;
[[nodiscard]] RangeKey key_of(const PipelineName& name);

struct NamedRange {
  PipelineName name;
  TimeRange time;
  bool on_gpu = false;
  bool arrival = false;  // as in PipelineEvent
  bool shared = false;
  Nanoseconds held_until = 0;
};

using RangesByKey = std::map<RangeKey, NamedRange>;

struct RankRanges {
  // By iteration: "ProfilerStep#12", or its number. Sorted as numbers are.
  std::map<std::pair<std::size_t, std::string>, RangesByKey> iterations;
  bool ops_on_gpu = false;
};

// Whether every op of the trace has as many ranges on the GPU as on the host (or the host's were not recorded).
[[nodiscard]] bool has_gpu_ops(const PipelineTrace& trace);

// `on_gpu`: which ranges to take for ops; transfers are taken from the GPU where it has any. Ranges outside of all
// steps and second ones of a step are counted in `losses`.
[[nodiscard]] RankRanges sort_ranges(const PipelineTrace& trace, bool on_gpu,
                                     std::map<std::string, std::int64_t>& losses);

}  // namespace debubble
