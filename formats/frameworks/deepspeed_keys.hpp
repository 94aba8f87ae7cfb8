// Keys of DeepSpeed's JSON that are told apart by name alone, and its optimizers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace debubble {

// At the file's top, and in "zero_optimization", "fp16", "bf16", "offload_optimizer" or "offload_param".
enum class DeepSpeedKey : unsigned char {
  kUsed,     // or not known at the top, where the framework passes over it
  kFree,     // changes neither time nor memory
  kRemoved,  // refused by name
  kOlder,    // a spelling that releases passed over before they checked
  kUnknown   // refused as no key of that section
};
[[nodiscard]] DeepSpeedKey deepspeed_key(std::string_view section, std::string_view key);

// "fp32", "bf16", "fp16" for the names that DeepSpeed knows for them; others as they are.
[[nodiscard]] std::string deepspeed_format(const std::string& name);
[[nodiscard]] std::string deepspeed_lower(std::string text);

struct DeepSpeedOptimizer {
  std::string_view name;   // of DeepSpeed in lower case, of torch.optim as written there
  std::string_view flag;   // of --optimizer; empty where the step is not modelled, and Adam stands for it
  bool with_zero = false;  // without zero_allow_untested_optimizer
  bool momentum = false;   // keeps one more number per weight with a momentum above 0
};
// Nothing where DeepSpeed has no optimizer of that name.
[[nodiscard]] std::optional<DeepSpeedOptimizer> deepspeed_optimizer(const std::string& type);

}  // namespace debubble
