#include "studies/accuracy/dialect.hpp"

namespace debubble {

const JsonDialect& results_dialect() {
  static constexpr JsonDialect kDialect{
      .what = "results file",
      .description = "docs/accuracy.md",
  };
  return kDialect;
}

}  // namespace debubble
