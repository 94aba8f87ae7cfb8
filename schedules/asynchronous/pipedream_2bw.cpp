#include "schedules/asynchronous/pipedream_2bw.hpp"

#include <string>

#include "schedules/asynchronous/stream_rows.hpp"
#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

Schedule build_pipedream_2bw(const ScheduleRequest& request) {
  Schedule schedule = one_engine_stream(request, "pipedream-2bw");
  const int every = update_every_param(request);
  const std::string version_at = choice_param(request, "version_at", "batch-start|forward-time");
  const bool per_batch = version_at == "batch-start";
  // The first stage runs p-1 forwards ahead: with fewer per update it would need a version before it is made.
  if (per_batch && every < request.devices - 1) {
    fail("S044", "--param update_every",
         "with " + std::to_string(every) + (every == 1 ? " microbatch" : " microbatches") +
             " per update two versions are not enough for " + std::to_string(request.devices) +
             " stages: the first stage runs " + std::to_string(request.devices - 1) +
             (request.devices == 2 ? " forward ahead" : " forwards ahead"),
         "use --param update_every=" + std::to_string(request.devices - 1) +
             " or more, or --param version_at=forward-time, which keeps more versions");
  }
  schedule.params = {{"update_every", std::to_string(every)}, {"version_at", version_at}};
  schedule.asynchrony->versions = per_batch ? Asynchrony::Versions::kPerBatch : Asynchrony::Versions::kStashed;
  schedule.asynchrony->update_every = every;
  note_last_update(schedule);
  return schedule;
}

}  // namespace

const ScheduleEntry& pipedream_2bw_entry() {
  static const ScheduleEntry entry{
      .name = "pipedream-2bw",
      .summary = "pipedream with an update per u microbatches; only two versions of the weights",
      .citation = "Narayanan et al., PipeDream-2BW, ICML 2021, arXiv 2006.09503",
      .constraints = "p >= 1, m >= 1, update_every >= p - 1 (any with version_at=forward-time)",
      .needs = "no flush: gradients one update old; a second version of the weights",
      .splits_backward = false,
      .default_chunks = 1,
      .params = {{"update_every", "1..", "p", "microbatches per update, u"},
                 {"version_at", "batch-start|forward-time", "batch-start",
                  "a microbatch reads the version before its update's, or the newest when its F runs"}},
      .build = build_pipedream_2bw,
      .family = ScheduleFamily::kAsynchronous,
      .certainty = Certainty::kDerived,
      .certainty_note = "the order is 1f1b's; versions and staleness come from counting and are tested by brute force",
      .makespan = {"(m + p - 1)(f + b); in the stream a microbatch every f + b", fill_and_drain},
      .peak = {"min(p - d, m)", one_engine_peak},
      .frameworks = "the authors' code (msr-fiddle/pipedream)",
      .advice =
          "The stream of pipedream at the memory of one more copy of the weights, whatever the depth. All stages "
          "are one update late, as if the batch were delayed by one.",
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
