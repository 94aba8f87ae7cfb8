#include "tools/views/plan/own_view.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

std::string beside_plans(const Plan& plan, const PlannedRun& own, std::int64_t faster) {
  if (plan.search.runs.empty()) return "";
  const double best = static_cast<double>(plan.search.runs.front().step);
  const std::string ratio = " (" + format_change(static_cast<double>(own.step) / best - 1) + ")";
  if (faster == 0) return ratio + "; no plan that was simulated takes less time";
  return ratio + fmt::format("; {} of the {} plans that fit and were simulated take less time", faster,
                             plan.search.runs.size());
}

std::string standing_line(const Plan& plan) {
  const Evaluation& found = plan.own->found;
  if (found.kind == Evaluation::Kind::kDeadlock) return "deadlocks";
  if (!has_step(found)) return "cannot be simulated: " + found.code + ": " + found.message;
  std::string text = fmt::format("step {}, bubble {}, memory {}", format_duration(found.run.step),
                                 format_percent(found.run.bubble_ratio), format_size(found.run.peak));
  if (found.run.is_tight()) text += fmt::format(", {} to spare: tight", format_size(*found.run.spare));
  if (found.missing > 0) text += fmt::format(": lacks {} per GPU in this model", format_size(found.missing));
  text += beside_plans(plan, found.run, plan.own->faster);
  const Nanoseconds measured = plan.asked.own->measured;
  return measured > 0 ? text + "; measured: " + format_duration(measured) : text;
}

// "-12.1 %", or why there is no such figure.
std::string gain(const Evaluation& one, Nanoseconds own) {
  if (!has_step(one)) return one.kind == Evaluation::Kind::kDeadlock ? "deadlocks" : "cannot run";
  std::string text = format_change(static_cast<double>(one.run.step) / static_cast<double>(own) - 1);
  if (one.missing > 0) text += ", lacks " + format_size(one.missing);
  return text;
}

}  // namespace

std::vector<std::string> own_run_lines(const Plan& plan) {
  if (!plan.asked.own_left_out.empty()) return {plan.asked.own_left_out};
  if (!plan.own) return {};
  const OwnRun& run = *plan.asked.own;
  std::vector<std::string> lines{run.name + ": " + to_string(run.choice), standing_line(plan)};
  for (const std::string& note : run.notes) lines.push_back("note: " + note);
  return lines;
}

std::vector<std::string> own_change_lines(const Plan& plan) {
  std::vector<std::string> lines;
  const Nanoseconds own = plan.own ? plan.own->found.run.step : 0;
  for (const OwnChange& one : plan.own_changes) {
    std::string words;
    for (const std::string& word : one.words) words += (words.empty() ? "" : ", ") + word;
    const std::string together = gain(one.together, own);
    const std::string alone = gain(one.alone, own);
    lines.push_back(words + ": " + together + (lines.empty() ? "" : " (alone " + alone + ")"));
  }
  if (lines.empty()) return lines;
  lines.insert(lines.begin(),
               "from yours to the best, of what fits the largest gain first, each on top of those above");
  if (const Nanoseconds measured = plan.asked.own->measured; measured > 0) {
    const double share = static_cast<double>(plan.search.runs.front().step) / static_cast<double>(own);
    lines.push_back("expected " + format_duration(std::llround(static_cast<double>(measured) * share)) +
                    ": what was measured, with this gain");
  }
  return lines;
}

}  // namespace debubble
