#include "schedules/synchronous/breadth_first.hpp"

#include <algorithm>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

Schedule build_breadth_first(const ScheduleRequest& request) {
  const int chunks = request.chunks == 0 ? 2 : request.chunks;
  const std::string order = choice_param(request, "backward", "descending|ascending");
  Schedule schedule = start_schedule(request, "breadth-first", chunks);
  schedule.params = {{"backward", order}};
  const int p = request.devices;
  const int m = request.microbatches;
  for (int device = 0; device < p; ++device) {
    auto& row = at(schedule.rows, device);
    row.reserve(2 * static_cast<std::size_t>(m) * static_cast<std::size_t>(chunks));
    for (int chunk = 0; chunk < chunks; ++chunk) {
      for (int i = 0; i < m; ++i) row.push_back({OpKind::kForward, false, chunk * p + device, i});
    }
    for (int chunk = chunks - 1; chunk >= 0; --chunk) {
      for (int i = 0; i < m; ++i) {
        row.push_back({OpKind::kBackward, false, chunk * p + device, order == "descending" ? m - 1 - i : i});
      }
    }
  }
  return schedule;
}

// With fewer microbatches than devices every chunk but the last takes p steps, as the first microbatch comes around.
std::optional<double> breadth_first_makespan(const FormCase& form) {
  const int rounds = std::max(form.microbatches, form.devices);
  const int ramp = std::min(form.microbatches, form.devices) - 1;
  return (rounds + static_cast<double>(ramp) / form.chunks) * (form.forward + form.backward);
}

}  // namespace

const ScheduleEntry& breadth_first_entry() {
  static const ScheduleEntry entry{
      .name = "breadth-first",
      .summary = "all microbatches through one chunk before the next chunk; interleaved's bubble, gpipe's memory",
      .citation = "Lamy-Poirier, Breadth-First Pipeline Parallelism, MLSys 2023, arXiv 2211.05953",
      .constraints = "p >= 1, m >= 1, v >= 1",
      .needs = "more messages and activations",
      .splits_backward = false,
      .default_chunks = 2,
      .params = {{"backward", "descending|ascending", "descending",
                  "order of the backwards of a chunk: last microbatch first as PyTorch runs it, or ascending"}},
      .build = build_breadth_first,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kReproduced,
      .certainty_note = "PyTorch's LoopedBFS order; tested against the paper's bubble",
      .makespan = {"(m + (p - 1) / v)(f + b) where m >= p; (p + (m - 1) / v)(f + b) where m <= p",
                   breadth_first_makespan},
      .peak = {"m", all_microbatches},
      .frameworks =
          "PyTorch and torchtitan (LoopedBFS), MaxText (circular pipeline), PaddlePaddle (VPP at m = p, which runs the "
          "backwards in ascending order)",
      .advice =
          "For few microbatches per device (m near p) and sharded weights: a chunk's gradients are complete early "
          "and its weights are gathered twice per step only. It holds every microbatch's activations."};
  return entry;
}

}  // namespace debubble
