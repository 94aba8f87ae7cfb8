#include "schedules/transforms/offload.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "schedules/common/copy_plan.hpp"
#include "schedules/common/list_timing.hpp"
#include "schedules/common/memory_limit.hpp"
#include "schedules/transforms/offload_choice.hpp"
#include "schedules/transforms/request.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

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
