#include "sim/core/stage_costs.hpp"

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

}  // namespace debubble
