// The rules of frameworks for runs that debubble is asked for: one table for import, export, plan and compare.
#include "formats/frameworks/run_rules.hpp"
#include "formats/rules/framework_rules.hpp"
#include "formats/rules/rule_condition.hpp"
#include "formats/rules/rule_texts.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/split.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

Words export_to(const std::string& framework, const std::string& more) {
  std::string flags = "export -o out --hardware h100 --to " + framework;
  for (const char* own : {" --model llama3-8b", " -p 1", " -m 4"}) {
    const std::string flag = std::string(own).substr(0, std::string(own).find(' ', 1)) + " ";
    if ((" " + more).find(flag) == std::string::npos) flags += own;
  }
  return joined(Words(flags), Words(more));
}

// `export --to` has it.
bool is_exported(const FrameworkRules& rules) {
  return rules.name == "megatron" || rules.name == "torchtitan" || rules.name == "deepspeed";
}

FrameworkChoice pipelined(const char* schedule, int chunks, std::int64_t microbatches) {
  FrameworkChoice choice;
  choice.schedule = schedule;
  choice.pipeline = 4;
  choice.chunks = chunks;
  choice.microbatches = microbatches;
  return choice;
}

Outcome import_deepspeed(const Folder& folder, const std::string& text, const Words& more = {}) {
  folder.write("ds.json", text);
  return folder.run(joined("import --from deepspeed ds.json --model llama3-8b -o run.toml", more));
}

}  // namespace

TEST_CASE("every name in a condition of a framework's rules has a meaning, and every meaning a condition") {
  for (const FrameworkRules& rules : framework_rules()) {
    std::set<std::string> used;
    for (const FrameworkRule& rule : rules.rows) {
      CHECK_FALSE(rule.text.empty());
      if (rule.kind != RuleKind::kRefuses) continue;
      const RuleCondition condition(rule.condition);
      for (const std::string_view name : condition.names()) {
        if (!name.starts_with("--")) used.insert(std::string(name));
      }
    }
    std::set<std::string> known;
    for (const RuleFact& fact : rules.facts) {
      CHECK(known.insert(std::string(fact.name)).second);
      CHECK_FALSE(fact.meaning.empty());
    }
    CAPTURE(rules.name);
    for (const std::string& name : used) {
      CAPTURE(name);
      CHECK(known.contains(name));
    }
    // Of those that all frameworks share, one may have a rule for and another none.
    const FrameworkRules shared = read_framework_rules(run_rules_text());
    for (const RuleFact& fact : shared.facts) known.erase(fact.name);
    for (const std::string& name : known) {
      CAPTURE(name);
      CHECK(used.contains(name));
    }
  }
}

TEST_CASE("a text of rules: what its lines say, and the first that is none of its form") {
  const FrameworkRules rules = read_framework_rules(
      "# words\nname toy\n\nfact A a thing\n  of --a --b\n\nrefuse-sizes A > 1 and\n    not --c\n  says no\n  in f.py: "
      "g\n"
      "  try -x\ncut all\n  says alike\ninclude run\n");
  CHECK(rules.name == "toy");
  CHECK(rules.facts.front().meaning == "a thing");
  CHECK(rules.facts.front().flags == "--a,--b");
  CHECK(rules.rows.front().condition == "A > 1 and not --c");
  CHECK(rules.rows.front().source == "f.py: g");
  CHECK(rules.rows.front().example == "-x");
  CHECK((rules.rows.front().of_sizes && !rules.rows.front().of_run && rules.rows.back().of_run));
  CHECK(rules.rows[1].kind == RuleKind::kCut);
  for (const char* wrong : {"refuses A", "refuse", "refuse ", "  says x", "fact A", "include toy", "fact A b\n  says x",
                            "refuse A\n  of --b", "refuse A\n  in x\n  in y", "name x\nname y", "    more"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS((void)read_framework_rules(wrong), std::logic_error);
  }
  CHECK_THROWS_WITH((void)read_framework_rules("# words\n\nrefuse A\n  syas x\n"),
                    "no line of a framework's rules: 4:   syas x");
}

TEST_CASE_IN_FOLDER("what a framework refuses of a run is not exported, and the rule is named") {
  int tried = 0;
  for (const FrameworkRules& rules : framework_rules()) {
    if (!is_exported(rules)) continue;
    CAPTURE(rules.name);
    CHECK(folder.run(export_to(std::string(rules.name), "-p 4 -m 8")).status == 0);
    for (const FrameworkRule& rule : rules.rows) {
      const bool of_run = rule.of_run || rules.name == "torchtitan";
      const bool by_table = rules.name == "torchtitan" && rule.condition == "UNKNOWN_SCHEDULE";
      if (rule.kind != RuleKind::kRefuses || !of_run || by_table || rule.example.empty()) continue;
      const Outcome refused = folder.run(export_to(std::string(rules.name), std::string(rule.example)));
      CAPTURE(rule.example);
      CAPTURE(refused.err);
      CHECK(refused.status == 2);
      CHECK(contains(refused.err, "error[T054]: " + std::string(rules.title) + " refuses this: "));
      CHECK(contains(refused.err, std::string(rule.text)));
      ++tried;
    }
  }
  CHECK(tried > 25);
}

TEST_CASE_IN_FOLDER("what a framework that is not exported to refuses is not compared, and the rule is named") {
  int tried = 0;
  for (const FrameworkRules& rules : framework_rules()) {
    if (is_exported(rules)) continue;
    CAPTURE(rules.name);
    const std::string runs_in = " --runs-in " + rules.name;
    CHECK(folder.run("compare --schedules 1f1b -p 4 -m 8" + runs_in).status == (rules.name == "maxtext" ? 2 : 0));
    for (const FrameworkRule& rule : rules.rows) {
      if (!rule.example.starts_with("--schedules")) continue;
      std::string command = "compare " + rule.example + runs_in;
      if (!contains(command, " -p ")) command += " -p 4";
      if (!contains(command, " -m ")) command += " -m 8";
      const Outcome refused = folder.run(command);
      CAPTURE(command);
      CAPTURE(refused.err);
      CHECK(refused.status == 2);
      CHECK(contains(refused.err, "error[P035]: " + rules.title + " refuses this: "));
      CHECK(contains(refused.err, rule.text));
      ++tried;
    }
  }
  CHECK(tried > 10);
}

TEST_CASE("each framework has rules, and each rule's framework a word") {
  const std::vector<std::string> words = split(std::string(kFrameworkWords), '|');
  for (const std::string& word : words) {
    CAPTURE(word);
    const FrameworkRules* rules = rules_titled(framework_named(word).value_or(""));
    REQUIRE(rules != nullptr);
    CHECK(rules->name == word);
  }
  CHECK(words.size() == framework_rules().size());
  CHECK(names_framework("PyTorch and torchtitan (DualPipeV); DeepSeek's library", "torchtitan"));
  CHECK_FALSE(names_framework("the authors' fork of Megatron-LM, their SpecTrain-PyTorch", "Megatron-LM"));
  CHECK_FALSE(names_framework("the authors' fork of Megatron-LM, their SpecTrain-PyTorch", "PyTorch"));
  CHECK_FALSE(names_framework("PyTorch (DualPipeV); with other rows: DeepSpeed, MindSpore", "MindSpore"));
}

TEST_CASE("orders of frameworks by their own rules") {
  struct {
    const char* framework;
    const char* schedule;
    int chunks;
    std::int64_t microbatches;
    const char* param;
    bool runs;
  } const rows[]{{"PaddlePaddle", "gpipe", 1, 8, "backward=ascending", true},
                 {"PaddlePaddle", "gpipe", 1, 8, "", false},
                 {"PaddlePaddle", "breadth-first", 2, 4, "backward=ascending", true},
                 {"PaddlePaddle", "breadth-first", 2, 4, "", false},
                 {"PaddlePaddle", "dualpipe-v", 2, 8, "", true},
                 {"PaddlePaddle", "interleaved", 2, 8, "group=4", true},
                 {"PaddlePaddle", "interleaved", 2, 8, "group=5", false},
                 {"PaddlePaddle", "zb-h1", 1, 8, "", false},
                 {"nanotron", "gpipe", 1, 2, "backward=ascending", true},
                 {"nanotron", "1f1b", 1, 3, "", true},
                 {"nanotron", "1f1b", 1, 2, "", false},
                 {"ColossalAI", "zb-v-auto", 2, 8, "", true},
                 {"ColossalAI", "zb-v", 2, 8, "", false},
                 {"MaxText", "breadth-first", 2, 8, "", true},
                 {"MaxText", "breadth-first", 2, 8, "backward=ascending", false},
                 {"MaxText", "gpipe", 1, 8, "", true},
                 {"MindSpore", "dualpipe-v", 2, 8, "", false},
                 {"Primus", "interleaved", 2, 8, "", true},
                 {"MindSpeed", "1f1b", 1, 2, "", true},
                 {"DeepSpeed", "dualpipe-v", 2, 8, "", false},
                 {"PyTorch", "zb-h1", 1, 8, "", true},
                 {"PyTorch", "zb-h1", 1, 11, "", false},
                 {"torchtitan", "zb-h1", 1, 8, "", false},
                 {"PyTorch", "depth-first", 2, 8, "", true},
                 {"PyTorch", "depth-first", 2, 10, "", false}};
  for (const auto& row : rows) {
    CAPTURE(row.framework);
    CAPTURE(row.schedule);
    CAPTURE(row.microbatches);
    FrameworkChoice choice = pipelined(row.schedule, row.chunks, row.microbatches);
    if (*row.param != '\0') choice.params = {row.param};
    CHECK(RunRules(row.framework, FrameworkJob{}).allow(choice) == row.runs);
  }
}

TEST_CASE("orders that frameworks have: groups, rounds and ascending backwards") {
  const FrameworkJob job;
  const RunRules megatron("Megatron-LM", job);
  const RunRules pytorch("PyTorch", job);
  struct {
    const char* schedule;
    int chunks;
    std::int64_t microbatches;
    const char* param;
    bool in_megatron;
    bool in_pytorch;
  } const rows[]{{"1f1b", 1, 8, "", true, true},
                 {"1f1b", 1, 3, "", true, false},
                 {"interleaved", 2, 8, "", true, true},
                 {"interleaved", 2, 10, "", false, false},
                 {"interleaved", 2, 10, "rounding=pytorch", false, true},
                 {"interleaved", 2, 11, "rounding=pytorch", false, false},
                 {"interleaved", 2, 10, "group=5", true, true},
                 {"interleaved", 2, 10, "group=6", true, false},
                 {"interleaved", 2, 3, "", false, false},
                 {"gpipe", 1, 8, "", false, false},
                 {"gpipe", 1, 8, "backward=ascending", false, true},
                 {"zb-v", 2, 8, "", false, true},
                 {"zb-h2", 1, 8, "", false, false}};
  for (const auto& row : rows) {
    CAPTURE(row.schedule);
    CAPTURE(row.microbatches);
    CAPTURE(row.param);
    FrameworkChoice choice = pipelined(row.schedule, row.chunks, row.microbatches);
    if (*row.param != '\0') choice.params = {row.param};
    CHECK(megatron.allow(choice) == row.in_megatron);
    CHECK(pytorch.allow(choice) == row.in_pytorch);
    CHECK(megatron.refusal(choice, "P035", "").has_value() != row.in_megatron);
  }
}

TEST_CASE_IN_FOLDER("DeepSpeed: every rule refuses its example, and the legal configuration breaks none") {
  const FrameworkRules& rules = *rules_of_framework("deepspeed");
  CHECK(import_deepspeed(folder, std::string(rules.legal), "--world-size 8").status == 0);
  for (const FrameworkRule& rule : rules.rows) {
    if (rule.example.empty() || rule.of_run) continue;
    const std::string example(rule.example);
    const std::size_t file = example.find('{');
    Words flags = "--world-size 8";
    for (std::size_t at = 0; at < file;) {
      const std::size_t end = example.find(' ', at);
      flags.push_back(example.substr(at, end - at));
      at = end + 1;
    }
    CAPTURE(example);
    const Outcome refused = import_deepspeed(folder, example.substr(file), flags);
    CHECK(refused.status == 2);
    CHECK(contains(refused.err, "error[P035]: DeepSpeed refuses this"));
    CHECK(contains(refused.err, "DeepSpeed 0.19.8"));
  }
}

}  // namespace debubble::testing
