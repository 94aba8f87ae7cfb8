// A Hugging Face config.json as the cost model needs it: more families than the built-in workload computes, and notes
// where the file says something that may cost time or memory and is not modelled.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/transformer.hpp"

namespace debubble {

struct ModelFile {
  TransformerShape shape;
  std::int64_t longest = 0;        // tokens of the longest sample it was made for; 0: not said
  std::vector<std::string> notes;  // what is in the file and not in the model, in sentences
};

// The families are in hf_families.table; of a model that sees or hears the text part. Throws InputError (P001 to P022)
// for what is no config, another type, or missing and impossible sizes, F033 for a part of a model that has no cost
// model.
[[nodiscard]] ModelFile read_hf_config(std::string_view text, const std::string& name);

}  // namespace debubble
