#include "formats/megatron/argument_table.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <utility>

#include "formats/megatron/argument_names.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

using ArgumentTable = std::map<std::string, ArgumentRow, std::less<>>;

// "name" takes no value, "name=" one, "name*" as many as follow.
void add_names(std::string_view text, ArgumentEffect effect, ArgumentTable& table) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t bar = line.find('|');
    std::string_view reason;
    if (bar != std::string_view::npos) {
      reason = line.substr(bar + 1);
      while (reason.starts_with(" ")) reason.remove_prefix(1);
    }
    std::istringstream words{std::string(line.substr(0, bar))};
    for (std::string word; words >> word;) {
      ArgumentRow row{effect, ArgumentValues::kNone, reason};
      if (word.back() == '=') row.values = ArgumentValues::kOne;
      if (word.back() == '*') row.values = ArgumentValues::kMany;
      if (row.values != ArgumentValues::kNone) word.pop_back();
      table.insert_or_assign(word, row);
    }
  }
}

const ArgumentTable& argument_table() {
  static const ArgumentTable all = [] {
    ArgumentTable made;
    add_names(kArgumentsWithoutEffect, ArgumentEffect::kNothing, made);
    add_names(kMoreArgumentsWithoutEffect, ArgumentEffect::kNothing, made);
    add_names(kArgumentsNamed, ArgumentEffect::kNamed, made);
    add_names(kArgumentsUsed, ArgumentEffect::kUsed, made);
    return made;
  }();
  return all;
}

// All that begin like this, without effect; how many values they take is not known.
constexpr std::string_view kPrefixes =
    "adam- ckpt- dist-ckpt- eval- exit- init-method log- lr- muon- rl- grpo- sglang- rollout- tensorboard- wandb- "
    "tokenizer inference- straggler nccl-communicator";

struct Renamed {
  std::string_view old_name;
  std::string_view name;
};

constexpr std::array<Renamed, 15> kRenamed{{{"model-parallel-size", "tensor-model-parallel-size"},
                                            {"intra-layer-model-parallel-size", "tensor-model-parallel-size"},
                                            {"pipe-parallel-size", "pipeline-model-parallel-size"},
                                            {"inter-layer-model-parallel-size", "pipeline-model-parallel-size"},
                                            {"batch-size", "micro-batch-size"},
                                            {"encoder-num-layers", "num-layers"},
                                            {"encoder-seq-length", "seq-length"},
                                            {"moe-expert-parallel-size", "expert-model-parallel-size"},
                                            {"expert-parallel-size", "expert-model-parallel-size"},
                                            {"num-key-value-heads", "num-query-groups"},
                                            {"activations-checkpoint-method", "recompute-method"},
                                            {"activations-checkpoint-num-layers", "recompute-num-layers"},
                                            {"checkpoint-num-layers", "recompute-num-layers"},
                                            {"vocab-padded-size", "padded-vocab-size"},
                                            {"use-flash-attn-v1", "use-flash-attn"}}};

}  // namespace

std::optional<ArgumentRow> megatron_argument(const std::string& name) {
  const auto found = argument_table().find(name);
  if (found != argument_table().end()) return found->second;
  const auto prefixes = words_in(kPrefixes);
  const bool prefixed = std::any_of(prefixes.begin(), prefixes.end(),
                                    [&name](std::string_view prefix) { return name.starts_with(prefix); });
  if (prefixed) return ArgumentRow{ArgumentEffect::kNothing, ArgumentValues::kMany, {}};
  return std::nullopt;
}

std::string todays_name(const std::string& name) {
  const auto* const found =
      std::find_if(kRenamed.begin(), kRenamed.end(), [&name](const Renamed& one) { return one.old_name == name; });
  return found == kRenamed.end() ? name : std::string(found->name);
}

std::string nearest_argument(const std::string& name) {
  if (name.size() < 4) return "";
  std::string nearest;
  for (const auto& [known, row] : argument_table()) {
    if (!known.starts_with(name) || row.effect == ArgumentEffect::kNothing) continue;
    if (!nearest.empty()) return "";
    nearest = known;
  }
  return nearest;
}

}  // namespace debubble
