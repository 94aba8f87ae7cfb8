#include "tools/views/accuracy/accuracy_views.hpp"

#include <fmt/format.h>

#include "formats/exporters/report_json.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

std::string coverage_text(const RangeCounts& counts) {
  return counts.all() == 0 ? std::string() : format_percent_to(counts.share(), 0);
}

std::string ranged_name(const SourceRanges& one) { return one.experts ? one.source + ", experts" : one.source; }

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
  Json steps = json_list(one.steps, [](const RangedStep& step) -> Json {
    return {{"id", step.record->id}, {"measured", step.measured}, {"predicted", step.predicted},
            {"low", step.low},       {"high", step.high},         {"kinds", time_kinds_json(step.kinds)}};
  });
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
    add(ranged_name(one), one.counts, format_percent_to(one.median, 0), one.left_out);
  if (ranges.sources.size() > 1) add("all", ranges.counts, "", ranges.left_out);
  std::string text = "\n" + table.text(static_cast<std::size_t>(style.width), 2);
  const PairCounts& pairs = ranges.pairs;
  if (pairs.apart + pairs.close == 0) return text;
  return text + fmt::format("{} of one job: {} told apart, {} of them in the right order; {} not\n",
                            counted(static_cast<std::size_t>(pairs.apart + pairs.close), "pair"), pairs.apart,
                            pairs.apart_right, pairs.close);
}

Json ranges_json_of(const JudgedRanges& ranges) {
  if (ranges.counts.all() == 0) return nullptr;
  Json sources = json_list(ranges.sources, source_ranges_json);
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
