#include "formats/importers/recovery/recover_run.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "formats/importers/kineto_ranks.hpp"
#include "formats/importers/kineto_run.hpp"
#include "formats/importers/recovery/find_ops.hpp"
#include "formats/importers/recovery/find_transfers.hpp"
#include "formats/importers/recovery/recover_ranks.hpp"
#include "formats/importers/recovery/split_iterations.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr const char* kNameTheOps =
    "name the ops: record_function(\"PP:0F3\") around the forward of microbatch 3 on stage 0, \"PP:0B3\" around its "
    "backward, \"PP:0SEND_F3\" and \"PP:1RECV_F3\" around its transfer";

// From the first to the last kernel of an op that was launched while its range was open, by any thread: autograd's
// launches the kernels of a backward.
struct KernelTime {
  bool any = false;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

KernelTime kernels_within(const std::vector<LaunchedWork>& work, Nanoseconds begin, Nanoseconds end,
                          LaunchedWork::Kind kind = LaunchedWork::Kind::kCompute) {
  KernelTime time;
  auto at = std::lower_bound(work.begin(), work.end(), begin,
                             [](const LaunchedWork& item, Nanoseconds value) { return item.launched < value; });
  for (; at != work.end() && at->launched <= end; ++at) {
    if (at->kind != kind) continue;
    time.begin = time.any ? std::min(time.begin, at->begin) : at->begin;
    time.end = time.any ? std::max(time.end, at->end) : at->end;
    time.any = true;
  }
  return time;
}

PipelineTrace facts_of_rank(const RankEvents& events) {
  PipelineTrace trace;
  trace.file = events.file;
  if (events.rank) trace.facts["distributedInfo/rank"] = std::to_string(*events.rank);
  if (events.world_size) trace.facts["distributedInfo/world_size"] = std::to_string(*events.world_size);
  trace.facts["baseTimeNanoseconds"] = std::to_string(events.base);
  trace.losses = events.losses;
  trace.device = events.device;
  return trace;
}

// Both as the host's and, where kernels are known, as the GPU's.
void add_event(PipelineTrace& trace, PipelineEvent event, const KernelTime& gpu) {
  event.on_gpu = false;
  trace.events.push_back(event);
  if (!gpu.any) return;
  event.on_gpu = true;
  event.lane = 0;
  event.begin = gpu.begin;
  event.end = gpu.end;
  trace.events.push_back(event);
}

class Recovery {
 public:
  Recovery(std::vector<RankEvents> ranks, int replica) : ranks_(std::move(ranks)), replica_(replica) {}

  ImportedRun run(const std::string& recorder) {
    order_ranks(ranks_);
    std::vector<PipelineTrace> traces = has_names() ? named_traces() : recovered_traces();
    ImportedRun result = import_kineto_run(std::move(traces), named_ ? replica_ : 0);
    result.method =
        (named_ ? "PP: ranges" : "ranges without PP: names") + std::string(" as ") + recorder + " recorded them";
    result.notes.insert(result.notes.begin(), notes_.begin(), notes_.end());
    if (partial_ > 0) add_loss(result);
    return result;
  }

 private:
  bool has_names() {
    named_ = std::all_of(ranks_.begin(), ranks_.end(), [](const RankEvents& rank) { return !rank.named.empty(); });
    return named_;
  }

  std::vector<PipelineTrace> named_traces() {
    std::vector<PipelineTrace> traces;
    for (const RankEvents& rank : ranks_) {
      traces.push_back(facts_of_rank(rank));
      traces.back().steps = rank.steps;
      for (const PipelineEvent& event : rank.named) {
        const bool op = event.name.kind == PipelineName::Kind::kOp;
        add_event(traces.back(), event,
                  kernels_within(rank.work, event.begin, event.end,
                                 op ? LaunchedWork::Kind::kCompute : LaunchedWork::Kind::kSendRecv));
      }
    }
    say_rank_by_name();
    return traces;
  }

  std::vector<PipelineTrace> recovered_traces() {
    find_all_ops();
    require_transfers();
    split_ = split_iterations(ranks_, found_);
    partial_ = split_.partial;
    std::vector<RankExchange> exchanges;
    for (std::size_t r = 0; r < ranks_.size(); ++r) exchanges.push_back(exchange_of(r));
    const auto pipelines = pipelines_of(ranks_, exchanges);
    require_replica(replica_, pipelines.size());
    const std::vector<std::size_t>& chosen = pipelines[static_cast<std::size_t>(replica_)];
    std::vector<PipelineTrace> traces;
    for (std::size_t stage = 0; stage < chosen.size(); ++stage) {
      traces.push_back(recovered_trace(chosen[stage], stage, chosen.size()));
    }
    say(pipelines.size());
    return traces;
  }

  void find_all_ops() {
    std::vector<Diagnostic> problems;
    for (const RankEvents& rank : ranks_) {
      found_.push_back(find_ops(rank));
      const std::vector<FoundOp>& ops = found_.back().ops;
      const auto has = [&](OpKind kind) {
        return std::any_of(ops.begin(), ops.end(), [&](const FoundOp& op) { return op.kind == kind; });
      };
      const bool forward = has(OpKind::kForward);
      if (forward && has(OpKind::kBackward)) continue;
      problems.push_back({"D004", rank.file,
                          std::string("nothing tells its ") + (forward ? "backwards" : "forwards") +
                              ": no PP: range, no range such as forward_step or backward_step" +
                              (rank.nodes.empty() ? ", no node of autograd" : ""),
                          kNameTheOps});
    }
    if (!problems.empty()) throw InputError(std::move(problems));
  }

  // Without transfers autograd's rows have no ends, and nothing says that this is a pipeline.
  void require_transfers() const {
    std::vector<Diagnostic> problems;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (found_[r].forward_named && found_[r].backward_named) continue;
      const auto& ranges = ranks_[r].ranges;
      const auto& work = ranks_[r].work;
      if (std::any_of(ranges.begin(), ranges.end(),
                      [](const MeantRange& range) {
                        return range.meaning.kind == RangeMeaning::Kind::kTransfer ||
                               range.meaning.kind == RangeMeaning::Kind::kDirected;
                      }) ||
          std::any_of(work.begin(), work.end(),
                      [](const LaunchedWork& item) { return item.kind == LaunchedWork::Kind::kSendRecv; })) {
        continue;
      }
      problems.push_back({"D004", ranks_[r].file,
                          "no send or receive was recorded, and no range names forwards and backwards: autograd alone "
                          "does not tell the ops of a pipeline",
                          kNameTheOps});
    }
    if (!problems.empty()) throw InputError(std::move(problems));
  }

  [[nodiscard]] RankExchange exchange_of(std::size_t r) const {
    RankExchange exchange;
    const FoundEnds found = find_ends(ranks_[r], found_[r].ops, std::nullopt);
    for (const FoundEnd& end : found.ends) {
      const FoundOp& op = found_[r].ops[static_cast<std::size_t>(end.op)];
      if (!end.certain || op.kind != OpKind::kForward || op.step < 0) continue;
      (end.sends ? exchange.sends_forward : exchange.receives_forward) = true;
    }
    return exchange;
  }

  PipelineTrace recovered_trace(std::size_t r, std::size_t stage, std::size_t stages) {
    PipelineTrace trace = facts_of_rank(ranks_[r]);
    trace.evaluation = ranks_[r].work.empty() && ranks_[r].host.any_work() && !ranks_[r].host.any_node();
    for (const std::string& name : split_.names[r]) trace.steps.push_back({name, 0, 0});
    const std::vector<FoundOp>& ops = found_[r].ops;
    for (const FoundOp& op : ops) {
      if (op.step < 0) continue;
      PipelineEvent event;
      event.name.kind = PipelineName::Kind::kOp;
      event.name.op = {.kind = op.kind, .stage = static_cast<std::int32_t>(stage), .microbatch = op.microbatch};
      event.begin = op.begin;
      event.end = op.end;
      event.held_until = op.held_until;
      event.step = op.step;
      add_event(trace, event, kernels_within(ranks_[r].work, op.begin, op.end));
    }
    const PipelineEnds place{stage == 0, stage + 1 == stages};
    const FoundEnds found = find_ends(ranks_[r], ops, place);
    unplaced_ += found.unplaced;
    directed_ |= found.directed;
    kernels_only_ |= found.kernels_only;
    add_ends(trace, found, ops, place, static_cast<std::int32_t>(stage));
    return trace;
  }

  // Several tensors of one op are one transfer. What is beyond the pipeline's ends was called for nothing.
  void add_ends(PipelineTrace& trace, const FoundEnds& found, const std::vector<FoundOp>& ops,
                const PipelineEnds& place, std::int32_t stage) {
    std::map<std::pair<std::int32_t, bool>, FoundEnd> merged;
    for (const FoundEnd& end : found.ends) {
      const FoundOp& op = ops[static_cast<std::size_t>(end.op)];
      const bool towards_last = (op.kind == OpKind::kForward) == end.sends;
      if (op.step < 0 || (towards_last ? place.last : place.first)) continue;
      const auto [known, fresh] = merged.try_emplace({end.op, end.sends}, end);
      if (!fresh) merge(known->second, end);
    }
    for (const auto& [key, end] : merged) {
      const FoundOp& op = ops[static_cast<std::size_t>(end.op)];
      const std::int32_t from = op.kind == OpKind::kForward ? -1 : 1;
      PipelineEvent event;
      event.name.kind = end.sends ? PipelineName::Kind::kSend : PipelineName::Kind::kReceive;
      event.name.op = {.kind = op.kind, .stage = end.sends ? stage : stage + from, .microbatch = op.microbatch};
      event.begin = end.begin;
      event.end = end.end;
      event.step = op.step;
      event.arrival = end.arrival;
      event.shared = end.shared;
      add_event(trace, event, {end.on_gpu, end.gpu_begin, end.gpu_end});
    }
  }

  static void merge(FoundEnd& known, const FoundEnd& other) {
    known.begin = std::min(known.begin, other.begin);
    known.end = std::max(known.end, other.end);
    if (other.on_gpu) {
      known.gpu_begin = known.on_gpu ? std::min(known.gpu_begin, other.gpu_begin) : other.gpu_begin;
      known.gpu_end = known.on_gpu ? std::max(known.gpu_end, other.gpu_end) : other.gpu_end;
    }
    known.on_gpu |= other.on_gpu;
    known.shared |= other.shared;
    known.arrival &= other.arrival;
  }

  void say_rank_by_name() {
    const bool by_name =
        std::any_of(ranks_.begin(), ranks_.end(), [](const RankEvents& rank) { return rank.rank_by_name; });
    if (by_name) notes_.emplace_back("assumed: which rank a file is of, by its name");
    const bool by_process =
        std::any_of(ranks_.begin(), ranks_.end(), [](const RankEvents& rank) { return rank.rank_by_process; });
    if (by_process)
      notes_.emplace_back("assumed: processes of one export are ranks in the order of their GPUs or numbers");
  }

  void say_ops() {
    const auto all = [&](auto has) { return std::all_of(found_.begin(), found_.end(), has); };
    const bool forward = all([](const FoundOps& rank) { return rank.forward_named; });
    const bool backward = all([](const FoundOps& rank) { return rank.backward_named; });
    const char* const what = forward == backward ? "forwards and backwards" : forward ? "backwards" : "forwards";
    if (forward || backward) {
      notes_.push_back(std::string("named: ") +
                       (forward && backward ? what
                        : forward           ? "forwards"
                                            : "backwards") +
                       ", by their ranges");
    }
    if (forward && backward) return;
    const bool by_sequence = all([](const FoundOps& rank) { return rank.by_sequence; });
    notes_.push_back(
        std::string("inferred: ") + what +
        ", by autograd: from the first to the last op that made a node, or node at work, between transfers" +
        (by_sequence ? "" : "; which ops made nodes is known by their names only"));
  }

  void say(std::size_t pipelines) {
    say_ops();
    static constexpr const char* kMicrobatches[] = {
        "assumed: the k-th forward and the k-th backward of a rank in an iteration are of microbatch k",
        "inferred: the k-th forward of a rank is of microbatch k; backwards by the sequence numbers of their nodes",
        "named: microbatches, by the numbers in the names of ranges"};
    notes_.emplace_back(kMicrobatches[static_cast<std::size_t>(split_.microbatches)]);
    notes_.push_back(split_.by == SplitRun::By::kSteps ? "named: iterations, by the steps of the recording"
                     : split_.by == SplitRun::By::kOptimizer
                         ? "inferred: an iteration ends where the optimizer runs"
                         : "inferred: an iteration is " + counted(split_.count, "forward") + " of each rank");
    notes_.emplace_back("assumed: each rank holds one stage, in the order of their numbers");
    notes_.emplace_back(kernels_only_ ? "inferred: which send and receive is whose, by the order of NCCL's kernels"
                        : directed_   ? "named: what sends and receives carry; which op's, by their order"
                                      : "inferred: a send is of the op before it, a receive for the op behind it");
    say_rank_by_name();
    if (pipelines > 1) {
      notes_.push_back("replica " + std::to_string(replica_) + " of " + std::to_string(pipelines) +
                       " data-parallel pipelines; --replica N reads another");
    }
    if (unplaced_ > 0) {
      notes_.push_back(std::to_string(unplaced_) + " sends and receives could not be assigned to an op");
    }
  }

  void add_loss(ImportedRun& result) const {
    const std::string what = "iterations that are not whole";
    const auto known = std::find_if(result.losses.begin(), result.losses.end(),
                                    [&](const LossItem& loss) { return loss.what == what; });
    if (known == result.losses.end()) {
      result.losses.push_back({what, partial_});
    } else {
      known->count += partial_;
    }
  }

  std::vector<RankEvents> ranks_;
  int replica_;
  bool named_ = false;
  std::vector<FoundOps> found_;
  SplitRun split_;
  std::int64_t partial_ = 0;
  std::int64_t unplaced_ = 0;
  bool directed_ = false;
  bool kernels_only_ = false;
  std::vector<std::string> notes_;
};

}  // namespace

ImportedRun recover_run(std::vector<RankEvents> ranks, int replica, const std::string& recorder) {
  return Recovery(std::move(ranks), replica).run(recorder);
}

}  // namespace debubble
