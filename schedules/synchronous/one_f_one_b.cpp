#include "schedules/synchronous/one_f_one_b.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

Schedule build_one_f_one_b(const ScheduleRequest& request) {
  require_one_chunk(request, "1f1b");
  Schedule schedule = start_schedule(request, "1f1b", 1);
  const int m = request.microbatches;
  const std::int64_t extra = extra_warmup(request);
  if (extra > 0) schedule.params = {{kExtraWarmup, std::to_string(extra)}};
  for (int device = 0; device < request.devices; ++device) {
    auto& row = at(schedule.rows, device);
    row.reserve(2 * static_cast<std::size_t>(m));
    const int warmup = static_cast<int>(std::min<std::int64_t>(request.devices - 1 - device + extra, m));
    for (int i = 0; i < warmup; ++i) row.push_back({OpKind::kForward, false, device, i});
    for (int i = 0; i < m; ++i) {
      if (warmup + i < m) row.push_back({OpKind::kForward, false, device, warmup + i});
      row.push_back({OpKind::kBackward, false, device, i});
    }
  }
  if (m < request.devices) {
    schedule.notes.push_back("PyTorch's Schedule1F1B refuses fewer microbatches than devices (" + std::to_string(m) +
                             " < " + std::to_string(request.devices) + "); Megatron-LM runs this order");
  }
  return schedule;
}

std::optional<double> one_f_one_b_peak(const FormCase& form) {
  return std::min(form.devices - form.device + form_number(form, kExtraWarmup).value_or(0), form.microbatches);
}

}  // namespace

const ScheduleEntry& one_f_one_b_entry() {
  static const ScheduleEntry entry{.name = "1f1b",
                                   .summary = "one forward, one backward in turn; holds at most p activations",
                                   .citation = "Narayanan et al., PipeDream-Flush, ICML 2021, arXiv 2006.09503",
                                   .constraints = "p >= 1, m >= 1",
                                   .needs = "",
                                   .splits_backward = false,
                                   .default_chunks = 1,
                                   .params = {extra_warmup_param()},
                                   .build = build_one_f_one_b,
                                   .family = ScheduleFamily::kSynchronous,
                                   .certainty = Certainty::kReproduced,
                                   .certainty_note = "the printed order, and Megatron-LM's and PyTorch's rule",
                                   .makespan = {"(m + p - 1)(f + b)", fill_and_drain},
                                   .peak = {"min(p - d + extra_warmup, m)", one_f_one_b_peak},
                                   .frameworks =
                                       "Megatron-LM, DeepSpeed, PyTorch and torchtitan (1F1B), Primus, MindSpeed, "
                                       "PaddlePaddle (1F1B), MindSpore (1f1b), ColossalAI (1f1b), nanotron (1f1b)",
                                   .advice =
                                       "The default: gpipe's bubble at p activations instead of m. Latency delays "
                                       "every microbatch, and its bubble shrinks only with more microbatches."};
  return entry;
}

}  // namespace debubble
