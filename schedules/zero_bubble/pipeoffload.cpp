#include "schedules/zero_bubble/pipeoffload.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/copy_plan.hpp"
#include "schedules/common/list_timing.hpp"
#include "schedules/common/request.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

int group_of(int devices, int chunks) {
  int group = (devices + 1) / 2;
  while (std::gcd(group, chunks) != 1) ++group;
  return group;
}

std::vector<Op> uniform_row(int device, int p, int m, int chunks) {
  struct Slotted {
    std::int64_t slot;
    Op op;
  };
  const std::int64_t group = group_of(p, chunks);
  std::vector<Slotted> slotted;
  for (int i = 0; i < m; ++i) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const std::int32_t stage = chunk * p + device;
      const std::int64_t forward = 3 * (std::int64_t{chunks} * i + group * chunk) + device;
      // The last chunk turns on the last device; its forward begins there at 3 (v i + g (v - 1)) + p - 1.
      const std::int64_t turn = 3 * (std::int64_t{chunks} * i + group * (chunks - 1)) + p;
      const std::int64_t backward = turn + 3 * group * (chunks - 1 - chunk) + 2 * std::int64_t{p - 1 - device};
      slotted.push_back({forward, {OpKind::kForward, false, stage, i}});
      slotted.push_back({backward, {OpKind::kInputGrad, false, stage, i}});
      slotted.push_back({backward + 1, {OpKind::kWeightGrad, false, stage, i}});
    }
  }
  std::sort(slotted.begin(), slotted.end(), [](const Slotted& a, const Slotted& b) { return a.slot < b.slot; });
  std::vector<Op> row;
  row.reserve(slotted.size());
  for (const Slotted& each : slotted) row.push_back(each.op);
  return row;
}

// Without times a copy takes as long one way as a forward, which is also what --times takes for granted.
PlanningCosts pipeoffload_costs(const ScheduleRequest& request, const Schedule& schedule) {
  if (request.costs != nullptr) return *request.costs;
  PlanningCosts costs = unit_costs(schedule);
  for (StageCost& stage : costs.costs.stages) stage.copy = stage.forward;
  return costs;
}

// The published k: a round trip against the compute of one microbatch's stage. The lane keeps up with v / k chunks.
int affordable_chunks(const PlanningCosts& costs, int chunks) {
  Nanoseconds round_trips = 0;
  Nanoseconds compute = 0;
  for (const StageCost& stage : costs.costs.stages) {
    round_trips += 2 * stage.copy;
    compute += stage.forward + stage.input_grad + stage.weight_grad;
  }
  if (round_trips <= compute) return chunks;
  return static_cast<int>(compute * chunks / round_trips);
}

// The published lane: slots of one copy, out and back in turn. Backs take, from the last on, the latest slot that ends
// an input gradient's time before their use; outs the first one after their forward. What stays for no more than three
// round trips is left where it is.
class SlotLane {
 public:
  SlotLane(Nanoseconds slot, const PlanningCosts& costs) : slot_(slot), costs_(&costs) {}

  [[nodiscard]] std::vector<Move> plan(const std::vector<Stay>& stays) const {
    constexpr Nanoseconds kLeastRoundTrips = 3;
    std::vector<Move> moves;
    for (const Stay& stay : stays) {
      const Nanoseconds deadline = stay.until - costs_->costs.stages[to_index(stay.stage)].input_grad;
      if (deadline - stay.from > kLeastRoundTrips * 2 * slot_) moves.push_back({stay, 0, deadline});
    }
    std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.back > b.back; });
    std::int64_t pair = moves.empty() ? 0 : moves.front().back / (2 * slot_);
    for (Move& move : moves) {  // pair n goes out in slot 2 n and back in slot 2 n + 1
      pair = std::min(pair, move.back / (2 * slot_) - 1);
      move.back = (2 * pair-- + 1) * slot_;
    }
    std::stable_sort(moves.begin(), moves.end(),
                     [](const Move& a, const Move& b) { return a.stay.from < b.stay.from; });
    std::vector<Move> kept;
    pair = 0;
    for (Move& move : moves) {
      pair = std::max(pair, (move.stay.from + 2 * slot_ - 1) / (2 * slot_));
      move.out = 2 * pair * slot_;
      if (move.out + slot_ > move.back) continue;
      ++pair;
      kept.push_back(move);
    }
    return kept;
  }

 private:
  Nanoseconds slot_;
  const PlanningCosts* costs_;
};

void offload_stages(Schedule& schedule, const PlanningCosts& costs, int offloaded) {
  const ListTiming timing = time_rows(schedule, costs);
  schedule.copies.resize(schedule.rows.size());
  for (int device = 0; device < schedule.devices; ++device) {
    std::vector<Stay> stays = stays_of(schedule, costs, timing, device);
    std::erase_if(stays, [&](const Stay& stay) { return stay.stage / schedule.devices >= offloaded; });
    Nanoseconds slot = 0;
    for (const Stay& stay : stays) slot = std::max(slot, stay.copy);
    const auto at = static_cast<std::size_t>(device);
    const std::vector<Move> moves = slot > 0 ? SlotLane(slot, costs).plan(stays) : plan_moves(stays);
    schedule.copies[at] = copies_of(moves, schedule.rows[at], timing.rows[at]);
  }
}

int offloaded_chunks(const ScheduleRequest& request, const PlanningCosts& costs, int chunks) {
  const auto given = request.params.find("offload_chunks");
  if (given == request.params.end() || given->second == "auto") return affordable_chunks(costs, chunks);
  const int offloaded = int_param(request, "offload_chunks", chunks);
  if (offloaded < 0 || offloaded > chunks) {
    fail("S006", "--param offload_chunks",
         "a device has " + std::to_string(chunks) + " chunks to offload; got " + std::to_string(offloaded),
         "nearest legal value: --param offload_chunks=" + std::to_string(offloaded < 0 ? 0 : chunks));
  }
  return offloaded;
}

Schedule build_pipeoffload(const ScheduleRequest& request) {
  const int chunks = request.chunks == 0 ? 2 : request.chunks;
  const int p = request.devices;
  Schedule schedule = start_schedule(request, "pipeoffload", chunks);
  for (int device = 0; device < p; ++device) {
    schedule.rows[to_index(device)] = uniform_row(device, p, request.microbatches, chunks);
  }
  const PlanningCosts costs = pipeoffload_costs(request, schedule);
  const int offloaded = offloaded_chunks(request, costs, chunks);
  schedule.params = {{"offload_chunks", std::to_string(offloaded)}};
  if (offloaded > 0) offload_stages(schedule, costs, offloaded);
  return schedule;
}

// Before anything is offloaded, once the pipeline is full.
std::optional<double> pipeoffload_peak(const FormCase& form) {
  const bool full = form.microbatches >= 2 * form.devices;
  if (form_number(form, "offload_chunks") != 0 || !full || form.held != 1) return std::nullopt;
  const int group = group_of(form.devices, form.chunks);
  return static_cast<double>(group * (form.chunks - 1) + form.devices - form.device) / form.chunks;
}

}  // namespace

const ScheduleEntry& pipeoffload_entry() {
  static const ScheduleEntry entry{
      .name = "pipeoffload",
      .summary = "interleaved at an even pace, activations kept on the host; moved on a copy lane",
      .citation = "Wan, Qi, Huang, Li, Lin, PipeOffload, 2025, arXiv 2503.01328",
      .constraints = "p >= 1, v >= 1, 0 <= offload_chunks <= v",
      .needs = "splits the backward; a link to the host that nothing else uses",
      .splits_backward = true,
      .default_chunks = 2,
      .params = {{"offload_chunks", "0..v, or auto", "auto",
                  "chunks whose activations leave, longest-lived first; auto: as many as the copies keep up with"}},
      .build = build_pipeoffload,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kDerived,
      .certainty_note =
          "built from the even pace; the peaks of the authors' research code are reproduced, its lengths are "
          "not (4 devices, 2 chunks, 8 microbatches: 75 passes, ours 57), so it waits where we do not know; "
          "devices that share a link are not staggered",
      .makespan = {},
      .peak = {"(g (v - 1) + p - d) / v before offloading, g the first number from p/2 on without a common factor "
               "with v, m >= 2 p",
               pipeoffload_peak},
      .frameworks = "the authors' research code",
      .advice =
          "When activations do not fit and the host link is idle: a round trip of copies must overlap with the "
          "compute of a microbatch, then everything may leave. Costs more bubble than interleaved.",
      .uses_costs = true};
  return entry;
}

}  // namespace debubble
