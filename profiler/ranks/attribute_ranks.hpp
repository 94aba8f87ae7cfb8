// Recordings of several ranks as one profile.
//
//     replicas of a layer   recordings with a block in common (stages.hpp): executions of the same layers; where they
//                           are clearly apart, a note says so (differences.hpp)
//     pipeline stages       recordings without one: a profile each, joined into one model (join.hpp)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/attribution/attribution.hpp"
#include "profiler/hooks_file.hpp"
#include "profiler/records/record.hpp"

namespace debubble {

// One process. May be replayed several times, and gives the same each time; false: its end is missing.
struct RankStream {
  std::string name;  // to speak of it where it does not say its rank
  std::function<bool(RecordSink&)> replay;
};

struct RanksRequest {
  AttributionRules rules;
  std::optional<std::int64_t> rank;  // this one alone
  std::vector<HooksFile> sizes;      // those of a rank go with its recording
};

// Throws InputError: C012 no recording is of the wanted rank; A001 to A004, L020.
[[nodiscard]] Attribution attribute_ranks(std::vector<RankStream> streams, const RanksRequest& request);

}  // namespace debubble
