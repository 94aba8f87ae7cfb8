#include "profiler/importers/kineto_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "profiler/importers/clock_alignment.hpp"
#include "profiler/importers/kineto_ranges.hpp"
#include "profiler/importers/micros.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

using Iteration = std::pair<std::size_t, std::string>;  // as in RankRanges
constexpr std::int64_t kLatestBase = std::int64_t{1} << 61;

std::optional<std::int64_t> rank_of(const PipelineTrace& trace) {
  const auto found = trace.facts.find("distributedInfo/rank");
  return found == trace.facts.end() ? std::nullopt : whole_number(found->second);
}

// In order of rank. Throws D004 and D005.
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

// All files' times on one axis that begins near 0: each file counts from a base of its own.
void shift_to_common_base(std::vector<PipelineTrace>& ranks) {
  const auto base_of = [](const PipelineTrace& trace) -> std::int64_t {
    const auto found = trace.facts.find("baseTimeNanoseconds");
    const auto base = found == trace.facts.end() ? std::nullopt : whole_number(found->second);
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
      if (event.begin <= kLongestDuration) continue;
      throw InputError(Diagnostic{"D007", trace.file, "its times lie more than 52 days behind those of another rank",
                                  "give the traces of one run"});
    }
    for (PipelineStep& step : trace.steps) step.begin += shift, step.end += shift;
  }
}

class Importer {
 public:
  explicit Importer(std::vector<PipelineTrace> ranks) : ranks_(std::move(ranks)) {}

  ImportedRun run() {
    sort_by_rank(ranks_);
    shift_to_common_base(ranks_);
    result_.on_gpu = std::all_of(ranks_.begin(), ranks_.end(), has_gpu_ops);
    for (const PipelineTrace& trace : ranks_) {
      for (const auto& [what, count] : trace.losses) losses_[what] += count;
      sorted_.push_back(sort_ranges(trace, result_.on_gpu, losses_));
      if (result_.device.empty()) result_.device = trace.device;
    }
    std::vector<Iteration> whole = whole_iterations();
    pair_transfers(whole);
    result_.clocks = align_clocks(static_cast<int>(ranks_.size()), messages(), result_.notes);
    check_offsets();
    for (const Iteration& iteration : whole) result_.iterations.push_back({iteration.second, observe(iteration)});
    add_notes();
    for (const auto& [what, count] : losses_) {
      if (count > 0) result_.losses.push_back({what, count});
    }
    return std::move(result_);
  }

 private:
  struct Pair {
    Op op;
    MessageTimes times;
  };

  // Iterations in which every rank ran every op that it ran in any of them.
  std::vector<Iteration> whole_iterations() {
    std::vector<std::set<RangeKey>> wanted(ranks_.size());
    std::set<Iteration> all;
    for (std::size_t r = 0; r < sorted_.size(); ++r) {
      for (const auto& [iteration, ranges] : sorted_[r].iterations) {
        all.insert(iteration);
        for (const auto& [key, range] : ranges) {
          if (range.name.kind == PipelineName::Kind::kOp) wanted[r].insert(key);
        }
      }
    }
    std::vector<Iteration> whole;
    for (const Iteration& iteration : all) {
      if (is_whole(iteration, wanted)) whole.push_back(iteration);
    }
    losses_["iterations that are not whole"] += static_cast<std::int64_t>(all.size() - whole.size());
    if (whole.empty()) {
      throw InputError(Diagnostic{"D006", ranks_.front().file, "no iteration is whole: in each, some rank lacks an op",
                                  "give all ranks of one pipeline, recorded over the same steps"});
    }
    return whole;
  }

  [[nodiscard]] bool is_whole(const Iteration& iteration, const std::vector<std::set<RangeKey>>& wanted) const {
    for (std::size_t r = 0; r < sorted_.size(); ++r) {
      const auto found = sorted_[r].iterations.find(iteration);
      if (found == sorted_[r].iterations.end()) return false;
      for (const RangeKey& key : wanted[r]) {
        if (!found->second.contains(key)) return false;
      }
    }
    return true;
  }

  // Sends and receives of one tensor in one iteration.
  void pair_transfers(const std::vector<Iteration>& whole) {
    for (const Iteration& iteration : whole) {
      std::map<RangeKey, std::pair<int, TimeRange>> sends;  // by the key of their receive
      for (std::size_t r = 0; r < sorted_.size(); ++r) {
        for (const auto& [key, range] : sorted_[r].iterations.at(iteration)) {
          if (range.name.kind != PipelineName::Kind::kSend) continue;
          RangeKey receive = key;
          std::get<PipelineName::Kind>(receive) = PipelineName::Kind::kReceive;
          sends.emplace(receive, std::pair{static_cast<int>(r), range.time});
        }
      }
      for (std::size_t r = 0; r < sorted_.size(); ++r) {
        for (const auto& [key, range] : sorted_[r].iterations.at(iteration)) {
          if (range.name.kind != PipelineName::Kind::kReceive) continue;
          const auto found = sends.find(key);
          if (found == sends.end()) {
            ++losses_["transfers seen at one end only"];
            continue;
          }
          const auto& [from, sent] = found->second;
          pairs_[iteration].push_back(
              {range.name.op, {from, static_cast<int>(r), sent.begin, sent.end, range.time.begin, range.time.end}});
          sends.erase(found);
        }
      }
      losses_["transfers seen at one end only"] += static_cast<std::int64_t>(sends.size());
    }
  }

  [[nodiscard]] std::vector<MessageTimes> messages() const {
    std::vector<MessageTimes> all;
    for (const auto& [iteration, pairs] : pairs_) {
      for (const Pair& pair : pairs) all.push_back(pair.times);
    }
    return all;
  }

  void check_offsets() const {
    for (std::size_t r = 0; r < result_.clocks.offsets.size(); ++r) {
      if (std::abs(result_.clocks.offsets[r]) <= kLongestDuration) continue;
      throw InputError(Diagnostic{"D007", ranks_[r].file, "its times lie more than 52 days from those of another rank",
                                  "give the traces of one run"});
    }
  }

  [[nodiscard]] Nanoseconds offset(int rank) const {
    return result_.clocks.offsets.empty() ? 0 : result_.clocks.offsets[static_cast<std::size_t>(rank)];
  }

  Observation observe(const Iteration& iteration) {
    Observation observation;
    std::set<std::pair<std::int32_t, std::int32_t>> split;  // (stage, microbatch) with an I
    for (std::size_t r = 0; r < sorted_.size(); ++r) {
      const Nanoseconds shift = offset(static_cast<int>(r));
      for (const auto& [key, range] : sorted_[r].iterations.at(iteration)) {
        if (range.name.kind != PipelineName::Kind::kOp) continue;
        observation.ops.push_back({range.name.op, range.name.partner, range.name.paired, static_cast<std::int32_t>(r),
                                   range.time.begin + shift, range.time.end + shift});
        for (const Op& op : {range.name.op, range.name.partner}) {
          if (op.kind == OpKind::kInputGrad) split.emplace(op.stage, op.microbatch);
        }
      }
    }
    const auto found = pairs_.find(iteration);
    if (found == pairs_.end()) return observation;
    for (const Pair& pair : found->second) {
      ObservedTransfer transfer;
      transfer.op = pair.op;
      if (split.contains({pair.op.stage, pair.op.microbatch}) && pair.op.kind == OpKind::kBackward) {
        transfer.op.kind = OpKind::kInputGrad;
      }
      transfer.from_device = pair.times.from;
      transfer.to_device = pair.times.to;
      const Nanoseconds sent = pair.times.send_begin + offset(pair.times.from);
      const Nanoseconds posted = pair.times.receive_begin + offset(pair.times.to);
      waiting_ += std::max<Nanoseconds>(0, sent - posted);
      transfer.begin = std::max(sent, posted);
      transfer.end = std::max(transfer.begin, pair.times.receive_end + offset(pair.times.to));
      observation.transfers.push_back(transfer);
    }
    if (!result_.on_gpu) cut_waits(observation);
    return observation;
  }

  // On the host an op's range begins with the wait for its input: what lies before the arrival is not compute.
  void cut_waits(Observation& observation) {
    std::map<std::pair<OpKind, std::pair<std::int32_t, std::int32_t>>, Nanoseconds> arrival;
    for (const ObservedTransfer& transfer : observation.transfers) {
      const bool forward = transfer.op.kind == OpKind::kForward;
      const std::int32_t user = transfer.op.stage + (forward ? 1 : -1);
      arrival[{forward ? OpKind::kForward : OpKind::kBackward, {user, transfer.op.microbatch}}] = transfer.end;
    }
    for (ObservedOp& observed : observation.ops) {
      for (const Op& op : {observed.op, observed.partner}) {
        if (op.kind == OpKind::kWeightGrad) continue;
        const OpKind kind = op.kind == OpKind::kForward ? OpKind::kForward : OpKind::kBackward;
        const auto found = arrival.find({kind, {op.stage, op.microbatch}});
        if (found != arrival.end() && found->second > observed.begin) {
          const Nanoseconds begin = std::min(found->second, observed.end);
          cut_ += begin - observed.begin;
          observed.begin = begin;
        }
        if (!observed.paired) break;
      }
    }
  }

  void add_notes() {
    result_.notes.push_back(
        result_.on_gpu ? "op times are the GPU's (gpu_user_annotation)"
                       : "op times are the host's: no GPU range for every op; with a GPU they are launches only");
    if (waiting_ > 0) {
      result_.notes.push_back("receives waited " + std::to_string(waiting_ / 1000) +
                              " us for their senders, over all iterations; that is not counted as transfer");
    }
    if (cut_ > 0) {
      result_.notes.push_back("ops waited " + std::to_string(cut_ / 1000) +
                              " us for their inputs, over all iterations; that is not counted as compute");
    }
  }

  std::vector<PipelineTrace> ranks_;
  std::vector<RankRanges> sorted_;
  std::map<Iteration, std::vector<Pair>> pairs_;
  std::map<std::string, std::int64_t> losses_;
  Nanoseconds waiting_ = 0;
  Nanoseconds cut_ = 0;
  ImportedRun result_;
};

}  // namespace

ImportedRun import_kineto_run(std::vector<PipelineTrace> ranks) { return Importer(std::move(ranks)).run(); }

}  // namespace debubble
