// The sizes a built-in model is measured at, from the flags.
//
//     --microbatch-size 2 --sequence 1024                        one size
//     --sweep microbatch=1,2,4 --sweep seq=1024,2048   six
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/workload/transformer_model.hpp"

namespace debubble {

// In the order of DataType's that can be measured.
inline constexpr std::string_view kMatmulTypes = "bf16|fp16|fp32";

struct SizeFlags {
  std::optional<int> microbatch;
  std::optional<int> sequence;
  std::optional<int> tensor_parallel;
  std::string type = "bf16";
  std::vector<std::string> sweeps;  // "microbatch=1,2,4"
};

// All combinations, the microbatches of one sequence length together. Throws InputError (C002, C006, C007, C012) with
// all that is wrong: numbers below 1, an unknown type, a sweep that is not KEY=LIST, a size given twice.
[[nodiscard]] std::vector<WorkloadSize> workload_sizes(const SizeFlags& flags);

// "gpt-1.3b-b2-s1024-bf16", with "-tp4" where there are several devices: a file name without suffix.
[[nodiscard]] std::string size_name(const std::string& model, const WorkloadSize& size);

}  // namespace debubble
