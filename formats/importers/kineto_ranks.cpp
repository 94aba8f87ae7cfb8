#include "formats/importers/kineto_ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble {

namespace {

constexpr std::int64_t kLatestBase = std::int64_t{1} << 61;

std::optional<std::int64_t> fact_number(const PipelineTrace& trace, const char* key) {
  const auto found = trace.facts.find(key);
  return found == trace.facts.end() ? std::nullopt : whole_number(found->second);
}

std::optional<std::int64_t> rank_of(const PipelineTrace& trace) { return fact_number(trace, "distributedInfo/rank"); }

std::optional<std::int64_t> world_of(const PipelineTrace& trace) {
  return fact_number(trace, "distributedInfo/world_size");
}

// The stage at the other end of a transfer, by its end's name.
std::int32_t other_stage(const PipelineName& end) {
  const std::int32_t forward = end.op.kind == OpKind::kForward ? 1 : -1;
  return end.kind == PipelineName::Kind::kSend ? end.op.stage + forward : end.op.stage;
}

std::string all_files(const std::vector<PipelineTrace>& ranks) {
  std::string list;
  for (const PipelineTrace& trace : ranks) list += (list.empty() ? "" : ", ") + trace.file;
  return list;
}

}  // namespace

void sort_by_rank(std::vector<PipelineTrace>& ranks) {
  std::vector<Diagnostic> problems;
  std::map<std::int64_t, const PipelineTrace*> seen;
  for (const PipelineTrace& trace : ranks) {
    if (trace.events.empty()) {
      problems.push_back(
          {"D004", trace.file, "no range with a PP: name: nothing says which op is which",
           "record a run of torch.distributed.pipelining's schedule runtime (GPipe and 1F1B of one stage "
           "per rank do not go through it), or export the run as a run file"});
    }
    const auto rank = rank_of(trace);
    if (!rank && ranks.size() > 1) {
      problems.push_back({"D005", trace.file, "the file does not say which rank it is of",
                          "torch.profiler writes it into distributedInfo when torch.distributed is initialised"});
    }
    const auto world = world_of(trace);
    const auto first_world = world_of(ranks.front());
    if (world && first_world && *world != *first_world) {
      problems.push_back({"D010", trace.file,
                          "it is of a run of " + counted(*world, "rank") + ", " + ranks.front().file + " of one of " +
                              std::to_string(*first_world),
                          "give the traces of one run"});
    }
    const auto [found, fresh] = seen.emplace(rank.value_or(0), &trace);
    if (!fresh && rank) {
      problems.push_back({"D005", trace.file,
                          "rank " + std::to_string(*rank) + " is also the rank of " + found->second->file,
                          "give each rank of one pipeline once"});
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  std::sort(ranks.begin(), ranks.end(),
            [](const PipelineTrace& a, const PipelineTrace& b) { return rank_of(a) < rank_of(b); });
}

void require_replica(int replica, std::size_t count) {
  if (replica >= 0 && static_cast<std::size_t>(replica) < count) return;
  throw InputError(Diagnostic{"C003", "--replica",
                              "there is no replica " + std::to_string(replica) + "; the files are of " +
                                  counted(static_cast<std::int64_t>(count), "pipeline"),
                              "they are counted from 0"});
}

void keep_replica(std::vector<PipelineTrace>& ranks, int replica, std::vector<std::string>& notes) {
  std::map<std::set<RangeKey>, std::vector<std::size_t>> same;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::set<RangeKey> ops;
    for (const PipelineEvent& event : ranks[r].events) {
      if (event.name.kind == PipelineName::Kind::kOp) ops.insert(key_of(event.name));
    }
    if (!ops.empty()) same[std::move(ops)].push_back(r);
  }
  std::size_t count = 1;
  for (const auto& [ops, places] : same) count = std::max(count, places.size());
  require_replica(replica, count);
  if (count == 1) return;
  std::set<std::size_t> kept;
  for (const auto& [ops, places] : same) {
    if (places.size() != count) {
      throw InputError(Diagnostic{"D005", ranks[places.front()].file,
                                  counted(static_cast<std::int64_t>(places.size()), "rank") +
                                      " of the given ones ran its " + "stages, but " + std::to_string(count) +
                                      " those of others",
                                  "give the traces of all ranks of one pipeline, or of all replicas"});
    }
    kept.insert(places[static_cast<std::size_t>(replica)]);
  }
  std::vector<PipelineTrace> chosen;
  for (const std::size_t place : kept) chosen.push_back(std::move(ranks[place]));
  ranks = std::move(chosen);
  notes.push_back("replica " + std::to_string(replica) + " of " + std::to_string(count) +
                  " data-parallel pipelines; --replica N reads another");
}

void shift_to_common_base(std::vector<PipelineTrace>& ranks) {
  const auto base_of = [](const PipelineTrace& trace) -> std::int64_t {
    const auto base = fact_number(trace, "baseTimeNanoseconds");
    return base && *base > 0 && *base < kLatestBase ? *base : 0;
  };
  std::optional<Nanoseconds> first;
  for (const PipelineTrace& trace : ranks) {
    for (const PipelineEvent& event : trace.events) {
      const Nanoseconds begin = event.begin + base_of(trace);
      first = std::min(first.value_or(begin), begin);
    }
  }
  for (PipelineTrace& trace : ranks) {
    const Nanoseconds shift = base_of(trace) - first.value_or(0);
    for (PipelineEvent& event : trace.events) {
      event.begin += shift, event.end += shift;
      if (event.held_until != 0) event.held_until += shift;
      if (event.begin <= kLongestDuration) continue;
      throw InputError(Diagnostic{"V023", trace.file, "its times are more than 52 days after those of another rank",
                                  "give the traces of one run"});
    }
    for (PipelineStep& step : trace.steps) step.begin += shift, step.end += shift;
  }
}

void require_all_ranks(const std::vector<PipelineTrace>& ranks, std::vector<std::string>& notes) {
  std::set<std::int32_t> stages;
  for (const PipelineTrace& trace : ranks) {
    for (const PipelineEvent& event : trace.events) {
      if (event.name.kind != PipelineName::Kind::kOp) continue;
      stages.insert(event.name.op.stage);
      if (event.name.paired) stages.insert(event.name.partner.stage);
    }
  }
  std::vector<Diagnostic> problems;
  const auto missing = [&](const std::string& file, std::int32_t stage, const std::string& why) {
    problems.push_back({"D005", file,
                        "a rank is missing: " + why + " stage " + std::to_string(stage) +
                            ", and none of the given traces runs it (" + all_files(ranks) + ")",
                        "give the traces of all ranks of the pipeline"});
  };
  for (const PipelineTrace& trace : ranks) {
    std::set<std::int32_t> told;
    for (const PipelineEvent& event : trace.events) {
      if (event.name.kind != PipelineName::Kind::kSend && event.name.kind != PipelineName::Kind::kReceive) continue;
      const std::int32_t stage = other_stage(event.name);
      if (stages.contains(stage) || !told.insert(stage).second) continue;
      missing(trace.file, stage,
              event.name.kind == PipelineName::Kind::kSend ? "this one sends to" : "this one receives from");
    }
  }
  std::int32_t expected = 0;
  for (const std::int32_t stage : stages) {
    if (problems.empty() && stage != expected) missing(ranks.front().file, expected, "the pipeline has");
    ++expected;
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  const auto world = world_of(ranks.front());
  if (world && *world > static_cast<std::int64_t>(ranks.size())) {
    notes.push_back("world_size is " + std::to_string(*world) + " and " + std::to_string(ranks.size()) +
                    (ranks.size() == 1 ? " trace is" : " traces are") + " given: right for one of several replicas");
  }
}

}  // namespace debubble
