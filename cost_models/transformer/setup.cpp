#include "cost_models/transformer/setup.hpp"

#include <array>

namespace debubble {

const char* to_string(NumberFormat format) {
  constexpr std::array<const char*, 4> kNames{"fp32", "fp16", "bf16", "fp8"};
  return kNames.at(static_cast<std::size_t>(format));
}

const char* to_string(Fp8Recipe recipe) {
  constexpr std::array<const char*, 4> kNames{"delayed", "tensorwise", "blockwise", "mxfp8"};
  return kNames.at(static_cast<std::size_t>(recipe));
}

int bytes_of(NumberFormat format) {
  constexpr std::array<int, 4> kSizes{4, 2, 2, 1};
  return kSizes.at(static_cast<std::size_t>(format));
}

}  // namespace debubble
