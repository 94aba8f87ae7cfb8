#include "sim/core/assumption.hpp"

namespace debubble {

const char* to_string(Source source) {
  switch (source) {
    case Source::kMeasured:
      return "measured";
    case Source::kPublished:
      return "published";
    case Source::kModelled:
      return "modelled";
    case Source::kDefault:
      return "default";
    case Source::kGiven:
      return "given";
  }
  return "default";
}

std::string label(const Assumption& one) { return one.meaning.empty() ? one.key : one.key + ": " + one.meaning; }

std::string full_text(const Assumption& one) {
  return one.citation.empty() ? one.amount : one.amount + " (" + one.citation + ")";
}

}  // namespace debubble
