#include "formats/frameworks/wrapper_config.hpp"

#include <algorithm>
#include <array>

#include "formats/frameworks/section_words.hpp"
#include "formats/frameworks/tuner_config.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

// Arguments with their hyphens, and what the test's environment is.
FrameworkScenario read_test_file(ConfigTree& tree, const FrameworkRequest& request) {
  tree.pass_words("ENV_VARS TEST_TYPE LAUNCHER METRICS MODE BEFORE_SCRIPT AFTER_SCRIPT");
  for (const char* key : {"encoder-num-layers", "decoder-num-layers", "hybrid-override-pattern", "is-hybrid-model",
                          "language-model-checkpoint", "model-provider"}) {
    if (!tree.has(std::string("MODEL_ARGS.--") + key)) continue;
    tree.complain("F033", std::string("MODEL_ARGS.--") + key, "a model that is no decoder alone is not modelled",
                  "pretrain_gpt.py's are");
    return {};
  }
  MegatronWords words(tree, request);
  words.find("the file does not say which program it is for: pretrain_gpt.py is taken, a decoder with a causal mask");
  for (const JsonValue& one : tree.find("MODEL_ARGS")->children) {
    if (one.key.starts_with("--")) words.copy("MODEL_ARGS." + one.key, one.key.substr(2));
  }
  return words.scenario(0, "");
}

// Null, too, which `find` takes for absent.
const JsonValue* raw_member(ConfigTree& tree, const std::string& section, std::string_view key) {
  const JsonValue* values = tree.find(section);
  if (values == nullptr) return nullptr;
  for (const JsonValue& one : values->children) {
    if (one.key == key) return &one;
  }
  return nullptr;
}

void pass_around(ConfigTree& tree, const std::string& module) {
  tree.pass_words("work_group user_name exp_name workspace platform exp_meta_info");
  tree.pass(module + ".config");
  tree.pass(module + ".framework");
}

// The module of a Primus file that trains; empty where it is none.
std::string primus_module(ConfigTree& tree) {
  const JsonValue* modules = tree.find("modules");
  if (modules == nullptr || modules->kind != JsonValue::Kind::kObject) return {};
  for (const JsonValue& one : modules->children) {
    const std::string path = "modules." + one.key;
    if (tree.has(path + ".overrides")) return path;
  }
  return {};
}

FrameworkScenario read_primus_megatron(ConfigTree& tree, const FrameworkRequest& request, const std::string& module) {
  pass_around(tree, module);
  const std::string overrides = module + ".overrides";
  const std::string model = resolved_word(tree.word(module + ".model").value_or(""));
  const std::string known = preset_of_model_name(model);
  SectionWords sections(tree, request);
  sections.copy_section(overrides);
  if (known.empty()) {
    sections.words.find("the model " + in_quotes(model) +
                        " lies in a file of Primus: add --model config.json where sizes are missing");
  } else {
    sections.words.find("the model " + in_quotes(model) + " is taken for " + known_model_text(known));
  }
  const JsonValue* latent = raw_member(tree, overrides, "multi_latent_attention");
  if (latent != nullptr && latent->text == "false" && known.starts_with("deepseek")) {
    sections.words.find("multi_latent_attention is off in the file, and counts as it is in " + known);
  }
  const JsonValue* further = raw_member(tree, overrides, "mtp_num_layers");
  if (further != nullptr && further->kind == JsonValue::Kind::kNull && known == "deepseek-v3") {
    sections.words.argument("mtp-num-layers", std::int64_t{0});
  }
  sections.default_formats(overrides + ".");
  return sections.words.scenario(0, known);
}

// "llama3.1_405B.yaml" is flavor 405B of torchtitan's llama3, "deepseek_v3_16b-fp8.yaml" 16B of deepseek_v3.
JsonValue titan_model(std::string file) {
  if (file.ends_with(".yaml")) file.erase(file.size() - 5);
  for (const char* ending : {"-fp8", "-bf16", "-pretrain", "_fp8", "_bf16"}) {
    if (file.ends_with(ending)) file.erase(file.size() - std::string(ending).size());
  }
  const std::size_t split = file.find_last_of("_-");
  std::string name = file.substr(0, split);
  std::string flavor = split == std::string::npos ? "" : file.substr(split + 1);
  if (flavor == "v3") {  // the whole name, of one size
    name = file;
    flavor = "671B";
  }
  if (name.starts_with("llama3")) name = "llama3";
  if (name.starts_with("llama4")) name = "llama4";
  if (flavor.ends_with('b')) flavor.back() = 'B';
  JsonValue model;
  model.kind = JsonValue::Kind::kObject;
  for (const auto& [key, text] : {std::pair{"name", name}, std::pair{"flavor", flavor}}) {
    JsonValue& value = model.children.emplace_back();
    value.kind = JsonValue::Kind::kString;
    value.key = key;
    value.text = text;
  }
  return model;
}

// torchtitan's keys lie under "overrides", the model in a file that Primus has by that name.
FrameworkScenario read_primus_titan(ConfigTree& tree, const FrameworkRequest& request, const std::string& module) {
  pass_around(tree, module);
  tree.pass(module + ".model");
  tree.pass(module + ".overrides");
  JsonValue root = *tree.find(module + ".overrides");
  const std::string model = resolved_word(tree.word(module + ".model").value_or(""));
  const bool has_model = std::any_of(root.children.begin(), root.children.end(), [](const JsonValue& one) {
    return one.key == "model" && one.kind == JsonValue::Kind::kObject;
  });
  if (model.empty() && !has_model && request.model.empty()) {
    require_key(tree, module + ".model", "the file does not say which model it trains", "add --model config.json");
    return {};
  }
  if (!has_model) {
    root.children.push_back(titan_model(model));
    root.children.back().key = "model";
  }
  ConfigTree inner(root, tree.problems());
  FrameworkScenario scenario = read_torchtitan(inner, request);
  scenario.find("Primus' file for torchtitan: the model is " + in_quotes(model) +
                ", and what Primus' own files add to the overrides is not here");
  report_unread(inner, scenario);
  return scenario;
}

// FlagScale hands all leaves to Megatron-LM, whatever their sections are called.
FrameworkScenario read_flagscale(ConfigTree& tree, const FrameworkRequest& request) {
  for (const char* section : {"defaults", "action", "hydra", "experiment", "train"}) {
    if (tree.has(section) && !tree.find(section)->children.empty() && section != std::string_view("train")) {
      tree.pass(section);
    }
  }
  SectionWords sections(tree, request);
  const std::string prefix = tree.has("train.model") || tree.has("train.system") ? "train." : "";
  for (const char* section : {"system", "model", "data"}) sections.copy_leaves(prefix + section);
  const auto number = [&](const char* key) { return tree.number(prefix + key, 1); };
  // FlagScale's own width of a gated MLP.
  const auto multiple = number("model.multiple_of");
  const auto hidden = number("model.hidden_size");
  const auto factor = tree.fraction(prefix + "model.hidden_dim_multiplier");
  if (multiple && hidden && !tree.has(prefix + "model.ffn_hidden_size")) {
    const std::int64_t width = static_cast<std::int64_t>(static_cast<double>(4 * *hidden * 2 / 3) * factor.value_or(1));
    sections.words.argument("ffn-hidden-size", (width + *multiple - 1) / *multiple * *multiple);
  }
  const std::int64_t nodes = tree.number("experiment.runner.nnodes", 1).value_or(1);
  const std::int64_t each = tree.number("experiment.runner.nproc_per_node", 1).value_or(0);
  return sections.words.scenario(nodes * each, "");
}

bool is_flagscale(ConfigTree& tree) {
  const auto section = [&tree](const std::string& path) {
    const JsonValue* value = tree.find(path);
    return value != nullptr && value->kind == JsonValue::Kind::kObject;
  };
  if (section("trainer") || section("exp_manager")) return false;
  return section("system") || section("train.system") || section("train.model") ||
         (section("experiment") && section("experiment.task"));
}

}  // namespace

std::optional<FrameworkScenario> read_wrapper(ConfigTree& tree, const FrameworkRequest& request) {
  if (tree.has("MODEL_ARGS")) return read_test_file(tree, request);
  if (const std::string module = primus_module(tree); !module.empty()) {
    const std::string framework = tree.word(module + ".framework").value_or("");
    return framework.find("titan") == std::string::npos ? read_primus_megatron(tree, request, module)
                                                        : read_primus_titan(tree, request, module);
  }
  if (auto read = read_tuner(tree, request)) return read;
  if (is_flagscale(tree)) return read_flagscale(tree, request);
  return std::nullopt;
}

}  // namespace debubble
