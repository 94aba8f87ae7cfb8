#include "formats/frameworks/tuner_config.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "formats/frameworks/section_words.hpp"
#include "formats/megatron/wrapper_words.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

// The model that a file names: a preset, or empty where --model says it; nothing where neither does, which is a
// problem.
std::optional<std::string> model_of_file(const std::string& tool, const std::string& name, ConfigTree& tree,
                                         MegatronWords& words, const FrameworkRequest& request) {
  const std::string known = preset_of_model_name(name);
  if (known.empty() && request.model.empty()) {
    require_key(tree, "--model", tool + " reads the model's sizes from the config.json of " + in_quotes(name),
                "add --model config.json");
    return std::nullopt;
  }
  words.find(tool + "'s file: " +
             (known.empty() || !request.model.empty() ? "the model is " + in_quotes(name)
                                                      : in_quotes(name) + " is taken for " + known_model_text(known)));
  return known;
}

void refuse_other_training(ConfigTree& tree) {
  const std::string stage = tree.word("stage").value_or("sft");
  if (stage != "pt" && stage != "sft") {
    tree.complain("F033", "stage", in_quotes(stage) + " trains with a second model, which is not modelled",
                  "pt and sft are");
  }
  const std::string kind = tree.word("finetuning_type").value_or("lora");
  if (kind != "full") {
    tree.complain("F033", "finetuning_type",
                  in_quotes(kind) + ": a part of the weights is trained, which is not modelled", "full is");
  }
}

// "examples/deepspeed/ds_z3_config.json": ZeRO's stage by the name of the file, which is not here.
void read_deepspeed_name(ConfigTree& tree, MegatronWords& words) {
  const std::string file = tree.word("deepspeed").value_or("");
  if (file.empty()) return;
  for (const char* stage : {"0", "1", "2", "3"}) {
    if (file.find(std::string("z") + stage) == std::string::npos &&
        file.find(std::string("zero") + stage) == std::string::npos) {
      continue;
    }
    words.flag("deepspeed");
    words.argument("zero-stage", std::string(stage));
    return words.find("DeepSpeed's file " + in_quotes(file) + " is not here: by its name it is ZeRO-" + stage);
  }
  require_key(tree, "deepspeed", "DeepSpeed's file " + in_quotes(file) + " is not here, and says how training is split",
              "import that one: --from deepspeed");
}

// Transformers' trainer: weights in 32 bits under autocast, or all in bf16; FSDP by its own argument.
void set_trainer_formats(ConfigTree& tree, FrameworkScenario& scenario) {
  const std::string sharding = tree.word("fsdp").value_or("");
  if (sharding.find("shard") != std::string::npos) {
    scenario.set("zero", std::int64_t{3});
    if (sharding.find("shard_grad_op") != std::string::npos) scenario.set("keep-whole", std::string("true"));
    if (sharding.find("offload") != std::string::npos) scenario.find("fsdp: offload counts as lying on the GPU");
  } else if (tree.flag("pure_bf16")) {
    for (const auto& [flag, value] :
         {std::pair{"master-weights", "none"}, {"moment-dtype", "bf16"}, {"grad-dtype", "bf16"}}) {
      scenario.set(flag, std::string(value));
    }
  } else if (tree.flag("bf16") || tree.flag("fp16")) {
    scenario.set("weight-dtype", std::string("fp32"));
  }
}

// LLaMA-Factory: Transformers' names, and Megatron-Core's where its adapter trains.
FrameworkScenario read_llama_factory(ConfigTree& tree, const FrameworkRequest& request) {
  SectionWords sections(tree, request);
  MegatronWords& words = sections.words;
  refuse_other_training(tree);
  const std::string name = tree.word("model_name_or_path").value_or("");
  const std::optional<std::string> known = model_of_file("LLaMA-Factory", name, tree, words, request);
  if (!known) return {};
  sections.copy_leaves("");
  words.argument("seq-length", tree.number("cutoff_len", 1).value_or(2048));
  words.argument("micro-batch-size", tree.number("per_device_train_batch_size", 1).value_or(8));
  words.argument("gas", tree.number("gradient_accumulation_steps", 1).value_or(1));
  if (!tree.has("bf16") && !tree.has("fp16") && tree.flag("pure_bf16")) words.flag("bf16");
  const std::string attention = tree.word("flash_attn").value_or("auto");
  if (attention != "disabled") words.flag("use-flash-attn");
  words.drop("deepspeed");
  read_deepspeed_name(tree, words);
  const std::string optimizer = tree.word("optim").value_or("adamw_torch");
  if (optimizer.starts_with("sgd")) words.argument("optimizer", std::string("sgd"));
  if (optimizer.find("8bit") != std::string::npos ||
      (!optimizer.starts_with("adam") && !optimizer.starts_with("sgd"))) {
    words.find("optim " + optimizer + ": counts as Adam in 32 bits");
  }
  // Megatron-Core's adapter keeps what a block computed; Transformers' trainer recomputes it unless it is told not to.
  const bool adapter = words.has("tensor-model-parallel-size") || words.has("pipeline-model-parallel-size") ||
                       words.has("expert-model-parallel-size");
  if (!adapter && !tree.flag("disable_gradient_checkpointing")) {
    words.argument("recompute-granularity", std::string("full"));
    words.argument("recompute-method", std::string("uniform"));
    words.argument("recompute-num-layers", std::int64_t{1});
  }
  tree.pass_words(
      "dataset template overwrite_cache preprocessing_num_workers output_dir report_to logging_steps save_steps "
      "save_only_model plot_loss overwrite_output_dir num_train_epochs learning_rate lr_scheduler_type warmup_ratio "
      "ddp_timeout resume_from_checkpoint do_train max_samples dataloader_num_workers val_size max_steps "
      "trust_remote_code dataset_dir run_name save_strategy");
  FrameworkScenario scenario = words.scenario(0, *known);
  if (!adapter && !words.has("deepspeed")) set_trainer_formats(tree, scenario);
  return scenario;
}

FrameworkScenario tuned(ConfigTree& tree, const FrameworkRequest& request, const std::string& tool,
                        const std::string& name, WrapperWords read, std::int64_t ranks) {
  MegatronWords words(tree, request);
  if (!read.refused.empty()) {
    tree.problems().add("F033", tree.problems().name(), read.refused, read.help);
    return {};
  }
  const std::optional<std::string> known = model_of_file(tool, name, tree, words, request);
  if (!known) return {};
  const auto at = std::find(read.words.begin(), read.words.end(), "--mtp-num-layers");
  const std::string predicted = at == read.words.end() ? "" : *(at + 1);
  const bool none = predicted == "0" && (request.model.empty() ? *known != "deepseek-v3" : request.predicted == 0);
  if (none) read.words.erase(at, at + 2);
  words.add(read.words);
  for (std::string& note : read.notes) words.find(std::move(note));
  FrameworkScenario scenario = words.scenario(ranks, *known);
  if (!none && !request.model.empty() && !predicted.empty()) {
    scenario.set("model-size", "predicted_tokens=" + predicted);
  }
  return scenario;
}

// A file of ms-swift has the words of its command line, ENV the variables of its environment.
FrameworkScenario read_swift(ConfigTree& tree, const FrameworkRequest& request) {
  std::vector<std::string> given;
  for (const JsonValue& one : tree.root().children) {
    if (one.key == "ENV" || one.kind == JsonValue::Kind::kNull) continue;
    tree.pass(one.key);
    given.push_back("--" + one.key);
    if (one.kind != JsonValue::Kind::kArray) given.push_back(one.text);
    for (const JsonValue& item : one.children) given.push_back(item.text);
  }
  const std::int64_t ranks =
      tree.number("ENV.NNODES", 1).value_or(1) * tree.number("ENV.NPROC_PER_NODE", 1).value_or(0);
  tree.pass("ENV");
  const std::string name = tree.word("model").value_or("");
  WrapperWords read = swift_words(given);
  return tuned(tree, request, "ms-swift", name, std::move(read), ranks);
}

void add_paths(const JsonValue& value, const std::string& path, std::map<std::string, std::string>& values) {
  if (value.kind == JsonValue::Kind::kObject) {
    for (const JsonValue& one : value.children) add_paths(one, path.empty() ? one.key : path + "." + one.key, values);
  } else if (value.kind == JsonValue::Kind::kArray) {
    std::string text;
    for (const JsonValue& item : value.children) text += (text.empty() ? "" : ",") + item.text;
    values[path] = "[" + text + "]";
  } else if (value.kind != JsonValue::Kind::kNull) {
    values[path] = resolved_word(value.text);
  }
}

// The configuration that Hydra has put together, and saves.
FrameworkScenario read_verl(ConfigTree& tree, const FrameworkRequest& request) {
  std::map<std::string, std::string> values;
  add_paths(tree.root(), "", values);
  for (const JsonValue& one : tree.root().children) tree.pass(one.key);
  const std::string model = tree.word("actor_rollout_ref.model.path").value_or("");
  WrapperWords read = verl_words(values);
  const std::int64_t ranks = read.ranks;
  return tuned(tree, request, "verl", model, std::move(read), ranks);
}

// Flat, with a model's name and one of Megatron-LM's arguments.
bool is_swift(ConfigTree& tree) {
  const JsonValue* model = tree.find("model");
  if (model == nullptr || model->kind != JsonValue::Kind::kString || tree.has("trainer")) return false;
  return tree.has("micro_batch_size") || tree.has("global_batch_size") || tree.has("tensor_model_parallel_size") ||
         tree.has("pipeline_model_parallel_size") || tree.has("expert_model_parallel_size");
}

}  // namespace

std::optional<FrameworkScenario> read_tuner(ConfigTree& tree, const FrameworkRequest& request) {
  if (tree.has("model_name_or_path") && (tree.has("per_device_train_batch_size") || tree.has("cutoff_len"))) {
    return read_llama_factory(tree, request);
  }
  if (tree.has("actor_rollout_ref.actor")) return read_verl(tree, request);
  if (is_swift(tree)) return read_swift(tree, request);
  return std::nullopt;
}

}  // namespace debubble
