#include "scenario/request/model_choice.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "cost_models/transformer/model_catalog.hpp"
#include "formats/files/read_file.hpp"
#include "scenario/request/hf_config.hpp"
#include "scenario/request/model_members.hpp"
#include "sim/core/error.hpp"
#include "sim/core/keyed_list.hpp"
#include "sim/core/model_presets.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kLargestModelSize = std::int64_t{1} << 24;

void complain_of_model(std::vector<Diagnostic>& found, const char* code, std::string message, std::string help) {
  found.push_back({code, "--model-size", std::move(message), std::move(help)});
}

void set_switch(const SwitchKey& key, const std::string& value, TransformerShape& shape) {
  if (value == "yes" || value == "no") {
    shape.*key.flag = value == "yes";
    return;
  }
  fail("C002", "--model-size", std::string(key.name) + " is yes or no; got \"" + value + "\"",
       "write it like " + std::string(key.name) + "=yes");
}

void set_size(const SizeKey& key, const std::string& value, TransformerShape& shape) {
  if (const auto number = count_of(value, kLargestModelSize); number && *number >= key.least) {
    shape.*key.size = *number;
    return;
  }
  fail("C006", "--model-size",
       std::string(key.name) + " is a whole number from " + std::to_string(key.least) + " to 2^24; got \"" + value +
           "\"",
       "write it like " + std::string(key.name) + "=32");
}

void set_qk_norm(const std::string& value, TransformerShape& shape) {
  constexpr std::array<const char*, 4> kWords{"none", "head", "whole", "plain"};
  for (std::size_t k = 0; k < kWords.size(); ++k) {
    if (value != kWords[k]) continue;
    shape.qk_norm = static_cast<QueryKeyNorm>(k);
    return;
  }
  fail("C002", "--model-size", "qk_norm is none, head, whole or plain; got \"" + value + "\"",
       "write qk_norm=head where all heads share one weight vector");
}

// A 1 for each block with experts, a 0 for each without, from the first on; fewer than the model has come again.
void set_expert_blocks(const std::string& value, TransformerShape& shape) {
  if (value.empty() || value.find_first_not_of("01") != std::string::npos) {
    fail("C006", "--model-size", "expert_blocks is made of 0 and 1; got \"" + value + "\"",
         "write expert_blocks=1110 where three of four blocks have experts");
  }
  BlockKind dense;
  BlockKind moe;
  dense.experts = 0;
  moe.experts = 1;
  shape.block_kinds = {dense, moe};
  shape.kind_of_block.clear();
  for (std::int64_t k = 0; k < shape.layers; ++k) {
    shape.kind_of_block.push_back(value[static_cast<std::size_t>(k) % value.size()] == '1' ? 1 : 0);
  }
}

void set_item(const std::string& key, const std::string& value, TransformerShape& shape) {
  if (const SizeKey* size = find_member(kSizeKeys, key)) return set_size(*size, value, shape);
  if (const SwitchKey* known = find_member(kSwitches, key)) return set_switch(*known, value, shape);
  if (key == "norm" && (value == "layer" || value == "rms")) {
    shape.norm = value == "layer" ? NormKind::kLayerNorm : NormKind::kRmsNorm;
    return;
  }
  if (key == "norm") {
    fail("C002", "--model-size", "norm is layer or rms; got \"" + value + "\"", "write norm=rms");
  }
  set_qk_norm(value, shape);
}

// A size that followed from others follows them when they change, unless it is given, too.
void forget_what_follows(TransformerShape& shape) {
  if (shape.kv_heads == shape.heads) shape.kv_heads = 0;
  if (shape.heads > 0 && shape.head_size * shape.heads == shape.hidden) shape.head_size = 0;
  TransformerShape bare = shape;
  bare.feed_forward = 0;
  complete_shape(bare);
  if (bare.feed_forward == shape.feed_forward) shape.feed_forward = 0;
}

void check_chosen_heads(const TransformerShape& shape, std::vector<Diagnostic>& found) {
  if (shape.heads < 1) return;  // the model lacks a size: said elsewhere
  const std::string heads = std::to_string(shape.heads) + (shape.heads == 1 ? " head" : " heads");
  if (shape.head_size == 0 && shape.hidden % shape.heads != 0) {
    complain_of_model(found, "C006", heads + " do not share " + std::to_string(shape.hidden) + " numbers evenly",
                      "give a number of heads that divides hidden, or head_size=N, too");
  }
  if (shape.kv_heads > 0 && shape.heads % shape.kv_heads != 0) {
    complain_of_model(found, "C006",
                      std::to_string(shape.kv_heads) + " key/value heads cannot serve " + heads + " evenly",
                      "give kv_heads=N, too, so that heads is a multiple of it");
  }
}

// Groups that the model has are forgotten where other experts do not lie in them evenly.
void check_expert_groups(const std::set<std::string>& given, TransformerShape& shape, std::vector<Diagnostic>& found) {
  if (groups_hold_experts(shape)) return;
  if (!given.contains("expert_groups") && !given.contains("groups_per_token")) {
    shape.expert_groups = shape.groups_per_token = 0;
    return;
  }
  complain_of_model(found, "C006",
                    std::to_string(shape.expert_groups) + " groups of " + std::to_string(shape.experts) + " experts, " +
                        std::to_string(shape.groups_per_token) + " of them per token, do not hold its " +
                        std::to_string(shape.experts_per_token) + " experts",
                    "expert_groups divides experts, and groups_per_token of them have experts_per_token or more");
}

void set_model_sizes(const std::string& text, TransformerShape& shape) {
  std::set<std::string> seen;
  forget_what_follows(shape);
  const KeyedForm form{.place = "--model-size",
                       .example = "write it like --model-size layers=12,hidden=4096",
                       .once = "give each size once",
                       .keys = model_size_keys(),
                       .unknown = "there is no size \"{}\"",
                       .known = "sizes: ",
                       .values_needed = true};
  std::optional<std::string> expert_blocks;  // as many as layers, which may be given behind it
  read_keyed_list(text, form, [&](const std::string& key, const std::string& value) {
    seen.insert(key);
    if (key == "expert_blocks") {
      expert_blocks = value;
    } else {
      set_item(key, value, shape);
    }
  });
  if (expert_blocks) set_expert_blocks(*expert_blocks, shape);
  std::vector<Diagnostic> found;
  check_chosen_heads(shape, found);
  if (found.empty()) check_expert_groups(seen, shape, found);
  if (!found.empty()) throw InputError(std::move(found));
}

ChosenModel named_model(const std::string& name) {
  for (const TransformerShape& family : model_families()) {
    if (family.name == name) return {family, "sizes as given", 0, {}};
  }
  static const std::vector<NamedModel> all = all_models();
  std::vector<std::string> names;
  for (const NamedModel& model : all) {
    if (model.shape.name == name) return {model.shape, model.source, 0, {}};
    names.push_back(model.shape.name);
  }
  const std::string meant = closest_name(name, names);
  throw InputError(Diagnostic{
      "C003", "--model", "no model is named \"" + name + "\"",
      meant.empty() ? "`debubble list models` shows the names; else a Hugging Face config.json, or gpt or llama with "
                      "--model-size layers=..,hidden=..,heads=..,vocabulary=.."
                    : "did you mean " + meant + "? `debubble list models` shows all"});
}

}  // namespace

std::vector<std::string> model_size_keys() {
  std::vector<std::string> keys;
  for (const SizeKey& size : kSizeKeys) keys.emplace_back(size.name);
  for (const SwitchKey& known : kSwitches) keys.emplace_back(known.name);
  keys.emplace_back("expert_blocks");
  keys.emplace_back("norm");
  keys.emplace_back("qk_norm");
  return keys;
}

bool names_model_file(const std::string& model) {
  return model.ends_with(".json") || model.find('/') != std::string::npos;
}

std::vector<NamedModel> all_models() {
  std::vector<NamedModel> models;
  for (const ModelPreset& preset : model_presets()) models.push_back({preset.shape, preset.source});
  for (const CatalogModel& model : model_catalog()) models.push_back({model.shape, model.source});
  return models;
}

ChosenModel choose_model(const std::string& model, const std::string& sizes) {
  ChosenModel chosen;
  if (names_model_file(model)) {
    if (!std::filesystem::exists(model) && !model.ends_with(".json")) {
      fail("C005", "--model", "there is no file " + model,
           "a model of Hugging Face is given by the path of its config.json; `debubble list models` shows those with a "
           "name, such as llama3-8b");
    }
    ModelFile file = read_hf_config(read_file(model, "--model"), model);
    chosen = {std::move(file.shape), model, file.longest, std::move(file.notes)};
  } else {
    chosen = named_model(model);
  }
  if (!sizes.empty()) set_model_sizes(sizes, chosen.shape);
  complete_shape(chosen.shape);
  if (chosen.longest == 0) chosen.longest = chosen.shape.positions;
  return chosen;
}

}  // namespace debubble
