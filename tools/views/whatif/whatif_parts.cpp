// Seeds and sensitivity for people.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "sim/core/at.hpp"
#include "sim/core/quantities.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/summary.hpp"
#include "tools/views/table.hpp"
#include "tools/views/whatif/whatif_view.hpp"

namespace debubble {

namespace {

using enum Table::Side;

constexpr std::size_t kMostDerivatives = 16;
constexpr std::size_t kMostCandidates = 10;

// "|  .:-=+*#%@#+-. |": the fullest bin is the darkest.
std::string histogram(const std::vector<std::int64_t>& bins) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  const std::int64_t most = *std::max_element(bins.begin(), bins.end());
  std::string text;
  for (const std::int64_t bin : bins) {
    const auto last = static_cast<std::int64_t>(kShades.size()) - 1;
    // Rounded up: a bin with one seed is not empty.
    text += at(kShades, (bin * last + most - 1) / std::max<std::int64_t>(most, 1));
  }
  return text;
}

// Runs with a cost changed end in whole nanoseconds: their slopes are a little off.
bool one_sided(const Derivative& derivative, bool exact) {
  const double off = exact ? 1e-6 : 0.02;
  return std::abs(derivative.times.growing - derivative.times.shrinking) > off * std::abs(derivative.times.growing);
}

// "8", "5..8" where several critical paths tie; bytes in their unit.
std::string on_the_path(const Derivative& derivative, bool exact) {
  const bool bytes = derivative.name.kind == CostName::Kind::kTimePerByte;
  const auto one = [&](double value) {
    return bytes ? format_size(std::llround(value)) : fmt::format("{:.4g}", std::abs(value) < 5e-7 ? 0.0 : value);
  };
  const std::string growing = one(derivative.times.growing);
  const std::string shrinking = one(derivative.times.shrinking);
  return growing == shrinking || !one_sided(derivative, exact) ? growing : shrinking + " .. " + growing;
}

std::string cost_of(const Derivative& derivative) {
  const bool bytes = derivative.name.kind == CostName::Kind::kTimePerByte;
  return bytes ? format_size(derivative.cost) + "/s" : format_duration(derivative.cost);
}

std::string derivatives(const Sensitivity& sensitivity, const ViewStyle& style) {
  std::vector<const Derivative*> sorted;
  for (const Derivative& derivative : sensitivity.derivatives) {
    if (derivative.times.growing > 0 || derivative.times.shrinking > 0) sorted.push_back(&derivative);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Derivative* a, const Derivative* b) { return a->at_stake > b->at_stake; });
  const std::size_t left_out = sorted.size() - std::min(sorted.size(), kMostDerivatives);
  sorted.resize(sorted.size() - left_out);
  const bool ties = std::any_of(sorted.begin(), sorted.end(), [&](const Derivative* derivative) {
    return one_sided(*derivative, sensitivity.exact);
  });
  const auto table_of = [&](const char* last) {
    Table table({{"cost", kLeft}, {"each", kRight}, {"on the path", kRight}, {last, kRight}});
    for (const Derivative* derivative : sorted) {
      const double part = static_cast<double>(derivative->at_stake) / static_cast<double>(sensitivity.step);
      table.add_row({to_string(derivative->name), cost_of(*derivative), on_the_path(*derivative, sensitivity.exact),
                     format_percent(part)});
    }
    return table;
  };
  const auto width = static_cast<std::size_t>(style.width);
  Table table = table_of("of the step");
  if (table.natural_width() > width) table = table_of("of the\nstep");
  std::string text = table.natural_width() > width ? table.folded(width) : table.text(width);
  if (left_out > 0) text += fmt::format("... and {} more with less at stake\n", left_out);
  if (ties) {
    text += paragraph(
        "a .. b: several critical paths tie; the step grows b times as much as the cost does, and shrinks a times as "
        "much",
        style);
  }
  const bool grouped = std::any_of(sorted.begin(), sorted.end(),
                                   [](const Derivative* derivative) { return derivative->links.size() > 1; });
  if (grouped) text += paragraph("links that have the same part in the run are one cost and change together", style);
  if (!sensitivity.left_out.empty()) text += paragraph(sensitivity.left_out, style);
  if (!sensitivity.exact) {
    text += paragraph(
        "by runs with each cost 0.1 % larger and smaller: where transfers meet, or tasks overlap with the "
        "schedule, no single path decides",
        style);
  }
  return text;
}

std::string candidates(const WhatIfResult& result, const ViewStyle& style) {
  Table table({{"what would help", kLeft}, {"step", kRight}, {"per microbatch", kRight}});
  std::size_t shown = 0;
  for (const Candidate& candidate : result.candidates) {
    if (shown++ == kMostCandidates) break;
    table.add_row({candidate.label, format_duration(candidate.step), percent_change(-candidate.gain)});
  }
  std::string text = table.text(static_cast<std::size_t>(style.width));
  if (result.candidates.size() > kMostCandidates) {
    const Candidate& worst = result.candidates.back();
    text += fmt::format("... and {} more, down to {} ({})\n", result.candidates.size() - kMostCandidates, worst.label,
                        percent_change(-worst.gain));
  }
  return text;
}

}  // namespace

std::string seeds_view(const WhatIfResult& result, const ViewStyle& style) {
  const SeedTimes& seeds = *result.seeds;
  const auto over = [&](Nanoseconds time) {
    return percent_change(
        static_cast<double>(time) / static_cast<double>(std::max<Nanoseconds>(1, result.base.makespan)) - 1);
  };
  Table table({{"", kLeft}, {"step", kRight}, {"to base", kRight}, {"", kLeft}});
  const auto add = [&](const char* what, Nanoseconds time, const std::string& note = "") {
    table.add_row({what, format_duration(time), over(time), note});
  };
  add("mean", seeds.mean, "standard deviation " + format_duration(std::llround(seeds.deviation)));
  add("p50", seeds.p50);
  add("p95", seeds.p95);
  add("p99", seeds.p99);
  add("least", seeds.least, fmt::format("seed {}", seeds.least_seed));
  add("most", seeds.most, fmt::format("seed {}", seeds.most_seed));
  const std::string title = fmt::format("{} seeds, {} to {}: {}", seeds.times.size(), seeds.first_seed,
                                        seeds.first_seed + seeds.times.size() - 1, result.drawn);
  return title_lines(title, style) + table.text(static_cast<std::size_t>(style.width)) +
         fmt::format("{} |{}| {}\n", format_duration(seeds.least), histogram(seeds.bins), format_duration(seeds.most));
}

std::string sensitivity_view(const WhatIfResult& result, const ViewStyle& style) {
  const Sensitivity& sensitivity = *result.sensitivity;
  const std::string title = fmt::format("sensitivity of the step time of {}", format_duration(sensitivity.step));
  return paint(style.color, kBold, title) + "\n" + derivatives(sensitivity, style) + "\n" + candidates(result, style);
}

}  // namespace debubble
