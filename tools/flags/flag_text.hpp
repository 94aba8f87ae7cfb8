// A scenario with other flags, as a text that a person typed: --to '--recompute full --tp 4'.
#pragma once

#include <string>

#include "scenario/request/scenario.hpp"

namespace debubble {

// `base` with the flags of `text`, quoted as in a shell; what `text` gives replaces what `base` has. A name that ends
// in .toml (or "-") is a scenario file, which replaces `base` as a whole. Throws InputError C061 at `place`.
[[nodiscard]] ScenarioFlags with_flags(const ScenarioFlags& base, const std::string& text, const std::string& place);

// `base` with every flag that `over` gives.
[[nodiscard]] ScenarioFlags overridden(const ScenarioFlags& base, const ScenarioFlags& over);

}  // namespace debubble
