#include "schedules/asynchronous/pipelined_backprop.hpp"

#include <string>

#include "schedules/asynchronous/stream_rows.hpp"
#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

Schedule build_pipelined_backprop(const ScheduleRequest& request) {
  constexpr const char* kName = "pipelined-backprop";
  const std::string engines = choice_param(request, "engines", "2|1");
  const std::string stash = choice_param(request, "stash", "off|on");
  const std::string turnaround = choice_param(request, "turnaround", "0|1");
  if (engines == "1" && request.params.contains("turnaround")) {
    fail("S075", "--param turnaround", "with one engine a backward may follow its forward at once",
         "leave out --param turnaround, or use --param engines=2");
  }
  Schedule schedule =
      engines == "1" ? one_engine_stream(request, kName) : two_engine_stream(request, kName, turnaround == "1" ? 1 : 0);
  schedule.params = {{"engines", engines}, {"stash", stash}};
  if (engines == "2") schedule.params.emplace_back("turnaround", turnaround);
  using Versions = Asynchrony::Versions;
  schedule.asynchrony->versions = stash == "on" ? Versions::kStashed : Versions::kLatest;
  if (engines == "2" && turnaround == "0") {
    schedule.notes.emplace_back(
        "the last stage runs forward and backward of a sample one after the other and sets the pace unless both fit "
        "into a step of the others; turnaround=1 gives it a step for each, and every stage one more update of delay");
  }
  return schedule;
}

int turnaround_of(const FormCase& form) { return form_word(form, "turnaround") == "1" ? 1 : 0; }

std::optional<double> pipelined_makespan(const FormCase& form) {
  return form_word(form, "engines") == "1" ? fill_and_drain(form) : two_engine_makespan(form, turnaround_of(form));
}

std::optional<double> pipelined_peak(const FormCase& form) {
  return form_word(form, "engines") == "1" ? one_engine_peak(form) : two_engine_peak(form, turnaround_of(form));
}

}  // namespace

const ScheduleEntry& pipelined_backprop_entry() {
  static const ScheduleEntry entry{
      .name = "pipelined-backprop",
      .summary = "a forward and a backward at once on every device; an update after each sample",
      .citation = "Kosson et al., Pipelined Backpropagation at Scale, MLSys 2021, arXiv 2003.11666",
      .constraints = "p >= 1, m >= 1; turnaround only with engines=2",
      .needs = "no flush: gradients 2(p - 1 - s) updates old; devices that run F and B at once (engines=2)",
      .splits_backward = false,
      .default_chunks = 1,
      .params = {{"engines", "2|1", "2", "passes that a device runs at once; 1: F and B in turn, half the delay"},
                 {"stash", "off|on", "off", "keep for B the weights that its F read"},
                 {"turnaround", "0|1", "0", "steps from F to B of a sample on the last stage, with two engines"}},
      .build = build_pipelined_backprop,
      .family = ScheduleFamily::kAsynchronous,
      .certainty = Certainty::kDerived,
      .certainty_note = "from the published step model; delays and number of steps are tested against its formulas",
      .makespan = {"(m + 2p - 1) f with turnaround=1 and f = b; (m + p - 1)(f + b) with one engine; in the stream a "
                   "microbatch every max(f, b) with turnaround=1, else f + b",
                   pipelined_makespan},
      .peak = {"min(2(p - 1 - d) + 1 + turnaround, m); min(p - d, m) with one engine", pipelined_peak},
      .frameworks = "",
      .advice =
          "For pipelines of one layer per device. Up to twice the throughput of 1f1b where f = b and a device can run "
          "both "
          "at once; needs turnaround=1, else the last stage sets 1f1b's pace. Its delays need spike compensation or "
          "weight prediction.",
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
