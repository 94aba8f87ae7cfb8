#include "schedules/zero_bubble/dualpipe.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/dual_pipe_row.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

void check_dualpipe(const ScheduleRequest& request) {
  const int p = request.devices;
  const int m = request.microbatches;
  if (p < 2 || p % 2 != 0) {
    const std::string values = p > 2 ? std::to_string(p - 1) + " or " + std::to_string(p + 1) : "2";
    fail("S011", "--devices", "dualpipe needs an even number of devices; got " + std::to_string(p),
         nearest_legal("-p ", values) + "; or use --schedule dualpipe-v");
  }
  if (request.chunks > 1) {
    fail("S005", "--chunks", "dualpipe has one stage of each replica per device; got " + std::to_string(request.chunks),
         request.chunks == 2 ? "leave --chunks out, or use --schedule dualpipe-v for two stages of one replica"
                             : "leave --chunks out");
  }
  if (m < 2 * p) {
    fail("S044", "--microbatches",
         "dualpipe needs at least 2p = " + std::to_string(2 * p) + " microbatches; got " + std::to_string(m),
         "nearest legal value: -m " + std::to_string(2 * p));
  }
  if (m % 2 != 0) {
    fail("S009", "--microbatches", "dualpipe gives each direction half the microbatches; got " + std::to_string(m),
         "nearest legal values: -m " + std::to_string(m - 1) + " or " + std::to_string(m + 1));
  }
}

Placement towards_each_other(int devices) {
  std::vector<std::int32_t> device;
  for (int s = 0; s < devices; ++s) device.push_back(s);
  for (int s = 0; s < devices; ++s) device.push_back(devices - 1 - s);
  return {2, devices, std::move(device)};
}

Schedule build_dualpipe(const ScheduleRequest& request) {
  check_dualpipe(request);
  const int p = request.devices;
  const int each = request.microbatches / 2;  // microbatches per direction
  Schedule schedule = start_schedule(request, "dualpipe", 1);
  schedule.placement = towards_each_other(p);
  std::fill(schedule.replica_of.begin() + each, schedule.replica_of.end(), 1);
  for (int device = 0; device < p; ++device) {
    const DualPipeStage down{device, 0};
    const DualPipeStage up{p - 1 - device, each};
    const bool front = device < p / 2;
    at(schedule.rows, device) =
        dual_pipe_row({p / 2, each}, std::min(device, p - 1 - device), front ? down : up, front ? up : down);
  }
  return schedule;
}

// The README's (PP/2 - 1)(F&B + B - 3W), where it is exact. Without a duration of its own a pair takes F&B = F + B.
std::optional<double> dualpipe_makespan(const FormCase& form) {
  if (form.forward != form.input_grad || form.weight_grad > form.forward) return std::nullopt;
  const double work = form.microbatches * (form.forward + form.input_grad + form.weight_grad);
  return work + (form.devices / 2 - 1) * (3 * form.forward - form.weight_grad);
}

std::optional<double> dualpipe_peak(const FormCase& form) { return form.devices + 1; }

}  // namespace

const ScheduleEntry& dualpipe_entry() {
  static const ScheduleEntry entry{
      .name = "dualpipe",
      .summary = "two opposite replicas: forward and backward overlap; both are one op",
      .citation = "DeepSeek-V3, 2024, arXiv 2412.19437; github.com/deepseek-ai/DualPipe",
      .constraints = "p even, m even, m >= 2p",
      .needs = "two copies of the weights; splits the backward; an overlapped forward and backward",
      .splits_backward = true,
      .default_chunks = 1,
      .params = {},
      .build = build_dualpipe,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note = "the published orders, bubbles and peaks; the README's own formula is exact only for f = i",
      .makespan = {"m(f + b) + (p/2 - 1)(3f - w), for f = i >= w and fb = f + b", dualpipe_makespan},
      .peak = {"p + 1", dualpipe_peak},
      .frameworks = "DeepSeek's DualPipe library",
      .advice =
          "Use it for experts spread over nodes, where fb < f + b because the pair hides their all-to-all. It holds "
          "the weights twice; dualpipe-v does not.",
      .even_devices = true,
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
