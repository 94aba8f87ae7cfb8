// NeMo's and Megatron-Bridge's YAML, and recipes of Megatron-Bridge: Megatron-LM's arguments under other names.
#include <algorithm>
#include <array>

#include "formats/frameworks/bridge_settings.hpp"
#include "formats/frameworks/section_words.hpp"
#include "formats/frameworks/wrapper_config.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

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
