#include "formats/frameworks/framework_scenario.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/frameworks/text_trees.hpp"
#include "formats/frameworks/torchtitan_models.hpp"
#include "formats/megatron/argument_list.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "formats/megatron/size_names.hpp"
#include "formats/rules/framework_rules.hpp"
#include "formats/rules/refusal.hpp"
#include "formats/rules/rule_condition.hpp"
#include "formats/text/printable.hpp"
#include "formats/text/text.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"

namespace debubble {
namespace {

// torchtitan's command line since 0.3 (python -m torchtitan.train, behind it):
//
//     --module llama3 --config llama3_8b --parallelism.pipeline_parallel_degree 4 ... activation-checkpoint:full

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

// The arguments as a configuration in JSON, which read_torchtitan takes; empty where the text is no list of arguments.
// Throws InputError P031 where a shell cannot read it.
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

struct FrameworkReader {
  const char* tool;
  FrameworkScenario (*read)(ConfigTree&, const FrameworkRequest&);
};
constexpr std::array<FrameworkReader, 6> kFrameworkReaders{{{"torchtitan", read_torchtitan},
                                                            {"deepspeed", read_deepspeed},
                                                            {"accelerate", read_accelerate},
                                                            {"nemo", read_nemo},
                                                            {"nanotron", read_nanotron},
                                                            {"neox", read_neox}}};

struct FileShape {
  const char* tool;
  const char* what;
  std::vector<const char*> keys;  // by each of which such a file is known
};

const std::vector<FileShape>& file_shapes() {
  static const std::vector<FileShape> shapes{
      {"torchtitan",
       "torchtitan",
       {"parallelism.pipeline_parallel_degree", "parallelism.tensor_parallel_degree", "training.seq_len",
        "training.local_batch_size", "training.batch_size", "training.tensor_parallel_degree", "model.flavor",
        "model_spec", "job.dump_folder"}},
      {"deepspeed", "DeepSpeed", {"train_batch_size", "train_micro_batch_size_per_gpu", "zero_optimization"}},
      {"accelerate", "accelerate", {"compute_environment", "distributed_type"}},
      {"nemo",
       "NeMo, Megatron-Bridge, Primus, FlagScale, LLaMA-Factory, ms-swift or verl",
       {"MODEL_ARGS", "modules", "trainer", "exp_manager", "system", "assignments", "mixed_precision",
        "experiment.task", "model.tensor_model_parallel_size", "model_name_or_path", "train.micro_batch_size",
        "tuner_type", "train_type", "max_length", "actor_rollout_ref"}},
      {"nanotron", "nanotron", {"parallelism.dp", "parallelism.pp", "model.model_config", "tokens.micro_batch_size"}},
      {"neox",
       "GPT-NeoX",
       {"pipe_parallel_size", "pipe-parallel-size", "model_parallel_size", "model-parallel-size", "num_layers",
        "num-layers"}}};
  return shapes;
}

// A file that is known to be another reader's.
bool refuse_other_reader(const std::string& tool, const JsonValue& root, ProblemList& problems) {
  ConfigTree tree(root, problems);
  const FileShape* other = nullptr;
  for (const FileShape& shape : file_shapes()) {
    const bool known =
        std::any_of(shape.keys.begin(), shape.keys.end(), [&](const char* key) { return tree.has(key); });
    if (known && tool == shape.tool) return false;
    if (known && other == nullptr) other = &shape;
  }
  if (other == nullptr) return false;
  problems.add("P010", problems.name(), std::string("this is a configuration of ") + other->what,
               std::string("import it with --from ") + other->tool);
  return true;
}

}  // namespace

const std::vector<std::string>& framework_tools() {
  static const std::vector<std::string> tools = [] {
    std::vector<std::string> names;
    for (const FrameworkReader& reader : kFrameworkReaders) names.emplace_back(reader.tool);
    return names;
  }();
  return tools;
}

void refuse_by_rules(ConfigTree& tree, std::string_view framework, const RuleFacts& facts) {
  const FrameworkRules& rules = *rules_of_framework(framework);
  for (const FrameworkRule& rule : rules.rows) {
    if (rule.kind != RuleKind::kRefuses || rule.of_run || !holds(rule.condition, facts)) continue;
    const Diagnostic told = refusal(rules, rule, facts, "P035", tree.problems().name());
    tree.problems().add(told.code, told.place, told.message, told.help);
  }
}

void require_key(ConfigTree& tree, const std::string& key, const std::string& message, const std::string& help) {
  if (key.starts_with("--")) {
    tree.problems().add("F001", key, message, help);
  } else {
    tree.complain("F001", key, message, help);
  }
}

void report_unread(ConfigTree& tree, FrameworkScenario& scenario) {
  if (!tree.found_any()) {
    tree.problems().add("P010", tree.problems().name(), "none of its keys is one that is read: this is another file",
                        "give the file that the framework is started with");
    return;
  }
  for (const std::string& path : tree.unasked()) {
    const std::string last = path.substr(path.rfind('.') + 1);
    const JsonValue* value = tree.find(path);
    const bool one = value != nullptr && value->text == "1";  // ranks that split nothing
    if (!one && is_size_name(last) && !is_of_evaluation(path)) {
      require_key(tree, path, in_quotes(path) + " is not understood, and says how large the run is",
                  "leave it out where it changes nothing, or import the file that the framework itself reads");
    }
    scenario.unknown.push_back(path);
  }
}

std::vector<std::string> unknown_notes(const std::vector<std::string>& unknown, bool all) {
  constexpr std::size_t kFew = 5;
  std::vector<std::string> notes;
  if (all || unknown.size() <= kFew) {
    for (const std::string& path : unknown) {
      notes.push_back("unknown key " + in_quotes(path) + ", which may change time or memory, is left out");
    }
    return notes;
  }
  std::vector<std::pair<std::string, std::size_t>> sections;  // in the order of the file
  for (const std::string& path : unknown) {
    const std::size_t dot = path.rfind('.');
    const std::string section = dot == std::string::npos ? "the file itself" : path.substr(0, dot);
    const auto found =
        std::find_if(sections.begin(), sections.end(), [&](const auto& known) { return known.first == section; });
    found == sections.end() ? (void)sections.emplace_back(section, 1) : (void)++found->second;
  }
  std::string list;
  for (const auto& [section, count] : sections) {
    list += (list.empty() ? "" : ", ") + std::to_string(count) + " of " + section;
  }
  notes.push_back(std::to_string(unknown.size()) + " unknown keys, which may change time or memory, are left out: " +
                  list + " (--all-notes names them)");
  return notes;
}

FrameworkScenario read_framework(const std::string& tool, std::string_view text, const std::string& name,
                                 const FrameworkRequest& request) {
  ProblemList problems(name, framework_dialect());
  FrameworkScenario scenario;
  const std::string arguments = tool == "torchtitan" ? titan_arguments_as_json(text, name) : "";
  if (!arguments.empty()) text = arguments;
  if (const std::optional<JsonValue> root = parse_config_text(text, problems); root && problems.empty()) {
    ConfigTree tree(*root, problems);
    // Primus' files for torchtitan are given by either name.
    const bool wrapped = tool == "torchtitan" && tree.has("modules");
    if (!wrapped && problems.empty()) (void)refuse_other_reader(tool, *root, problems);
    for (const FrameworkReader& reader : kFrameworkReaders) {
      if ((wrapped ? "nemo" : tool) != reader.tool || !problems.empty()) continue;
      scenario = reader.read(tree, request);
      if (problems.empty()) report_unread(tree, scenario);
      break;
    }
  }
  problems.throw_if_any();
  return scenario;
}

std::string write_framework_scenario(const FrameworkScenario& scenario, const std::string& tool,
                                     const std::string& name) {
  std::vector<std::string> notes = scenario.findings;
  for (std::string& note : unknown_notes(scenario.unknown, false)) notes.push_back(std::move(note));
  return "# From " + printable(name) + ", by debubble import --from " + tool + ".\n" +
         scenario_lines(scenario.flags, notes);
}

}  // namespace debubble
