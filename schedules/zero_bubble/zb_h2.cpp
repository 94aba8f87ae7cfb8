#include "schedules/zero_bubble/zb_h2.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/zb_h_row.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

// The parallelogram needs 2p-1 microbatches: the first device runs that many F before its first I.
int fewest_microbatches(int devices) { return 2 * devices - 1; }

Schedule build_zb_h2(const ScheduleRequest& request) {
  require_one_chunk(request, "zb-h2");
  const int p = request.devices;
  const int m = request.microbatches;
  if (m < fewest_microbatches(p)) {
    const std::string least = std::to_string(fewest_microbatches(p));
    fail("S044", "--microbatches",
         "zb-h2 warms up with 2p-1 = " + least + " forwards on the first device, more than m=" + std::to_string(m),
         "use -m " + least + " or more, or --schedule zb-h1, which takes any number");
  }
  Schedule schedule = start_schedule(request, "zb-h2", 1);
  for (int device = 0; device < p; ++device) {
    at(schedule.rows, device) = zb_h_row(2, device, p, m);
  }
  if (m < 2 * p) {
    schedule.notes.push_back("the authors' code asks for at least 2p = " + std::to_string(2 * p) +
                             " microbatches; this order runs with " + std::to_string(m));
  }
  return schedule;
}

std::optional<double> zb_h2_makespan(const FormCase& form) {
  if (form.weight_grad > std::min(form.forward, form.input_grad)) return std::nullopt;
  const double gap = std::max(form.forward, form.forward + form.input_grad - 2 * form.weight_grad);
  return form.microbatches * (form.forward + form.input_grad + form.weight_grad) + (form.devices - 1) * gap;
}

std::optional<double> zb_h2_peak(const FormCase& form) {
  return 2 * form.devices - 1 - 2 * form.device + 2 * form.device * form.held;
}

}  // namespace

const ScheduleEntry& zb_h2_entry() {
  static const ScheduleEntry entry{
      .name = "zb-h2",
      .summary = "zb-h1 with twice the warm-up: no bubble for equal passes; twice the memory",
      .citation = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv 2401.10241",
      .constraints = "p >= 1, m >= 2p - 1",
      .needs = "splits the backward; 2p - 1 activations",
      .splits_backward = true,
      .default_chunks = 1,
      .params = {},
      .build = build_zb_h2,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note = "the costs and bubble rates of the paper's tables, to the microsecond",
      .makespan = {.text = "m(f + i + w) + (p - 1) max(f, f + i - 2w), for w <= f, i; a device's span has "
                           "max(0, f + i - 2w) instead",
                   .value = zb_h2_makespan},
      .peak = {.text = "2p - 1 - 2d + 2d h", .value = zb_h2_peak},
      .frameworks = "the authors' fork of Megatron-LM (sail-sg/zero-bubble)",
      .advice =
          "Where memory for twice 1f1b's activations is free and passes take about equal times. zb-auto with "
          "memory_limit=2p adapts to the times and is never slower in the published settings."};
  return entry;
}

}  // namespace debubble
