#include "formats/exporters/memory_fit_text.hpp"

#include <cmath>

#include "sim/core/quantities.hpp"

namespace debubble {

std::string memory_fit_words(const Report& report) {
  const MemoryFit& fit = *report.memory_fit;
  std::string taken = format_size(fit.reserved);
  if (fit.reserved != fit.allocated) taken += " (" + format_size(fit.allocated) + " allocated)";
  const std::string device = "d" + std::to_string(fit.device);
  const std::string capacity = format_size(fit.capacity);
  const std::string at = format_duration(fit.at);
  if (fit.spare >= 0) {
    const std::string when = fit.op.empty() ? "before anything runs" : "most by " + to_string(fit.op) + " at " + at;
    return "fits with " + format_size(fit.spare) + " to spare: " + device + " takes " + taken + " of " + capacity +
           ", " + when;
  }
  const std::string what =
      fit.op.empty() ? "for weights, gradients and optimizer state" : "for " + to_string(fit.op) + " at " + at;
  return "out of memory: " + device + " has no room " + what + "; the run needs " + taken + ", " + capacity +
         " available";
}

std::string remedy_words(const MemoryFit& fit, Nanoseconds makespan, Nanoseconds before) {
  std::string text = format_size(fit.spare) + " to spare";
  if (before == 0 || makespan == before) return text;
  const double change = static_cast<double>(makespan) / static_cast<double>(before) - 1;
  return text + ", step " + format_percent(std::abs(change)) + (change > 0 ? " longer" : " shorter");
}

std::string remedies_words(const std::vector<std::string>& remedies) {
  if (remedies.empty()) return "nothing that was tried makes it fit";
  std::string text;
  for (const std::string& remedy : remedies) text += (text.empty() ? "" : "; ") + remedy;
  return "what would make it fit: " + text;
}

}  // namespace debubble
