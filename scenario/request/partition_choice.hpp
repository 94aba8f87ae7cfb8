// --partition, parsed: how the layers are to be cut into stages. Whether numbers or a layout fit, only the number of
// stages tells, so their text is kept.
#pragma once

#include <string>
#include <vector>

namespace debubble {

struct PartitionChoice {
  enum class How {
    kAutomatic,  // as evenly as they can be
    kEven,       // as many blocks on each stage
    kLayout,     // Megatron-LM's letters
    kCounts,     // layers per stage, as typed
    kLayers      // those of a job that was cut before
  };
  How how = How::kAutomatic;
  std::string text = "auto";  // as --partition takes it
  std::vector<int> layers;    // kLayers: per stage

  [[nodiscard]] bool automatic() const { return how == How::kAutomatic; }
};

[[nodiscard]] PartitionChoice parse_partition_choice(const std::string& text);
[[nodiscard]] PartitionChoice as_cut(std::vector<int> layers);

// "8,8,7": as --partition takes it.
[[nodiscard]] std::string partition_text(const std::vector<int>& partition);

}  // namespace debubble
