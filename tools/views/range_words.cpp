#include "tools/views/range_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble {

std::string range_interval(const StepRange& range) {
  const Scale scale = duration_scale(range.high);
  return fmt::format("{} to {} {} for {:.0f} of 100 measured steps", format_scaled(range.low, scale),
                     format_scaled(range.high, scale), scale.unit, 100 * range.coverage);
}

std::string range_reason(const StepRange& range) {
  constexpr std::size_t kShown = 2;  // the JSON has all kinds
  std::string text = "scatter of ";
  for (std::size_t k = 0; k < std::min(kShown, range.kinds.size()); ++k) {
    const TimeKind& kind = range.kinds[k];
    text += fmt::format("{} ({} of the step) {}, ", kind.name, format_percent_to(kind.share, 0),
                        format_percent(kind.scatter));
  }
  if (range.kinds.size() > kShown) text += "other kinds, ";
  return text + fmt::format("and from run to run {}; ends from {}", format_percent(range.repeat),
                            counted(static_cast<std::size_t>(range.records), "published record"));
}

}  // namespace debubble
