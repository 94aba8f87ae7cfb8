#include "studies/accuracy/dialect.hpp"

namespace debubble {

const JsonDialect& results_dialect() {
  static constexpr JsonDialect kDialect{
      .not_json = "I001",
      .not_utf8 = "I002",
      .key_twice = "I003",
      .too_small = "I004",
      .unknown_key = "I005",
      .missing_key = "I006",
      .wrong_type = "I007",
      .fraction = "I008",
      .too_large = "I009",
      .too_deep = "I010",
      .empty_text = "I011",
      .what = "results file",
      .description = "docs/accuracy.md",
  };
  return kDialect;
}

}  // namespace debubble
