#include "schedules/asynchronous/pipemare.hpp"

#include <string>

#include "schedules/asynchronous/stream_rows.hpp"
#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"

namespace debubble {

namespace {

Schedule build_pipemare(const ScheduleRequest& request) {
  const int every = update_every_param(request);
  const std::string correction = choice_param(request, "correction", "on|off");
  const std::string engines = choice_param(request, "engines", "1|2");
  Schedule schedule =
      engines == "1" ? one_engine_stream(request, "pipemare") : two_engine_stream(request, "pipemare", 1);
  schedule.params = {{"update_every", std::to_string(every)}, {"correction", correction}, {"engines", engines}};
  schedule.asynchrony->update_every = every;
  if (correction == "on") {
    schedule.asynchrony->extra_copies = 1;
    schedule.notes.emplace_back("correcting the weights before each backward takes no time here");
  }
  note_last_update(schedule);
  return schedule;
}

std::optional<double> pipemare_makespan(const FormCase& form) {
  return form_word(form, "engines") == "2" ? two_engine_makespan(form, 1) : fill_and_drain(form);
}

std::optional<double> pipemare_peak(const FormCase& form) {
  return form_word(form, "engines") == "2" ? two_engine_peak(form, 1) : one_engine_peak(form);
}

}  // namespace

const ScheduleEntry& pipemare_entry() {
  static const ScheduleEntry entry{
      .name = "pipemare",
      .summary = "no flush, one version of the weights; F and B of a microbatch read different ones",
      .citation = "Yang et al., PipeMare, MLSys 2021, arXiv 1910.05124",
      .constraints = "p >= 1, m >= 1, update_every >= 1",
      .needs = "no flush: stale and inconsistent gradients; one weight-sized buffer for the correction",
      .splits_backward = false,
      .default_chunks = 1,
      .params = {{"update_every", "1..", "p", "microbatches per update, u"},
                 {"correction", "on|off", "on", "keep the running difference of the weights that corrects B"},
                 {"engines", "1|2", "1",
                  "2: a forward and a backward side by side, the paper's fine-grained pipeline"}},
      .build = build_pipemare,
      .family = ScheduleFamily::kAsynchronous,
      .certainty = Certainty::kDerived,
      .certainty_note =
          "with engines=2 F is (2(p - s) - 1)/u updates late, as published; with one engine (p - 1 - s)/u",
      .makespan = {"(m + p - 1)(f + b) with one engine, (m + 2p - 1) f with two and f = b; in the stream a microbatch "
                   "every f + b, or max(f, b)",
                   pipemare_makespan},
      .peak = {"min(p - d, m) with one engine, min(2(p - d), m) with two", pipemare_peak},
      .frameworks = "",
      .advice =
          "The stream with the least memory: no stash, one buffer. Needs its learning-rate schedule and the "
          "correction to converge, and a synchronous start.",
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
