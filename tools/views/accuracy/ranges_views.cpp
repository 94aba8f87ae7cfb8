#include "tools/views/accuracy/ranges_views.hpp"

#include <fmt/format.h>

#include "formats/exporters/report_json.hpp"
#include "sim/core/words.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::string_view kRangesIntroduction =
    "\n## Ranges\n\n"
    "A modelled step time carries a range that holds 80 of 100 measured steps (how: "
    "[models.md](../docs/models.md#how-far-off-it-may-be)). Its width comes from what measured kernels and collectives "
    "scatter, and its two ends, in units of that scatter, from all records of dense models ({}) and of models with "
    "experts ({}), whose errors are larger than what their kernels scatter "
    "([ranges.json](../traces/published/ranges.json); "
    "`--fit` finds them again). Over all records, coverage is therefore what was asked for; by source it says where "
    "scatter is judged too small or too large. The last columns take the ends from all other sources with such models. "
    "A "
    "width is high / low - 1.\n\n";

std::string coverage_text(const RangeCounts& counts) {
  return counts.all() == 0 ? std::string() : fmt::format("{:.0f} %", 100 * counts.share());
}

std::string width_text(double width) { return fmt::format("{:.0f} %", 100 * width); }

std::string counts_row(const std::string& name, const RangeCounts& own, const std::string& width,
                       const std::string& others) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", name, own.all(), width, own.inside, own.below,
                     own.above, coverage_text(own), others);
}

std::string others_cells(const RangeCounts& counts) {
  return fmt::format("{} | {} | {} | {}", counts.inside, counts.below, counts.above, coverage_text(counts));
}

// "-0.8 to 1.4"
std::string ends_text(const RangeConstants& constants, bool experts) {
  const RangeEnds* ends = constants.ends_of(experts);
  return ends == nullptr ? "none" : fmt::format("{:.2f} to {:.2f}", ends->low, ends->high);
}

std::string ranged_name(const SourceRanges& one) { return one.experts ? one.source + ", experts" : one.source; }

std::string coverage_table(const JudgedRanges& ranges) {
  std::string text =
      "| source | records | width, in the median | inside | below | above | coverage | by other sources: inside | "
      "below "
      "| above | coverage |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const SourceRanges& one : ranges.sources) {
    text += counts_row(ranged_name(one), one.counts, width_text(one.median),
                       one.has_others ? others_cells(one.left_out) : " | | | ");
  }
  if (ranges.experts.all() > 0 && ranges.dense.all() > 0) {
    text += counts_row("all dense", ranges.dense, "", " | | | ") +
            counts_row("all with experts", ranges.experts, "", " | | | ");
  }
  return text + counts_row("all", ranges.counts, "", others_cells(ranges.left_out));
}

std::string order_share(int right, int all) {
  return all == 0 ? std::string() : fmt::format("{:.0f} %", 100.0 * right / all);
}

std::string pairs_row(const std::string& name, const PairCounts& pairs) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", name, pairs.apart + pairs.close, pairs.apart,
                     order_share(pairs.apart_right, pairs.apart), pairs.close,
                     order_share(pairs.close_right, pairs.close), order_share(pairs.close_within, pairs.close));
}

std::string pairs_table(const JudgedRanges& ranges) {
  const PairCounts& all = ranges.pairs;
  if (all.apart + all.close == 0) return "";
  std::string text = fmt::format(
      "\nTwo runs of one job share most errors: `debubble compare` tells them apart where their predicted ratio is "
      "larger than {:g} times the scatter that the difference of their kinds of work and two measurements of one "
      "set-up "
      "({:.1f} % each) leave. That number is the least with which 90 of 100 pairs told "
      "apart were measured in the predicted order, over {} pairs of records of the same source, model, GPUs and batch "
      "in "
      "other layouts. Schedules of one layout, which nobody published pairs of, share more.\n\n",
      ranges.constants.apart, 100 * ranges.constants.repeat, ranges.constants.pairs);
  text +=
      "| source | pairs | told apart | in the right order | not told apart | in the right order | measured as close |\n"
      "|---|--:|--:|--:|--:|--:|--:|\n";
  for (const SourceRanges& one : ranges.sources) {
    if (one.pairs.apart + one.pairs.close > 0) text += pairs_row(ranged_name(one), one.pairs);
  }
  return text + pairs_row("all", all);
}

Json counts_json(const RangeCounts& counts) {
  return {{"inside", counts.inside}, {"below", counts.below}, {"above", counts.above}, {"coverage", counts.share()}};
}

Json pairs_json(const PairCounts& pairs) {
  return {{"told_apart", pairs.apart},
          {"told_apart_in_order", pairs.apart_right},
          {"not_told_apart", pairs.close},
          {"not_told_apart_in_order", pairs.close_right},
          {"measured_as_close", pairs.close_within}};
}

Json source_ranges_json(const SourceRanges& one) {
  Json steps = Json::array();
  for (const RangedStep& step : one.steps) {
    steps.push_back({{"id", step.record->id},
                     {"measured", step.measured},
                     {"predicted", step.predicted},
                     {"low", step.low},
                     {"high", step.high},
                     {"kinds", time_kinds_json(step.kinds)}});
  }
  return {{"source", one.source},
          {"experts", one.experts},
          {"counts", counts_json(one.counts)},
          {"by_other_sources", one.has_others ? counts_json(one.left_out) : Json(nullptr)},
          {"median_width", one.median},
          {"narrowest", one.narrowest},
          {"widest", one.widest},
          {"pairs", pairs_json(one.pairs)},
          {"records", steps}};
}

}  // namespace

std::string ranges_text(const JudgedRanges& ranges, const ViewStyle& style) {
  if (ranges.counts.all() == 0) return "";
  using Side = Table::Side;
  Table table({{"80 % ranges", Side::kLeft},
               {"records", Side::kRight},
               {"width", Side::kRight},
               {"inside", Side::kRight},
               {"below", Side::kRight},
               {"above", Side::kRight},
               {"coverage", Side::kRight},
               {"by other\nsources", Side::kRight}});
  const auto add = [&](const std::string& name, const RangeCounts& own, const std::string& width,
                       const RangeCounts& others) {
    table.add_row({name, std::to_string(own.all()), width, std::to_string(own.inside), std::to_string(own.below),
                   std::to_string(own.above), coverage_text(own), coverage_text(others)});
  };
  for (const SourceRanges& one : ranges.sources)
    add(ranged_name(one), one.counts, width_text(one.median), one.left_out);
  if (ranges.sources.size() > 1) add("all", ranges.counts, "", ranges.left_out);
  std::string text = "\n" + table.text(static_cast<std::size_t>(style.width), 2);
  const PairCounts& pairs = ranges.pairs;
  if (pairs.apart + pairs.close == 0) return text;
  return text + fmt::format("{} of one job: {} told apart, {} of them in the right order; {} not\n",
                            counted(static_cast<std::size_t>(pairs.apart + pairs.close), "pair"), pairs.apart,
                            pairs.apart_right, pairs.close);
}

std::string ranges_section(const JudgedRanges& ranges) {
  if (ranges.counts.all() == 0) return "";
  return fmt::format(fmt::runtime(kRangesIntroduction), ends_text(ranges.constants, false),
                     ends_text(ranges.constants, true)) +
         coverage_table(ranges) + pairs_table(ranges);
}

Json ranges_json_of(const JudgedRanges& ranges) {
  if (ranges.counts.all() == 0) return nullptr;
  Json sources = Json::array();
  for (const SourceRanges& one : ranges.sources) sources.push_back(source_ranges_json(one));
  return {{"asked_coverage", kRangeCoverage},
          {"dense", counts_json(ranges.dense)},
          {"experts", counts_json(ranges.experts)},
          {"repeat", ranges.constants.repeat},
          {"apart", ranges.constants.apart},
          {"counts", counts_json(ranges.counts)},
          {"by_other_sources", counts_json(ranges.left_out)},
          {"pairs", pairs_json(ranges.pairs)},
          {"sources", sources}};
}

}  // namespace debubble
