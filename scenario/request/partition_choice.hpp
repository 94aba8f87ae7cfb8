// --partition, parsed: how the layers are to be cut into stages. Whether numbers or a layout fit, only the number of
// stages tells, so their text is kept.
#pragma once

#include <string>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

struct PartitionChoice {
  enum class How {
    kAutomatic,  // as evenly as they can be
    kEven,       // as many blocks on each stage
    kMemory,     // the fastest that fits the devices' memory
    kLayout,     // Megatron-LM's letters
    kCounts,     // layers per stage, as typed
    kLayers      // those of a job that was cut before
  };
  How how = How::kAutomatic;
  std::string text = "auto";  // as --partition takes it
  std::vector<int> layers;    // kLayers: per stage
  // kMemory, by device: what a simulation showed that the order alone does not tell. Empty: nothing yet.
  std::vector<Bytes> set_aside{};
  // kAutomatic: whether devices that are not alike get layers as they are fast ("auto" was typed), or equal parts of
  // the model's time.
  bool for_devices = false;
  // The same: the share of its transfers' time that counts as a stage's work, 0 to 1 (scenario/job/wire_cut.hpp).
  double transfers_counted = 0;

  [[nodiscard]] bool automatic() const { return how == How::kAutomatic; }
  // Whether it follows from the job, not from what was typed.
  [[nodiscard]] bool follows_from_job() const { return automatic() || how == How::kMemory; }
};

[[nodiscard]] PartitionChoice parse_partition_choice(const std::string& text);
[[nodiscard]] PartitionChoice as_cut(std::vector<int> layers);

// "8,8,7": as --partition takes it.
[[nodiscard]] std::string partition_text(const std::vector<int>& partition);

}  // namespace debubble
