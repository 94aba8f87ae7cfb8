#include "schedules/asynchronous/xpipe.hpp"

#include <string>

#include "schedules/asynchronous/stream_rows.hpp"
#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"

namespace debubble {

namespace {

Schedule build_xpipe(const ScheduleRequest& request) {
  const int every = update_every_param(request);
  Schedule schedule = one_engine_stream(request, "xpipe");
  schedule.params = {{"update_every", std::to_string(every)}};
  schedule.asynchrony->versions = Asynchrony::Versions::kPredicted;
  schedule.asynchrony->update_every = every;
  schedule.asynchrony->extra_copies = 1;  // the prediction that the microbatches of a minibatch share
  schedule.notes.emplace_back("predicting weights takes no time here");
  note_last_update(schedule);
  return schedule;
}

}  // namespace

const ScheduleEntry& xpipe_entry() {
  static const ScheduleEntry entry{
      .name = "xpipe",
      .summary = "no flush: u microbatches share one prediction of weights; a minibatch is u microbatches",
      .citation = "Guan et al., XPipe, 2019, arXiv 1911.04610",
      .constraints = "p >= 1, m >= 1, update_every >= 1",
      .needs = "no flush: stale gradients; one predicted copy of the weights",
      .splits_backward = false,
      .default_chunks = 1,
      .params = {{"update_every", "1..", "p", "microbatches per minibatch and update, u"}},
      .build = build_xpipe,
      .family = ScheduleFamily::kAsynchronous,
      .certainty = Certainty::kProposal,
      .certainty_note = "order and distances are ours: 1f1b, predicting up to the update that applies the gradient",
      .makespan = {"(m + p - 1)(f + b); in the stream a microbatch every f + b", fill_and_drain},
      .peak = {"min(p - d, m)", one_engine_peak},
      .frameworks = "",
      .advice =
          "For Adam where pipedream-2bw's second version is too much: one prediction per minibatch, and at most "
          "one update to predict once a minibatch has p - 1 microbatches or more.",
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
