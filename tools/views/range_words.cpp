#include "tools/views/range_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "formats/text/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble {

std::string range_words(const Report& report) {
  constexpr std::size_t kShown = 2;  // the JSON has all kinds
  const StepRange& range = *report.step_range;
  const Scale scale = duration_scale(range.high);
  std::string text =
      fmt::format("{} to {} {} for {:.0f} of 100 measured steps, by scatter: ", format_scaled(range.low, scale),
                  format_scaled(range.high, scale), scale.unit, 100 * range.coverage);
  for (std::size_t k = 0; k < std::min(kShown, range.kinds.size()); ++k) {
    const TimeKind& kind = range.kinds[k];
    text += fmt::format("{} {:.0f} % of the step x {:.1f} %, ", kind.name, 100 * kind.share, 100 * kind.scatter);
  }
  if (range.kinds.size() > kShown) text += "others, ";
  return text + fmt::format("runs {:.1f} %; ends from {}", 100 * range.repeat,
                            counted(static_cast<std::size_t>(range.records), "published record"));
}

}  // namespace debubble
