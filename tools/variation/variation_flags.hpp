// Flags about the variation; part of every verb that takes a scenario.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace debubble {

// As typed.
struct VariationFlags {};

void add_variation_flags(CLI::App& verb, VariationFlags& flags);

// The flags, checked.
struct VariationScenario {};

// Throws InputError with everything that is wrong with them.
[[nodiscard]] VariationScenario check_variation(const VariationFlags& flags);

// Those that were given, quoted for a shell, to be repeated in a command that is suggested.
[[nodiscard]] std::string repeated_variation_flags(const VariationFlags& flags);

}  // namespace debubble
