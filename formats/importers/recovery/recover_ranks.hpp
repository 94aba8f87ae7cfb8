// The recordings of several ranks as pipelines: their order, and which of them are the replicas of one another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "formats/importers/recovery/rank_events.hpp"

namespace debubble {

// In order of rank. Throws InputError D005 where a rank is unknown or given twice, D010 where files say that their runs
// have different numbers of ranks.
void order_ranks(std::vector<RankEvents>& ranks);

// What a rank was seen to exchange with others.
struct RankExchange {
  bool receives_forward = false;
  bool sends_forward = false;
};

// The places of the ranks of each pipeline, in order of stage. The first rank of a pipeline receives no activation, the
// last sends none; as many of each as there are pipelines. Ranks are numbered either through all pipelines before the
// next stage or through all stages before the next pipeline; which, the places of the first ranks say. Where nothing
// was seen, all are one pipeline. Throws InputError D005 where a rank is missing.
[[nodiscard]] std::vector<std::vector<std::size_t>> pipelines_of(const std::vector<RankEvents>& ranks,
                                                                 const std::vector<RankExchange>& seen);

}  // namespace debubble
