// Hugging Face configs: sizes of every family, and notes for what costs and is not modelled.
#include "scenario/request/hf_config.hpp"

#include "scenario/request/model_choice.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

// Sizes of the released config.json files of DeepSeek-V3 and Mixtral-8x7B, and of Gemma-7B.
constexpr const char* kDeepSeek = R"({"model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168,
  "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048,
  "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1, "first_k_dense_replace": 3,
  "moe_layer_freq": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
  "v_head_dim": 128, "vocab_size": 129280, "max_position_embeddings": 163840, "hidden_act": "silu",
  "num_nextn_predict_layers": 1, "n_group": 8, "topk_group": 4, "scoring_func": "sigmoid", "topk_method": "noaux_tc",
  "norm_topk_prob": true, "routed_scaling_factor": 2.5, "ep_size": 1, "rope_theta": 10000,
  "tie_word_embeddings": false, "attention_bias": false, "rms_norm_eps": 1e-6})";
constexpr const char* kMixtral = R"({"model_type": "mixtral", "num_hidden_layers": 32, "hidden_size": 4096,
  "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "num_local_experts": 8,
  "num_experts_per_tok": 2, "vocab_size": 32000, "max_position_embeddings": 32768, "hidden_act": "silu",
  "sliding_window": null, "rope_theta": 1000000.0, "router_aux_loss_coef": 0.02, "output_router_logits": false})";
constexpr const char* kGemma = R"({"model_type": "gemma", "num_hidden_layers": 28, "hidden_size": 3072,
  "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 256, "intermediate_size": 24576,
  "vocab_size": 256000, "max_position_embeddings": 8192, "hidden_act": "gelu_pytorch_tanh"})";

std::string with(std::string text, const std::string& member) { return text.insert(1, member + ", "); }

std::string config_problems(const std::string& text) {
  return problems_of([&] { (void)read_hf_config(text, "config.json"); });
}

}  // namespace

TEST_CASE("published configs give the presets' sizes") {
  for (const auto& [text, name] : {std::pair{kDeepSeek, "deepseek-v3"}, std::pair{kMixtral, "mixtral-8x7b"}}) {
    const char* const listed = name;
    CAPTURE(listed);
    const ModelFile file = read_hf_config(text, name);
    CHECK(file.notes.empty());
    const TransformerShape preset = choose_model(name, "").shape;
    CHECK(file.shape == preset);
  }
}

TEST_CASE("gemma: wide heads, a gated GELU and a tied embedding") {
  const ModelFile file = read_hf_config(kGemma, "gemma-7b");
  CHECK(file.notes.empty());
  CHECK(file.longest == 8192);
  CHECK(file.shape.tied_embedding);
  CHECK(file.shape.gated);
  CHECK(file.shape.activation == ActivationKind::kGelu);
  // The Gemma report (2024), table 2: 7,751,248,896 beside the embedding.
  CHECK(model_parameters(file.shape) == 7'751'248'896 + std::int64_t{256000} * 3072);
}

TEST_CASE("unknown keys are named, never guessed, harmless ones pass") {
  const ModelFile odd = read_hf_config(with(kGemma, R"("moe_of_my_own": 4, "torch_dtype": "bfloat16",
    "auto_map": {"AutoModel": "a.B"})"),
                                       "x");
  REQUIRE(odd.notes.size() == 1);
  CHECK(contains(odd.notes[0], "moe_of_my_own"));
  CHECK(odd.shape.experts == 0);
  const ModelFile quantised = read_hf_config(with(kGemma, R"("quantization_config": {"bits": 4})"), "x");
  REQUIRE(quantised.notes.size() == 1);
  CHECK(contains(quantised.notes[0], "--dtype"));
}

TEST_CASE("a window of every block") {
  std::string text = kMixtral;
  text.replace(text.find("\"sliding_window\": null"), 22, "\"sliding_window\": 4096");
  const ModelFile file = read_hf_config(text, "x");
  CHECK(file.notes.empty());
  CHECK(file.shape.window == 4096);
  CHECK(file.shape.full_every == 0);
}

TEST_CASE("what is no config is refused") {
  CHECK(contains(config_problems("[]"), "P010"));
  CHECK(contains(config_problems("{}"), "P010"));
  CHECK(contains(config_problems(R"({"model_type": "mixtrol"})"), "did you mean \"mixtral\"?"));
  CHECK(contains(config_problems(R"({"model_type": "berd"})"), "P011"));
  CHECK(contains(config_problems(R"({"model_type": "llama"})"), "num_hidden_layers"));
  std::string uneven = kMixtral;
  uneven.replace(uneven.find("\"num_key_value_heads\": 8"), 24, "\"num_key_value_heads\": 7");
  CHECK(contains(config_problems(uneven), "P012"));
}

TEST_CASE("sizes given by hand override a preset's, or make a model of nothing") {
  const TransformerShape twelve = choose_model("llama3-70b", "layers=12").shape;
  CHECK(twelve.layers == 12);
  CHECK(twelve.hidden == 8192);
  const TransformerShape made =
      choose_model("gpt", "layers=2,hidden=1024,heads=16,vocabulary=51200,positions=2048,biases=no,norm=rms").shape;
  CHECK(made.feed_forward == 4096);
  CHECK(made.head_size == 64);
  CHECK(made.kv_heads == 16);
  CHECK_FALSE(made.biases);
  CHECK(made.norm == NormKind::kRmsNorm);
  const auto refusal = [](const std::string& sizes) { return problems_of([&] { (void)choose_model("gpt", sizes); }); };
  CHECK(contains(refusal("layer=2"), "did you mean layers?"));
  CHECK(contains(refusal("layer=2"), "C017"));
  CHECK(contains(refusal("layers=2,layers=3"), "C007"));
  CHECK(contains(refusal("norm=batch"), "C002"));
  CHECK(contains(refusal("layers=-2"), "C006"));
  CHECK(contains(refusal("layers"), "KEY=VALUE"));
  CHECK(contains(refusal("gated=1"), "yes or no"));
  CHECK(contains(refusal("gated=1"), "C002"));
}

TEST_CASE("groups of experts are kept where the experts lie in them evenly") {
  const TransformerShape whole = choose_model("deepseek-v3", "layers=8").shape;
  CHECK(whole.expert_groups == 8);
  CHECK(whole.groups_per_token == 4);
  CHECK(choose_model("deepseek-v3", "experts=64").shape.expert_groups == 8);
  CHECK(choose_model("deepseek-v3", "experts=60").shape.expert_groups == 0);  // 8 groups do not hold 60 evenly
  CHECK(choose_model("deepseek-v3", "expert_groups=16,groups_per_token=2").shape.expert_groups == 16);
  for (const char* const sizes :
       {"expert_groups=7", "groups_per_token=9", "experts=16,experts_per_token=9,expert_groups=8"}) {
    CAPTURE(sizes);
    CHECK_THROWS_AS((void)choose_model("deepseek-v3", sizes), InputError);
  }
}

TEST_CASE("every model has a name of its own and a source") {
  std::vector<std::string> names;
  for (const NamedModel& model : all_models()) {
    CAPTURE(model.shape.name);
    CHECK_FALSE(model.source.empty());
    CHECK(std::find(names.begin(), names.end(), model.shape.name) == names.end());
    names.push_back(model.shape.name);
    CHECK(choose_model(model.shape.name, "").shape == model.shape);
  }
}

}  // namespace debubble
