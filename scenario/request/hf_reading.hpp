// What the readers of Hugging Face model families share. Internal to hf_config.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/model/config_reader.hpp"
#include "scenario/request/hf_config.hpp"

namespace debubble {

// What one family's reader works on.
struct ConfigReading {
  ConfigReader& reader;
  ModelFile& file;
  ProblemList& problems;

  [[nodiscard]] TransformerShape& shape() const { return file.shape; }
  void note(std::string text) const { file.notes.push_back(std::move(text)); }
  // F033: the file says something that has no cost model.
  void refuse(std::string_view key, const std::string& what) const;
  // Keys that change neither time nor memory: "seq_aux n_group".
  void pass(std::string_view keys) const;
  // A size that may be 0, and is where nothing is said.
  [[nodiscard]] std::int64_t size_or_none(std::string_view key) const;
  // The first of two names that the file has.
  [[nodiscard]] std::int64_t size_of(std::string_view key, std::string_view other) const;
};

// What reads models of these types, as config.json's `model_type` has them: "qwen2 qwen2_vl".
struct ModelFamily {
  const char* model_types;
  void (*read)(const ConfigReading&);  // null: it is not modelled
  const char* key = "model_type";      // of what is not modelled, where the file has it
  const char* missing = "";            // what there is no model of
};

void read_activation(const ConfigReading& in, std::string_view key, const char* fallback);
// What a family's class has where its file says nothing: published files leave that out. 0: the file must say it.
struct ClassSizes {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;   // 0: as many as heads
  std::int64_t head_size = 0;  // 0: width / heads
  std::int64_t vocabulary = 0;
};
// Layers, width, heads, vocabulary, positions by the names that most families have.
void read_common_sizes(const ConfigReading& in, const ClassSizes& of_class = {});
void read_rotary(const ConfigReading& in);
// LLaMA and what is built like it: no biases, RMSNorm, a gated MLP.
void read_llama_like(const ConfigReading& in, const char* activation = "silu", const ClassSizes& of_class = {});
// mlp_bias and attention_bias, which is of all four projections.
void read_llama_biases(const ConfigReading& in);

// Which blocks have a window: "layer_types" decides where there is one, else every `full_every`-th sees all (0: none
// does). `size`: tokens where the file has none; 0: then there is no window.
struct WindowRule {
  std::int64_t full_every = 0;
  std::int64_t size = 0;
  const char* key = "sliding_window";
  bool used = true;
};
void read_window(const ConfigReading& in, const WindowRule& rule = {});
// Qwen's: "use_sliding_window" switches it on, behind the first "max_window_layers".
void read_switched_window(const ConfigReading& in);

constexpr std::int64_t kMostConfigLayers = 10'000;
// The model's blocks one by one, to be changed and set again; none of a model of more than that, which is refused.
[[nodiscard]] std::vector<BlockKind> blocks_of(const TransformerShape& shape);
void set_blocks(const std::vector<BlockKind>& blocks, TransformerShape& shape);
// Blocks named by number have experts, or have none.
void set_expert_blocks(const ConfigReading& in, std::string_view key, bool experts);

void pass_router_constants(const ConfigReading& in);

// Tables of families, by where they are read.
[[nodiscard]] const std::vector<ModelFamily>& llama_families();
[[nodiscard]] const std::vector<ModelFamily>& expert_families();
[[nodiscard]] const std::vector<ModelFamily>& gpt_families();
[[nodiscard]] const std::vector<ModelFamily>& refused_families();

}  // namespace debubble
