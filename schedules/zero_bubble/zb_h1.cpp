#include "schedules/zero_bubble/zb_h1.hpp"

#include <algorithm>
#include <optional>

#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/zb_h_row.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

Schedule build_zb_h1(const ScheduleRequest& request) {
  require_one_chunk(request, "zb-h1");
  Schedule schedule = start_schedule(request, "zb-h1", 1);
  for (int device = 0; device < request.devices; ++device) {
    at(schedule.rows, device) = zb_h_row(1, device, request.devices, request.microbatches);
  }
  return schedule;
}

std::optional<double> zb_h1_makespan(const FormCase& form) {
  const bool full = form.microbatches >= form.devices;
  if (!full || form.weight_grad > std::min(form.forward, form.input_grad)) return std::nullopt;
  return form.microbatches * (form.forward + form.input_grad + form.weight_grad) +
         (form.devices - 1) * (form.forward + form.input_grad - form.weight_grad);
}

std::optional<double> zb_h1_peak(const FormCase& form) {
  const int forwards = std::min(form.devices - form.device, form.microbatches);
  return forwards + form.held * std::min(form.device, form.microbatches - forwards);
}

}  // namespace

const ScheduleEntry& zb_h1_entry() {
  static const ScheduleEntry entry{
      .name = "zb-h1",
      .summary = "1f1b with a split backward: weight gradients fill the tail; 1f1b's peak memory",
      .citation = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv 2401.10241",
      .constraints = "p >= 1, m >= 1",
      .needs = "splits the backward",
      .splits_backward = true,
      .default_chunks = 1,
      .params = {},
      .build = build_zb_h1,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note = "the costs and bubble rates of the paper's tables, to the microsecond",
      .makespan = {.text = "m(f + i + w) + (p - 1)(f + i - w), for m >= p and w <= f, i", .value = zb_h1_makespan},
      .peak = {.text = "min(p - d, m) + h max(0, min(d, m - p + d))", .value = zb_h1_peak},
      .frameworks =
          "PyTorch (InterleavedZeroBubble, at one stage per rank); the authors' fork of Megatron-LM "
          "(sail-sg/zero-bubble); with other rows: PaddlePaddle (ZBH1)",
      .advice =
          "Wherever 1f1b fits and the backward can be split: the same memory and messages, a third of its bubble for "
          "equal passes."};
  return entry;
}

}  // namespace debubble
