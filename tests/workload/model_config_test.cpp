#include "formats/model/model_config.hpp"
#include "sim/core/model_presets.hpp"

#include "tests/support/test.hpp"

namespace debubble {
namespace {

std::int64_t all_parameters(const TransformerShape& shape) {
  const std::int64_t twice = shape.tied_embedding ? shape.vocabulary * shape.hidden : 0;
  return shape.layers * block_parameters(shape) + embedding_parameters(shape) + head_parameters(shape) - twice;
}

TEST_CASE("presets have the parameters that were published") {
  // Exact counts are those of the released weights; rounded ones those of the GPT-3 paper.
  CHECK(all_parameters(model_preset("gpt2-small")) == 124'439'808);
  CHECK(all_parameters(model_preset("gpt2-medium")) == 354'823'168);
  CHECK(all_parameters(model_preset("gpt2-large")) == 774'030'080);
  CHECK(all_parameters(model_preset("gpt2-xl")) == 1'557'611'200);
  CHECK(all_parameters(model_preset("llama-7b")) == 6'738'415'616);
  CHECK(all_parameters(model_preset("llama-13b")) == 13'015'864'320);
  CHECK(all_parameters(model_preset("llama-70b")) == 68'976'648'192);
  CHECK(all_parameters(model_preset("llama-8b")) == 8'030'261'248);
  CHECK(all_parameters(model_preset("llama3-70b")) == 70'553'706'496);
  CHECK(all_parameters(model_preset("mistral-7b")) == 7'241'732'096);
  CHECK(all_parameters(model_preset("qwen2-7b")) == 7'615'616'512);
  const auto billions = [](const char* name) { return static_cast<double>(all_parameters(model_preset(name))) / 1e9; };
  CHECK(billions("gpt-1.3b") == doctest::Approx(1.3).epsilon(0.02));
  CHECK(billions("gpt-2.7b") == doctest::Approx(2.7).epsilon(0.02));
  CHECK(billions("gpt-6.7b") == doctest::Approx(6.7).epsilon(0.02));
  CHECK(billions("gpt-13b") == doctest::Approx(13.0).epsilon(0.02));
  CHECK(billions("gpt-175b") == doctest::Approx(175.0).epsilon(0.02));
}

TEST_CASE("presets have different names and say where their sizes come from") {
  std::set<std::string> names;
  for (const ModelPreset& preset : model_presets()) {
    CHECK(names.insert(preset.shape.name).second);
    CHECK_FALSE(preset.source.empty());
    CHECK(model_preset(preset.shape.name) == preset.shape);
  }
  CHECK(names.size() == 18);
}

TEST_CASE("an unknown preset is answered with the closest name and all names") {
  const std::string text = problems_of([] { (void)model_preset("lama-8b"); });
  CHECK(contains(text, "C003"));
  CHECK(contains(text, "did you mean \"llama-8b\"?"));
  CHECK(contains(text, "gpt-175b"));
  CHECK(contains(problems_of([] { (void)model_preset("x"); }), "config.json"));
}

const std::string kGpt2 = R"({
  "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "bos_token_id": 50256,
  "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
  "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
  "resid_pdrop": 0.1, "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
  "summary_type": "cls_index", "summary_use_proj": true,
  "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 50257
})";

const std::string kLlama = R"({
  "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 128000,
  "eos_token_id": 128001, "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
  "intermediate_size": 14336, "max_position_embeddings": 8192, "model_type": "llama", "num_attention_heads": 32,
  "num_hidden_layers": 32, "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": null,
  "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.40.0",
  "use_cache": true, "vocab_size": 128256
})";

const std::string kQwen = R"({
  "architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "hidden_act": "silu", "hidden_size": 3584,
  "initializer_range": 0.02, "intermediate_size": 18944, "max_position_embeddings": 131072, "max_window_layers": 28,
  "model_type": "qwen2", "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
  "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "sliding_window": 131072, "tie_word_embeddings": false,
  "use_cache": true, "use_sliding_window": false, "vocab_size": 152064
})";

const std::string kNeox = R"({
  "hidden_act": "gelu_new", "hidden_size": 512, "intermediate_size": 2048, "model_type": "gpt_neox",
  "num_attention_heads": 8, "num_hidden_layers": 6, "rotary_pct": 1.0, "rotary_emb_base": 10000,
  "use_parallel_residual": false, "vocab_size": 50304
})";

TransformerShape read(const std::string& text, const std::string& name) { return read_model_config(text, name); }

TEST_CASE("published configs give the presets' shapes") {
  CHECK(read(kGpt2, "gpt2-small") == model_preset("gpt2-small"));
  CHECK(read(kLlama, "llama-8b") == model_preset("llama-8b"));
  CHECK(read(kQwen, "qwen2-7b") == model_preset("qwen2-7b"));
  const std::string mistral =
      replaced(replaced(replaced(kLlama, "\"llama\"", "\"mistral\""), "500000.0", "10000.0"), "128256", "32000");
  CHECK(read(mistral, "mistral-7b") == model_preset("mistral-7b"));
}

TEST_CASE("keys that real configs carry and that change nothing pass") {
  const std::string carried = replaced(kQwen, "{", R"({"use_mrope": false, "max_sequence_length": 2048, )");
  CHECK(read(carried, "qwen2-7b") == model_preset("qwen2-7b"));
  CHECK(read(replaced(kGpt2, "\"model_type\"", R"("_num_labels": 1, "model_type")"), "gpt2-small") ==
        model_preset("gpt2-small"));
  const auto turned = [] { (void)read(replaced(kQwen, "{", R"({"use_mrope": true, )"), "qwen2-7b"); };
  CHECK(contains(problems_of(turned), "error[W012]"));
}

TEST_CASE("a GPT-NeoX config without its own arrangement of the block is a GPT with rotary positions") {
  const TransformerShape shape = read(kNeox, "neox");
  CHECK(shape.layers == 6);
  CHECK(shape.head_size == 64);
  CHECK(shape.positions == 0);
  CHECK(shape.norm == NormKind::kLayerNorm);
  CHECK(shape.biases);
  CHECK_FALSE(shape.gated);
  CHECK_FALSE(shape.tied_embedding);
}

TEST_CASE("sizes that a config may leave out follow the library's defaults") {
  CHECK(read(replaced(kGpt2, "\"n_ctx\": 1024", "\"n_inner\": 1000"), "m").feed_forward == 1000);
  CHECK(read(replaced(kLlama, "\"num_key_value_heads\": 8, ", ""), "m").kv_heads == 32);
  CHECK(read(replaced(kLlama, "\"use_cache\": true", "\"head_dim\": 256"), "m").head_size == 256);
  CHECK(read(replaced(kLlama, "\"use_cache\": true", "\"mlp_bias\": null"), "m") == read(kLlama, "m"));
  CHECK(read(replaced(kLlama, "\"rope_theta\": 500000.0", "\"rope_parameters\": {\"rope_theta\": 3e4}"), "m")
            .rotary_base == 3e4);
  CHECK(read(replaced(kLlama, "\"rope_theta\": 500000.0, ", ""), "m").rotary_base == 1e4);
  const std::string biased =
      replaced(kLlama, "\"attention_bias\": false", "\"attention_bias\": true, \"mlp_bias\": true");
  CHECK(read(biased, "m").biases);
}

// What is said about a config after one edit.
std::string complaint(const std::string& config, const std::string& from, const std::string& to) {
  return problems_of([&] { (void)read(replaced(config, from, to), "config.json"); });
}

bool says(const std::string& text, const std::string& part) {
  const bool found = contains(text, part);
  if (!found) MESSAGE("it says: ", text);
  return found;
}

TEST_CASE("what is not a model config, or another family, is refused") {
  CHECK(says(problems_of([] { (void)read("[1]", "config.json"); }), "P010"));
  CHECK(says(problems_of([] { (void)read("{}", "config.json"); }), "\"model_type\" is missing"));
  CHECK(says(problems_of([] { (void)read("{\"a\"", "config.json"); }), "P001"));
  CHECK(says(complaint(kLlama, "\"llama\"", "\"mixtral\""), "W012"));
  CHECK(says(complaint(kLlama, "\"llama\"", "7"), "P007"));
}

TEST_CASE("missing and impossible sizes are all named") {
  const std::string two =
      complaint(kLlama, "\"num_hidden_layers\": 32, \"num_key_value_heads\": 8", "\"num_key_value_heads\": 5");
  CHECK(says(two, "error[P006]: \"num_hidden_layers\" is missing"));
  CHECK(says(two, "error[P012]: 5 key/value heads cannot serve 32 heads evenly"));
  CHECK(says(complaint(kGpt2, "\"n_layer\": 12", "\"n_layer\": 0"), "P004"));
  CHECK(says(complaint(kGpt2, "\"n_layer\": 12", "\"n_layer\": 1e3"), "P007"));
  CHECK(says(complaint(kGpt2, "\"n_layer\": 12", "\"n_layer\": 99999999999999999999"), "P004"));
  CHECK(says(complaint(kGpt2, "\"n_head\": 12", "\"n_head\": 11"), "11 heads do not share 768 numbers evenly"));
  CHECK(says(complaint(kGpt2, "\"n_head\": 12", "\"n_head\": 769"), "P012"));
  CHECK(says(complaint(kLlama, "500000.0", "-1.0"), "\"rope_theta\" must be a number above 0"));
  CHECK(says(complaint(kLlama, "\"rope_scaling\": null", "\"rope_parameters\": 3"), "P007"));
  CHECK(says(complaint(kLlama, "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": 0"), "P007"));
  CHECK(says(complaint(kQwen, "\"num_key_value_heads\": 4,", ""), "P006"));
}

TEST_CASE("what the workload does not compute is refused, never ignored") {
  const auto refused = [](const std::string& config, const std::string& from, const std::string& to) {
    return says(complaint(config, from, to), "W012");
  };
  CHECK(refused(kGpt2, "\"gelu_new\"", "\"relu\""));
  CHECK(refused(kGpt2, "\"gelu_new\"", "\"gelu\""));
  CHECK(refused(kGpt2, "\"n_ctx\": 1024", "\"scale_attn_weights\": false"));
  CHECK(refused(kGpt2, "\"n_ctx\": 1024", "\"scale_attn_by_inverse_layer_idx\": true"));
  CHECK(refused(kGpt2, "\"n_ctx\": 1024", "\"reorder_and_upcast_attn\": true"));
  CHECK(refused(kGpt2, "\"n_ctx\": 1024", "\"add_cross_attention\": true"));
  CHECK(refused(kLlama, "\"attention_bias\": false", "\"attention_bias\": true"));
  CHECK(refused(kLlama, "\"use_cache\": true", "\"quantization_config\": {\"bits\": 4}"));
  CHECK(refused(kLlama, "\"use_cache\": true", "\"is_encoder_decoder\": true"));
  CHECK(refused(kLlama, "\"use_cache\": true", "\"pruned_heads\": {\"1\": [2]}"));
  CHECK(refused(kLlama, "\"use_cache\": true", "\"layer_types\": [\"full_attention\", \"sliding_attention\"]"));
  CHECK(refused(kQwen, "\"use_sliding_window\": false", "\"use_sliding_window\": true"));
  const std::string mistral = replaced(kLlama, "\"llama\"", "\"mistral\"");
  CHECK(refused(mistral, "\"use_cache\": true", "\"sliding_window\": 4096"));
  CHECK(complaint(mistral, "\"use_cache\": true", "\"sliding_window\": null").empty());
  CHECK(refused(kNeox, "\"use_parallel_residual\": false, ", ""));
  CHECK(refused(kNeox, "\"rotary_pct\": 1.0, ", ""));
}

TEST_CASE("keys that nobody knows are named, with the key that was meant") {
  CHECK(says(complaint(kLlama, "\"use_cache\": true", "\"use_moe\": true"), "error[P005]: unknown key \"use_moe\""));
  const std::string text = complaint(kLlama, "\"num_key_value_heads\"", "\"num_key_value_head\"");
  CHECK(says(text, "did you mean \"num_key_value_heads\"?"));
}

}  // namespace
}  // namespace debubble
