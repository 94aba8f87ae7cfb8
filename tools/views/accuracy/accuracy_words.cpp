// Words and numbers that all views of the accuracy share.
#include <fmt/format.h>

#include <algorithm>

#include "tools/views/accuracy/accuracy_views.hpp"

namespace debubble {

const char* words_for(Quantity quantity) {
  switch (quantity) {
    case Quantity::kStepTime:
      return "step time";
    case Quantity::kPeakMemory:
      return "peak memory";
    case Quantity::kBubble:
      return "bubble";
  }
  return "";
}

std::string with_unit(Quantity quantity, double value) {
  switch (quantity) {
    case Quantity::kStepTime:
      return fmt::format("{:#.4g} s", value);
    case Quantity::kPeakMemory:
      return fmt::format("{:.2f} GiB", value);
    case Quantity::kBubble:
      return fmt::format("{:.4f}", value);
  }
  return "";
}

std::string error_text(double share) { return fmt::format("{:+.1f} %", 100 * share); }

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string verdict(const ErrorSummary& summary) {
  if (!summary.target) return "";
  return summary.mean_absolute <= *summary.target ? "met" : "missed";
}

std::vector<UnusableGroup> unusable_groups(const ResultsFile& results) {
  std::vector<UnusableGroup> groups;
  for (const UnusableResult& one : results.unusable) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const UnusableGroup& group) {
      return group.source == one.source && group.reason == one.reason;
    });
    if (found == groups.end()) found = groups.insert(groups.end(), UnusableGroup{one.source, one.reason, {}});
    found->ids.push_back(one.id);
  }
  return groups;
}

}  // namespace debubble
