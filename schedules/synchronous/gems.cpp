#include "schedules/synchronous/gems.hpp"

#include <algorithm>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

Placement opposite_directions(int devices) {
  std::vector<std::int32_t> device;
  for (int s = 0; s < devices; ++s) device.push_back(s);
  for (int s = 0; s < devices; ++s) device.push_back(devices - 1 - s);
  return {2, devices, std::move(device)};
}

Schedule build_gems(const ScheduleRequest& request) {
  require_one_chunk(request, "gems");
  const int d = request.devices;
  const int m = request.microbatches;
  if (d < 2) fail("S011", "--devices", "gems needs at least 2 devices; got 1", "nearest legal value: -p 2");
  Schedule schedule = start_schedule(request, "gems", 1);
  schedule.placement = opposite_directions(d);
  const int down = (m + 1) / 2;  // replica 0 takes the first microbatch, and the odd one
  std::fill(schedule.replica_of.begin() + down, schedule.replica_of.end(), 1);
  for (int device = 0; device < d; ++device) {
    auto& row = at(schedule.rows, device);
    row.reserve(2 * static_cast<std::size_t>(m));
    for (int i = 0; i < m; ++i) {
      const bool up = i % 2 == 1;
      const int stage = up ? d - 1 - device : device;
      const int microbatch = up ? down + i / 2 : i / 2;
      row.push_back({OpKind::kForward, false, stage, microbatch});
      row.push_back({OpKind::kBackward, false, stage, microbatch});
    }
  }
  return schedule;
}

// The next forward chases the backward over the devices, and the slower of the two sets the pace.
std::optional<double> gems_makespan(const FormCase& form) {
  const double slower = std::max(form.forward, form.backward);
  const double quicker = std::min(form.forward, form.backward);
  return form.devices * (form.forward + form.backward) + (form.microbatches - 1) * (form.devices * slower + quicker);
}

}  // namespace

const ScheduleEntry& gems_entry() {
  static const ScheduleEntry entry{
      .name = "gems",
      .summary = "two opposite replicas, one microbatch at a time; least activations, large bubble",
      .citation = "Jain et al., GEMS, SC 2020; as described by Li & Hoefler, Chimera, SC 2021, arXiv 2107.06925",
      .constraints = "p >= 2, m >= 1",
      .needs = "two copies of the weights",
      .splits_backward = false,
      .default_chunks = 1,
      .params = {},
      .build = build_gems,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kDerived,
      .certainty_note = "from the description in Chimera's paper, whose bubble of (p - 1) / (p + 1/2) it approaches",
      .makespan = {"p(f + b) + (m - 1)(p max(f, b) + min(f, b)); with b >= f: p f + m p b + (m - 1) f", gems_makespan},
      .peak = {"1", one_microbatch},
      .frameworks = "",
      .advice =
          "Only where there is room for two copies of the weights and no more than one microbatch's activations. "
          "Chimera gives "
          "both replicas more work."};
  return entry;
}

}  // namespace debubble
