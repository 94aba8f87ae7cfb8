#include "studies/accuracy/ranges.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "scenario/check_scenario.hpp"
#include "sim/core/error.hpp"
#include "studies/accuracy/accuracy.hpp"
#include "studies/parallel.hpp"
#include "studies/simulate/simulate.hpp"
#include "studies/uncertainty/step_range.hpp"
#include "studies/uncertainty/time_kinds.hpp"

namespace debubble {
namespace {

// What records must share to be layouts of one job.
std::string job_word(const ScenarioFlags& flags) {
  const ClusterFlags& cluster = flags.cluster;
  const TransformerFlags& model = flags.transformer;
  const std::int64_t data = cluster.data.value_or(1);
  const std::int64_t gpus = data * cluster.tensor.value_or(1) * cluster.context.value_or(1) * flags.devices.value_or(1);
  const std::int64_t batch = data * model.microbatch_size.value_or(1) * flags.microbatches.value_or(1);
  std::string word;
  for (const std::string& part :
       {model.model, model.model_size, model.hardware, model.dtype, model.fp8_recipe, cluster.topology,
        std::to_string(model.sequence.value_or(0)), std::to_string(gpus), std::to_string(batch)}) {
    word += part + "|";
  }
  return word;
}

// Nothing where it has no such step, or cannot be predicted: `debubble accuracy` shows why.
std::optional<RangedRecord> ranged_record(const ResultRecord& record) {
  const std::optional<double> measured = measured_step(record);
  if (!measured) return std::nullopt;
  ScenarioFlags flags;
  set_flags(flag_rows(flags), record.arguments);
  if (flags.transformer.model.empty()) return std::nullopt;
  try {
    NoProgress silent;
    const Scenario scenario = check_scenario(flags);
    const std::string schedule = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
    const Report report = simulate(scenario, schedule, silent).result.report;
    if (report.deadlock) return std::nullopt;
    RangedRecord ranged{&record,
                        *measured,
                        static_cast<double>(report.makespan) / 1e9,
                        time_kinds(scenario, report),
                        false,
                        record.source + "|" + job_word(flags)};
    ranged.experts = have_experts(ranged.kinds);
    return ranged;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

double log_error(const RangedRecord& one) { return std::log(one.measured / one.predicted); }

// Calls `use` with each two records of one job that were run with different flags.
void for_each_pair(const std::vector<RangedRecord>& records,
                   const std::function<void(const RangedRecord&, const RangedRecord&)>& use) {
  for (std::size_t a = 0; a < records.size(); ++a) {
    for (std::size_t b = a + 1; b < records.size(); ++b) {
      const bool pair =
          records[a].job == records[b].job && records[a].record->arguments != records[b].record->arguments;
      if (pair) use(records[a], records[b]);
    }
  }
}

void count(const RangedRecord& one, const RangeConstants& constants, const RangeEnds& ends, RangeCounts& counts) {
  const double scatters = log_error(one) / step_scatter(one.kinds, constants.repeat);
  if (scatters < ends.low) {
    ++counts.below;
  } else if (scatters > ends.high) {
    ++counts.above;
  } else {
    ++counts.inside;
  }
}

void count_pair(const RangedRecord& a, const RangedRecord& b, const RangeConstants& constants, PairCounts& counts) {
  const double needed = constants.apart * ratio_scatter(a.kinds, b.kinds, constants.repeat);
  const double predicted = std::log(a.predicted / b.predicted);
  const double measured = std::log(a.measured / b.measured);
  const bool right = predicted * measured > 0;
  if (std::abs(predicted) > needed) {
    ++counts.apart;
    counts.apart_right += right ? 1 : 0;
    return;
  }
  ++counts.close;
  counts.close_right += right ? 1 : 0;
  counts.close_within += std::abs(measured) <= needed ? 1 : 0;
}

void add_counts(const RangeCounts& one, RangeCounts& sum) {
  sum.inside += one.inside;
  sum.below += one.below;
  sum.above += one.above;
}

void add_pairs(const PairCounts& one, PairCounts& sum) {
  sum.apart += one.apart;
  sum.apart_right += one.apart_right;
  sum.close += one.close;
  sum.close_right += one.close_right;
  sum.close_within += one.close_within;
}

SourceRanges judged_ranges(const std::vector<RangedRecord>& records, const RangeConstants& constants) {
  SourceRanges judged;
  judged.source = records.front().record->source;
  judged.experts = records.front().experts;
  const RangeEnds& ends = *constants.ends_of(judged.experts);
  const RangeEnds* others = constants.ends_of(judged.experts, judged.source);
  judged.has_others = others != nullptr;
  std::vector<double> widths;
  for (const RangedRecord& one : records) {
    count(one, constants, ends, judged.counts);
    if (others != nullptr) count(one, constants, *others, judged.left_out);
    const double scatter = step_scatter(one.kinds, constants.repeat);
    judged.steps.push_back({one.record, one.measured, one.predicted, one.predicted * std::exp(ends.low * scatter),
                            one.predicted * std::exp(ends.high * scatter), one.kinds});
    widths.push_back(std::exp((ends.high - ends.low) * scatter) - 1);
  }
  judged.narrowest = *std::min_element(widths.begin(), widths.end());
  judged.widest = *std::max_element(widths.begin(), widths.end());
  judged.median = median_of(std::move(widths));
  if (constants.pairs == 0) return judged;
  for_each_pair(records,
                [&](const RangedRecord& a, const RangedRecord& b) { count_pair(a, b, constants, judged.pairs); });
  return judged;
}

}  // namespace

std::vector<RangedRecord> ranged_records(const ResultsFile& results, const std::string& only) {
  std::vector<std::optional<RangedRecord>> found(results.records.size());
  for_each_index(found.size(), threads_for(found.size(), 0), [&](std::size_t k) {
    const ResultRecord& record = results.records[k];
    if (only.empty() || record.source == only) found[k] = ranged_record(record);
  });
  std::vector<RangedRecord> records;
  for (std::optional<RangedRecord>& one : found) {
    if (one) records.push_back(std::move(*one));
  }
  return records;
}

JudgedRanges judge_ranges(const std::vector<RangedRecord>& records, const RangeConstants& constants) {
  JudgedRanges judged;
  judged.constants = constants;
  std::vector<std::pair<std::string, std::vector<RangedRecord>>> parts;
  for (const RangedRecord& one : records) {
    const std::string name = one.record->source + (one.experts ? "|experts" : "|dense");
    auto found = std::find_if(parts.begin(), parts.end(), [&](const auto& part) { return part.first == name; });
    if (found == parts.end()) found = parts.insert(parts.end(), {name, {}});
    found->second.push_back(one);
  }
  for (const auto& part : parts) {
    if (constants.ends_of(part.second.front().experts) == nullptr) continue;
    judged.sources.push_back(judged_ranges(part.second, constants));
    const SourceRanges& one = judged.sources.back();
    add_counts(one.counts, judged.counts);
    add_counts(one.left_out, judged.left_out);
    add_counts(one.counts, one.experts ? judged.experts : judged.dense);
    add_pairs(one.pairs, judged.pairs);
  }
  return judged;
}

}  // namespace debubble
