#include "tools/transformer/transformer_flags.hpp"

namespace debubble {

void add_transformer_flags(CLI::App&, TransformerFlags&) {}

TransformerScenario check_transformer(const TransformerFlags&) { return {}; }

std::string repeated_transformer_flags(const TransformerFlags&) { return {}; }

}  // namespace debubble
