#include <algorithm>
#include <string>

#include "cost_models/partition.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

// The embedding before the blocks, and what comes after them, go with the block next to them.
bool is_block(const ProfileLayer& layer) {
  return layer.kind != "embedding" && layer.kind != "head" && layer.kind != "predictor";
}

}  // namespace

std::vector<int> even_partition(const Profile& profile, int stages) {
  const std::vector<ProfileLayer>& layers = profile.layers;
  const auto blocks = static_cast<int>(std::count_if(layers.begin(), layers.end(), is_block));
  if (stages < 1 || blocks < stages || blocks % stages != 0) {
    throw InputError({"F003", "--partition",
                      std::to_string(blocks) + " blocks cannot be shared evenly by " + std::to_string(stages) +
                          (stages == 1 ? " stage" : " stages"),
                      "write --partition auto, or how many layers each stage gets: --partition a,b,c"});
  }
  const auto before = std::find_if(layers.begin(), layers.end(), is_block) - layers.begin();
  const auto after = std::find_if(layers.rbegin(), layers.rend(), is_block) - layers.rbegin();
  std::vector<int> partition(static_cast<std::size_t>(stages), blocks / stages);
  partition.front() += static_cast<int>(before);
  partition.back() += static_cast<int>(after);
  return partition;
}

}  // namespace debubble
