#include "sim/core/assumption.hpp"

#include <array>

#include "sim/core/at.hpp"

namespace debubble {

const char* to_string(Source source) {
  return at(std::array{"measured", "published", "modelled", "default", "given"}, source);
}

std::string label(const Assumption& one) { return one.meaning.empty() ? one.key : one.key + ": " + one.meaning; }

std::string full_text(const Assumption& one) {
  return one.citation.empty() ? one.amount : one.amount + " (" + one.citation + ")";
}

}  // namespace debubble
