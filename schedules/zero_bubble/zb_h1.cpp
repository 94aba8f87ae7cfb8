#include "schedules/zero_bubble/zb_h1.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/zb_h_row.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

constexpr const char* kSplits = "all|paddle";

// Whole backwards but for those of the first `device` microbatches, whose W come last of all, and the last one.
std::vector<Op> paddle_row(int device, int devices, int microbatches) {
  std::vector<Op> row;
  const auto put = [&](OpKind kind, int microbatch) { row.push_back({kind, false, device, microbatch}); };
  const int ahead = devices - device;
  for (int k = 0; k < ahead; ++k) put(OpKind::kForward, k);
  for (int k = 0; k < microbatches; ++k) {
    const bool split = k < device || (device > 0 && k == microbatches - 1);
    put(split ? OpKind::kInputGrad : OpKind::kBackward, k);
    if (k + ahead < microbatches) put(OpKind::kForward, k + ahead);
  }
  if (device > 0) put(OpKind::kWeightGrad, microbatches - 1);
  for (int k = 0; k < device; ++k) put(OpKind::kWeightGrad, k);
  return row;
}

Schedule build_zb_h1(const ScheduleRequest& request) {
  require_one_chunk(request, "zb-h1");
  const int p = request.devices;
  const int m = request.microbatches;
  const bool paddle = choice_param(request, "split", kSplits) == "paddle";
  if (paddle && m < p) {
    fail("S044", "--microbatches",
         "Paddle needs at least as many microbatches as devices, " + std::to_string(p) + "; got " + std::to_string(m),
         "nearest legal value: -m " + std::to_string(p));
  }
  Schedule schedule = start_schedule(request, "zb-h1", 1);
  if (paddle) schedule.params = {{"split", "paddle"}};
  for (int device = 0; device < p; ++device) {
    at(schedule.rows, device) = paddle ? paddle_row(device, p, m) : zb_h_row(1, device, p, m);
  }
  return schedule;
}

std::optional<double> zb_h1_makespan(const FormCase& form) {
  if (form_word(form, "split") == "paddle") {
    const double hop = form.forward + form.input_grad;
    const double idle = std::max((form.devices - 1) * std::max(hop - form.weight_grad, form.forward),
                                 (form.devices - 1) * hop - form.forward);
    return form.microbatches * (hop + form.weight_grad) + idle;
  }
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
      .constraints = "p >= 1, m >= 1; with split=paddle m >= p",
      .needs = "splits the backward",
      .splits_backward = true,
      .default_chunks = 1,
      .params =
          {{"split", kSplits, "all",
            "paddle: PaddlePaddle's ZBH1, whose backwards are whole but for the first d and the last of device d"}},
      .build = build_zb_h1,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note =
          "the costs and bubble rates of the paper's tables, to the microsecond; split=paddle: its own constructor, "
          "row for "
          "row",
      .makespan = {.text =
                       "m(f + b) + (p - 1)(f + i - w), for m >= p and w <= f, i; split=paddle: m(f + b) + max((p - 1) "
                       "max(f + i - w, f), (p - 1)(f + i) - f)",
                   .value = zb_h1_makespan},
      .peak = {.text = "min(p - d, m) + h max(0, min(d, m - p + d))", .value = zb_h1_peak},
      .frameworks =
          "PyTorch (InterleavedZeroBubble, at one stage per rank); the authors' fork of Megatron-LM "
          "(sail-sg/zero-bubble); with other rows: PaddlePaddle (ZBH1, split=paddle)",
      .advice =
          "Wherever 1f1b fits and the backward can be split: the same memory and messages, a third of its bubble for "
          "equal passes."};
  return entry;
}

}  // namespace debubble
