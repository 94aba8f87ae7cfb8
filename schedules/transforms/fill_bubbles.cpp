#include "schedules/transforms/fill_bubbles.hpp"

#include <algorithm>
#include <string>

#include "schedules/transforms/request.hpp"

namespace debubble {

namespace {

// Each is placed on its own; a million take some seconds.
constexpr double kMostItems = 1'000'000;

int most_layers(const Schedule& schedule) {
  return std::max(1, static_cast<int>(kMostItems / (2.0 * schedule.stages * schedule.total_pieces())));
}

Schedule mark_filled(const Schedule& before, const TransformRequest& request) {
  const TransformParams params(request, "fill-bubbles");
  if (!params.given("curvature") && !params.given("inverse")) {
    params.refuse("M014", "", "there is no work to place", "give its times, e.g. fill-bubbles:curvature=2,inverse=5");
  }
  if (before.asynchrony) {
    params.refuse("M007", "", before.name + " has no flush, and its steady state no bubbles between iterations",
                  "use it with a schedule that flushes");
  }
  for (const auto& [key, value] : before.params) {
    if (!key.starts_with("fill-bubbles.")) continue;
    params.refuse("M008", "", "the bubbles of " + before.name + " are filled already", "give all work at once");
  }
  const int layers = params.whole("layers", 1, 1);
  // A forward and a backward half for each cell of the schedule.
  if (layers > 1 && 2.0 * before.stages * before.total_pieces() * layers > kMostItems) {
    params.refuse("S063", "layers", "2 x stages x microbatches x layers are beyond 1 million pieces of work to place",
                  "use fewer layers: layers=" + std::to_string(most_layers(before)) + " at most here");
  }
  Schedule schedule = before;
  std::vector<std::pair<std::string, std::string>> used;
  for (const auto& [key, value] : request.params) used.emplace_back(key, value);
  sign(schedule, "fill-bubbles", used);
  return schedule;
}

}  // namespace

const TransformEntry& fill_bubbles_entry() {
  static const TransformEntry entry{
      .name = "fill-bubbles",
      .summary = "K-FAC's extra work, or any of its shape, placed where devices wait; the step stays as long as it is",
      .citation = "Osawa, Li, Hoefler, PipeFisher, MLSys 2023, arXiv 2211.14133",
      .certainty = Certainty::kDerived,
      .certainty_note =
          "the authors' rules and margin; their bubble model for BERT-Large reproduces the published numbers, the "
          "placement is tested by invariants",
      .constraints = "refuses schedules without a flush; give at least one of curvature and inverse",
      .params = {{"curvature", "time", "0", "per microbatch and device share; half of it after F, half after B or I"},
                 {"inverse", "time", "0", "per device share, once all curvature of a factor is there"},
                 {"sync", "time", "0", "collective over the devices that hold a stage, before the inverse"},
                 {"precondition", "time", "0", "every step after the backward, outside the bubbles"},
                 {"layers", "1..", "1", "equal parts of every item: shorter ones fit more bubbles"}},
      .advice =
          "For optimizers whose extra work may be some steps old. The report says every how many steps it is "
          "fresh; the memory of the factors is not counted.",
      .apply = mark_filled};
  return entry;
}

}  // namespace debubble
