#include "sim/core/profile.hpp"

#include <stdexcept>

namespace debubble {

const char* to_string(GradSplit split) {
  switch (split) {
    case GradSplit::kNone:
      return "none";
    case GradSplit::kRange:
      return "range";
    case GradSplit::kShape:
      return "shape";
    case GradSplit::kName:
      return "name";
    case GradSplit::kOrder:
      return "order";
  }
  throw std::logic_error("unknown GradSplit");
}

}  // namespace debubble
