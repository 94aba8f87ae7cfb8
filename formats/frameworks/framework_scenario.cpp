#include "formats/frameworks/framework_scenario.hpp"

#include <algorithm>
#include <array>

#include "formats/frameworks/text_trees.hpp"
#include "formats/frameworks/torchtitan_arguments.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "formats/megatron/size_names.hpp"
#include "formats/rules/framework_rules.hpp"
#include "formats/rules/refusal.hpp"
#include "formats/rules/rule_condition.hpp"
#include "formats/text/printable.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

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
