#include "schedules/synchronous/terapipe.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "schedules/synchronous/slice_plan.hpp"
#include "schedules/synchronous/slices.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

constexpr int kDefaultTokens = 16;
constexpr int kMostPlannedPieces =
    1'000'000;  // devices, microbatches: their product with a sequence's cost fits 64 bits
constexpr std::int64_t kMostOverhead = 1000 * kMillionth;

// How a microbatch is cut, and how the person said so.
struct TokenCut {
  std::vector<int> lengths;  // empty: `slices` that all cost the same
  int slices = 0;
  std::vector<std::pair<std::string, std::string>> params;
  std::vector<std::string> notes;
};

SliceCost cost_params(const ScheduleRequest& request, TokenCut& cut) {
  SliceCost cost;
  cost.overhead = decimal_param(request, "overhead", 4 * kMillionth, kMostOverhead);
  cost.attention = decimal_param(request, "attention", kMillionth / 10, kMillionth);
  cut.params.emplace_back("overhead", decimal_text(cost.overhead));
  cut.params.emplace_back("attention", decimal_text(cost.attention));
  return cost;
}

std::string token_cost_text(std::int64_t cost) { return decimal_text((cost + 1) / 2); }

TokenCut planned_cut(const ScheduleRequest& request) {
  const int tokens = int_param(request, "tokens", kDefaultTokens);
  if (tokens < 1 || tokens > kMostPlannedTokens) {
    fail("S073", "--param tokens",
         "slices=auto plans 1 to " + std::to_string(kMostPlannedTokens) + " tokens; got " + std::to_string(tokens),
         "count in blocks of tokens: --param tokens=" + std::to_string(tokens < 1 ? 1 : kMostPlannedTokens));
  }
  if (request.devices > kMostPlannedPieces || request.microbatches > kMostPlannedPieces) {
    fail("S073", "--param slices", "slices=auto plans for a million devices and microbatches at most",
         "give the slices' lengths: --param slices=" + joined(even_lengths(tokens, std::min(tokens, 4))));
  }
  TokenCut cut;
  const SliceCost cost = cost_params(request, cut);
  const SlicePlan plan = plan_slices(tokens, request.devices, request.microbatches, cost);
  cut.lengths = plan.lengths;
  cut.notes.push_back(
      "planned slices " + joined(plan.lengths) + ": their costs sum to " + token_cost_text(plan.total) +
      " and the longest is " + token_cost_text(plan.longest) +
      ", in tokens without context; a microbatch's time is divided in that relation, and overhead shapes the plan: "
      "it is not added to the times");
  return cut;
}

TokenCut counted_cut(const ScheduleRequest& request) {
  TokenCut cut;
  cut.slices = slice_count_param(request);
  if (!request.params.contains("tokens")) {
    for (const char* name : {"overhead", "attention"}) {
      if (!request.params.contains(name)) continue;
      fail("S075", std::string("--param ") + name, "without tokens, slices that are only counted all cost the same",
           "add --param tokens=2048, or give the slices' lengths: --param slices=7,5,4");
    }
    return cut;
  }
  cut.lengths = even_lengths(token_count_param(request, cut.slices), cut.slices);
  return cut;
}

TokenCut cut_of(const ScheduleRequest& request) {
  const auto slices = request.params.find("slices");
  const bool is_list = slices != request.params.end() && slices->second.find(',') != std::string::npos;
  if (slices != request.params.end() && slices->second == "auto") return planned_cut(request);
  if (!is_list) return counted_cut(request);
  if (request.params.contains("tokens")) {
    fail("S075", "--param tokens", "the slices' lengths say how many tokens there are",
         "leave out --param tokens, or count the slices: --param slices=4");
  }
  TokenCut cut;
  cut.lengths = lengths_param(request, "slices");
  return cut;
}

std::vector<Op> terapipe_row(int stage, int pieces) {
  std::vector<Op> row;
  row.reserve(2 * static_cast<std::size_t>(pieces));
  for (int i = 0; i < pieces; ++i) row.push_back({OpKind::kForward, false, stage, i});
  for (int i = pieces - 1; i >= 0; --i) row.push_back({OpKind::kBackward, false, stage, i});
  return row;
}

Schedule build_terapipe(const ScheduleRequest& request) {
  require_one_chunk(request, "terapipe");
  TokenCut cut = cut_of(request);
  std::vector<std::int64_t> shares;
  if (!cut.lengths.empty()) {
    cut.slices = static_cast<int>(cut.lengths.size());
    cut.params.clear();
    const SliceCost cost = cost_params(request, cut);
    shares = as_shares(slice_costs(cost, cut.lengths));
  }
  if (cut.slices == 1) cut.params.clear();  // a whole sequence costs what a microbatch costs
  Schedule schedule = start_schedule(request, "terapipe", 1);
  cut_into_slices(schedule, cut.slices, std::move(shares));
  const bool lengths_matter = cut.slices > 1 && !cut.lengths.empty();
  schedule.params = {{"slices", lengths_matter ? joined(cut.lengths) : std::to_string(cut.slices)}};
  schedule.params.insert(schedule.params.end(), cut.params.begin(), cut.params.end());
  schedule.notes = cut.notes;
  if (cut.slices > 1 && !lengths_matter) note_equal_slices(schedule);
  for (int device = 0; device < request.devices; ++device) {
    at(schedule.rows, device) = terapipe_row(device, schedule.total_pieces());
  }
  return schedule;
}

// With slices of equal cost; what unequal ones take is m (f + b) + (p - 1) (f + b) x the longest one's share.
std::optional<double> terapipe_makespan(const FormCase& form) {
  const std::optional<int> slices = form_number(form, "slices");
  if (!slices) return std::nullopt;
  return (form.microbatches + static_cast<double>(form.devices - 1) / *slices) * (form.forward + form.backward);
}

}  // namespace

const ScheduleEntry& terapipe_entry() {
  static const ScheduleEntry entry{
      .name = "terapipe",
      .summary = "gpipe over slices of the sequence; one microbatch fills the pipeline by itself",
      .citation = "Li et al., TeraPipe, ICML 2021, arXiv 2102.07988",
      .constraints = "p >= 1, m >= 1, causal attention",
      .needs = "causal attention, keys and values of earlier slices",
      .splits_backward = false,
      .default_chunks = 1,
      .params =
          {{"slices", "a count, lengths as 7,5,4, or auto", "4",
            "how each sequence is cut: slices that cost the same, given lengths, or the quickest plan"},
           {"tokens", "1..", "16 with slices=auto",
            "length of the sequence in tokens or blocks of them; a count has none: its slices cost the same without"},
           {"overhead", "0..1000", "4", "what every slice costs in addition to its tokens, in tokens without context"},
           {"attention", "0..1", "0.1",
            "what each earlier token adds to a token's cost; of a Transformer about 1 / (6 x hidden size)"}},
      .build = build_terapipe,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kReproduced,
      .certainty_note =
          "the published order and planner for one cut of all microbatches; plans tested against every "
          "possible cut. Cutting the batch as well is left to -m",
      .makespan = {"(m + (p - 1) max t / sum t)(f + b) where the slices cost t; max t / sum t = 1 / k for k alike",
                   terapipe_makespan},
      .peak = {"m", all_microbatches},
      .frameworks = "",
      .advice =
          "For few, long sequences, where microbatches are too few to fill the pipeline. Holds all activations, as "
          "gpipe does; seq1f1b holds fewer at the same makespan."};
  return entry;
}

}  // namespace debubble
