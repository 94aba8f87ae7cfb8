#include "schedules/transforms/offload.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedules/common/copy_plan.hpp"
#include "schedules/common/list_timing.hpp"
#include "schedules/common/memory_limit.hpp"
#include "schedules/transforms/request.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/piece_share.hpp"

namespace debubble {
namespace {

// Which activations leave a device so that it holds no more than a level.
//
//     1f1b, p = 4, device 0     row    0F3  0B0  0F4  0B1  0F5  0B2        0F3 would make 4; for a level of 3
//     level 3                   away   1    1    3    3    3    3          1 leaves, and 3 once 1 is due back
//
// Wherever a cell would hold more, that one leaves whose use is furthest ahead (Belady's rule). So those leave that
// lower the peak, all along the row, and not the longest stays alone: those of 1F1B are all at its begin.

class OffloadChoice {
 public:
  // `stays`: those that may leave.
  OffloadChoice(const Schedule& schedule, const PlanningCosts& costs, const ListTiming& timing, int device,
                const std::vector<Stay>& stays);

  // The most that any cell holds when nothing leaves.
  [[nodiscard]] Bytes peak() const;
  // Those that leave for this level, as if the copy lane were free for each of them.
  [[nodiscard]] std::vector<Stay> above(Bytes level) const;

 private:
  struct Candidate {
    Stay stay;
    std::size_t begin = 0;  // the row positions between which it can be away
    std::size_t end = 0;
    Bytes bytes = 0;
  };

  std::vector<Bytes> held_;            // by row position, when its cell begins
  std::vector<Candidate> candidates_;  // in order of `begin`
};

std::vector<Bytes> held_by_cells(const Schedule& schedule, const PlanningCosts& costs, const std::vector<Op>& row) {
  const PieceShares pieces(schedule);
  std::set<std::pair<std::int32_t, std::int32_t>> recomputed;
  for (const Op& op : row) {
    if (op.kind == OpKind::kRecompute) recomputed.insert({op.stage, op.microbatch});
  }
  std::vector<Bytes> held;
  Bytes now = 0;
  Bytes freed = 0;  // when the cell ends
  for (const Op& op : row) {
    if (!is_vocabulary(op.kind)) {
      const StageCost& stage = at(costs.costs.stages, op.stage);
      const auto part = [&](Bytes bytes) { return pieces.part(bytes, pieces.class_of(op.microbatch)); };
      const bool again = recomputed.contains({op.stage, op.microbatch});
      const Bytes checkpoint = again ? part(stage.checkpoint) : 0;
      if (op.kind == OpKind::kForward) now += again ? checkpoint : part(stage.activation);
      if (op.kind == OpKind::kRecompute) now += part(stage.activation);
      if (op.kind == OpKind::kBackward) freed += part(stage.activation) + checkpoint;
      if (op.kind == OpKind::kInputGrad) freed += part(stage.activation) + checkpoint - part(stage.weight_grad_held);
      if (op.kind == OpKind::kWeightGrad) freed += part(stage.weight_grad_held);
    }
    held.push_back(now);
    if (!op.paired_with_next) now -= std::exchange(freed, 0);
  }
  return held;
}

OffloadChoice::OffloadChoice(const Schedule& schedule, const PlanningCosts& costs, const ListTiming& timing, int device,
                             const std::vector<Stay>& stays) {
  const auto& row = at(schedule.rows, device);
  const auto& spans = at(timing.rows, device);
  const PieceShares pieces(schedule);
  held_ = held_by_cells(schedule, costs, row);
  for (const Stay& stay : stays) {
    const auto first = spans.begin() + stay.forward + 1;
    const auto use = spans.begin() + stay.use;
    const auto gone = std::lower_bound(first, use, stay.from + stay.copy,
                                       [](const PlannedSpan& span, Nanoseconds time) { return span.begin < time; });
    const auto late = std::upper_bound(first, use, stay.until - stay.copy,
                                       [](Nanoseconds time, const PlannedSpan& span) { return time < span.begin; });
    const auto begin = static_cast<std::size_t>(gone - spans.begin());
    auto end = static_cast<std::size_t>(late - spans.begin()) - 1;  // the copy back starts with this cell
    if (end > 0 && row[end - 1].paired_with_next) --end;
    if (begin >= end) continue;
    const Bytes bytes = at(costs.costs.stages, stay.stage).activation;
    candidates_.push_back({stay, begin, end, pieces.part(bytes, pieces.class_of(stay.microbatch))});
  }
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.begin < b.begin; });
}

Bytes OffloadChoice::peak() const { return held_.empty() ? 0 : *std::max_element(held_.begin(), held_.end()); }

std::vector<Stay> OffloadChoice::above(Bytes level) const {
  std::vector<Stay> leaving;
  std::priority_queue<std::pair<std::size_t, std::size_t>> present;  // end of being away, candidate
  std::vector<Bytes> returning(held_.size() + 1, 0);
  Bytes away = 0;
  std::size_t next = 0;
  for (std::size_t k = 0; k < held_.size(); ++k) {
    away -= returning[k];
    for (; next < candidates_.size() && candidates_[next].begin == k; ++next) {
      present.emplace(candidates_[next].end, next);
    }
    while (held_[k] - away > level && !present.empty() && present.top().first > k) {
      const Candidate& chosen = candidates_[present.top().second];
      present.pop();
      leaving.push_back(chosen.stay);
      away += chosen.bytes;
      returning[chosen.end] += chosen.bytes;
    }
  }
  return leaving;
}

constexpr double kDefaultShare = 0.5;

// Without times a copy takes as long one way as a forward, which is also what --times takes for granted.
PlanningCosts offload_costs(const TransformRequest& request, const Schedule& schedule) {
  if (request.costs != nullptr) return *request.costs;
  PlanningCosts costs = unit_costs(schedule);
  for (StageCost& stage : costs.costs.stages) stage.copy = stage.forward;
  return costs;
}

class Offloader {
 public:
  Offloader(const Schedule& schedule, const PlanningCosts& costs, const std::vector<bool>& stages)
      : schedule_(schedule), timing_(time_rows(schedule, costs)) {
    for (int device = 0; device < schedule.devices; ++device) {
      std::vector<Stay> stays = stays_of(schedule, costs, timing_, device);
      all_.push_back(stays.size());
      std::erase_if(stays, [&](const Stay& stay) { return !stages[to_index(stay.stage)]; });
      choices_.emplace_back(schedule, costs, timing_, device, stays);
      memory_.emplace_back(schedule, costs, timing_, device);
    }
  }

  [[nodiscard]] std::size_t activations(int device) const { return all_[at(device)]; }
  [[nodiscard]] const OffloadChoice& choice(int device) const { return choices_[at(device)]; }

  // What leaves for this level, as far as the lane can carry it.
  [[nodiscard]] std::vector<Move> moves(int device, Bytes level) const {
    return plan_moves(choices_[at(device)].above(level));
  }
  [[nodiscard]] Bytes peak(int device, const std::vector<Move>& moves) const { return memory_[at(device)].peak(moves); }
  [[nodiscard]] std::vector<Copy> copies(int device, const std::vector<Move>& moves) const {
    return copies_of(moves, schedule_.rows[at(device)], timing_.rows[at(device)]);
  }

 private:
  static std::size_t at(int device) { return static_cast<std::size_t>(device); }

  const Schedule& schedule_;
  ListTiming timing_;
  std::vector<PlannedMemory> memory_;   // by device
  std::vector<std::size_t> all_;        // by device: activations that could be moved at all
  std::vector<OffloadChoice> choices_;  // by device: among those of the chosen stages
};

// The highest level whose moves keep each device to its limit. A lower one never needs more memory but for the lane,
// which then is longer in use: so bisection, and a look at the result.
std::vector<std::vector<Move>> within_limit(const Offloader& offloader, const MemoryLimit& limit,
                                            const PlanningCosts& costs, const std::string& name) {
  std::vector<std::vector<Move>> all;
  std::vector<Bytes> needed;
  bool fits = true;
  for (std::size_t d = 0; d < limit.activations.size(); ++d) {
    const int device = static_cast<int>(d);
    const auto kept = [&](Bytes level) {
      return offloader.peak(device, offloader.moves(device, level)) <= limit.activations[d];
    };
    Bytes low = 0;
    Bytes high = std::min(limit.activations[d], offloader.choice(device).peak());
    while (low < high) {
      const Bytes middle = high - (high - low) / 2;
      if (kept(middle)) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    all.push_back(offloader.moves(device, low));
    needed.push_back(offloader.peak(device, all.back()));
    fits = fits && needed.back() <= limit.activations[d];
  }
  if (!fits) refuse_memory_limit(name, limit, costs, needed, "--transform offload:");
  return all;
}

std::vector<std::vector<Move>> by_limit(const Schedule& schedule, const TransformParams& params,
                                        const Offloader& offloader, const PlanningCosts& costs) {
  ScheduleRequest request;
  request.devices = schedule.devices;
  request.params = {{"memory_limit", params.text("memory_limit")}};
  try {
    return within_limit(offloader, memory_limit_of(request, costs, ""), costs, schedule.name + " + offload");
  } catch (const InputError& error) {
    const Diagnostic& problem = error.diagnostics().front();
    params.refuse("S042", "memory_limit", problem.message, problem.help);
  }
}

// The lowest level for which no more than this share leaves.
std::vector<std::vector<Move>> by_share(const Schedule& schedule, const Offloader& offloader, double share) {
  std::vector<std::vector<Move>> all;
  for (int device = 0; device < schedule.devices; ++device) {
    const double wanted = std::ceil(share * static_cast<double>(offloader.activations(device)) - 1e-9);
    const auto most = static_cast<std::size_t>(wanted);
    const OffloadChoice& choice = offloader.choice(device);
    Bytes low = 0;
    Bytes high = choice.peak();
    while (low < high) {
      const Bytes middle = low + (high - low) / 2;
      if (choice.above(middle).size() <= most) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    all.push_back(offloader.moves(device, high));
  }
  return all;
}

Schedule offload_rows(const Schedule& before, const TransformRequest& request) {
  const TransformParams params(request, "offload");
  const bool limited = params.given("memory_limit");
  // A choice of stages alone means all that they hold.
  const double share = params.share("share", params.given("stages") ? 1.0 : kDefaultShare);
  const std::vector<bool> stages = params.selection("stages", before.stages);
  if (!before.copies.empty()) {
    params.refuse("M008", "", before.name + " moves activations away already",
                  "leave --transform offload out, or use a schedule without copies of its own");
  }
  if (limited && params.given("share")) {
    params.refuse("S075", "share", "memory_limit finds the share itself", "leave share= out of --transform offload");
  }
  const PlanningCosts costs = offload_costs(request, before);
  const Offloader offloader(before, costs, stages);
  const auto moves = limited ? by_limit(before, params, offloader, costs) : by_share(before, offloader, share);
  Schedule schedule = before;
  for (int device = 0; device < before.devices; ++device) {
    schedule.copies.push_back(offloader.copies(device, moves[to_index(device)]));
  }
  std::vector<std::pair<std::string, std::string>> used;
  if (limited) used.emplace_back("memory_limit", params.text("memory_limit"));
  if (!limited) used.emplace_back("share", params.given("share") ? params.text("share") : share < 1 ? "0.5" : "1");
  if (params.given("stages")) used.emplace_back("stages", params.text("stages"));
  sign(schedule, "offload", used);
  return schedule;
}

}  // namespace

const TransformEntry& offload_entry() {
  static const TransformEntry entry{
      .name = "offload",
      .summary = "activations go to the host after their forward and are back for their backward",
      .citation = "after Wan, Qi, Huang, Li, Lin, PipeOffload, 2025, arXiv 2503.01328",
      .certainty = Certainty::kProposal,
      .certainty_note =
          "a rule of ours for any order: where the peak is, what is used furthest ahead leaves; tested on random "
          "schedules: no deadlock, never a higher peak, no loss of time where copies are free",
      .constraints = "refuses schedules that move activations already",
      .params = {{"share", "0..1", "0.5",
                  "part of every device's activations that may leave; those do that lower its peak"},
                 {"stages", "all, or 0+2-4", "all", "whose activations may leave; given alone, all of theirs do"},
                 {"memory_limit", "8, 1p, 76GiB", "none", "as few leave as keeps every device within this"}},
      .advice =
          "Where activations do not fit and the link to the host is idle. It costs no time as long as the copies "
          "overlap with compute; the copy lane's busy time says how near that is.",
      .apply = offload_rows,
      .uses_costs = true};
  return entry;
}

}  // namespace debubble
