#include "schedules/transforms/split_backward.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include "schedules/common/list_timing.hpp"
#include "schedules/transforms/request.hpp"
#include "schedules/transforms/rows.hpp"

namespace debubble {

namespace {

bool by_stage(const Op& a, const Op& b) { return a.stage != b.stage ? a.stage < b.stage : a.microbatch < b.microbatch; }

// Whole backwards become input gradients; the weight gradients they owe are returned by device, then stage.
std::vector<std::vector<Op>> shorten_backwards(Schedule& schedule) {
  std::vector<std::vector<Op>> owed(schedule.rows.size());
  for (std::size_t device = 0; device < schedule.rows.size(); ++device) {
    for (Op& op : schedule.rows[device]) {
      if (op.kind != OpKind::kBackward) continue;
      op.kind = OpKind::kInputGrad;
      owed[device].push_back({OpKind::kWeightGrad, false, op.stage, op.microbatch});
    }
    std::sort(owed[device].begin(), owed[device].end(), by_stage);
  }
  return owed;
}

// One device's row with weight gradients where it would wait. All other ops keep the times they have without any
// weight gradient, so none can be later than with all of them at the end.
class GapFiller {
 public:
  GapFiller(const std::vector<Op>& row, const std::vector<PlannedSpan>& spans, const PlanTimes& times)
      : row_(row), spans_(spans), times_(times) {}

  // `owed`: by stage.
  std::vector<Op> fill(const std::vector<Op>& owed) {
    for (std::size_t at = 0; at < row_.size(); ++at) {
      if (!ends_pair(row_, at)) fill_until(spans_[at].begin);
      result_.push_back(row_[at]);
      now_ = spans_[at].end;
      const bool owes = row_[at].kind == OpKind::kInputGrad &&
                        std::binary_search(owed.begin(), owed.end(), weight_gradient_of(row_[at]), by_stage);
      if (owes) wait(weight_gradient_of(row_[at]));
    }
    std::vector<Op> rest;
    for (const auto& [duration, queue] : ready_) {
      for (const Waiting& waiting : queue) rest.push_back(waiting.op);
    }
    std::sort(rest.begin(), rest.end(), by_stage);
    result_.insert(result_.end(), rest.begin(), rest.end());
    return std::move(result_);
  }

 private:
  static Op weight_gradient_of(const Op& op) { return {OpKind::kWeightGrad, false, op.stage, op.microbatch}; }

  struct Waiting {
    std::size_t turn = 0;
    Op op;
  };

  void wait(const Op& op) { ready_[times_.duration(op)].push_back({turns_++, op}); }

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
      now_ += oldest->first;
      oldest->second.pop_front();
      if (oldest->second.empty()) ready_.erase(oldest);
    }
  }

  const std::vector<Op>& row_;
  const std::vector<PlannedSpan>& spans_;
  const PlanTimes& times_;
  // By duration, and of one duration the oldest first: a row may owe thousands, but of few durations.
  std::map<Nanoseconds, std::deque<Waiting>> ready_;
  std::size_t turns_ = 0;
  std::vector<Op> result_;
  Nanoseconds now_ = 0;
};

void append_all(Schedule& schedule, const std::vector<std::vector<Op>>& owed) {
  for (std::size_t device = 0; device < schedule.rows.size(); ++device) {
    schedule.rows[device].insert(schedule.rows[device].end(), owed[device].begin(), owed[device].end());
  }
}

void fill_idle_slots(Schedule& schedule, const std::vector<std::vector<Op>>& owed, const PlanningCosts& costs) {
  Schedule ended = schedule;  // nothing waits for a weight gradient: at the end they move nothing else
  append_all(ended, owed);
  const ListTiming timing = time_rows(ended, costs);
  const PlanTimes times(schedule, costs);
  for (std::size_t device = 0; device < schedule.rows.size(); ++device) {
    GapFiller filler(schedule.rows[device], timing.rows[device], times);
    schedule.rows[device] = filler.fill(owed[device]);
  }
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
  Schedule schedule = before;
  std::vector<std::vector<Op>> owed = shorten_backwards(schedule);
  if (when == "idle") {
    fill_idle_slots(schedule, owed, request.costs != nullptr ? *request.costs : unit_costs(before));
  } else {
    append_all(schedule, owed);
  }
  repoint_copies(schedule, before.rows);
  sign(schedule, "split-backward", {{"when", when}});
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
                  "all weight gradients last, or each in the first idle slot that holds it and delays nothing"}},
      .advice =
          "Shortens the backward path through the pipeline at no cost but memory: what a weight gradient needs stays "
          "until it runs, which with when=end is until the end of the iteration.",
      .apply = split_backward,
      .uses_costs = true};
  return entry;
}

}  // namespace debubble
