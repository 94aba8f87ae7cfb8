#include "sim/core/rank_layout.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "sim/core/at.hpp"

namespace debubble {

const char* to_string(Dimension dimension) {
  constexpr std::array<const char*, kDimensions> kNames{"tp", "cp", "ep", "dp", "pp"};
  return at(kNames, dimension);
}

int group_size(const Parallelism& sizes, Dimension dimension) {
  switch (dimension) {
    case Dimension::kTensor:
      return sizes.tensor;
    case Dimension::kContext:
      return sizes.context;
    case Dimension::kExpert:
      return sizes.expert;
    case Dimension::kData:
      return sizes.data;
    case Dimension::kPipeline:
      return sizes.pipeline;
  }
  return 1;
}

std::int32_t RankLayout::device(int tensor, int context, int data, int pipeline) const {
  std::int32_t rank = 0;
  std::int32_t stride = 1;
  for (const Dimension dimension : order) {
    int place = 0;
    if (dimension == Dimension::kTensor) place = tensor;
    if (dimension == Dimension::kContext) place = context;
    if (dimension == Dimension::kData) place = data;
    if (dimension == Dimension::kPipeline) place = pipeline;
    rank += stride * place;
    stride *= group_size(sizes, dimension);
  }
  return devices.empty() ? rank : at(devices, rank);
}

std::vector<std::int32_t> RankLayout::group(Dimension dimension, int tensor, int context, int data,
                                            int pipeline) const {
  std::vector<std::int32_t> found;
  if (dimension == Dimension::kExpert) {
    // Experts are split over consecutive data ranks, context ranks first where there are any.
    const int ranks = sizes.context * sizes.data;
    const int first = (data * sizes.context + context) / std::max(1, sizes.expert) * std::max(1, sizes.expert);
    for (int k = first; k < first + sizes.expert && k < ranks; ++k) {
      found.push_back(device(tensor, k % sizes.context, k / sizes.context, pipeline));
    }
    return found;
  }
  for (int k = 0; k < group_size(sizes, dimension); ++k) {
    found.push_back(device(dimension == Dimension::kTensor ? k : tensor, dimension == Dimension::kContext ? k : context,
                           dimension == Dimension::kData ? k : data, dimension == Dimension::kPipeline ? k : pipeline));
  }
  return found;
}

}  // namespace debubble
