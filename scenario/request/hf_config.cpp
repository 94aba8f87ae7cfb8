#include "scenario/request/hf_config.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "cost_models/transformer/model_catalog.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/model/config_reader.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "scenario/request/hf_reading.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

// Classes whose files in the wild carry another model's `model_type`.
struct ClassOfFamily {
  const char* architecture;
  const char* model_type;
};
constexpr std::array<ClassOfFamily, 4> kClasses{{{"Glm4MoeForCausalLM", "glm4_moe"},
                                                 {"DeepseekV3ForCausalLM", "deepseek_v3"},
                                                 {"DeepseekV32ForCausalLM", "deepseek_v32"},
                                                 {"MiMoForCausalLM", "mimo"}}};

std::vector<std::string> modelled_types() {
  std::vector<std::string> names;
  for (const ModelFamily& family : model_families_of_files()) {
    if (family.steps.empty()) continue;
    for (const std::string_view type : words_in(family.model_types)) names.emplace_back(type);
  }
  return names;
}

void refuse_type(const std::string& type, const std::string& pointer, ProblemList& problems) {
  const std::vector<std::string> names = modelled_types();
  const std::string meant = closest_name(type, names);
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  problems.add_at_pointer("P011", pointer + "/model_type", "models of the type " + in_quotes(type) + " are not known",
                          (meant.empty() ? "" : "did you mean " + in_quotes(meant) + "? ") + ("known: " + all) +
                              "; sizes alone will do: --model llama --model-size layers=32,hidden=4096,...");
}

// The class that the file is of, where that says more than its model_type.
std::string class_type(ConfigReader& reader, const std::string& type) {
  const JsonValue* classes = reader.find("architectures");
  if (classes == nullptr || classes->children.empty()) return type;
  for (const ClassOfFamily& known : kClasses) {
    if (classes->children.front().text == known.architecture && type != "kimi_k2") return known.model_type;
  }
  return type;
}

// Models that see or hear keep their text's sizes in an object of its own, or beside.
const JsonValue* text_part(const JsonValue& root) {
  for (const JsonValue& member : root.children) {
    const bool text = member.key == "text_config" || member.key == "llm_config" || member.key == "language_config";
    if (text && member.kind == JsonValue::Kind::kObject) return &member;
  }
  return nullptr;
}

void note_towers(ConfigReader& reader, const ConfigReading& in, bool nested) {
  bool towers = nested;
  for (const char* tower : {"vision_config", "audio_config", "visual", "vision_tower"}) {
    towers = reader.find(tower) != nullptr || towers;
  }
  if (towers) in.note("the text part only: towers for images and sound, and what projects their output, are left out");
}

void read_text(const JsonValue& object, const JsonValue& root, const std::string& prefix, ModelFile& file,
               ProblemList& problems) {
  ConfigReader reader(object, problems, prefix);
  const ConfigReading in{reader, file, problems};
  std::string type = reader.word("model_type", "");
  ConfigReader outer(root, problems);
  if (type.empty() && !prefix.empty()) type = outer.word("model_type", "");
  if (reader.find("hidden_dim") != nullptr && reader.find("n_head") != nullptr) {
    problems.add("P010", problems.name(),
                 "\"hidden_dim\" and \"n_head\" are keys of llm-analysis, whose sizes are those of an idealised model",
                 "give the config.json of the model itself");
    return;
  }
  if (type.empty()) {
    problems.add("P010", problems.name(), "\"model_type\" is missing, so this is not a model config",
                 "give the config.json of a Hugging Face model");
    return;
  }
  const ModelFamily* family = family_named(class_type(reader, type));
  if (family == nullptr) return refuse_type(type, prefix, problems);
  if (family->steps.empty()) {
    in.refuse(reader.find(family->key) == nullptr ? "model_type" : family->key, family->missing);
  } else {
    read_family(*family, in);
  }
  // A nested part leaves it to the whole whether the output layer is the embedding.
  if (!prefix.empty() && reader.find("tie_word_embeddings") == nullptr &&
      outer.find("tie_word_embeddings") != nullptr) {
    file.shape.tied_embedding = outer.flag("tie_word_embeddings", file.shape.tied_embedding);
  }
  note_towers(outer, in, !prefix.empty());
  if (reader.find("quantization_config") != nullptr || outer.find("quantization_config") != nullptr) {
    in.note("\"quantization_config\" is not modelled: --dtype says what products are computed in");
  }
  if (reader.flag("is_encoder_decoder", false) && problems.empty()) {
    in.refuse("is_encoder_decoder", "an encoder with a decoder that attends to it");
  }
  (void)reader.find("num_nextn_predict_layers");
  for (const char* tower : {"vision_config", "audio_config", "image_token_id", "video_token_id",
                            "vision_start_token_id", "vision_end_token_id", "vision_token_id"}) {
    (void)reader.find(tower);
  }
  for (const std::string& key : reader.unknown_keys()) {
    in.note("unknown key " + in_quotes(key) + ", which may change time or memory, is left out");
  }
}

void check_read_heads(const TransformerShape& shape, const std::string& prefix, ProblemList& problems) {
  const auto complain = [&](const std::string& key, std::string message, std::string help) {
    problems.add_at_pointer("P012", prefix + (key.empty() ? "" : "/" + key), std::move(message), std::move(help));
  };
  if (shape.kv_heads > 0 && shape.heads % shape.kv_heads != 0) {
    complain("num_key_value_heads",
             std::to_string(shape.kv_heads) + " key/value heads cannot serve " + std::to_string(shape.heads) +
                 " heads evenly",
             "the number of heads must be a multiple of it");
  }
  if (shape.head_size == 0 && shape.heads > 0 && shape.hidden % shape.heads != 0) {
    complain("",
             std::to_string(shape.heads) + " heads do not share " + std::to_string(shape.hidden) + " numbers evenly",
             "the number of heads must divide the width of the model");
  }
  if (shape.experts > 0 && shape.experts_per_token > shape.experts) {
    complain("num_experts_per_tok",
             std::to_string(shape.experts_per_token) + " experts per token of " + std::to_string(shape.experts),
             "a token goes to at most all experts");
  }
  if (!groups_hold_experts(shape)) {
    complain("n_group",
             std::to_string(shape.expert_groups) + " groups, " + std::to_string(shape.groups_per_token) +
                 " of them per token, of " + std::to_string(shape.experts) + " experts do not hold " +
                 std::to_string(shape.experts_per_token),
             "n_group divides the experts, and topk_group of them have num_experts_per_tok or more");
  }
}

// Sums of parameters stay whole numbers, and blocks are looked at one by one.
void check_read_numbers(const TransformerShape& shape, const std::string& prefix, ProblemList& problems) {
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  const double head =
      shape.head_size > 0 ? real(shape.head_size) : real(shape.hidden) / real(std::max<std::int64_t>(1, shape.heads));
  const double heads = real(shape.heads) * (head + real(shape.rope_size) + real(shape.value_size));
  const double inner = real(shape.hidden) + real(shape.query_rank) + real(shape.kv_rank);
  double widths = real(shape.feed_forward) + real(shape.shared_feed_forward) +
                  (real(shape.experts) + 1) * (real(shape.expert_feed_forward) + 1);
  for (const BlockKind& kind : shape.block_kinds) widths = std::max(widths, real(kind.feed_forward));
  const double rough = real(shape.layers + shape.predicted_tokens) * inner * (4 * heads + 3 * widths + 2 * inner) +
                       2 * real(shape.vocabulary + shape.positions) * real(shape.hidden);
  if (shape.layers <= kMostConfigLayers && rough < 1e17) return;
  problems.add_at_pointer("P004", prefix,
                          "a model of " + std::to_string(shape.layers) + " layers of " + std::to_string(shape.hidden) +
                              " is larger than any",
                          "at most 10000 layers and 10^17 parameters");
}

}  // namespace

ModelFile read_hf_config(std::string_view text, const std::string& name) {
  ProblemList problems(name, config_dialect());
  ModelFile file;
  file.shape.name = name;
  const std::optional<JsonValue> root = parse_json(text, problems);
  if (root && root->kind != JsonValue::Kind::kObject) {
    problems.add("P010", problems.name(), "a model config is an object; got " + describe(*root),
                 "give the config.json of a Hugging Face model");
  } else if (root) {
    const JsonValue* part = text_part(*root);
    const std::string prefix = part == nullptr ? "" : "/" + part->key;
    read_text(part == nullptr ? *root : *part, *root, prefix, file, problems);
    if (problems.empty()) check_read_heads(file.shape, prefix, problems);
    if (problems.empty()) check_read_numbers(file.shape, prefix, problems);
  }
  problems.throw_if_any();
  complete_shape(file.shape);
  return file;
}

}  // namespace debubble
