// Reads a config.json by its row of hf_families.table, step by step.
#include <algorithm>
#include <stdexcept>

#include "scenario/request/family_texts.hpp"
#include "scenario/request/hf_reading.hpp"
#include "scenario/request/model_members.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

// Null: the shape has none of that name.
bool* switch_named(TransformerShape& shape, std::string_view name) {
  if (name == "expert_balance") return &shape.expert_balance;  // no key of --model-size
  const SwitchKey* const known = find_member(kSwitches, name);
  return known == nullptr ? nullptr : &(shape.*known->flag);
}

std::int64_t* size_named(TransformerShape& shape, std::string_view name) {
  const SizeKey* const known = find_member(kSizeKeys, name);
  return known == nullptr ? nullptr : &(shape.*known->size);
}

class FamilyReading {
 public:
  explicit FamilyReading(const ConfigReading& in) : in_(in) {}

  void steps(const ModelFamily& family) const {
    for (const std::string_view step : words_in(family.steps)) take(step);
  }

 private:
  void take(std::string_view step) const {
    if (step.starts_with('-')) {
      for (const std::string& key : split(step.substr(1))) in_.pass(key);
      return;
    }
    if (const std::size_t end = step.find('?'); end != std::string_view::npos && end + 1 < step.size()) {
      if (flag(step.substr(0, end))) take(step.substr(end + 1));
      return;
    }
    const std::size_t end = step.find('=');
    if (end == std::string_view::npos) return call(step);
    set(step.substr(0, end), step.substr(end + 1));
  }

  void call(std::string_view step) const {
    const std::vector<std::string> words = split(step, '/');
    const auto word = [&](std::size_t k) { return k < words.size() ? words[k] : std::string(); };
    if (words[0] == "llama") {
      const std::string activation = word(1).empty() ? "silu" : word(1);
      return read_llama_like(in_, activation.c_str(), {.head_size = word(2).empty() ? 0 : size(word(2))});
    }
    if (words[0] == "window") {
      const bool rule = words.size() > 1 && words[1] != "off";
      return read_window(in_, {.full_every = rule ? size(words[1]) : 0,
                               .size = word(2).empty() ? 0 : size(word(2)),
                               .used = word(1) != "off"});
    }
    for (const auto* readers : {&llama_readers(), &expert_readers(), &gpt_readers()}) {
      for (const FamilyReader& reader : *readers) {
        if (step == reader.name) return reader.read(in_);
      }
    }
    const ModelFamily* family = family_named(step);
    if (family == nullptr || is_word_in(family->steps, step)) broken(step);
    steps(*family);
  }

  void set(std::string_view member, std::string_view value) const {
    TransformerShape& shape = in_.shape();
    if (member == "norm" && value == "layer") {
      shape.norm = NormKind::kLayerNorm;
    } else if (member == "qk_norm") {
      shape.qk_norm = value == "head" ? QueryKeyNorm::kHead : QueryKeyNorm::kWhole;
    } else if (bool* const known = switch_named(shape, member); known != nullptr) {
      *known = flag(value);
    } else if (std::int64_t* const number = size_named(shape, member); number != nullptr) {
      *number = size(value);
    } else {
      broken(member);
    }
  }

  [[nodiscard]] bool flag(std::string_view value) const {
    if (value == "yes" || value == "no") return value == "yes";
    if (value.starts_with('@')) return *switch_named(in_.shape(), value.substr(1));
    const std::size_t end = std::min(value.find(':'), value.size());
    return in_.reader.flag(value.substr(0, end), value.substr(end) == ":yes");
  }

  [[nodiscard]] std::int64_t size(std::string_view value) const {
    if (value.starts_with('@')) return *size_named(in_.shape(), value.substr(1));
    if (value.ends_with('?')) return in_.size_or_none(value.substr(0, value.size() - 1));
    if (const std::size_t end = value.find('|'); end != std::string_view::npos) {
      return in_.size_of(value.substr(0, end), value.substr(end + 1));
    }
    if (const auto number = count_of(value, kMostConfigLayers)) return *number;
    const std::size_t end = value.find(':');
    if (end == std::string_view::npos) return in_.reader.size(value);
    return in_.reader.size(value.substr(0, end), count_of(value.substr(end + 1), kMostConfigLayers));
  }

  [[noreturn]] static void broken(std::string_view step) {
    throw std::logic_error("no step of a family of models: " + std::string(step));
  }

  const ConfigReading& in_;
};

std::vector<ModelFamily> read_families() {
  std::vector<ModelFamily> families;
  for (const std::string& line : split(hf_families_text(), '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with(' ')) {
      families.back().steps += line;
      continue;
    }
    const std::size_t end = line.find_first_of("=!");
    ModelFamily& made = families.emplace_back();
    made.model_types = line.substr(0, end - 1);
    const std::string rest = line.substr(end + 2);
    if (line[end] == '=') {
      made.steps = rest;
    } else {
      made.key = rest.substr(0, rest.find(':'));
      made.missing = rest.substr(rest.find(' ') + 1);
    }
  }
  return families;
}

}  // namespace

const std::vector<ModelFamily>& model_families_of_files() {
  static const std::vector<ModelFamily> families = read_families();
  return families;
}

const ModelFamily* family_named(std::string_view type) {
  const std::vector<ModelFamily>& all = model_families_of_files();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const ModelFamily& one) { return is_word_in(one.model_types, type); });
  return found == all.end() ? nullptr : &*found;
}

void read_family(const ModelFamily& family, const ConfigReading& in) { FamilyReading(in).steps(family); }

}  // namespace debubble
