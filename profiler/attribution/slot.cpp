#include "profiler/attribution/slot.hpp"

#include <array>

namespace debubble::attribution {

const char* to_string(Phase phase) {
  constexpr std::array<const char*, kPhases> kNames{"F", "I", "W", "B", "R"};
  return kNames.at(index_of(phase));
}

const char* to_string(Rule rule) {
  constexpr std::array<const char*, kRules> kNames{"explicit", "forward", "shape",     "name",
                                                   "order",    "unsplit", "recompute", "rest"};
  return kNames.at(static_cast<std::size_t>(rule));
}

const char* to_string(Rest rest) {
  constexpr std::array<const char*, kRests> kNames{"optimizer",      "communication",         "copies",
                                                   "outside layers", "outside ranges",        "unlinked backward",
                                                   "unlinked",       "before the first range"};
  return kNames.at(static_cast<std::size_t>(rest));
}

}  // namespace debubble::attribution
