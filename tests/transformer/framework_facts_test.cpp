// What configurations of other frameworks say beside sizes and degrees: formats, changes of a named model, bounds.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

constexpr const char* kRecipeOf8b = R"json("model": "AutoBridge.from_hf_pretrained('meta-llama/Meta-Llama-3-8B')")json";

struct FrameworkFacts {
  std::string text;
  [[nodiscard]] bool has(const std::string& part) const { return contains(text, part); }
};

FrameworkFacts facts_of_config(const Folder& folder, const std::string& tool, const std::string& text) {
  const std::string name = tool == "nemo" && text.starts_with('{') ? "f.json"
                           : tool == "torchtitan"                  ? "f.toml"
                                                                   : "f.yml";
  folder.write(name, text);
  const Outcome outcome = folder.run({"import", "--from", tool, name, "--world-size", "64"});
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  return {outcome.out};
}

FrameworkFacts facts_of_recipe(const Folder& folder, const std::string& assignments) {
  return facts_of_config(folder, "nemo", R"({"assignments": {)" + (kRecipeOf8b + assignments) + R"(,
    "model.seq_length": 8192, "train.global_batch_size": 64, "train.micro_batch_size": 1}})");
}

}  // namespace

TEST_CASE_IN_FOLDER("recipes: the number format, its scales, and lists") {
  CHECK(facts_of_recipe(folder, "").has("dtype = \"bf16\""));
  const FrameworkFacts current =
      facts_of_recipe(folder, R"(, "mixed_precision": "bf16_with_fp8_current_scaling_mixed")");
  CHECK(current.has("dtype = \"fp8\"\n"));
  CHECK(current.has("fp8-recipe = \"tensorwise\"\n"));
  CHECK(facts_of_recipe(folder, R"(, "mixed_precision": "bf16_with_mxfp8_mixed")").has("fp8-recipe = \"mxfp8\"\n"));
  const FrameworkFacts none =
      facts_of_recipe(folder, R"json(, "mixed_precision": "MixedPrecisionConfig(bf16=True, fp8=None)")json");
  CHECK(none.has("dtype = \"bf16\"\n"));
  CHECK_FALSE(none.has("fp8"));
  const FrameworkFacts modules = facts_of_recipe(
      folder, R"(, "model.recompute_granularity": "selective", "model.recompute_modules": ["core_attn", "mlp"])");
  CHECK(modules.has("recompute-modules = \"core_attn,mlp\"\n"));
}

TEST_CASE_IN_FOLDER("layers and predicted tokens that a file changes of the model it names") {
  CHECK(facts_of_recipe(folder, R"(, "model.num_layers": 4)").has("model-size = \"layers=4\"\n"));
  CHECK_FALSE(facts_of_recipe(folder, "").has("model-size"));
  const std::string primus = R"(modules: {pre_trainer: {model: llama2_70B.yaml, overrides: {micro_batch_size: 1,
    global_batch_size: 64, seq_length: 4096, pipeline_model_parallel_size: 4, overlap_param_gather: true,
    num_layers_per_virtual_pipeline_stage: 5}}})";
  const FrameworkFacts chunks = facts_of_config(folder, "nemo", primus);
  CHECK(chunks.has("chunks = 4\n"));  // of 80 layers
  CHECK(chunks.has("zero = 1\n"));
}

TEST_CASE_IN_FOLDER("experts that tensor ranks do not split leave the number of ranks as it is") {
  const FrameworkFacts wide = facts_of_config(folder, "nemo", R"json({"assignments": {
    "model": "AutoBridge.from_hf_pretrained('deepseek-ai/DeepSeek-V3')", "model.tensor_model_parallel_size": 2,
    "model.expert_model_parallel_size": 64, "model.expert_tensor_parallel_size": 1, "model.seq_length": 4096,
    "train.global_batch_size": 64, "train.micro_batch_size": 1}})json");
  CHECK(wide.has("dp = 32\n"));
  CHECK(wide.has("ep = 64\n"));
  CHECK(wide.has("etp = 1\n"));
}

TEST_CASE_IN_FOLDER("windows, schedules and sharding of nanotron and GPT-NeoX") {
  const FrameworkFacts nano =
      facts_of_config(folder, "nanotron", R"(model: {model_config: {num_hidden_layers: 8, hidden_size: 64,
  num_attention_heads: 2, intermediate_size: 128, vocab_size: 100, sliding_window_size: 20}}
parallelism: {dp: 1, tp: 1, pp: 2, pp_engine: afab}
tokens: {micro_batch_size: 1, batch_accumulation_per_replica: 4, sequence_length: 128}
)");
  CHECK(nano.has(",window=20\""));
  CHECK(nano.has("schedule = \"gpipe\"\n"));
  const FrameworkFacts neox =
      facts_of_config(folder, "neox", R"({"num_layers": 8, "hidden_size": 64, "num_attention_heads": 2,
    "seq_length": 128, "train_micro_batch_size_per_gpu": 1, "sliding_window_width": 32,
    "zero_optimization": {"stage": 3}})");
  CHECK(neox.has(",window=32\""));
  CHECK(neox.has("zero = 3\n"));
}

}  // namespace debubble::testing
