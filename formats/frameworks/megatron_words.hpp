// MegatronWords: what other configurations say by Megatron-LM's arguments, which have one reader.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "formats/frameworks/framework_scenario.hpp"
#include "formats/text/shell.hpp"

namespace debubble {

class MegatronWords {
 public:
  MegatronWords(ConfigTree& tree, const FrameworkRequest& request) : tree_(tree), request_(request) {}

  // "--name", "--name value".
  void flag(const std::string& name) { words_.push_back(shell_quoted("--" + name)); }
  void argument(const std::string& name, const std::string& value);
  void argument(const std::string& name, std::int64_t value) { argument(name, std::to_string(value)); }
  // As a command line has them.
  void add(const std::vector<std::string>& words);
  // The value under `path` as an argument: true is a bare flag, false and null are none, a list is several words.
  // Interpolations of the environment count as their defaults, which is said; without one they are refused (F001).
  void copy(const std::string& path, const std::string& name);
  // What the reader of arguments does not know stays unasked; what has no effect there is not looked into.
  // A list of plain values: "--name a b". Lists of lists are the layers of stages ("Ett|ttL"), a list of 0 and 1 the
  // blocks with experts.
  void values(const std::string& name, const JsonValue& list);
  // Takes back what an earlier section said.
  void drop(const std::string& name);
  [[nodiscard]] bool has(const std::string& name) const;
  // The cut, as --partition takes it, of a framework that does not cut as Megatron-LM does.
  void cut(std::string partition) { cut_ = std::move(partition); }
  void find(std::string text) { findings_.push_back(std::move(text)); }

  // `world`: ranks, as far as the file says; 0: it does not. `known_model`: of a preset's name, of which the arguments
  // may change layers and predicted tokens; empty: they have the sizes. With --model these are not looked at.
  [[nodiscard]] FrameworkScenario scenario(std::int64_t world, const std::string& known_model);

 private:
  [[nodiscard]] std::string value_after(const std::string& word) const;
  [[nodiscard]] std::string value_text(const JsonValue& value, const std::string& path);

  ConfigTree& tree_;
  const FrameworkRequest& request_;
  std::vector<std::string> words_;
  std::vector<std::string> findings_;
  std::string cut_;
};

// "torch.bfloat16" as Megatron-LM writes it, "bf16"; another word as it is.
[[nodiscard]] std::string dtype_word(std::string text);
// With defaults in place of the environment's variables.
[[nodiscard]] std::string resolved_word(const std::string& text);
// "meta-llama/Meta-Llama-3-70B", "llama3_70B.yaml": the preset of that model, or its sizes as
// for --model llama --model-size; empty: it is not known.
[[nodiscard]] std::string preset_of_model_name(std::string name);

}  // namespace debubble
