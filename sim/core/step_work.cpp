#include "sim/core/step_work.hpp"

#include <array>
#include <cstddef>

#include "sim/core/at.hpp"

namespace debubble {

const char* to_string(StepTask::Kind kind) {
  constexpr std::array<const char*, 6> kNames{"gradient_reduce", "embedding_reduce", "parameter_gather",
                                              "global_norm",     "optimizer",        "other"};
  return at(kNames, kind);
}

}  // namespace debubble
