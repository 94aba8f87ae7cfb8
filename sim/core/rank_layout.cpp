#include "sim/core/rank_layout.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "sim/core/at.hpp"

namespace debubble {

const char* to_string(Dimension dimension) {
  constexpr std::array<const char*, kDimensions> kNames{"tp", "cp", "ep", "dp", "pp", "etp"};
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
    case Dimension::kExpertTensor:
      return std::max(1, sizes.expert_tensor);
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

std::int32_t RankLayout::device_of_stage(int rank, int pipeline) const {
  const int outer = rank / sizes.tensor;
  return device(rank % sizes.tensor, outer % sizes.context, outer / sizes.context, pipeline);
}

std::vector<std::int32_t> RankLayout::group(Dimension dimension, int tensor, int context, int data,
                                            int pipeline) const {
  std::vector<std::int32_t> found;
  if (dimension == Dimension::kExpert || dimension == Dimension::kExpertTensor) {
    const int split = sizes.split_of_expert();
    const int stride = dimension == Dimension::kExpert ? split : 1;
    const int count = dimension == Dimension::kExpert ? std::max(1, sizes.expert) : split;
    const int ranks = sizes.tensor * sizes.context * sizes.data;
    const int rank = tensor + sizes.tensor * (context + sizes.context * data);
    const int first = rank / (stride * count) * (stride * count) + rank % stride;
    for (int k = 0; k < count && first + k * stride < ranks; ++k) {
      found.push_back(device_of_stage(first + k * stride, pipeline));
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
