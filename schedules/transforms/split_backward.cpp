#include "schedules/transforms/split_backward.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedules/common/list_timing.hpp"
#include "schedules/transforms/request.hpp"
#include "schedules/transforms/rows.hpp"

namespace debubble {

namespace {

bool by_stage(const Op& a, const Op& b) { return a.stage != b.stage ? a.stage < b.stage : a.microbatch < b.microbatch; }

using OwedOps = std::vector<Op>;  // weight gradients, by stage

Op weight_gradient_of(const Op& op) { return {OpKind::kWeightGrad, false, op.stage, op.microbatch}; }

// Whole backwards of a row become input gradients. Of the weight gradients that these owe at most `most` wait: beyond
// them the oldest runs, after the cell that was one too many. The last ones run at the end, by stage. Returns all.
OwedOps shorten_backwards(std::vector<Op>& row, std::size_t most) {
  OwedOps owed;
  std::deque<Op> waiting;
  std::vector<Op> shortened;
  for (Op op : row) {
    if (op.kind == OpKind::kBackward) {
      op.kind = OpKind::kInputGrad;
      waiting.push_back(weight_gradient_of(op));
      owed.push_back(waiting.back());
    }
    shortened.push_back(op);
    for (; !op.paired_with_next && waiting.size() > most; waiting.pop_front()) shortened.push_back(waiting.front());
  }
  std::sort(waiting.begin(), waiting.end(), by_stage);
  shortened.insert(shortened.end(), waiting.begin(), waiting.end());
  std::sort(owed.begin(), owed.end(), by_stage);
  row = std::move(shortened);
  return owed;
}

// One device's row with weight gradients earlier, where it would wait. All other ops begin no later than without: what
// is moved fits into an idle slot, and leaves one behind.
class GapFiller {
 public:
  GapFiller(const std::vector<Op>& row, const std::vector<PlannedSpan>& spans, const PlanTimes& times,
            const OwedOps& owed)
      : row_(row), spans_(spans), times_(times), owed_(owed) {}

  std::vector<Op> fill() {
    for (std::size_t at = 0; at < row_.size(); ++at) {
      const Op& op = row_[at];
      const bool moves = is_owed(op);
      if (moves && moved_.contains(op)) continue;
      if (moves) {
        take(op);
      } else if (!ends_pair(row_, at)) {
        fill_until(spans_[at].begin);
      }
      result_.push_back(op);
      now_ = spans_[at].end;
      if (op.kind == OpKind::kInputGrad && is_owed(weight_gradient_of(op))) wait(weight_gradient_of(op));
    }
    return std::move(result_);
  }

 private:
  struct Waiting {
    std::size_t turn = 0;
    Op op;
  };
  using Queues = std::map<Nanoseconds, std::deque<Waiting>>;

  [[nodiscard]] bool is_owed(const Op& op) const {
    return op.kind == OpKind::kWeightGrad && std::binary_search(owed_.begin(), owed_.end(), op, by_stage);
  }

  void wait(const Op& op) { ready_[times_.duration(op)].push_back({turns_++, op}); }

  // Its turn comes at its own place. Those that are older have run, but at the end, where no slot follows.
  void take(const Op& op) {
    const auto queue = ready_.find(times_.duration(op));
    if (queue != ready_.end() && !by_stage(queue->second.front().op, op) && !by_stage(op, queue->second.front().op)) {
      drop_oldest(queue);
    }
  }

  void drop_oldest(Queues::iterator queue) {
    queue->second.pop_front();
    if (queue->second.empty()) ready_.erase(queue);
  }

  // The oldest that fits, again and again: what does not fit now fits no better later.
  void fill_until(Nanoseconds limit) {
    for (;;) {
      auto oldest = ready_.end();
      for (auto queue = ready_.begin(); queue != ready_.end() && now_ + queue->first <= limit; ++queue) {
        const bool older = oldest == ready_.end() || queue->second.front().turn < oldest->second.front().turn;
        if (older) oldest = queue;
      }
      if (oldest == ready_.end()) return;
      result_.push_back(oldest->second.front().op);
      moved_.insert(result_.back());
      now_ += oldest->first;
      drop_oldest(oldest);
    }
  }

  const std::vector<Op>& row_;
  const std::vector<PlannedSpan>& spans_;
  const PlanTimes& times_;
  const OwedOps& owed_;
  Queues ready_;  // by duration, and of one duration the oldest first: a row may owe thousands, but of few durations
  std::set<Op, decltype(&by_stage)> moved_{&by_stage};
  std::size_t turns_ = 0;
  std::vector<Op> result_;
  Nanoseconds now_ = 0;
};

void fill_idle_slots(Schedule& schedule, const std::vector<OwedOps>& owed, const PlanningCosts& costs) {
  const ListTiming timing = time_rows(schedule, costs);
  const PlanTimes times(schedule, costs);
  const std::vector<std::vector<Op>> rows = schedule.rows;
  for (std::size_t device = 0; device < rows.size(); ++device) {
    schedule.rows[device] = GapFiller(rows[device], timing.rows[device], times, owed[device]).fill();
  }
  repoint_copies(schedule, rows);
}

Schedule split_backward(const Schedule& before, const TransformRequest& request) {
  const TransformParams params(request, "split-backward");
  const std::string when = params.choice("when", "end|idle");
  if (before.asynchrony) {
    params.refuse("M007", "",
                  before.name + " updates the weights as soon as a backward ends, so no weight gradient can wait",
                  "use it with a schedule that flushes");
  }
  if (!has_kind(before, OpKind::kBackward)) {
    params.refuse("M008", "", "the backward of " + before.name + " is split already",
                  "leave --transform split-backward out");
  }
  const bool limited = params.given("deferred");
  const int most = limited ? params.whole("deferred", 1, 0) : std::numeric_limits<int>::max();
  Schedule schedule = before;
  std::vector<OwedOps> owed;
  for (std::vector<Op>& row : schedule.rows) owed.push_back(shorten_backwards(row, static_cast<std::size_t>(most)));
  repoint_copies(schedule, before.rows);
  if (when == "idle") fill_idle_slots(schedule, owed, request.costs != nullptr ? *request.costs : unit_costs(before));
  std::vector<std::pair<std::string, std::string>> signature{{"when", when}};
  if (limited) signature.emplace_back("deferred", std::to_string(most));
  sign(schedule, "split-backward", signature);
  return schedule;
}

}  // namespace

const TransformEntry& split_backward_entry() {
  static const TransformEntry entry{
      .name = "split-backward",
      .summary = "the weight gradients of every backward later: at the end, or where the device would wait",
      .citation = "Rae, Lee, Richings, 2BP: 2-Stage Backpropagation, arXiv 2405.18047",
      .certainty = Certainty::kDerived,
      .certainty_note = "makespans and peaks of GPipe and 1F1B by calculation; the paper's tables were not available",
      .constraints = "refuses schedules without a flush, and those whose backward is split already",
      .params = {{"when", "end|idle", "end",
                  "all weight gradients last, or each in the first idle slot that holds it and delays nothing"},
                 {"deferred", "0..", "all",
                  "weight gradients that may wait on a device; one more, and the oldest runs"}},
      .advice =
          "Shortens the backward path through the pipeline at no cost but memory: what a weight gradient needs stays "
          "until it runs, which with when=end is until the end of the iteration; deferred= bounds it.",
      .apply = split_backward,
      .uses_costs = true};
  return entry;
}

}  // namespace debubble
