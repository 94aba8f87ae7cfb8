// NeMo's and Megatron-Bridge's YAML, Primus' overrides, and Megatron-LM's own test files: Megatron-LM's arguments under
// other names.
#include <algorithm>
#include <array>

#include "formats/frameworks/megatron_words.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

// Keys of NeMo and Megatron-Core's configuration whose argument is called otherwise. Others are alike but for hyphens.
struct ArgumentName {
  const char* key;
  const char* argument;
};
constexpr std::array<ArgumentName, 18> kArgumentNames{
    {{"virtual_pipeline_model_parallel_size", "num-virtual-stages-per-pipeline-rank"},
     {"encoder_seq_length", "seq-length"},
     {"data_max_seq_length", "seq-length"},
     {"activations_checkpoint_granularity", "recompute-granularity"},
     {"activations_checkpoint_method", "recompute-method"},
     {"activations_checkpoint_num_layers", "recompute-num-layers"},
     {"ub_tp_comm_overlap", "tp-comm-overlap"},
     {"num_moe_experts", "num-experts"},
     {"moe_ffn_hidden_size", "moe-ffn-hidden-size"},
     {"fp8", "fp8-format"},
     {"add_qkv_bias", "add-qkv-bias"},
     {"overlap_p2p_comm", "overlap-p2p-communication"},
     {"grad_reduce_in_fp32", "accumulate-allreduce-grads-in-fp32"},
     {"make_vocab_size_divisible_by", "make-vocab-size-divisible-by"},
     {"num_layers_in_first_pipeline_stage", "decoder-first-pipeline-num-layers"},
     {"num_layers_in_last_pipeline_stage", "decoder-last-pipeline-num-layers"},
     {"account_for_embedding_in_pipeline_split", "account-for-embedding-in-pipeline-split"},
     {"account_for_loss_in_pipeline_split", "account-for-loss-in-pipeline-split"}}};

// Keys that say the opposite of the argument, or that several arguments say; looked at by name.
constexpr std::array<const char*, 17> kNamedKeys{"bias",
                                                 "pipeline_dtype",
                                                 "add_bias_linear",
                                                 "share_embeddings_and_output_weights",
                                                 "activation",
                                                 "gated_linear_unit",
                                                 "activation_func",
                                                 "normalization",
                                                 "num_query_groups",
                                                 "precision",
                                                 "gradient_accumulation_fusion",
                                                 "optim",
                                                 "optimizer",
                                                 "peft",
                                                 "data",
                                                 "position_embedding_type",
                                                 "_target_"};

std::string argument_of(const std::string& key) {
  for (const ArgumentName& known : kArgumentNames) {
    if (key == known.key) return known.argument;
  }
  std::string name = key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string known_model_text(const std::string& known) {
  return known.find('=') == std::string::npos ? "the preset " + known : "the published model of that name";
}

class NemoReader {
 public:
  NemoReader(ConfigTree& tree, const FrameworkRequest& request) : tree_(tree), words_(tree, request) {}

  FrameworkScenario run() {
    if (tree_.has("MODEL_ARGS")) return run_megatron_yaml();
    if (tree_.has("modules.pre_trainer")) return run_primus();
    if (tree_.has("assignments")) return run_recipe();
    return run_sections();
  }

 private:
  // Arguments with their hyphens, and what the test's environment is.
  FrameworkScenario run_megatron_yaml() {
    for (const char* section :
         {"ENV_VARS", "TEST_TYPE", "LAUNCHER", "METRICS", "MODE", "BEFORE_SCRIPT", "AFTER_SCRIPT"}) {
      tree_.pass(section);
    }
    const JsonValue* arguments = tree_.find("MODEL_ARGS");
    for (const char* key : {"encoder-num-layers", "decoder-num-layers", "hybrid-override-pattern", "is-hybrid-model",
                            "language-model-checkpoint", "model-provider"}) {
      if (!tree_.has(std::string("MODEL_ARGS.--") + key)) continue;
      tree_.complain("F033", std::string("MODEL_ARGS.--") + key, "a model that is no decoder alone is not modelled",
                     "pretrain_gpt.py's are");
      return {};
    }
    words_.find(
        "the file does not say which program it is for: pretrain_gpt.py is taken, a decoder with a causal mask");
    for (const JsonValue& one : arguments->children) {
      if (one.key.starts_with("--")) words_.copy("MODEL_ARGS." + one.key, one.key.substr(2));
    }
    return words_.scenario(0, "");
  }

  FrameworkScenario run_primus() {
    for (const char* key : {"work_group", "user_name", "exp_name", "workspace", "platform", "exp_meta_info",
                            "modules.pre_trainer.config", "modules.pre_trainer.framework"}) {
      tree_.pass(key);
    }
    const std::string model = resolved_word(tree_.word("modules.pre_trainer.model").value_or(""));
    const std::string known = preset_of_model_name(model);
    copy_section("modules.pre_trainer.overrides");
    if (known.empty()) {
      words_.find("the model " + in_quotes(model) +
                  " lies in a file of Primus: add --model config.json where sizes are missing");
    } else {
      words_.find("the model " + in_quotes(model) + " is taken for " + known_model_text(known));
    }
    const JsonValue* latent = raw_member("modules.pre_trainer.overrides", "multi_latent_attention");
    if (latent != nullptr && latent->text == "false" && known.starts_with("deepseek")) {
      words_.find("multi_latent_attention is off in the file, and counts as it is in " + known);
    }
    const JsonValue* further = raw_member("modules.pre_trainer.overrides", "mtp_num_layers");
    if (further != nullptr && further->kind == JsonValue::Kind::kNull && known == "deepseek-v3") {
      words_.argument("mtp-num-layers", std::int64_t{0});
    }
    default_formats("modules.pre_trainer.overrides.");
    return words_.scenario(0, known);
  }

  // A recipe in Python as assignments, "model.tensor_model_parallel_size": in the order in which they were made.
  FrameworkScenario run_recipe() {
    const JsonValue* all = tree_.find("assignments");
    tree_.pass("assignments");
    tree_.pass("function");
    std::string known;
    for (const JsonValue& one : all->children) {
      const std::size_t dot = one.key.find('.');
      const std::string section = one.key.substr(0, dot);
      if (one.key == "model") known = preset_of_call(one.text);
      if (one.key == "mixed_precision") read_precision(one.text);
      if (one.key == "model.bf16" || one.key == "model.fp16") formats_ = formats_ || one.text == "true";
      if (one.key == "comm_overlap" && one.text.find("tp_comm_overlap=True") != std::string::npos) {
        words_.flag("tp-comm-overlap");
      }
      if (dot == std::string::npos) continue;
      if (section == "model" || section == "train" || section == "ddp" || section == "dataset") {
        copy_value(one, one.key.substr(dot + 1));
      }
      if (one.key == "optimizer.exp_avg_dtype" || one.key == "optimizer.exp_avg_sq_dtype") {
        copy_value(one, one.key.substr(dot + 1));
      }
      if (one.key == "optimizer.main_grads_dtype" && dtype_word(one.text) == "bf16") words_.flag("grad-reduce-in-bf16");
    }
    if (all->children.empty()) {
      require_key(tree_, "assignments", "the recipe assigns nothing itself: what it starts from is another function",
                  "give the assignments of that function, too");
    }
    default_formats("");
    return words_.scenario(0, known);
  }

  FrameworkScenario run_sections() {
    for (const char* section : {"defaults",
                                "name",
                                "exp_manager",
                                "scheduler",
                                "logger",
                                "rng",
                                "tokenizer",
                                "checkpoint",
                                "dist",
                                "profiling",
                                "inprocess_restart",
                                "straggler",
                                "ft",
                                "nvrx_straggler",
                                "peft",
                                "restore_from_path",
                                "hydra",
                                "cluster",
                                "cluster_type",
                                "training",
                                "run",
                                "stages",
                                "launcher_scripts_path",
                                "base_results_dir",
                                "validation"}) {
      tree_.pass(section);
    }
    for (const char* section : {"model", "train", "dataset", "ddp"}) copy_section(section);
    read_optimizer();
    read_peft();
    if (const auto precision = tree_.word("trainer.precision")) read_precision(*precision);
    if (const auto precision = tree_.word("mixed_precision")) read_precision(*precision);
    const std::int64_t world = whole("trainer.devices") * whole("trainer.num_nodes");
    tree_.pass("trainer");
    default_formats("model.");
    return words_.scenario(world, "");
  }

  // Of an interpolation the default; 0 where there is none.
  std::int64_t whole(const std::string& path) {
    const JsonValue* value = tree_.find(path);
    if (value == nullptr) return 0;
    if (value->kind == JsonValue::Kind::kInteger) return tree_.number(path, 1).value_or(1);
    const std::string& text = value->text;
    const std::size_t comma = text.find(',');
    if (comma == std::string::npos) return 0;
    std::int64_t number = 0;
    for (std::size_t k = comma + 1; k < text.size() && text[k] >= '0' && text[k] <= '9' && number < 1'000'000; ++k) {
      number = 10 * number + (text[k] - '0');
    }
    words_.find(in_quotes(path) + " is " + in_quotes(text) + ": its default of " + std::to_string(number) +
                " is taken");
    return number;
  }

  // Null, too, which `find` takes for absent.
  const JsonValue* raw_member(const std::string& section, std::string_view key) {
    const JsonValue* values = tree_.find(section);
    if (values == nullptr) return nullptr;
    for (const JsonValue& one : values->children) {
      if (one.key == key) return &one;
    }
    return nullptr;
  }

  void copy_section(const std::string& section) {
    const JsonValue* values = tree_.find(section);
    if (values == nullptr) return;
    for (const JsonValue& one : values->children) {
      const bool named = std::find(kNamedKeys.begin(), kNamedKeys.end(), one.key) != kNamedKeys.end();
      if (!named && one.kind != JsonValue::Kind::kObject) words_.copy(section + "." + one.key, argument_of(one.key));
    }
    const std::string prefix = section + ".";
    for (const char* key : {"bias", "add_bias_linear"}) {
      if (tree_.has(prefix + key) && !tree_.flag(prefix + key, true)) words_.flag("disable-bias-linear");
    }
    if (tree_.has(prefix + "share_embeddings_and_output_weights") &&
        !tree_.flag(prefix + "share_embeddings_and_output_weights", true)) {
      words_.flag("untie-embeddings-and-output-weights");
    }
    if (tree_.has(prefix + "gradient_accumulation_fusion") &&
        !tree_.flag(prefix + "gradient_accumulation_fusion", true)) {
      words_.flag("no-gradient-accumulation-fusion");
    }
    const std::string exchange = resolved_word(tree_.word(prefix + "overlap_p2p_comm").value_or("true"));
    if (tree_.has(prefix + "virtual_pipeline_model_parallel_size") && (exchange == "false" || exchange == "False")) {
      words_.flag("no-overlap-p2p-communication");
    }
    // Megatron-LM refuses the one without the other, so the other is the tool's default.
    if (resolved_word(tree_.word(prefix + "overlap_param_gather").value_or("")) == "true") {
      words_.flag("use-distributed-optimizer");
    }
    read_block(prefix);
  }

  void read_block(const std::string& prefix) {
    const std::string activation = tree_.word(prefix + "activation").value_or("");
    (void)tree_.find(prefix + "activation_func");
    if (activation.find("swiglu") != std::string::npos || tree_.flag(prefix + "gated_linear_unit"))
      words_.flag("swiglu");
    std::string norm = tree_.word(prefix + "normalization").value_or("");
    std::transform(norm.begin(), norm.end(), norm.begin(), [](unsigned char c) { return std::tolower(c); });
    if (norm == "rmsnorm") words_.argument("normalization", std::string("RMSNorm"));
    if (tree_.has(prefix + "num_query_groups")) {
      words_.flag("group-query-attention");
      words_.copy(prefix + "num_query_groups", "num-query-groups");
    }
    words_.copy(prefix + "position_embedding_type", "position-embedding-type");
    if (const auto precision = tree_.word(prefix + "precision")) read_precision(*precision);
    (void)tree_.find(prefix + "_target_");
  }

  void read_precision(const std::string& text) {
    if (formats_) return;
    formats_ = true;
    const auto says = [&text](const char* part) { return text.find(part) != std::string::npos; };
    // "bf16_with_fp8_current_scaling_mixed", or a call whose arguments may say that there is none: fp8=None.
    const bool eight = says("(bf16") || says("(fp16") ? says("fp8='") || says("fp8=\"") : says("fp8");
    words_.flag(says("bf16") ? "bf16" : says("16") ? "fp16" : eight ? "bf16" : "fp32");
    if (eight) words_.argument("fp8-format", std::string("hybrid"));
    const std::string recipe = says("mxfp8")                                   ? "mxfp8"
                               : says("current_scaling") || says("tensorwise") ? "tensorwise"
                               : says("subchannel") || says("blockwise")       ? "blockwise"
                                                                               : "";
    if (eight && !recipe.empty()) words_.argument("fp8-recipe", recipe);
    if (says("grad_reduce_in_fp32=False")) words_.flag("grad-reduce-in-bf16");
    if (text.find("nvfp4") != std::string::npos || text.find("fp4") != std::string::npos) {
      tree_.complain("F033", "mixed_precision", "products in 4 bits are not modelled", "fp8 and wider are");
    }
  }

  // Megatron-LM's own default is fp32, that of these tools bf16.
  void default_formats(const std::string& prefix) {
    if (formats_ || tree_.has(prefix + "bf16") || tree_.has(prefix + "fp16") || tree_.has(prefix + "precision")) return;
    words_.flag("bf16");
    words_.find("the number format is not given: bf16 is taken, as the tool's own default");
  }

  void read_optimizer() {
    const std::string name = tree_.word("model.optim.name").value_or("");
    if (name.find("dist") != std::string::npos) words_.flag("use-distributed-optimizer");
    if (tree_.flag("optimizer.use_distributed_optimizer")) words_.flag("use-distributed-optimizer");
    words_.copy("model.optim.overlap_grad_sync", "overlap-grad-reduce");
    words_.copy("model.optim.overlap_param_sync", "overlap-param-gather");
    const std::string sums = resolved_word(tree_.word("model.optim.grad_sync_dtype").value_or(""));
    if (dtype_word(sums) == "bf16") words_.flag("grad-reduce-in-bf16");
    for (const char* section : {"model.optim", "optimizer", "model.data", "model.dataset"}) tree_.pass(section);
  }

  void read_peft() {
    const std::string scheme = tree_.word("model.peft.peft_scheme").value_or("");
    if (!scheme.empty() && scheme != "null" && scheme != "None") {
      tree_.complain("F033", "model.peft.peft_scheme", "low-rank and other adapters (" + scheme + ") are not modelled",
                     "null trains all weights");
    }
    tree_.pass("model.peft");
  }

  void copy_value(const JsonValue& value, const std::string& key) {
    if (value.kind == JsonValue::Kind::kNull || value.kind == JsonValue::Kind::kObject || value.text == "false") return;
    if (key == "bias" || key == "add_bias_linear" || key == "gradient_accumulation_fusion") return;
    if (key == "pipeline_dtype" || key == "vocab_size") return;
    std::string text = dtype_word(value.text);
    // Constants of Megatron-Bridge: SEQUENCE_LENGTH_16K.
    if (text.starts_with("SEQUENCE_LENGTH_") && text.ends_with('K')) {
      const std::string thousands = text.substr(16, text.size() - 17);
      if (thousands.size() < 6 && thousands.find_first_not_of("0123456789") == std::string::npos &&
          !thousands.empty()) {
        text = std::to_string(1024 * std::stoll(thousands));
      }
    }
    if (value.kind == JsonValue::Kind::kBoolean) return words_.flag(argument_of(key));
    if (value.kind != JsonValue::Kind::kArray) return words_.argument(argument_of(key), text);
    words_.values(argument_of(key), value);
  }

  // "AutoBridge.from_hf_pretrained('meta-llama/Meta-Llama-3-70B').get_model_config()"
  std::string preset_of_call(const std::string& text) {
    const std::size_t begin = text.find_first_of("'\"");
    const std::size_t end = begin == std::string::npos ? begin : text.find_first_of("'\"", begin + 1);
    if (end == std::string::npos) return {};
    const std::string name = text.substr(begin + 1, end - begin - 1);
    const std::string known = preset_of_model_name(name);
    if (known.empty()) {
      words_.find("the model " + in_quotes(name) + " is no preset: add --model config.json");
    } else {
      words_.find("the model " + in_quotes(name) + " is taken for " + known_model_text(known));
    }
    return known;
  }

  ConfigTree& tree_;
  MegatronWords words_;
  bool formats_ = false;
};

}  // namespace

FrameworkScenario read_nemo(ConfigTree& tree, const FrameworkRequest& request) {
  return NemoReader(tree, request).run();
}

}  // namespace debubble
