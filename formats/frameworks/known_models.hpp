// The models of known_models.table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace debubble {

struct KnownModel {
  std::vector<std::string> names;  // "qwen38b", "qwen3/8B"
  std::string sizes;               // for --model llama --model-size, layers first; or a preset's name
  std::int64_t layers = 0;
};

[[nodiscard]] const std::vector<KnownModel>& known_models();

}  // namespace debubble
