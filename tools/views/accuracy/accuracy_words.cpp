// Words and numbers that all views of the accuracy share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/core/words.hpp"
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

std::string words_for(const ErrorSummary& summary) {
  const std::string words = words_for(summary.quantity);
  return summary.group.empty() ? words : words + ", " + summary.group;
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

std::string verdict(const ErrorSummary& summary) {
  if (!summary.target) return "";
  return summary.mean_absolute <= *summary.target ? "met" : "missed";
}

std::string target_text(const ErrorSummary& summary) {
  return summary.target ? fmt::format("{:g} %: {}", 100 * *summary.target, verdict(summary)) : std::string();
}

std::string noise_text(const JudgedSource& judged, Quantity quantity, double error) {
  const bool within = quantity == Quantity::kStepTime && std::abs(error) < judged.noise_floor();
  return within ? "within noise" : "";
}

bool software_differs(const JudgedSource& judged) {
  return std::any_of(judged.records.begin(), judged.records.end(), [&](const JudgedRecord& record) {
    return record.record->software != judged.records.front().record->software;
  });
}

std::string common_software(const JudgedSource& judged) {
  return judged.records.empty() || software_differs(judged) ? "" : judged.records.front().record->software;
}

std::string machine_text(const HardwareFormat& machine) { return machine.hardware + " in " + machine.format; }

std::string constant_text(const FittedConstant& constant) {
  return fmt::format("{}: {}, from {} of {}", machine_text(constant.machine), constant.compute,
                     counted(constant.records, "record"), counted(constant.sources, "source"));
}

}  // namespace debubble
