// --model and --model-size: which transformer is meant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/transformer.hpp"

namespace debubble {

struct ChosenModel {
  TransformerShape shape;
  std::string source;              // citation or file
  std::int64_t longest = 0;        // tokens of the longest sample it is made for; 0: not known
  std::vector<std::string> notes;  // what its file says and the model leaves out
};

// A preset, "gpt" or "llama" without sizes, or a Hugging Face config.json; then the sizes that are given:
// "layers=12,hidden=4096,...". Throws InputError C003 for an unknown name, C002, C006, C007 and C017 for sizes that
// are none.
[[nodiscard]] ChosenModel choose_model(const std::string& model, const std::string& sizes);

struct NamedModel {
  TransformerShape shape;
  std::string source;
};
// A file of a model, not the name of one.
[[nodiscard]] bool names_model_file(const std::string& model);
// All presets: those that the built-in workload can measure, then the others.
[[nodiscard]] std::vector<NamedModel> all_models();

// The keys of --model-size, for help and documents.
[[nodiscard]] std::vector<std::string> model_size_keys();

}  // namespace debubble
