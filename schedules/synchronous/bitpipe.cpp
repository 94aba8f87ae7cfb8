#include "schedules/synchronous/bitpipe.hpp"

#include <algorithm>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "schedules/synchronous/slots.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

// "2 or 4": the multiples of `step` around `value`, which is not one.
std::string nearest_multiples(int value, int step) {
  const std::int64_t below = value / step * std::int64_t{step};
  return (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + step);
}

void check_bitpipe(const ScheduleRequest& request) {
  if (request.chunks != 0 && request.chunks != 2) {
    fail("S005", "--chunks", "bitpipe has 2 stages per device and replica; got " + std::to_string(request.chunks),
         "nearest legal value: -v 2");
  }
  if (request.devices % 2 != 0) {
    fail("S011", "--devices", "bitpipe needs an even number of devices; got " + std::to_string(request.devices),
         nearest_legal("-p ", nearest_multiples(request.devices, 2)));
  }
  if (request.microbatches % request.devices != 0) {
    fail("S009", "--microbatches",
         "bitpipe needs a multiple of p=" + std::to_string(request.devices) + " microbatches; got " +
             std::to_string(request.microbatches),
         nearest_legal("-m ", nearest_multiples(request.microbatches, request.devices)));
  }
}

Placement two_folded_replicas(int devices) {
  std::vector<std::int32_t> device;
  for (const bool down : {true, false}) {
    for (int s = 0; s < 2 * devices; ++s) {
      const int folded = s < devices ? s : 2 * devices - 1 - s;
      device.push_back(down ? folded : devices - 1 - folded);
    }
  }
  return {2, 2 * devices, std::move(device)};
}

Schedule build_bitpipe(const ScheduleRequest& request) {
  check_bitpipe(request);
  Schedule schedule = start_schedule(request, "bitpipe", 2);
  schedule.placement = two_folded_replicas(request.devices);
  const SlotUnits units(request.microbatches, request.devices, 1, {0, 1});
  schedule.replica_of = units.replica_of();
  schedule.rows = slot_rows(schedule, units);
  return schedule;
}

std::optional<double> bitpipe_makespan(const FormCase& form) {
  if (form.backward < form.forward) return std::nullopt;
  const int units = form.microbatches / form.devices;
  const double ramp = form.devices / 2.0 - 1;
  return form.microbatches * (form.forward + form.backward) + ramp * form.backward +
         (units - 1) * ramp * (form.backward - form.forward);
}

std::optional<double> bitpipe_peak(const FormCase& form) {
  const int from_the_edge = std::min(form.device, form.devices - 1 - form.device);
  return (3 * form.devices + 2) / 4.0 + from_the_edge / 2.0;
}

}  // namespace

const ScheduleEntry& bitpipe_entry() {
  static const ScheduleEntry entry{
      .name = "bitpipe",
      .summary = "two opposite replicas, each folded into a V; chimera with half the chunk size",
      .citation = "Wu, Chen, Yu, BitPipe, AAAI 2025, arXiv 2410.19367",
      .constraints = "p even, p divides m, v = 2",
      .needs = "two copies of the weights",
      .splits_backward = false,
      .default_chunks = 2,
      .params = {},
      .build = build_bitpipe,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kReproduced,
      .certainty_note =
          "the sequences of the authors' research code, without its permutation of ranks, and the paper's bubble "
          "(p - 2) / (3 m + p - 2) at m = p",
      .makespan = {"m(f + b) + (p/2 - 1)(b + (m/p - 1)(b - f)), where b >= f", bitpipe_makespan},
      .peak = {"(3 p + 2) / 4 + min(d, p - 1 - d) / 2", bitpipe_peak},
      .frameworks = "the authors' research code",
      .advice =
          "For m = p and links that carry twice the messages: at m = p less bubble than interleaved with v=2. Beyond m "
          "= p every unit pays again where a backward is longer than a forward.",
      .even_devices = true,
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
