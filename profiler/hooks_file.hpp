// The sizes file of debubble_hooks, `hooks-RANK-PID.json`: what Python knows of a model's layers and CUPTI cannot see.
//
//     {"schema": "debubble.hooks/1", "model": "GPT", "dtype": "bf16", "microbatch_size": 4, ...
//      "layers": [{"name": "blocks.0", "activation_bytes": 68104, "weight_grad_held_bytes": 36864, ...}]}
//
// docs/profiling.md describes every key.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/attribution/attribution.hpp"

namespace debubble {

struct HooksFile {
  std::string model;                 // class of the root module; empty when none ran
  std::string dtype;                 // "bf16", ...; empty likewise
  std::int64_t microbatch_size = 0;  // 0: unknown
  std::int64_t sequence_length = 0;  // 0: none
  std::int64_t rank = 0;
  std::int64_t steps = 0;
  bool complete = true;  // false: the script did not end well
  std::string torch;
  std::map<std::string, LayerFacts> layers;
  std::vector<std::string> notes;
};

// Strict: unknown keys, wrong types, negative or overflowing numbers, missing fields are errors, all at once (P001 to
// P022).
[[nodiscard]] HooksFile read_hooks_file(std::string_view text, const std::string& name);

// Facts of several ranks as one. Layers of one name are the same layer: the largest of each size counts.
[[nodiscard]] std::map<std::string, LayerFacts> merged_facts(const std::vector<HooksFile>& files);

}  // namespace debubble
