// NeMo's and Megatron-Bridge's YAML, and recipes of Megatron-Bridge: Megatron-LM's arguments under other names.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "formats/frameworks/section_words.hpp"
#include "formats/frameworks/wrapper_config.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

// What Megatron-Bridge 0.6 makes of a configuration before it runs: sections that override others.

// runtime_config_update of megatron.bridge.training.config, CommOverlapConfig and MixedPrecisionConfig.
class BridgeSettings {
 public:
  BridgeSettings(ConfigTree& tree, SectionWords& sections, std::optional<int> world)
      : tree_(tree), sections_(sections), words_(sections.words), world_(world) {}

  void read() {
    if (words_.has("use-megatron-fsdp")) words_.flag("use-distributed-optimizer");  // which it activates
    read_formats();
    read_moments();
    read_vocabulary();
    read_overlap();
    read_adapters();
    tree_.pass_words("optimizer mixed_precision comm_overlap");
  }

 private:
  [[nodiscard]] bool on(const std::string& path) {
    const JsonValue* value = tree_.find(path);
    return value != nullptr && value->text == "true";
  }

  // Of a flag that is null where the tool decides.
  [[nodiscard]] bool chosen(const std::string& path, bool otherwise) {
    const JsonValue* value = tree_.find(path);
    return value == nullptr ? otherwise : value->text == "true";
  }

  [[nodiscard]] std::int64_t ranks(const std::string& key) { return tree_.number("model." + key, 1).value_or(1); }

  void set_flag(const std::string& name, bool value) {
    words_.drop(name);
    if (value) words_.flag(name);
  }

  void read_formats() {
    const JsonValue* formats = tree_.find("mixed_precision");
    if (formats == nullptr) {
      if (on("model.bf16") && tree_.has("ddp.grad_reduce_in_fp32") && !on("ddp.grad_reduce_in_fp32")) {
        words_.flag("grad-reduce-in-bf16");
      }
      return sections_.default_formats("model.");
    }
    for (const char* name : {"bf16", "fp16", "fp8-format", "fp8-recipe", "fp8-param-gather", "fp4-format", "fp4-recipe",
                             "fp4-param-gather", "accumulate-allreduce-grads-in-fp32", "first-last-layers-bf16"}) {
      words_.drop(name);
    }
    formats->kind == JsonValue::Kind::kObject ? read_format_object() : read_format_name(formats->text);
    sections_.formats_read = true;
  }

  // A recipe by its name: weights are gathered in the narrow format but for blocks of scales.
  void read_format_name(const std::string& name) {
    sections_.read_precision(name);
    const auto says = [&name](const char* part) { return name.find(part) != std::string::npos; };
    if (says("fp8") && !says("subchannel")) words_.flag("fp8-param-gather");
    if (name.starts_with("fp16")) words_.flag("grad-reduce-in-bf16");
    if (says("current_scaling")) words_.flag("first-last-layers-bf16");
  }

  void read_format_object() {
    const std::string prefix = "mixed_precision.";
    words_.flag(on(prefix + "bf16") ? "bf16" : on(prefix + "fp16") ? "fp16" : "fp32");
    if (!chosen(prefix + "grad_reduce_in_fp32", true)) words_.flag("grad-reduce-in-bf16");
    if (tree_.has(prefix + "fp4")) return sections_.count_four_bits(prefix + "fp4");
    if (!tree_.has(prefix + "fp8")) return;
    words_.copy(prefix + "fp8", "fp8-format");
    words_.argument("fp8-recipe", tree_.word(prefix + "fp8_recipe").value_or("tensorwise"));
    if (on(prefix + "fp8_param") || on(prefix + "fp8_param_gather")) words_.flag("fp8-param-gather");
    if (on(prefix + "first_last_layers_bf16")) words_.flag("first-last-layers-bf16");
  }

  void read_moments() {
    if (on("optimizer.use_distributed_optimizer")) words_.flag("use-distributed-optimizer");
    if (on("optimizer.overlap_param_gather")) words_.flag("overlap-param-gather");
    for (const char* key : {"use_precision_aware_optimizer", "optimizer_cpu_offload", "optimizer"}) {
      words_.copy(std::string("optimizer.") + key, SectionWords::argument_of(key));
    }
    for (const char* key : {"main_grads_dtype", "main_params_dtype", "exp_avg_dtype", "exp_avg_sq_dtype"}) {
      const std::string path = std::string("optimizer.") + key;
      if (dtype_word(tree_.word(path).value_or("fp32")) != "fp32") words_.copy(path, SectionWords::argument_of(key));
    }
  }

  // A size of the model's own is not padded; one of the tokenizer is.
  void read_vocabulary() {
    const bool padded = on("model.should_pad_vocab");
    if (!padded && tree_.has("model.vocab_size")) words_.copy("model.vocab_size", "padded-vocab-size");
  }

  void read_overlap() {
    const std::int64_t pipeline = ranks("pipeline_model_parallel_size");
    const bool chunked = tree_.number("model.virtual_pipeline_model_parallel_size", 1).value_or(1) > 1;
    bool exchange = on("model.overlap_p2p_comm");
    if (tree_.has("comm_overlap")) {
      exchange = chosen("comm_overlap.overlap_p2p_comm", pipeline > 1 && chunked);
      read_tensor_overlap();
      set_flag("overlap-moe-expert-parallel-comm", on("comm_overlap.overlap_moe_expert_parallel_comm"));
      set_flag("delay-wgrad-compute", on("comm_overlap.delay_wgrad_compute"));
      read_data_overlap();
    }
    words_.drop("overlap-p2p-communication");
    set_flag("no-overlap-p2p-communication", pipeline > 1 && chunked && !exchange);
  }

  void read_tensor_overlap() {
    const bool asked = on("comm_overlap.tp_comm_overlap");
    const bool can = ranks("tensor_model_parallel_size") > 1 && on("model.sequence_parallel");
    set_flag("tp-comm-overlap", asked && can);
    words_.drop("tp-comm-overlap-cfg");
    if (asked && can && tree_.has("comm_overlap.tp_comm_overlap_cfg")) {
      words_.find("\"comm_overlap.tp_comm_overlap_cfg\": Transformer Engine's default methods and splits are taken");
    }
  }

  // With the distributed optimizer several replicas overlap both, in buckets of 128 Mi numbers, unless it is said.
  void read_data_overlap() {
    if (!words_.has("use-distributed-optimizer")) return;
    const std::int64_t group =
        ranks("tensor_model_parallel_size") * ranks("pipeline_model_parallel_size") * ranks("context_parallel_size");
    const bool several = world_.value_or(2 * static_cast<int>(std::min<std::int64_t>(group, 1 << 20))) > group;
    set_flag("overlap-grad-reduce", chosen("comm_overlap.overlap_grad_reduce", several));
    set_flag("overlap-param-gather", chosen("comm_overlap.overlap_param_gather", several));
    words_.drop("ddp-bucket-size");
    constexpr std::int64_t kBucket = std::int64_t{128} << 20;
    const auto bucket = tree_.number("comm_overlap.bucket_size", 0, std::int64_t{1} << 40);
    if (bucket || several) words_.argument("ddp-bucket-size", bucket.value_or(kBucket));
  }

  void read_adapters() {
    if (!tree_.has("peft")) return;
    tree_.complain("F033", "peft", "low-rank and other adapters are not modelled", "null trains all weights");
  }

  ConfigTree& tree_;
  SectionWords& sections_;
  MegatronWords& words_;
  std::optional<int> world_;
};

// Whether the file is Megatron-Bridge's own, not NeMo's.
bool is_bridge_config(ConfigTree& tree) {
  const JsonValue* target = tree.find("_target_");
  const JsonValue* model = tree.find("model._target_");
  for (const JsonValue* one : {target, model}) {
    if (one != nullptr && one->text.find("megatron.bridge") != std::string::npos) return true;
  }
  return tree.has("mixed_precision") || tree.has("comm_overlap");
}

// Behind copy_section of model, ddp, train and dataset. `world`: ranks, where they are known.
void read_bridge_settings(ConfigTree& tree, SectionWords& sections, std::optional<int> world) {
  BridgeSettings(tree, sections, world).read();
}

class NemoReader {
 public:
  NemoReader(ConfigTree& tree, const FrameworkRequest& request)
      : tree_(tree), request_(request), sections_(tree, request), words_(sections_.words) {}

  FrameworkScenario run() { return tree_.has("assignments") ? run_recipe() : run_sections(); }

 private:
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
      if (one.key == "mixed_precision") sections_.read_precision(one.text);
      if (one.key == "model.bf16" || one.key == "model.fp16") {
        sections_.formats_read = sections_.formats_read || one.text == "true";
      }
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
    sections_.default_formats("");
    return words_.scenario(0, known);
  }

  FrameworkScenario run_sections() {
    tree_.pass_words(
        "defaults name exp_manager scheduler logger rng tokenizer checkpoint dist _target_ profiling inprocess_restart "
        "straggler ft nvrx_straggler restore_from_path hydra cluster cluster_type training run stages "
        "launcher_scripts_path base_results_dir validation");
    for (const char* section : {"model", "train", "dataset", "ddp"}) sections_.copy_section(section);
    if (is_bridge_config(tree_)) {
      read_bridge_settings(tree_, sections_, request_.world_size);
      return words_.scenario(0, "");
    }
    read_optimizer();
    read_peft();
    if (const auto precision = tree_.word("trainer.precision")) sections_.read_precision(*precision);
    const std::int64_t world = whole("trainer.devices") * whole("trainer.num_nodes");
    tree_.pass("trainer");
    sections_.default_formats("model.");
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

  void read_optimizer() {
    const std::string name = tree_.word("model.optim.name").value_or("");
    if (name.find("dist") != std::string::npos) words_.flag("use-distributed-optimizer");
    if (tree_.flag("optimizer.use_distributed_optimizer")) words_.flag("use-distributed-optimizer");
    words_.copy("model.optim.overlap_grad_sync", "overlap-grad-reduce");
    words_.copy("model.optim.overlap_param_sync", "overlap-param-gather");
    const std::string sums = resolved_word(tree_.word("model.optim.grad_sync_dtype").value_or(""));
    if (dtype_word(sums) == "bf16") words_.flag("grad-reduce-in-bf16");
    tree_.pass_words("model.optim optimizer model.data model.dataset");
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
    if (value.kind == JsonValue::Kind::kBoolean) return words_.flag(SectionWords::argument_of(key));
    if (value.kind != JsonValue::Kind::kArray) return words_.argument(SectionWords::argument_of(key), text);
    words_.values(SectionWords::argument_of(key), value);
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
  const FrameworkRequest& request_;
  SectionWords sections_;
  MegatronWords& words_;
};

}  // namespace

FrameworkScenario read_nemo(ConfigTree& tree, const FrameworkRequest& request) {
  if (std::optional<FrameworkScenario> scenario = read_wrapper(tree, request)) return std::move(*scenario);
  return NemoReader(tree, request).run();
}

}  // namespace debubble
