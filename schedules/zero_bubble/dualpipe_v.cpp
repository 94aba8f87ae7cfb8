#include "schedules/zero_bubble/dualpipe_v.hpp"

#include <string>

#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/dual_pipe_row.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

Schedule build_dualpipe_v(const ScheduleRequest& request) {
  const int p = request.devices;
  const int m = request.microbatches;
  if (request.chunks != 0 && request.chunks != 2) {
    fail("S005", "--chunks", "dualpipe-v has exactly 2 stages per device; got " + std::to_string(request.chunks),
         "leave --chunks out, or use -v 2");
  }
  if (m < 2 * p) {
    fail("S044", "--microbatches",
         "dualpipe-v needs at least as many microbatches as stages, 2p = " + std::to_string(2 * p) + "; got " +
             std::to_string(m),
         "nearest legal value: -m " + std::to_string(2 * p));
  }
  Schedule schedule = start_schedule(request, "dualpipe-v", 2);
  schedule.placement = zigzag_placement(p, 2 * p);
  for (int device = 0; device < p; ++device) {
    at(schedule.rows, device) = dual_pipe_row({p, m}, device, {device, 0}, {2 * p - 1 - device, 0});
  }
  return schedule;
}

// The README's (PP/2 - 1)(F&B + B - 3W), where it is exact. Without a duration of its own a pair takes F&B = F + B.
std::optional<double> dualpipe_v_makespan(const FormCase& form) {
  if (form.forward != form.input_grad || form.weight_grad > form.forward) return std::nullopt;
  const double work = form.microbatches * (form.forward + form.input_grad + form.weight_grad);
  return work + (form.devices - 1) * (3 * form.forward - form.weight_grad) / 2;
}

std::optional<double> dualpipe_v_peak(const FormCase& form) { return form.devices + 0.5; }

}  // namespace

const ScheduleEntry& dualpipe_v_entry() {
  static const ScheduleEntry entry{
      .name = "dualpipe-v",
      .summary = "dualpipe folded into a V; the same overlap with one copy of the weights",
      .citation = "Qi et al., DualPipe could be better without the Dual, 2025; order as in PyTorch",
      .constraints = "p >= 1, v = 2, m >= 2p",
      .needs = "splits the backward; an overlapped forward and backward; twice the messages",
      .splits_backward = true,
      .default_chunks = 2,
      .params = {},
      .build = build_dualpipe_v,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note = "makespan, idle times and peaks of PyTorch's table and of the published points",
      .makespan = {"m(f + b) + (p - 1)(3f - w)/2, for f = i >= w and fb = f + b", dualpipe_v_makespan},
      .peak = {"p + 1/2", dualpipe_v_peak},
      .frameworks =
          "PyTorch and torchtitan (DualPipeV), PaddlePaddle (use_dualpipev); DeepSeek's DualPipe library; with other "
          "rows: DeepSpeed (DualPipeVSchedule, whole backwards), MindSpore (zero_bubble_v)",
      .advice =
          "Use it like dualpipe, with one copy of the weights and for the same number of stages half the devices. It "
          "pays off where fb < f + b: "
          "where the pair hides communication.",
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
