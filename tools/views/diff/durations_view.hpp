// The parts of the diff's text that tell durations: how far each level of prediction is from the step, and what ops and
// links took against what was assumed.
#pragma once

#include <cstddef>
#include <string>

#include "studies/diff/diff.hpp"

namespace debubble {

// Empty where no level can be told.
[[nodiscard]] std::string levels_text(const Diff& diff, std::size_t width);

// Of measured times: the ops by stage and kind whose medians in the compared step are furthest from what was assumed,
// times their number, and the slowest links. Empty where no time was measured.
[[nodiscard]] std::string durations_text(const Diff& diff, std::size_t width);

}  // namespace debubble
