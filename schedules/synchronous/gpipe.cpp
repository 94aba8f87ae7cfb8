#include "schedules/synchronous/gpipe.hpp"

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

Schedule build_gpipe(const ScheduleRequest& request) {
  require_one_chunk(request, "gpipe");
  const std::string order = choice_param(request, "backward", "descending|ascending");
  Schedule schedule = start_schedule(request, "gpipe", 1);
  schedule.params = {{"backward", order}};
  const int m = request.microbatches;
  for (int device = 0; device < request.devices; ++device) {
    auto& row = at(schedule.rows, device);
    row.reserve(2 * static_cast<std::size_t>(m));
    for (int i = 0; i < m; ++i) row.push_back({OpKind::kForward, false, device, i});
    for (int i = 0; i < m; ++i) {
      row.push_back({OpKind::kBackward, false, device, order == "descending" ? m - 1 - i : i});
    }
  }
  return schedule;
}

}  // namespace

const ScheduleEntry& gpipe_entry() {
  static const ScheduleEntry entry{
      .name = "gpipe",
      .summary = "all forwards, then all backwards; holds every microbatch's activations",
      .citation = "Huang et al., GPipe, NeurIPS 2019, arXiv 1811.06965",
      .constraints = "p >= 1, m >= 1",
      .needs = "",
      .splits_backward = false,
      .default_chunks = 1,
      .params = {{"backward", "descending|ascending", "descending",
                  "order of the backwards: last microbatch first as in the paper, or ascending as PyTorch runs it"}},
      .build = build_gpipe,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kReproduced,
      .certainty_note = "the paper's bubble; the order of the backwards is its figure's, or PyTorch's",
      .makespan = {"(m + p - 1)(f + b)", fill_and_drain},
      .peak = {"m", all_microbatches},
      .frameworks =
          "PyTorch and torchtitan (GPipe, which runs the backwards in ascending order), PaddlePaddle (FThenB) and "
          "nanotron (afab) likewise, MaxText (one repeat)",
      .advice =
          "Simple, and insensitive to latency: a hop delays the step once, not once per microbatch. It holds "
          "the activations of all microbatches, so use it for few of them."};
  return entry;
}

}  // namespace debubble
