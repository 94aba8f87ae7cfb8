#include "scenario/request/partition_choice.hpp"

#include <utility>

#include "cost_models/layout.hpp"

namespace debubble {

PartitionChoice parse_partition_choice(const std::string& text) {
  using How = PartitionChoice::How;
  if (text == "auto") {
    PartitionChoice choice;
    choice.for_devices = true;
    return choice;
  }
  if (text == "memory") return {How::kMemory, text, {}};
  return {text == "even" ? How::kEven : is_layout(text) ? How::kLayout : How::kCounts, text, {}};
}

PartitionChoice as_cut(std::vector<int> layers) {
  std::string text = partition_text(layers);
  return {PartitionChoice::How::kLayers, std::move(text), std::move(layers)};
}

std::string partition_text(const std::vector<int>& partition) {
  std::string text;
  for (const int layers : partition) text += (text.empty() ? "" : ",") + std::to_string(layers);
  return text;
}

}  // namespace debubble
