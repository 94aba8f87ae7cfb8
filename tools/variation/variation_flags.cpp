#include "tools/variation/variation_flags.hpp"

namespace debubble {

void add_variation_flags(CLI::App&, VariationFlags&) {}

VariationScenario check_variation(const VariationFlags&) { return {}; }

std::string repeated_variation_flags(const VariationFlags&) { return {}; }

}  // namespace debubble
