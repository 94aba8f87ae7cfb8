#include "studies/simulate/memory_fit_words.hpp"

#include <fmt/format.h>

#include <cmath>

#include "formats/text/quantities.hpp"

namespace debubble {

std::string memory_fit_words(const Report& report) {
  const MemoryFit& fit = *report.memory_fit;
  const std::string taken = fit.reserved == fit.allocated ? format_size(fit.reserved)
                                                          : fmt::format("{} ({} allocated)", format_size(fit.reserved),
                                                                        format_size(fit.allocated));
  const std::string at = format_duration(fit.at);
  if (fit.spare >= 0) {
    return fmt::format(
        "fits with {} to spare: d{} takes {} of {}, {}", format_size(fit.spare), fit.device, taken,
        format_size(fit.capacity),
        fit.op.empty() ? "before anything runs" : fmt::format("most by {} at {}", to_string(fit.op), at));
  }
  return fmt::format("out of memory: d{} has no room {}; the run takes {}, and there is {}", fit.device,
                     fit.op.empty() ? "for weights, gradients and optimizer state"
                                    : fmt::format("for {} at {}", to_string(fit.op), at),
                     taken, format_size(fit.capacity));
}

std::string remedy_words(const MemoryFit& fit, Nanoseconds makespan, Nanoseconds before) {
  std::string text = format_size(fit.spare) + " to spare";
  if (before == 0 || makespan == before) return text;
  const double change = static_cast<double>(makespan) / static_cast<double>(before) - 1;
  return text + fmt::format(", the step takes {} {}", format_percent(std::abs(change)), change > 0 ? "longer" : "less");
}

std::string remedies_words(const std::vector<std::string>& remedies) {
  if (remedies.empty()) return "nothing that was tried makes it fit";
  std::string text;
  for (const std::string& remedy : remedies) text += (text.empty() ? "" : "; ") + remedy;
  return "what would make it fit: " + text;
}

}  // namespace debubble
