#include "schedules/synchronous/depth_first.hpp"

#include <vector>

#include "schedules/common/request.hpp"
#include "schedules/synchronous/interleaved.hpp"

namespace debubble {

namespace {

Schedule build_depth_first(const ScheduleRequest& request) {
  Schedule schedule = build_interleaved(request, "depth-first");
  std::erase_if(schedule.params, [](const auto& param) { return param.first != kExtraWarmup; });
  return schedule;
}

// The group is p, and the row has no parameter by which to change it.
FormCase with_groups_of_p(FormCase form) {
  form.params["group"] = std::to_string(form.devices);
  return form;
}

std::optional<double> depth_first_makespan(const FormCase& form) {
  return interleaved_makespan(with_groups_of_p(form));
}

std::optional<double> depth_first_peak(const FormCase& form) { return interleaved_peak(with_groups_of_p(form)); }

}  // namespace

const ScheduleEntry& depth_first_entry() {
  static const ScheduleEntry entry{
      .name = "depth-first",
      .summary = "p microbatches through all chunks before the next p; interleaved by its other name",
      .citation = "Lamy-Poirier, Breadth-First Pipeline Parallelism, MLSys 2023, arXiv 2211.05953",
      .constraints = "p >= 2, v >= 2; m mod p > 0, which Megatron refuses, runs here unless it deadlocks (S016)",
      .needs = "more messages and activations",
      .splits_backward = false,
      .default_chunks = 2,
      .params = {extra_warmup_param()},
      .build = build_depth_first,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kReproduced,
      .certainty_note = "Megatron-LM's interleaved order, row for row",
      .makespan = {"(m + (p - 1) / v)(f + b) where p divides m", depth_first_makespan},
      .peak = {"min(2(p - 1 - d) + (v - 1) p + 1 + extra_warmup, m v) / v", depth_first_peak},
      .frameworks =
          "Megatron-LM, PyTorch and torchtitan (Interleaved1F1B), Primus, MindSpeed, PaddlePaddle (VPP), MindSpore "
          "(pipeline_interleave), ColossalAI (interleaved): all where p divides m",
      .advice =
          "As interleaved; compare it with breadth-first to see what holding fewer activations costs in gathered "
          "weights and late gradients."};
  return entry;
}

}  // namespace debubble
