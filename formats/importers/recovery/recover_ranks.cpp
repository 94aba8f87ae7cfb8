#include "formats/importers/recovery/recover_ranks.hpp"

#include <algorithm>
#include <map>

#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

[[noreturn]] void rank_missing(const std::string& file, const std::string& why) {
  throw InputError(Diagnostic{"D005", file, why,
                              "give the files of all ranks of the pipeline; where ranks hold several chunks of the "
                              "model, name the ops: record_function(\"PP:0F3\")"});
}

std::vector<std::size_t> places_where(const std::vector<RankExchange>& seen, bool first) {
  std::vector<std::size_t> places;
  for (std::size_t r = 0; r < seen.size(); ++r) {
    const bool at_end =
        first ? !seen[r].receives_forward && seen[r].sends_forward : seen[r].receives_forward && !seen[r].sends_forward;
    if (at_end) places.push_back(r);
  }
  return places;
}

std::string rank_name(const RankEvents& rank) { return "rank " + std::to_string(rank.rank.value_or(0)); }

// Numbers of the ranks of one pipeline are as far apart everywhere, unless one is missing, and as many such pipelines
// fill the run.
void require_even(const std::vector<RankEvents>& ranks, const std::vector<std::size_t>& pipeline) {
  if (pipeline.size() < 2) return;
  const auto number = [&](std::size_t at) { return ranks[pipeline[at]].rank.value_or(0); };
  const std::int64_t apart = number(1) - number(0);
  std::string numbers;
  bool even = true;
  for (std::size_t k = 0; k < pipeline.size(); ++k) {
    numbers += (k == 0 ? "" : ", ") + std::to_string(number(k));
    even = even && (k == 0 || number(k) - number(k - 1) == apart);
  }
  const std::string& file = ranks[pipeline.back()].file;
  if (!even) {
    rank_missing(file, "ranks " + numbers + " are no pipeline: their numbers are not evenly apart, so one is missing");
  }
  const std::int64_t world = ranks[pipeline.front()].world_size.value_or(0);
  const auto count = static_cast<std::int64_t>(pipeline.size());
  if (world <= 0 || (apart <= world && count <= world && world % (apart * count) == 0)) return;
  rank_missing(
      file, "ranks " + numbers + " are no whole pipeline of a run of " + counted(world, "rank") + ": one is missing");
}

}  // namespace

void order_ranks(std::vector<RankEvents>& ranks) {
  std::vector<Diagnostic> problems;
  std::map<std::int64_t, const RankEvents*> seen;
  for (const RankEvents& rank : ranks) {
    if (!rank.rank && ranks.size() > 1) {
      problems.push_back({"D005", rank.file, "the file does not say which rank it is of",
                          "name the files by their ranks, such as rank0.json or report.rank3.sqlite"});
    }
    if (!rank.rank) continue;
    const auto [found, fresh] = seen.emplace(*rank.rank, &rank);
    if (fresh) continue;
    problems.push_back({"D005", rank.file, rank_name(rank) + " is also the rank of " + found->second->file,
                        "give each rank of a run once"});
  }
  for (const RankEvents& rank : ranks) {
    const auto& first = ranks.front();
    if (!rank.world_size || !first.world_size || *rank.world_size == *first.world_size) continue;
    problems.push_back({"D010", rank.file,
                        "it is of a run of " + counted(*rank.world_size, "rank") + ", " + first.file + " of one of " +
                            std::to_string(*first.world_size),
                        "give the files of one run"});
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankEvents& a, const RankEvents& b) { return a.rank < b.rank; });
}

std::vector<std::vector<std::size_t>> pipelines_of(const std::vector<RankEvents>& ranks,
                                                   const std::vector<RankExchange>& seen) {
  const std::size_t count = ranks.size();
  std::vector<std::size_t> all(count);
  for (std::size_t r = 0; r < count; ++r) all[r] = r;
  const bool any = std::any_of(seen.begin(), seen.end(),
                               [](const RankExchange& rank) { return rank.receives_forward || rank.sends_forward; });
  if (!any) {
    require_even(ranks, all);
    return {all};
  }
  const std::vector<std::size_t> heads = places_where(seen, true);
  const std::vector<std::size_t> tails = places_where(seen, false);
  if (heads.empty() || (heads.size() < tails.size() && seen.front().receives_forward)) {
    rank_missing(ranks.front().file,
                 rank_name(ranks.front()) +
                     ", the lowest that is given, receives before its forwards: the rank that sends "
                     "it is missing, or it holds several chunks of the model");
  }
  if (tails.empty() || (tails.size() < heads.size() && seen.back().sends_forward)) {
    rank_missing(ranks.back().file, rank_name(ranks.back()) +
                                        ", the highest that is given, sends after its forwards: the rank that receives "
                                        "it is missing, or it holds several chunks of the model");
  }
  const std::size_t replicas = heads.size();
  const std::size_t stages = count / replicas;
  const bool by_stage = heads.back() == replicas - 1;
  const bool by_pipeline = heads.back() == (replicas - 1) * stages;
  if (tails.size() != replicas || stages * replicas != count || (!by_stage && !by_pipeline)) {
    rank_missing(ranks.front().file, counted(static_cast<std::int64_t>(replicas), "rank") + " of " +
                                         std::to_string(count) + " receive no activations and " +
                                         std::to_string(tails.size()) + " send none: the files are no whole pipelines");
  }
  std::vector<std::vector<std::size_t>> pipelines(replicas);
  for (std::size_t r = 0; r < count; ++r) pipelines[by_stage ? r % replicas : r / stages].push_back(r);
  for (const auto& pipeline : pipelines) require_even(ranks, pipeline);
  return pipelines;
}

}  // namespace debubble
