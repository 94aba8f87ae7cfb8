#include "schedules/asynchronous/spectrain.hpp"

#include <string>

#include "schedules/asynchronous/stream_rows.hpp"
#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"

namespace debubble {

namespace {

// v1: up to the weights that are current when the minibatch's backward reaches the first stage. That is s/2 updates
// after its backward here, for one engine makes an update in the time in which a backward passes two stages; its
// forward comes S-1-s updates before its backward. v2: up to the update after the minibatch's own.
void predict_weights(Asynchrony& asynchrony, int stages, bool v2) {
  asynchrony.versions = Asynchrony::Versions::kPredicted;
  asynchrony.stash_predicted = v2;
  // v1 makes each prediction in one buffer. v2 keeps predictions like versions, in addition to the weights it updates.
  asynchrony.extra_copies = 1;
  for (int s = 0; s < stages; ++s) {
    asynchrony.forward_ahead.push_back(v2 ? stages - s : s / 2 + stages - 1 - s);
    asynchrony.backward_ahead.push_back(v2 ? stages - s : s / 2);
  }
}

Schedule build_spectrain(const ScheduleRequest& request) {
  const std::string variant = choice_param(request, "variant", "v1|v2");
  Schedule schedule = one_engine_stream(request, "spectrain");
  schedule.params = {{"variant", variant}};
  predict_weights(*schedule.asynchrony, schedule.stages, variant == "v2");
  schedule.notes.emplace_back("predicting weights takes no time here");
  return schedule;
}

}  // namespace

const ScheduleEntry& spectrain_entry() {
  static const ScheduleEntry entry{
      .name = "spectrain",
      .summary = "1f1b that never flushes and predicts weights by momentum; those of the update to come",
      .citation = "Chen, Yang, Cheng, SpecTrain, 2018, arXiv 1809.02839",
      .constraints = "p >= 1, m >= 1",
      .needs = "no flush: stale gradients; a predicted copy of the weights (v2: up to p of them)",
      .splits_backward = false,
      .default_chunks = 1,
      .params = {{"variant", "v1|v2", "v1", "v1: predict for F and for B; v2: B reuses the prediction of its F"}},
      .build = build_spectrain,
      .family = ScheduleFamily::kAsynchronous,
      .certainty = Certainty::kReproduced,
      .certainty_note =
          "order 1f1b's; prediction distances those of the authors' code, v1's also found by event counts",
      .makespan = {"(m + p - 1)(f + b); in the stream a microbatch every f + b", fill_and_drain},
      .peak = {"min(p - d, m)", one_engine_peak},
      .frameworks = "the authors' code (ntueclab/SpecTrain-PyTorch)",
      .advice =
          "pipedream's stream without its stash: predicting costs one copy of the weights and a pass over them "
          "before each op. Only for optimizers with momentum.",
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
