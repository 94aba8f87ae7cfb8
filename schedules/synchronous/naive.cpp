#include "schedules/synchronous/naive.hpp"

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

Schedule build_naive(const ScheduleRequest& request) {
  require_one_chunk(request, "naive");
  Schedule schedule = start_schedule(request, "naive", 1);
  for (int device = 0; device < request.devices; ++device) {
    auto& row = at(schedule.rows, device);
    row.reserve(2 * static_cast<std::size_t>(request.microbatches));
    for (int i = 0; i < request.microbatches; ++i) {
      row.push_back({OpKind::kForward, false, device, i});
      row.push_back({OpKind::kBackward, false, device, i});
    }
  }
  return schedule;
}

std::optional<double> naive_makespan(const FormCase& form) {
  return form.microbatches * form.devices * (form.forward + form.backward);
}

}  // namespace

const ScheduleEntry& naive_entry() {
  static const ScheduleEntry entry{
      .name = "naive",
      .summary = "one microbatch at a time through all stages and back; all devices but one wait",
      .citation = "model parallelism without a pipeline, as in Huang et al., GPipe, NeurIPS 2019, arXiv 1811.06965",
      .constraints = "p >= 1, m >= 1",
      .needs = "",
      .splits_backward = false,
      .default_chunks = 1,
      .params = {},
      .build = build_naive,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kReproduced,
      .certainty_note = "the order has one reading; tested against its closed form",
      .makespan = {"m p (f + b)", naive_makespan},
      .peak = {"1", one_microbatch},
      .frameworks = "PyTorch, with the model's layers on several devices (no pipeline engine)",
      .advice =
          "The baseline that every pipeline beats. It needs room for a single microbatch's activations only; its "
          "bubble is (p - 1) / p whatever m is."};
  return entry;
}

}  // namespace debubble
