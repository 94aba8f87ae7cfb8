#include "formats/importers/kineto_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "formats/importers/clock_alignment.hpp"
#include "formats/importers/kineto_ranges.hpp"
#include "formats/importers/kineto_ranks.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

using Iteration = std::pair<std::size_t, std::string>;  // as in RankRanges

class Importer {
 public:
  Importer(std::vector<PipelineTrace> ranks, int replica) : ranks_(std::move(ranks)), replica_(replica) {}

  ImportedRun run() {
    sort_by_rank(ranks_);
    keep_replica(ranks_, replica_, result_.notes);
    result_.devices = static_cast<int>(ranks_.size());
    result_.method = "PP: ranges of torch.profiler's traces";
    require_all_ranks(ranks_, result_.notes);
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
    drop_warm_up(result_);
    for (const auto& [what, count] : losses_) {
      if (count > 0) result_.losses.push_back({what, count});
    }
    return std::move(result_);
  }

 private:
  struct Pair {
    Op op;
    MessageTimes times;
    bool bounds = true;  // `times` say something about the clocks
  };
  using Sends = std::map<RangeKey, std::pair<int, NamedRange>>;  // by the key of their receive

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
      Sends sends;
      for (std::size_t r = 0; r < sorted_.size(); ++r) {
        for (const auto& [key, range] : sorted_[r].iterations.at(iteration)) {
          if (range.name.kind != PipelineName::Kind::kSend) continue;
          RangeKey receive = key;
          std::get<PipelineName::Kind>(receive) = PipelineName::Kind::kReceive;
          sends.emplace(receive, std::pair{static_cast<int>(r), range});
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
          pairs_[iteration].push_back(pair_of(found->second.first, found->second.second, r, range, iteration));
          sends.erase(found);
        }
      }
      losses_["transfers seen at one end only"] += static_cast<std::int64_t>(sends.size());
    }
  }

  // A host's ranges only post: of the arrival they know no more than that the op which uses the tensor ends later.
  Pair pair_of(int from, const NamedRange& sent, std::size_t to, const NamedRange& received,
               const Iteration& iteration) {
    const TimeRange& out = sent.time;
    Pair pair{received.name.op,
              {from, static_cast<int>(to), out.begin, out.end, received.time.begin, received.time.end, false},
              true};
    const bool shared = sent.shared || received.shared;
    if (sent.on_gpu && received.on_gpu && !shared) return pair;
    if (!received.on_gpu && received.arrival) return pair;
    ++(sent.on_gpu && received.on_gpu ? shared_ : posted_);
    pair.times.late = true;
    if (received.on_gpu) return pair;
    const std::optional<Nanoseconds> end = end_of_user(sorted_[to].iterations.at(iteration), received.name.op);
    pair.bounds = end.has_value();
    pair.times.receive_end = end.value_or(0);
    return pair;
  }

  // When the op ends that uses what `made` sends.
  static std::optional<Nanoseconds> end_of_user(const RangesByKey& ranges, const Op& made) {
    const bool forward = made.kind == OpKind::kForward;
    const auto uses = [&](const Op& op) {
      const bool kind = forward ? op.kind == OpKind::kForward : makes_input_gradient(op.kind);
      return kind && op.stage == made.stage + (forward ? 1 : -1) && op.microbatch == made.microbatch;
    };
    for (const auto& [key, range] : ranges) {
      if (range.name.kind != PipelineName::Kind::kOp) continue;
      if (uses(range.name.op) || (range.name.paired && uses(range.name.partner))) return range.time.end;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::vector<MessageTimes> messages() const {
    std::vector<MessageTimes> all;
    for (const auto& [iteration, pairs] : pairs_) {
      for (const Pair& pair : pairs) {
        if (pair.bounds) all.push_back(pair.times);
      }
    }
    return all;
  }

  void check_offsets() const {
    for (std::size_t r = 0; r < result_.clocks.offsets.size(); ++r) {
      if (std::abs(result_.clocks.offsets[r]) <= kLongestDuration) continue;
      throw InputError(Diagnostic{"V023", ranks_[r].file, "its times lie more than 52 days from those of another rank",
                                  "give the traces of one run"});
    }
  }

  [[nodiscard]] Nanoseconds offset(int rank) const {
    return result_.clocks.offsets.empty() ? 0 : at(result_.clocks.offsets, rank);
  }

  Observation observe(const Iteration& iteration) {
    Observation observation;
    std::set<std::pair<std::int32_t, std::int32_t>> split;  // (stage, microbatch) with an I
    for (std::size_t r = 0; r < sorted_.size(); ++r) {
      const Nanoseconds shift = offset(static_cast<int>(r));
      for (const auto& [key, range] : sorted_[r].iterations.at(iteration)) {
        if (range.name.kind != PipelineName::Kind::kOp) continue;
        observation.ops.push_back({range.name.op, range.name.partner, range.name.paired, static_cast<std::int32_t>(r),
                                   range.time.begin + shift, end_of(iteration, static_cast<int>(r), range) + shift});
        for (const Op& op : {range.name.op, range.name.partner}) {
          if (op.kind == OpKind::kInputGrad) split.emplace(op.stage, op.microbatch);
        }
      }
    }
    const auto found = pairs_.find(iteration);
    if (found != pairs_.end()) {
      for (const Pair& pair : found->second) add_transfer(observation, pair, split);
      if (!result_.on_gpu) cut_waits(observation, found->second);
    }
    losses_[kTrimmedOps] += trim_overlaps(observation.ops);
    return observation;
  }

  // An op's thread may have waited for a send before it went on; not if the tensor was there when the op's last event
  // had ended.
  [[nodiscard]] Nanoseconds end_of(const Iteration& iteration, int rank, const NamedRange& range) const {
    const Nanoseconds end = range.time.end;
    const auto found = pairs_.find(iteration);
    if (range.held_until == 0 || found == pairs_.end()) return end;
    bool any = false;
    for (const auto& [op, times, bounds] : found->second) {
      const bool held = times.from == rank && times.send_begin < end && times.send_end > end && !times.late;
      if (held && times.receive_end + offset(times.to) > end + offset(rank)) return end;
      any = any || held;
    }
    return any ? range.held_until : end;
  }

  void add_transfer(Observation& observation, const Pair& pair,
                    const std::set<std::pair<std::int32_t, std::int32_t>>& split) {
    if (pair.times.late) return;
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

  // On the host an op's range holds the wait for its input: what lies before the send is not compute. Clocks that
  // contradict each other cannot say how much that is.
  void cut_waits(Observation& observation, const std::vector<Pair>& pairs) {
    if (!result_.clocks.bounded) return;
    std::map<std::pair<OpKind, std::pair<std::int32_t, std::int32_t>>, Nanoseconds> arrival;
    for (const Pair& pair : pairs) {
      const bool forward = pair.op.kind == OpKind::kForward;
      const std::int32_t user = pair.op.stage + (forward ? 1 : -1);
      arrival[{forward ? OpKind::kForward : OpKind::kBackward, {user, pair.op.microbatch}}] =
          pair.times.late ? pair.times.send_begin + offset(pair.times.from)
                          : std::max(pair.times.receive_end + offset(pair.times.to),
                                     pair.times.send_begin + offset(pair.times.from));
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
    result_.notes.emplace_back(
        result_.on_gpu ? "op times are the GPU's (gpu_user_annotation)"
                       : "op times are the host's: no GPU range for every op; with a GPU they are launches only");
    if (posted_ > 0) {
      result_.notes.push_back(
          "SEND and RECV are the host's ranges, which only post: no transfer was timed, each is taken to be as "
          "predicted" +
          std::string(result_.on_gpu ? "" : ", and waits for inputs are within the ops that use them"));
    }
    if (shared_ > 0) {
      result_.notes.push_back(
          counted(shared_, "transfer") +
          " ran in one kernel with one the other way: when it arrived is not known, each is taken to "
          "be as predicted");
    }
    if (waiting_ > 0) {
      result_.notes.push_back("receives waited " + std::to_string(waiting_ / 1000) +
                              " us for their senders, over all iterations; that is not counted as transfer");
    }
    if (std::any_of(ranks_.begin(), ranks_.end(), [](const PipelineTrace& rank) { return rank.evaluation; })) {
      result_.notes.emplace_back("an evaluation, no training: no node of autograd ran, so backwards are empty ranges");
    }
    if (cut_ > 0) {
      result_.notes.push_back("ops waited " + std::to_string(cut_ / 1000) +
                              " us for their inputs to be sent, over all iterations; that is not counted as compute");
    }
  }

  std::vector<PipelineTrace> ranks_;
  int replica_;
  std::vector<RankRanges> sorted_;
  std::map<Iteration, std::vector<Pair>> pairs_;
  std::map<std::string, std::int64_t> losses_;
  std::int64_t posted_ = 0;
  std::int64_t shared_ = 0;
  Nanoseconds waiting_ = 0;
  Nanoseconds cut_ = 0;
  ImportedRun result_;
};

}  // namespace

ImportedRun import_kineto_run(std::vector<PipelineTrace> ranks, int replica) {
  return Importer(std::move(ranks), replica).run();
}

}  // namespace debubble
