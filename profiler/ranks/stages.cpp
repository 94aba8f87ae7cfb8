#include "profiler/ranks/stages.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "profiler/ranks/block_name.hpp"

namespace debubble {
namespace {

class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  [[nodiscard]] std::size_t first_of(std::size_t member) const {
    while (parent_[member] != member) member = parent_[member];
    return member;
  }
  void join(std::size_t one, std::size_t other) {
    const auto [first, second] = std::minmax({first_of(one), first_of(other)});
    parent_[second] = first;
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

std::vector<std::vector<std::size_t>> stages_of(const std::vector<std::vector<std::string>>& layers) {
  Groups groups(layers.size());
  std::map<std::string, std::size_t> owner;  // of a block: the first recording that has it
  std::vector<std::size_t> without_blocks;
  std::size_t first_with_layers = layers.size();
  for (std::size_t k = 0; k < layers.size(); ++k) {
    if (layers[k].empty()) continue;
    first_with_layers = std::min(first_with_layers, k);
    bool blocks = false;
    for (const std::string& layer : layers[k]) {
      if (!block_name(layer)) continue;
      blocks = true;
      groups.join(owner.emplace(layer, k).first->second, k);
    }
    if (!blocks) without_blocks.push_back(k);
  }
  for (const std::size_t k : without_blocks) groups.join(without_blocks.front(), k);
  for (std::size_t k = 0; k < layers.size(); ++k) {
    if (layers[k].empty()) groups.join(first_with_layers == layers.size() ? 0 : first_with_layers, k);
  }
  std::map<std::size_t, std::vector<std::size_t>> stages;
  for (std::size_t k = 0; k < layers.size(); ++k) stages[groups.first_of(k)].push_back(k);
  std::vector<std::vector<std::size_t>> result;
  for (auto& [first, members] : stages) result.push_back(std::move(members));
  return result;
}

}  // namespace debubble
