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
using Sections = std::map<std::string, std::map<std::string, std::string>>;  // the values of each as JSON

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
  if (key != "components") return json_value(values.front());
  std::string all;
  for (const std::string& one : values) all += (all.empty() ? "" : ",") + one;
  return json_words(all);
}

class TitanArguments {
 public:
  // What the list sets takes the place of what its configuration does, in whatever order they come.
  explicit TitanArguments(const Words& words) {
    const std::string name = configuration_of(words);
    if (const TitanConfiguration* const known = torchtitan_configuration(name)) {
      set("model", "name", json_string(known->model));
      set("model", "flavor", json_string(known->flavour));
      if (*known->eight_bits != '\0') set("model", "converters", json_words(known->eight_bits));
      add(shell_words(known->arguments, name));
    } else if (!name.empty()) {
      set("model", "name", json_string(name));
    }
    add(words);
    // Until 0.2 a list named its model.
    const bool names_model = sections_.count("model") > 0;
    if (!name.empty() || !names_model) set("argument_list", "config", json_string(name));
  }

  [[nodiscard]] std::string json() const {
    std::string text;
    for (const auto& [section, entries] : sections_) {
      std::string members;
      for (const auto& [key, value] : entries) {
        members += (members.empty() ? "" : ", ") + json_string(key) + ": " + value;
      }
      text += (text.empty() ? "{" : ", ") + json_string(section) + ": {" + members + "}";
    }
    return text + "}";
  }

 private:
  struct Argument {
    std::string name;
    Words values;
  };

  static constexpr std::string_view kSubcommand = "activation-checkpoint:";

  static bool is_subcommand(const std::string& word) { return word.starts_with(kSubcommand); }

  // The argument that begins at the k-th word; k becomes that of the next.
  static Argument take(const Words& words, std::size_t& k) {
    Argument one{words[k++], {}};
    if (const std::size_t equals = one.name.find('='); equals != std::string::npos) {
      one.values.push_back(one.name.substr(equals + 1));
      one.name.resize(equals);
    }
    while (k < words.size() && one.name.starts_with("--") && !words[k].starts_with("--") && !is_subcommand(words[k])) {
      one.values.push_back(words[k++]);
    }
    return one;
  }

  static std::string configuration_of(const Words& words) {
    std::string name;
    for (std::size_t k = 0; k < words.size();) {
      const Argument one = take(words, k);
      if (one.name == "--config" && !one.values.empty()) name = one.values.front();
    }
    return name;
  }

  void set(const std::string& section, const std::string& key, const std::string& value) {
    sections_[section][key] = value;
  }

  void add(const Words& words) {
    for (std::size_t k = 0; k < words.size();) add(take(words, k));
  }

  void add(const Argument& one) {
    if (is_subcommand(one.name)) return add_policy(one.name.substr(kSubcommand.size()));
    const std::size_t dot = one.name.rfind('.');
    if (!one.name.starts_with("--") || dot == std::string::npos) return;
    std::string section = one.name.substr(2, dot - 2);
    std::string key = one.name.substr(dot + 1);
    for (std::string* const text : {&section, &key}) std::replace(text->begin(), text->end(), '-', '_');
    if (!one.values.empty()) return set(section, key, json_of(key, one.values));
    const bool off = key.starts_with("no_");
    set(section, off ? key.substr(3) : key, off ? "false" : "true");
  }

  void add_policy(const std::string& policy) {
    set("activation_checkpoint", "mode", json_string(policy == "memory-budget" ? "memory_budget" : policy));
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
