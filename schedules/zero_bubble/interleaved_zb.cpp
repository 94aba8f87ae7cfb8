#include "schedules/zero_bubble/interleaved_zb.hpp"

#include <algorithm>

#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/split_interleaved.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

bool rounds_are_even(int m, int devices) { return m % std::max(1, m / devices) == 0; }

void check_interleaved_zb(const ScheduleRequest& request, int chunks) {
  const int m = request.microbatches;
  const int p = request.devices;
  if (p < 2) fail("S011", "--devices", "interleaved-zb needs at least 2 devices", "use -p 2 or more");
  if (chunks < 2) {
    fail("S005", "--chunks", "interleaved-zb needs at least 2 stages per device; got " + std::to_string(chunks),
         "use -v 2 or more, or --schedule zb-h1 for one stage per device");
  }
  if (rounds_are_even(m, p)) return;
  int below = m - 1;  // p is legal, so both searches end
  while (!rounds_are_even(below, p)) --below;
  int above = m + 1;
  while (!rounds_are_even(above, p)) ++above;
  fail("S009", "--microbatches",
       "PyTorch makes m div p = " + std::to_string(m / p) + " rounds, which do not divide m=" + std::to_string(m),
       nearest_legal("-m ", std::to_string(below) + " or " + std::to_string(above), p));
}

int round_size(int m, int devices) { return m / std::max(1, m / devices); }

Schedule build_interleaved_zb(const ScheduleRequest& request) {
  const int chunks = request.chunks == 0 ? 2 : request.chunks;
  check_interleaved_zb(request, chunks);
  Schedule schedule = start_schedule(request, "interleaved-zb", chunks);
  const SplitInterleaved shape{request.devices, chunks, request.microbatches,
                               round_size(request.microbatches, request.devices)};
  for (int device = 0; device < request.devices; ++device) {
    at(schedule.rows, device) = split_interleaved_row(shape, device, device);
  }
  return schedule;
}

// A tail of W's is hidden behind the longer of the other two; where W is longer than either, it is not.
std::optional<double> interleaved_zb_makespan(const FormCase& form) {
  if (form.microbatches < form.devices) return std::nullopt;
  if (form.weight_grad > std::min(form.forward, form.input_grad)) return std::nullopt;
  const double idle = (form.devices - 1) * (form.forward + form.input_grad - form.weight_grad) / form.chunks;
  return form.microbatches * (form.forward + form.input_grad + form.weight_grad) + idle;
}

std::optional<double> interleaved_zb_peak(const FormCase& form) {
  if (form.microbatches < form.devices) return std::nullopt;
  const double waiting = form.device * form.held;  // weight gradients that are held back
  const double chunks = (form.chunks - 1) * round_size(form.microbatches, form.devices) + form.devices - form.device;
  return std::min(chunks + waiting, double(form.chunks) * form.microbatches) / form.chunks;
}

}  // namespace

const ScheduleEntry& interleaved_zb_entry() {
  static const ScheduleEntry entry{
      .name = "interleaved-zb",
      .summary = "interleaved with a split backward; half the warm-up, a tail filled with weight gradients",
      .citation = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv 2401.10241; order as in PyTorch",
      .constraints = "p >= 2, v >= 2, max(1, m div p) divides m",
      .needs = "splits the backward; more messages and activations",
      .splits_backward = true,
      .default_chunks = 2,
      .params = {},
      .build = build_interleaved_zb,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note = "makespan, work and peaks of PyTorch's own tables and of the published points",
      .makespan = {"m(f + b) + (p - 1)(f + i - w)/v, for m >= p and w <= f, i", interleaved_zb_makespan},
      .peak = {"((v - 1)q + p - d(1 - h))/v, q = m div (m div p), for m >= p", interleaved_zb_peak},
      .frameworks = "PyTorch and torchtitan (InterleavedZeroBubble)",
      .advice =
          "Use it where PyTorch's interleaved 1f1b leaves bubbles: it has about a third of them and no more "
          "activations. PyTorch refuses it for stages compiled with torch.compile."};
  return entry;
}

}  // namespace debubble
