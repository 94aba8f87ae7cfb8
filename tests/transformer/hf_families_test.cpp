// Parameter counts of Hugging Face model families, to the last parameter.
#include "cost_models/transformer/layer_memory.hpp"
#include "cost_models/transformer/layer_ops.hpp"
#include "scenario/request/hf_config.hpp"
#include "scenario/request/model_choice.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

struct CountedModel {
  const char* name;
  std::int64_t parameters;
  const char* config;  // the keys of the published file that sizes depend on
};

// Published with the weights (sums of the Hub's safetensors files).
const std::vector<CountedModel>& published_models() {
  static const std::vector<CountedModel>
      list{
          {"gemma-2-2b", 2614341888,
           R"({"model_type": "gemma2", "vocab_size": 256000, "tie_word_embeddings": true, "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4, "hidden_size": 2304, "intermediate_size": 9216, "head_dim": 256})"},
          {"gemma-2-9b", 9241705984,
           R"({"model_type": "gemma2", "vocab_size": 256000, "tie_word_embeddings": true, "num_hidden_layers": 42, "num_attention_heads": 16, "num_key_value_heads": 8, "hidden_size": 3584, "intermediate_size": 14336, "head_dim": 256, "sliding_window": 4096})"},
          {"gemma-2-27b", 27227128320,
           R"({"model_type": "gemma2", "vocab_size": 256000, "tie_word_embeddings": true, "num_hidden_layers": 46, "num_attention_heads": 32, "num_key_value_heads": 16, "hidden_size": 4608, "intermediate_size": 36864, "head_dim": 128, "sliding_window": 4096})"},
          {"llama-3.1-8b", 8030261248,
           R"({"hidden_size": 4096, "intermediate_size": 14336, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 128256})"},
          {"llama-3.1-70b", 70553706496,
           R"({"hidden_size": 8192, "intermediate_size": 28672, "model_type": "llama", "num_attention_heads": 64, "num_hidden_layers": 80, "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 128256})"},
          {"llama-3.2-1b", 1235814400,
           R"({"head_dim": 64, "hidden_size": 2048, "intermediate_size": 8192, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8, "tie_word_embeddings": true, "vocab_size": 128256})"},
          {"mixtral-8x7b", 46702792704,
           R"({"hidden_size": 4096, "intermediate_size": 14336, "model_type": "mixtral", "num_attention_heads": 32, "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8, "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 32000})"},
          {"mixtral-8x22b", 140620634112,
           R"({"hidden_size": 6144, "intermediate_size": 16384, "model_type": "mixtral", "num_attention_heads": 48, "num_experts_per_tok": 2, "num_hidden_layers": 56, "num_key_value_heads": 8, "num_local_experts": 8, "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 32000})"},
          {"qwen3-8b", 8190735360,
           R"({"head_dim": 128, "hidden_size": 4096, "intermediate_size": 12288, "model_type": "qwen3", "num_attention_heads": 32, "num_hidden_layers": 36, "num_key_value_heads": 8, "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 151936})"},
          {"qwen3-30b-a3b", 30532122624, R"({"head_dim": 128, "hidden_size": 2048, "intermediate_size": 6144, "model_type": "qwen3_moe", "moe_intermediate_size": 768, "num_attention_heads": 32, "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4, "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 151936})"},
          {"deepseek-v3", 671026419200,
           R"({"first_k_dense_replace": 3, "hidden_size": 7168, "intermediate_size": 18432, "kv_lora_rank": 512, "model_type": "deepseek_v3", "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128, "num_nextn_predict_layers": 1, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "tie_word_embeddings": false, "topk_method": "noaux_tc", "v_head_dim": 128, "vocab_size": 129280})"},
          {"glm-4.5-355b", 358337791296,
           R"({"attention_bias": true, "first_k_dense_replace": 3, "head_dim": 128, "hidden_size": 5120, "intermediate_size": 12288, "model_type": "glm", "moe_intermediate_size": 1536, "n_routed_experts": 160, "n_shared_experts": 1, "num_attention_heads": 96, "num_experts_per_tok": 8, "num_hidden_layers": 92, "num_key_value_heads": 8, "tie_word_embeddings": false, "use_qk_norm": true, "vocab_size": 151552, "architectures": ["Glm4MoeForCausalLM"], "num_nextn_predict_layers": 1})"},
          {"bloom-176b", 176247271424,
           R"({"model_type": "bloom", "n_layer": 70, "hidden_size": 14336, "n_head": 112, "vocab_size": 250880})"},
      };
  return list;
}

// Summed by hand from what the model's class builds.
const std::vector<CountedModel>& summed_models() {
  static const std::vector<CountedModel> list{
      {"deepseek-v2", 235741434880,
       R"({"model_type": "deepseek_v2", "hidden_size": 5120, "num_hidden_layers": 60, "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 12288, "moe_intermediate_size": 1536, "n_routed_experts": 160, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 102400})"},
      {"kimi-k2", 1026408232448,
       R"({"model_type": "kimi_k2", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 64, "num_key_value_heads": 64, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 384, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 163840, "topk_method": "noaux_tc"})"},
      {"llama-4-maverick, text", 400711848960,
       R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_local_experts": 128, "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "vocab_size": 202048}})"},
      {"falcon-40b", 41303293952,
       R"({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128, "num_kv_heads": 8, "new_decoder_architecture": true, "vocab_size": 65024})"},
      {"opt-125m", 125239296,
       R"({"model_type": "opt", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "ffn_dim": 3072, "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 768})"},
      {"gpt2", 124439808,
       R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257})"},
      {"starcoder2-3b", 3030371328,
       R"({"model_type": "starcoder2", "hidden_size": 3072, "num_hidden_layers": 30, "num_attention_heads": 24, "num_key_value_heads": 2, "intermediate_size": 12288, "vocab_size": 49152})"},
      {"gpt-oss-120b", 116829156672,
       R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 128, "num_experts_per_tok": 4, "vocab_size": 201088, "sliding_window": 128})"},
      {"olmo-2-7b", 7298617344,
       R"({"model_type": "olmo2", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 11008, "vocab_size": 100352})"},
      {"stablelm-3b", 2795443200, R"({"model_type": "stablelm", "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 6912, "vocab_size": 50304})"},
      {"falcon-7b", 6921720704,
       R"({"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32, "num_kv_heads": 71, "multi_query": true, "parallel_attn": true, "bias": false, "vocab_size": 65024})"},
      {"gpt-oss-20b", 20914757184,
       R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 32, "num_experts_per_tok": 4, "vocab_size": 201088, "sliding_window": 128})"},
      {"phi-2", 2779683840,
       R"({"model_type": "phi", "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 10240, "vocab_size": 51200})"},
      {"mpt-7b", 6649286656,
       R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "expansion_ratio": 4, "max_seq_len": 2048, "vocab_size": 50432, "no_bias": true, "attn_config": {"alibi": true}})"},
      {"olmoe-1b-7b", 6919161856,
       R"({"model_type": "olmoe", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 1024, "num_experts": 64, "num_experts_per_tok": 8, "vocab_size": 50304})"},
      {"dbrx", 131596523520,
       R"({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "vocab_size": 100352, "attn_config": {"kv_n_heads": 8}, "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})"},
      {"command-r", 34980831232,
       R"({"model_type": "cohere", "hidden_size": 8192, "num_hidden_layers": 40, "num_attention_heads": 64, "num_key_value_heads": 64, "intermediate_size": 22528, "vocab_size": 256000})"},
      {"qwen1.5-moe-a2.7b", 14315784192,
       R"({"model_type": "qwen2_moe", "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632, "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "num_experts": 60, "num_experts_per_tok": 4, "vocab_size": 151936})"},
      {"phi-3.5-moe", 41873153344,
       R"({"model_type": "phimoe", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 6400, "num_local_experts": 16, "num_experts_per_tok": 2, "vocab_size": 32064, "attention_bias": true, "lm_head_bias": true})"},
      {"chatglm3-6b", 6243584000,
       R"({"model_type": "chatglm", "num_layers": 28, "hidden_size": 4096, "num_attention_heads": 32, "kv_channels": 128, "multi_query_attention": true, "multi_query_group_num": 2, "ffn_hidden_size": 13696, "padded_vocab_size": 65024, "add_qkv_bias": true, "add_bias_linear": false, "rmsnorm": true})"},
      {"gpt-j-6b", 6050882784,
       R"({"model_type": "gptj", "n_layer": 28, "n_embd": 4096, "n_head": 16, "n_positions": 2048, "vocab_size": 50400, "rotary_dim": 64})"},
      {"gemma-3-1b", 999885952,
       R"({"model_type": "gemma3_text", "hidden_size": 1152, "num_hidden_layers": 26, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 6912, "vocab_size": 262144, "sliding_window": 512})"},
      {"mimo-7b without its predictor", 7622619136, R"({"model_type": "mimo", "hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 11008, "vocab_size": 151680, "attention_bias": true})"},
  };
  return list;
}

TransformerShape counted_shape(const CountedModel& model) { return read_hf_config(model.config, model.name).shape; }

std::string family_refusal(const std::string& config) {
  return problems_of([&] { (void)read_hf_config(config, "config.json"); });
}

}  // namespace

TEST_CASE("published numbers of parameters, to the last one") {
  for (const CountedModel& model : published_models()) {
    CAPTURE(model.name);
    const TransformerShape shape = counted_shape(model);
    if (std::string(model.name) == "glm-4.5-355b") {
      // The files hold the predictor's copies of embedding and output layer.
      CHECK(model_parameters(shape) + 2 * shape.vocabulary * shape.hidden == model.parameters);
    } else {
      CHECK(main_parameters(shape) == model.parameters);
    }
  }
}

TEST_CASE("what a class has where its file says nothing, and the newer families") {
  const auto count = [](const char* config) { return main_parameters(read_hf_config(config, "c.json").shape); };
  // Published with vision: 4,300,079,472, of which 419,816,304 see.
  CHECK(count(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
      "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}, "vision_config": {}})") ==
        3'880'263'168);
  CHECK(count(R"({"model_type": "gemma", "vocab_size": 256000, "hidden_size": 3072, "intermediate_size": 24576,
      "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16})") == 8'537'680'896);
  CHECK(count(R"({"model_type": "dots1", "vocab_size": 152064, "hidden_size": 4096, "intermediate_size": 10944,
      "num_hidden_layers": 62, "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 128,
      "n_routed_experts": 128, "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408,
      "first_k_dense_replace": 1})") == 142'774'381'696);
  CHECK(count(R"({"model_type": "bailing_moe", "vocab_size": 126464, "hidden_size": 2048, "intermediate_size": 5632,
      "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 128, "num_experts": 64,
      "num_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "use_bias": false})") ==
        16'801'974'272);
  CHECK(count(R"({"model_type": "exaone", "vocab_size": 102400, "hidden_size": 4096, "intermediate_size": 14336,
      "num_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8})") == 7'818'448'896);
  CHECK(count(R"({"model_type": "exaone4", "vocab_size": 102400, "hidden_size": 5120, "intermediate_size": 27392,
      "num_hidden_layers": 64, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
      "sliding_window": 4096, "sliding_window_pattern": "LLLG"})") == 32'003'216'384);
  CHECK(count(R"({"model_type": "hunyuan_v1_moe", "vocab_size": 128167, "hidden_size": 4096, "intermediate_size": 3072,
      "num_hidden_layers": 2, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "num_experts": 64,
      "moe_topk": [8, 8], "moe_intermediate_size": [3072, 3072], "num_shared_expert": [1, 1],
      "tie_word_embeddings": true})") == 5'516'739'072);
  CHECK(count(R"({"model_type": "minimax_m2", "vocab_size": 200064, "hidden_size": 3072, "intermediate_size": 1536,
      "num_hidden_layers": 62, "num_attention_heads": 48, "num_key_value_heads": 8, "head_dim": 128,
      "num_local_experts": 256, "num_experts_per_tok": 8})") == 228'689'764'864);
}

TEST_CASE("sizes beyond any model, and lists that are none, are refused at once") {
  const std::string sizes = R"("vocab_size": 4, "hidden_size": 16777216, "intermediate_size": 16777216,
      "num_attention_heads": 1, "num_hidden_layers": )";
  CHECK(contains(family_refusal(R"({"model_type": "llama", )" + sizes + "16777216}"), "P004"));
  CHECK(contains(family_refusal(R"({"model_type": "llama", )" + sizes + "1000}"), "is larger than any"));
  CHECK(contains(family_refusal(R"({"model_type": "gpt_neo", "vocab_size": 4, "hidden_size": 4, "num_heads": 1,
      "max_position_embeddings": 4, "num_layers": 16777216})"),
                 "P004"));
  CHECK(
      contains(family_refusal(R"({"model_type": "qwen3", "layer_types": "full_attention", )" + sizes + "2}"), "P007"));
  // One mistake, one error.
  CHECK_FALSE(contains(family_refusal(R"({"model_type": "llama", "vocab_size": 4, "hidden_size": -8,
      "intermediate_size": 4, "num_attention_heads": 3, "num_hidden_layers": 2})"),
                       "P012"));
}

TEST_CASE("numbers of parameters summed by hand") {
  for (const CountedModel& model : summed_models()) {
    CAPTURE(model.name);
    CHECK(main_parameters(counted_shape(model)) == model.parameters);
  }
}

TEST_CASE("blocks that alternate: every second or sixth sees all, the others a window") {
  const auto variants = [](const char* config) {
    const TransformerShape shape = read_hf_config(config, "x").shape;
    std::string text;
    for (std::int64_t block = 0; block < shape.layers; ++block) {
      text += block_shape(shape, block_variant(shape, block)).window == 0 ? 'f' : 'w';
    }
    return text;
  };
  const std::string sizes =
      R"("hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128,
         "vocab_size": 100, )";
  const auto gemma = [&](const std::string& rest) { return "{" + sizes + rest + "}"; };
  CHECK(variants(gemma(R"("model_type": "gemma2", "num_hidden_layers": 5)").c_str()) == "wfwfw");
  CHECK(variants(gemma(R"("model_type": "gemma3_text", "num_hidden_layers": 8)").c_str()) == "wwwwwfww");
  CHECK(variants(gemma(R"("model_type": "cohere2", "num_hidden_layers": 5, "sliding_window": 32)").c_str()) == "wwwfw");
  CHECK(variants(gemma(R"("model_type": "olmo3", "num_hidden_layers": 4, "sliding_window": 32,
      "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"])")
                     .c_str()) == "fwwf");
  CHECK(variants(gemma(R"("model_type": "qwen2", "num_hidden_layers": 4, "sliding_window": 32, "max_window_layers": 2,
      "use_sliding_window": true)")
                     .c_str()) == "ffww");
  CHECK(variants(gemma(R"("model_type": "qwen2", "num_hidden_layers": 4, "sliding_window": 32,
      "use_sliding_window": false)")
                     .c_str()) == "ffff");
}

TEST_CASE("blocks with experts by number, and blocks that a search has thinned out") {
  const std::string sizes =
      R"("hidden_size": 64, "num_attention_heads": 4, "vocab_size": 100, "num_hidden_layers": 4, )";
  const TransformerShape named =
      read_hf_config("{" + sizes + R"("model_type": "qwen3_moe", "num_key_value_heads": 2, "intermediate_size": 128,
        "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "mlp_only_layers": [0, 2]})",
                     "x")
          .shape;
  std::string experts;
  for (std::int64_t block = 0; block < 4; ++block) experts += has_experts(named, block) ? 'e' : 'd';
  CHECK(experts == "dede");
  const std::string all = R"({"attention": {"n_heads_in_group": 2}, "ffn": {"ffn_mult": 2.625}})";
  const std::string none = R"({"attention": {"no_op": true}, "ffn": {"no_op": true}})";
  const auto nas = [&](const std::string& third) {
    return "{" + sizes + R"("model_type": "nemotron-nas", "block_configs": [)" + all + "," + none + "," + third + "," +
           all + "]}";
  };
  const TransformerShape thinned =
      read_hf_config(nas(R"({"attention": {"no_op": true}, "ffn": {"ffn_mult": 1}})"), "x").shape;
  CHECK_FALSE(has_attention(block_shape(thinned, block_variant(thinned, 1))));
  CHECK(block_parameters(block_shape(thinned, block_variant(thinned, 1))) == 0);
  CHECK(block_parameters(block_shape(thinned, block_variant(thinned, 2))) == 64 + 3 * 64 * 256);
  const std::string linear = R"({"attention": {"replace_with_linear": true}, "ffn": {"ffn_mult": 1}})";
  CHECK(contains(family_refusal(nas(linear)), "F033"));
  CHECK(contains(family_refusal(nas(linear)), "/block_configs"));
  CHECK(contains(family_refusal(nas("{}")), "P012"));
}

TEST_CASE("what has no cost model is refused by the one key that is the reason") {
  const auto key = [](const std::string& config) {
    const std::string text = family_refusal(config);
    CHECK(contains(text, "F033"));
    const std::size_t hash = text.find('#');
    CHECK(text.find('#', hash + 1) == std::string::npos);  // once
    return text.substr(hash + 1, text.find('\n', hash) - hash - 1);
  };
  CHECK(key(R"({"model_type": "t5", "num_layers": 24, "num_decoder_layers": 24, "is_encoder_decoder": true})") ==
        "/num_decoder_layers");
  CHECK(key(R"({"model_type": "falcon_h1", "mamba_d_state": 128})") == "/mamba_d_state");
  CHECK(key(R"({"model_type": "qwen3_next", "full_attention_interval": 4})") == "/full_attention_interval");
  CHECK(key(R"({"model_type": "nemotron_h", "hybrid_override_pattern": "M-M*"})") == "/hybrid_override_pattern");
  CHECK(key(R"({"model_type": "gemma4", "text_config": {"model_type": "gemma4_text", "enable_moe_block": true}})") ==
        "/text_config/enable_moe_block");
  CHECK(key(R"({"model_type": "bert", "hidden_size": 768})") == "/model_type");
  CHECK(contains(family_refusal(R"({"num_layers": 96, "n_head": 96, "hidden_dim": 12288})"), "llm-analysis"));
}

TEST_CASE("of a model that sees only the text part counts") {
  const ModelFile file = read_hf_config(R"({"model_type": "gemma3", "tie_word_embeddings": true, "vision_config": {},
    "text_config": {"model_type": "gemma3_text", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
    "head_dim": 16, "intermediate_size": 128, "vocab_size": 100, "num_hidden_layers": 2}})",
                                        "x");
  REQUIRE(file.notes.size() == 1);
  CHECK(contains(file.notes[0], "the text part only"));
  CHECK(file.shape.hidden == 64);
}

namespace {

TrainingSetup windowed_setup(const std::string& sizes) {
  TrainingSetup setup;
  setup.shape = choose_model("llama3-8b", sizes).shape;
  setup.sequence = 8192;
  return setup;
}

double attention_flops(const TrainingSetup& setup, std::int64_t variant) {
  double flops = 0;
  for (const LayerOp& op : layer_ops(setup, {LayerPlace::Kind::kBlock, 0, false, variant})) {
    if (op.kind == LayerOp::Kind::kAttention && op.phase == LayerOp::Phase::kForward) flops += op.flops;
  }
  return flops;
}

}  // namespace

TEST_CASE("a window shortens fused attention by its pairs, and keeps as much") {
  const TrainingSetup setup = windowed_setup("window=1024,full_every=2");
  // (1024 - 1024^2 / 16384 + 64) / 4096
  CHECK(attention_flops(setup, 1) == doctest::Approx(attention_flops(setup, 0) / 4).epsilon(1e-12));
  CHECK(attention_flops(setup, 0) == attention_flops(windowed_setup("layers=32"), 0));
  const ModelledMemory full = layer_memory(setup, {LayerPlace::Kind::kBlock, 1, false, 0});
  const ModelledMemory window = layer_memory(setup, {LayerPlace::Kind::kBlock, 0, false, 1});
  CHECK(full.activation == window.activation);
  CHECK(full.weights == window.weights);
  // Chunks begin anew: half of each, and no tile at a far edge.
  CHECK(attention_flops(windowed_setup("window=1024,chunked_window=yes"), 1) ==
        doctest::Approx(attention_flops(setup, 0) / 8).epsilon(1e-12));
  // A window as long as the sample changes nothing.
  CHECK(attention_flops(windowed_setup("window=8192"), 1) == attention_flops(setup, 0));
  CHECK(attention_flops(windowed_setup("window=8191"), 1) <= attention_flops(setup, 0));
}

TEST_CASE("norms of queries and keys keep what they norm, a shared norm is kept once") {
  const LayerPlace block{LayerPlace::Kind::kBlock, 0, false};
  const auto kept = [&](const std::string& sizes) { return layer_memory(windowed_setup(sizes), block).activation; };
  const Bytes plain = kept("layers=32");
  CHECK(kept("qk_norm=head") - plain == 8192 * 2 * (32 + 8) * 128);
  CHECK(kept("block_norms=4") - plain == 2 * 8192 * 2 * 4096);
  CHECK(plain - kept("block_norms=1") == 2 * 8192 * 2 * 4096);
  const auto states = [&](const std::string& sizes) { return rank_parameters(windowed_setup(sizes), block).dense; };
  CHECK(states("qk_norm=head") - states("layers=32") == 2 * 128);
  CHECK(states("output_bias=yes") - states("layers=32") == 4096);
}

}  // namespace debubble
