#include "schedules/zero_bubble/dualpipe_v.hpp"

#include <algorithm>
#include <string>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/dual_pipe_row.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

constexpr const char* kOrders = "pytorch|deepspeed|mindspore|mindspeed";

DualPipeWays dualpipe_v_ways(const std::string& order) {
  return {.split = order == "pytorch" || order == "mindspore",
          .overlapped = order == "pytorch" || order == "mindspeed",
          .backward_first = order == "mindspore"};
}

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
  const std::string order = choice_param(request, "order", kOrders);
  Schedule schedule = start_schedule(request, "dualpipe-v", 2);
  if (order != "pytorch") schedule.params = {{"order", order}};
  schedule.placement = zigzag_placement(p, 2 * p);
  for (int device = 0; device < p; ++device) {
    at(schedule.rows, device) =
        dual_pipe_row({p, m}, device, {device, 0}, {2 * p - 1 - device, 0}, dualpipe_v_ways(order));
  }
  return schedule;
}

// The idle time of a device in each order, where we know it. pytorch: the README's (PP/2 - 1)(F&B + B - 3W), where it
// is exact. Without a duration of its own a pair takes F&B = F + B.
std::optional<double> dualpipe_v_idle(const FormCase& form) {
  const std::string order = form_word(form, "order");
  const double hops = form.devices - 1;
  const double f = form.forward;
  const double b = form.backward;
  if (order == "deepspeed") return std::max(hops * (f + std::max(f, b)), 2 * hops * b - f) / 2;
  if (order == "mindspeed") return std::max(hops * (2 * f + b), hops * (f + 2 * b) - f) / 2;
  const double i = form.input_grad;
  const double w = form.weight_grad;
  if (order == "mindspore") return i < f ? std::nullopt : std::optional(hops * std::max(2 * i - w, i) / 2);
  return f != i || w > f ? std::nullopt : std::optional(hops * (3 * f - w) / 2);
}

std::optional<double> dualpipe_v_makespan(const FormCase& form) {
  const auto idle = dualpipe_v_idle(form);
  if (!idle) return std::nullopt;
  return form.microbatches * (form.forward + form.backward) + *idle;
}

std::optional<double> dualpipe_v_peak(const FormCase& form) {
  return form.devices + (form_word(form, "order") == "mindspore" ? 0 : 0.5);
}

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
      .params = {{"order", kOrders, "pytorch",
                  "pytorch: I and W apart near the ends, F and B of a pair overlap; deepspeed (DualPipeVSchedule of "
                  "DeepSpeed 0.19): backwards whole, F before B; mindspore (zero_bubble_v): I and W apart, B before F; "
                  "mindspeed: backwards whole, F and B overlap"}},
      .build = build_dualpipe_v,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note =
          "makespan, idle times and peaks of PyTorch's table and of the published points; deepspeed: its own "
          "constructor, row for row; mindspore: its rules, read and not run, with rows of two devices alone; "
          "mindspeed: "
          "formed after its description",
      .makespan =
          {"m(f + b) + idle: (p - 1)(3f - w)/2, for f = i >= w and fb = f + b; deepspeed: max((p - 1)(f + max(f, "
           "b)), 2(p - 1) b - f)/2; mindspore: (p - 1) max(2i - w, i)/2, for i >= f; mindspeed: max((p - 1)(2f "
           "+ b), (p - 1)(f + 2b) - f)/2, for fb = f + b",
           dualpipe_v_makespan},
      .peak = {"p + 1/2; mindspore: p", dualpipe_v_peak},
      .frameworks =
          "PyTorch and torchtitan (DualPipeV), PaddlePaddle (use_dualpipev); DeepSeek's DualPipe library; with other "
          "rows: DeepSpeed (DualPipeVSchedule, order=deepspeed), MindSpore (zero_bubble_v, order=mindspore)",
      .advice =
          "Use it like dualpipe, with one copy of the weights and for the same number of stages half the devices. It "
          "pays off where fb < f + b: "
          "where the pair hides communication.",
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
