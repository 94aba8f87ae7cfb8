// Flags about the transformer that is modelled; part of every verb that takes a scenario.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace debubble {

// As typed.
struct TransformerFlags {};

void add_transformer_flags(CLI::App& verb, TransformerFlags& flags);

// The flags, checked.
struct TransformerScenario {};

// Throws InputError with everything that is wrong with them.
[[nodiscard]] TransformerScenario check_transformer(const TransformerFlags& flags);

// Those that were given, quoted for a shell, to be repeated in a command that is suggested.
[[nodiscard]] std::string repeated_transformer_flags(const TransformerFlags& flags);

}  // namespace debubble
