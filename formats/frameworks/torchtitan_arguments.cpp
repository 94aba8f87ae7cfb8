#include "formats/frameworks/torchtitan_arguments.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "formats/frameworks/torchtitan_models.hpp"
#include "formats/megatron/argument_list.hpp"
#include "formats/text/text.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"

namespace debubble {
namespace {

using Words = std::vector<std::string>;
using Sections = std::map<std::string, std::string>;  // keys and values of each, as JSON

std::string json_value(const std::string& word) {
  return word == "true" || word == "false" || number_of(word) ? word : json_string(word);
}

std::string json_words(const std::string& words) {
  std::string list;
  for (const std::string& word : split(words)) list += (list.empty() ? "" : ", ") + json_string(word);
  return "[" + list + "]";
}

std::string json_of(const std::string& key, const Words& values) {
  if (key == "module_fqns_per_model_part") {
    std::string parts;
    for (const std::string& part : values) parts += (parts.empty() ? "" : ", ") + json_words(part);
    return "[" + parts + "]";
  }
  return key == "components" ? json_words(values.front()) : json_value(values.front());
}

class TitanArguments {
 public:
  explicit TitanArguments(const Words& words) {
    for (std::size_t k = 0; k < words.size();) {
      std::string name = words[k++];
      Words values;
      if (const std::size_t equals = name.find('='); equals != std::string::npos) {
        values.push_back(name.substr(equals + 1));
        name.resize(equals);
      }
      while (k < words.size() && name.starts_with("--") && !words[k].starts_with("--") && !is_subcommand(words[k])) {
        values.push_back(words[k++]);
      }
      add(name, values);
    }
  }

  [[nodiscard]] std::string json() const {
    std::string text;
    for (const auto& [section, entries] : sections_) {
      text += (text.empty() ? "{" : ", ") + json_string(section) + ": {" + entries + "}";
    }
    return text.empty() ? "{}" : text + "}";
  }

 private:
  static constexpr std::string_view kSubcommand = "activation-checkpoint:";

  static bool is_subcommand(const std::string& word) { return word.starts_with(kSubcommand); }

  void set(const std::string& section, const std::string& key, const std::string& value) {
    std::string& entries = sections_[section];
    entries += (entries.empty() ? "" : ", ") + json_string(key) + ": " + value;
  }

  void add(const std::string& name, const Words& values) {
    if (is_subcommand(name)) return add_policy(name.substr(kSubcommand.size()));
    if (name == "--config" && !values.empty()) return add_configuration(values.front());
    const std::size_t dot = name.rfind('.');
    if (!name.starts_with("--") || dot == std::string::npos) return;
    std::string section = name.substr(2, dot - 2);
    std::string key = name.substr(dot + 1);
    for (std::string* const one : {&section, &key}) std::replace(one->begin(), one->end(), '-', '_');
    if (!values.empty()) return set(section, key, json_of(key, values));
    const bool off = key.starts_with("no_");
    set(section, off ? key.substr(3) : key, off ? "false" : "true");
  }

  void add_policy(const std::string& policy) {
    set("activation_checkpoint", "mode", json_string(policy == "memory-budget" ? "memory_budget" : policy));
    if (policy == "selective") set("activation_checkpoint", "selective_ac_option", json_string("op"));
  }

  void add_configuration(const std::string& configuration) {
    const TitanConfiguration found = flavour_of_configuration(configuration);
    set("model", "name", json_string(found.flavour == nullptr ? configuration : found.flavour->name));
    if (found.flavour != nullptr) set("model", "flavor", json_string(found.flavour->flavour));
    if (!found.eight_bits.empty()) set("model", "converters", json_words(found.eight_bits));
  }

  Sections sections_;
};

}  // namespace

std::string titan_arguments_as_json(std::string_view text, const std::string& name) {
  const std::string list(text);
  if (!is_bare_list(list)) return "";
  std::string words;  // without comments, which a list of arguments has between its lines
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find('\n', at), list.size());
    const std::size_t begin = list.find_first_not_of(" \t\r", at);
    if (begin < end && list[begin] != '#') words += list.substr(at, end - at) + " ";
    at = end + 1;
  }
  return TitanArguments(shell_words(words, name)).json();
}

}  // namespace debubble
