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

// A row of hf_families.table: what reads models of these types, as config.json's `model_type` has them ("qwen2
// qwen2_vl").
struct ModelFamily {
  std::string model_types;
  std::string steps;    // empty: it is not modelled
  std::string key;      // of what is not modelled, where the file has it
  std::string missing;  // what there is no model of
};
// In the table's order.
[[nodiscard]] const std::vector<ModelFamily>& model_families_of_files();
[[nodiscard]] const ModelFamily* family_named(std::string_view type);  // null: there is none
void read_family(const ModelFamily& family, const ConfigReading& in);

// A step of rows that is code.
struct FamilyReader {
  const char* name;
  void (*read)(const ConfigReading&);
};
[[nodiscard]] const std::vector<FamilyReader>& llama_readers();
[[nodiscard]] const std::vector<FamilyReader>& expert_readers();
[[nodiscard]] const std::vector<FamilyReader>& gpt_readers();

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

}  // namespace debubble
