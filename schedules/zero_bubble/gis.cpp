#include "schedules/zero_bubble/gis.hpp"

#include <algorithm>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/split_interleaved.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

int checked_group(const ScheduleRequest& request) {
  const int p = request.devices;
  const int least = (p + 1) / 2;
  const int group = int_param(request, "group", p);
  if (group >= least && group <= p) return group;
  fail("S006", "--param group",
       "gis takes groups of p/2 (rounded up) to p microbatches: " + std::to_string(least) + " to " + std::to_string(p) +
           " at p=" + std::to_string(p) + "; got " + std::to_string(group),
       "nearest legal value: --param group=" + std::to_string(group < least ? least : p));
}

Schedule build_gis(const ScheduleRequest& request) {
  const int chunks = request.chunks == 0 ? 2 : request.chunks;
  if (request.devices < 2) fail("S011", "--devices", "gis needs at least 2 devices", "use -p 2 or more");
  if (chunks < 2) {
    fail("S005", "--chunks", "gis needs at least 2 stages per device; got " + std::to_string(chunks),
         "use -v 2 or more, or --schedule zb-h1 for one stage per device");
  }
  const int group = checked_group(request);
  Schedule schedule = start_schedule(request, "gis", chunks);
  schedule.params = {{"group", std::to_string(group)}};
  const SplitInterleaved shape{request.devices, chunks, request.microbatches, group};
  for (int device = 0; device < request.devices; ++device) {
    at(schedule.rows, device) = split_interleaved_row(shape, device, 0);
  }
  return schedule;
}

// Exact where the group divides m, and the W's never keep a device longer than what it waits for.
std::optional<double> gis_makespan(const FormCase& form) {
  const std::optional<int> group = form_number(form, "group");
  if (!group || *group < 1 || form.microbatches % *group != 0) return std::nullopt;
  const double f = form.forward;
  const double i = form.input_grad;
  const double w = form.weight_grad;
  const bool equal = f == i && i == w;
  const bool balanced = w <= std::min(f, i) && f <= i + w && i <= f + w;
  const bool exact = *group == form.devices || equal || (2 * *group == form.devices && balanced);
  if (!exact) return std::nullopt;
  const int missing = (form.devices - *group) * (form.chunks - 1);
  return form.microbatches * (f + i + w) + ((form.devices - 1) * (f + i) + missing * (f + i - w)) / form.chunks;
}

std::optional<double> gis_peak(const FormCase& form) {
  const std::optional<int> group = form_number(form, "group");
  if (!group || form.microbatches < form.devices) return std::nullopt;
  return (*group * (form.chunks - 1.0) + form.devices - form.device) / form.chunks;
}

}  // namespace

const ScheduleEntry& gis_entry() {
  static const ScheduleEntry entry{
      .name = "gis",
      .summary = "interleaved, split backward, small groups: less memory; fewer activations for some more bubble",
      .citation = "Wan et al., PipeOffload, 2025, arXiv 2503.01328",
      .constraints = "p >= 2, v >= 2, p/2 <= group <= p",
      .needs = "splits the backward; more messages",
      .splits_backward = true,
      .default_chunks = 2,
      .params = {{"group", "p/2..p", "p",
                  "microbatches that pass through one chunk before the next chunk's turn; p/2 is GIS-H"}},
      .build = build_gis,
      .family = ScheduleFamily::kZeroBubble,
      .certainty = Certainty::kReproduced,
      .certainty_note =
          "all lengths and peaks of the authors' generator; the rule for m not a multiple of g is inferred from the "
          "published lengths",
      .makespan =
          {"m(f + b) + ((p - 1)(f + i) + (p - g)(v - 1)(f + i - w))/v; g divides m, and g = p, or f = i = w, or "
           "g = p/2 and w <= f <= i + w, w <= i <= f + w",
           gis_makespan},
      .peak = {"(g(v - 1) + p - d)/v, for m >= p", gis_peak},
      .frameworks = "the authors' fork of Megatron-LM (sail-sg/zero-bubble)",
      .advice =
          "Use it in place of interleaved 1f1b: p - 1 chunks of activations fewer, and less bubble. group=p/2 saves "
          "(v - 1)p/2 chunks more for some bubble; a group that divides m wastes nothing."};
  return entry;
}

}  // namespace debubble
