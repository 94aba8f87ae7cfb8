// How the layers of a model are cut into consecutive, non-empty stages: the rule is a value, and one function applies
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cost_models/partition/blocks.hpp"
#include "sim/core/profile.hpp"

namespace debubble {

struct MemoryCutJob;

// As --partition takes them.
inline constexpr const char* kBalancedCut = "auto";
inline constexpr const char* kEvenCut = "even";
inline constexpr const char* kMemoryCut = "memory";

struct CutRule {
  enum class How {
    kBalanced,   // the slowest stage is the fastest that there is
    kEven,       // as many blocks on each stage: Megatron-LM's own cut
    kMemory,     // the fastest that fits the devices' memory
    kLayout,     // Megatron-LM's letters
    kFramework,  // by a framework's rule (cost_models/partition/framework_cuts.hpp)
    kTyped,      // layers per stage, as typed
    kLayers      // those of a job that was cut before
  };
  How how = How::kBalanced;
  std::string text = kBalancedCut;  // as --partition takes it
  std::vector<int> layers;          // kLayers: per stage
  // kMemory, by device: what a simulation showed that the order alone does not tell. Empty: nothing yet.
  std::vector<Bytes> set_aside{};
  // kBalanced: whether devices that are not alike get layers as they are fast ("auto" was typed), or equal parts of
  // the model's time.
  bool for_devices = false;
  // The same: the share of its transfers' time that counts as a stage's work, 0 to 1.
  double transfers_counted = 0;

  [[nodiscard]] bool automatic() const { return how == How::kBalanced; }
  // Whether it follows from the job, not from what was typed.
  [[nodiscard]] bool follows_from_job() const { return automatic() || how == How::kMemory; }
};

// Whether numbers or a layout fit, only the number of stages tells, so their text is kept.
[[nodiscard]] CutRule parse_cut_rule(const std::string& text);
[[nodiscard]] CutRule as_cut(std::vector<int> layers);
// "8,8,7": as --partition takes it.
[[nodiscard]] std::string partition_text(const std::vector<int>& partition);

// What a layer weighs in a balance: median forward and whole backward.
[[nodiscard]] Nanoseconds layer_time(const ProfileLayer& layer);
// Its median backward; a missing one is the sum of its halves.
[[nodiscard]] Nanoseconds whole_backward(const ProfileLayer& layer);
// The cheaper of a whole and a split backward.
[[nodiscard]] Nanoseconds least_backward(const ProfileLayer& layer);

// What frameworks' rules ask of a model beside its layers; 0: not known.
struct CutSizes {
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t feed_forward = 0;
  std::int64_t vocabulary = 0;
  int mlp_matrices = 2;  // of a block: 3 where the MLP is gated
  Bytes head_norm = 0;   // weights of the final norm, where it lies in the head's layer
  bool tied = false;     // the head has the embedding's weights
};

// What a rule is applied to.
struct LayersToCut {
  const Profile* profile = nullptr;
  int stages = 1;
  // kBalanced: what every layer takes on each stage; empty: layer_time on all of them.
  std::vector<const std::vector<Nanoseconds>*> times{};
  // With `times`: what `stage` and the next one take in addition where the next one's first layer is `end`.
  std::function<Nanoseconds(int stage, int end)> boundary{};
  const MemoryCutJob* memory = nullptr;  // kMemory; without it that is no rule, but a list that is none
  CutSizes sizes{};                      // kFramework
};

struct LayerCut {
  std::vector<int> layers;   // per stage
  std::vector<Bytes> needs;  // kMemory: by device
  Bytes lacking = 0;         // of the device that lacks most; 0: it fits
};

// Throws InputError: L004 to L007, S061 and S063 for numbers, F003 where the blocks cannot be shared evenly, J030 and
// J034 for a layout; and what framework_cut throws.
[[nodiscard]] LayerCut cut_layers(const CutRule& rule, const LayersToCut& layers);

}  // namespace debubble
