// Sections of a configuration whose keys are Megatron-Core's names, as Megatron-LM's arguments: what NeMo,
// Megatron-Bridge, Primus, FlagScale and others write has one reader.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "formats/frameworks/megatron_words.hpp"

namespace debubble {

class SectionWords {
 public:
  SectionWords(ConfigTree& tree, const FrameworkRequest& request) : words(tree, request), tree_(tree) {}

  // The plain members of that object; keys that are no argument stay unasked.
  void copy_section(const std::string& section);
  // Those of objects inside, too, whatever these are called: a key stands for itself (FlagScale). A size that comes
  // twice with different values is refused (F001). "": the whole file.
  void copy_leaves(const std::string& section);
  // "bf16_with_fp8_current_scaling_mixed", "16-mixed", a call; the first counts.
  void read_precision(const std::string& text);
  // The tools' own default, where the file names no format: bf16. Megatron-LM's is fp32.
  void default_formats(const std::string& prefix);
  // Products in 4 bits are not modelled: 8 bits are the nearest that is. The key is for what is said of it.
  void count_four_bits(const std::string& path);
  // A key of such a file as Megatron-LM calls the argument.
  [[nodiscard]] static std::string argument_of(const std::string& key);

  MegatronWords words;
  bool formats_read = false;

 private:
  void read_block(const std::string& prefix);
  void copy_leaf(const JsonValue& leaf, const std::string& path);

  ConfigTree& tree_;
  std::map<std::string, std::pair<std::string, std::string>> leaves_;  // by argument: path and value
};

// What is said of a model that a file names, and what stands for it.
[[nodiscard]] std::string known_model_text(const std::string& known);

}  // namespace debubble
