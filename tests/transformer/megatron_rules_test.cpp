// What Megatron-LM decides: every rule refuses its example and no other does, conditions mean what they say, and the
// cut, the stages and the groups of a line are Megatron-LM's.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats/megatron/rule_facts.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "formats/rules/framework_rules.hpp"
#include "formats/rules/refusal.hpp"
#include "formats/rules/rule_condition.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

MegatronScenario of_line(const std::string& arguments, const std::string& before = "") {
  const std::string script = before + "torchrun --nproc_per_node 8 pretrain_gpt.py " + arguments + "\n";
  return read_megatron("#!/bin/bash\nset -f\n" + script, "x.sh");
}

std::string legal_line(const std::string& more) {
  return std::string(rules_of_framework("megatron")->legal) + " " + more;
}

// The texts of the rules that refuse a line, each up to its source.
std::vector<std::string> refusals_of(const std::string& arguments, const std::string& before = "") {
  std::vector<std::string> texts;
  try {
    (void)of_line(arguments, before);
  } catch (const InputError& error) {
    for (const Diagnostic& problem : error.diagnostics()) {
      texts.push_back(problem.code == "P035" ? problem.help.substr(0, problem.help.find(" (megatron-core"))
                                             : problem.code);
    }
  }
  return texts;
}

std::string set_by_line(const MegatronScenario& scenario, const std::string& name) {
  for (const auto& [key, value] : scenario.flags) {
    if (key == name) return value;
  }
  return "(none)";
}

// Quoted for the shell.
std::string quoted(const std::string& words) {
  std::string text;
  for (const char c : words) {
    const bool special = std::string("()[]|*").find(c) != std::string::npos;
    text += special ? std::string("\\") + c : std::string(1, c);
  }
  return text;
}

}  // namespace

TEST_CASE("Megatron-LM's rules: each refuses its example, and the run without it breaks none") {
  CHECK(refusals_of(legal_line("")).empty());
  int tried = 0;
  for (const FrameworkRule& rule : rules_of_framework("megatron")->rows) {
    CAPTURE(rule.condition);
    CHECK((rule.kind == RuleKind::kNotModelled || !rule.source.empty()));
    CHECK_FALSE(rule.text.empty());
    if (!rule.of_run) CHECK((rule.kind == RuleKind::kRefuses) == !rule.example.empty());
    if (rule.kind != RuleKind::kRefuses || rule.of_run) continue;
    const bool of_device = rule.condition.find("CUDA_DEVICE_MAX_CONNECTIONS") != std::string_view::npos;
    const auto refused = refusals_of(legal_line(quoted(std::string(rule.example))),
                                     of_device ? "export CUDA_DEVICE_MAX_CONNECTIONS=1\n" : "");
    CHECK(std::find(refused.begin(), refused.end(), rule.text) != refused.end());
    ++tried;
  }
  CHECK(tried > 100);
}

TEST_CASE("conditions of rules: words, numbers, lists, what was given") {
  RuleFacts facts;
  facts.set("size", 6);
  facts.set("GROUP", 4);
  facts.set("zero", 0);
  facts.set("modules", RuleFacts::Words{"mlp", "moe"});
  facts.set("kind", RuleFacts::Words{"full"});
  facts.set("flag", RuleFacts::Words{});
  facts.give("flag");
  for (const char* yes :
       {"--size % GROUP == 2", "--size / GROUP == 1", "--size - GROUP * 1 == 2", "--flag", "not --none", "given --flag",
        "not given --size", "--kind == full", "--kind != selective", "--modules in moe,moe_act",
        "--modules outside moe", "not ( --modules outside mlp,moe )", "--size > 5 and GROUP < 5 or --none",
        "--none or --size", "not --zero", "( --size > 7 ) != ( GROUP > 3 )"}) {
    CAPTURE(yes);
    CHECK(holds(yes, facts));
  }
  for (const char* no : {"--none == 1", "--none != 1", "--size % --zero == 0", "--kind > 1", "--none in full",
                         "--none outside full", "--zero", "--flag == 1", "--size and --none"}) {
    CAPTURE(no);
    CHECK_FALSE(holds(no, facts));
  }
  for (const char* none : {"--size ==", "( --size", "--size --size", "", ")"}) {
    CAPTURE(none);
    CHECK_THROWS_AS((void)holds(none, facts), std::logic_error);
  }
  const FrameworkRules rules{"", "", "", "", {}, {{"GROUP", "things of a group", "--size,--flag"}}};
  CHECK(facts_in(rules, "--size % GROUP != 0 and --none and --size > 2", facts) ==
        "--size 6, --flag, things of a group 4");
}

TEST_CASE("Megatron-LM's cuts: stages of a rank and layers of a stage") {
  struct Case {
    const char* arguments;
    const char* chunks;
    const char* partition;
  };
  for (const Case& one : std::vector<Case>{
           {"", "(none)", "(none)"},
           {"--pipeline-model-parallel-size 4", "(none)", "even"},
           {"--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 2", "4", "even"},
           {"--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2", "2", "even"},
           {"--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 8", "(none)", "even"},
           {"--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 2", "(none)", "Ett|(t*10|)*2,t*10L"},
           {"--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 4 "
            "--decoder-last-pipeline-num-layers 8 --num-virtual-stages-per-pipeline-rank 2",
            "2", "Ett|(t*5|)*2,t*4|tt|(t*5|)*2,t*4L"},
           {"--pipeline-model-parallel-size 2 --decoder-last-pipeline-num-layers 9", "(none)", "Et*23|t*9L"},
           {"--pipeline-model-parallel-size 4 --num-layers 30 --account-for-embedding-in-pipeline-split "
            "--account-for-loss-in-pipeline-split --num-layers-per-virtual-pipeline-stage 4",
            "2", "Ettt|(t*4|)*6,tttL"},
           {"--pipeline-model-parallel-size 4 --num-layers 31 --account-for-loss-in-pipeline-split", "(none)",
            "Et*8|(t*8|)*2,t*7L"},
           {"--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout E\\|t*16\\|\\|t*16L", "(none)",
            "E|t*16||t*16L"},
           {"--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout Et*4\\|\\(t*4\\|\\)*6t*4L", "2",
            "Et*4|(t*4|)*6t*4L"},
           {"--pipeline-model-parallel-size 4 --mtp-num-layers 1 --decoder-first-pipeline-num-layers 10 "
            "--decoder-last-pipeline-num-layers 6",
            "(none)", "Et*10|(t*8|)*2,t*6mL"}}) {
    CAPTURE(one.arguments);
    const MegatronScenario read = of_line(legal_line(one.arguments));
    CHECK(set_by_line(read, "chunks") == one.chunks);
    CHECK(set_by_line(read, "partition") == one.partition);
    CHECK(set_by_line(read, "schedule") == (std::string(one.chunks) == "(none)" ? "1f1b" : "interleaved"));
  }
}

TEST_CASE("Megatron-LM's groups of microbatches are kept, and its transfers overlap with virtual stages alone") {
  const std::string chunks = "--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2 ";
  const auto with = [&](const std::string& more) { return of_line(legal_line(chunks + more)); };
  CHECK(set_by_line(with(""), "param") == "(none)");
  CHECK(set_by_line(with("--microbatch-group-size-per-virtual-pipeline-stage 4"), "param") == "(none)");
  CHECK(set_by_line(with("--microbatch-group-size-per-virtual-pipeline-stage 7 --global-batch-size 22"), "param") ==
        "group=7");
  CHECK(set_by_line(with(""), "p2p") == "(none)");
  CHECK(set_by_line(with("--no-overlap-p2p-communication"), "p2p") == "coupled");
  CHECK(set_by_line(of_line(legal_line("--pipeline-model-parallel-size 4")), "p2p") == "coupled");
  CHECK(set_by_line(of_line(legal_line("")), "p2p") == "(none)");
  CHECK(set_by_line(of_line(legal_line("--pipeline-model-parallel-size 4 --use-tp-pp-dp-mapping")), "rank-order") ==
        "tp,cp,pp,dp");
}

TEST_CASE("blocks with experts by --moe-layer-freq, as Python reads it") {
  const auto text = [](const std::string& list, std::int64_t layers) {
    std::string blocks;
    const auto read = expert_blocks(list, layers);
    if (!read) return std::string("none");
    for (const bool experts : *read) blocks += experts ? '1' : '0';
    return blocks;
  };
  CHECK(text("1", 3) == "111");
  CHECK(text("2", 5) == "10101");
  CHECK(text("[0]+[1]*3", 4) == "0111");
  CHECK(text("([0]*2+[1]*2)", 4) == "0011");
  CHECK(text("([1]*3+[0]*1)*2", 8) == "11101110");
  CHECK(text("2*[0,1]", 4) == "0101");
  CHECK(text("[0, 1,]", 2) == "01");
  for (const char* none : {"0", "x", "[2]", "[1", "[1]*", "([1]", "[1]+", "3*", "[1]]"}) {
    CAPTURE(none);
    CHECK(text(none, 4) == "none");
  }
  const std::string experts = "--num-experts 8 --disable-bias-linear --moe-layer-freq ";
  const auto sizes = [&](const std::string& list) {
    const std::string all = set_by_line(of_line(legal_line(experts + quoted(list))), "model-size");
    const std::size_t at = std::min(all.find("dense_layers="), all.find("expert_blocks="));
    return at == std::string::npos ? std::string() : all.substr(at, all.find(',', at) - at);
  };
  CHECK(sizes("1").empty());
  CHECK(sizes("[1]*32").empty());
  CHECK(sizes("([0]*3+[1]*29)") == "dense_layers=3");
  CHECK(sizes("2") == "expert_blocks=10");
  CHECK(sizes("([1]*3+[0])*8") == "expert_blocks=1110");
}

TEST_CASE("what shards and steps in Megatron-LM") {
  const auto zero = [](const std::string& more) { return set_by_line(of_line(legal_line(more)), "zero"); };
  const std::string fsdp = "--use-megatron-fsdp ";
  CHECK(zero("") == "(none)");
  CHECK(zero("--use-distributed-optimizer") == "1");
  CHECK(zero(fsdp) == "3");
  CHECK(zero(fsdp + "--use-distributed-optimizer --data-parallel-sharding-strategy no_shard") == "(none)");
  CHECK(zero(fsdp + "--data-parallel-sharding-strategy optim") == "1");
  CHECK(zero(fsdp + "--data-parallel-sharding-strategy optim_grads") == "2");
  const MegatronScenario both = of_line(legal_line(fsdp + "--overlap-grad-reduce --overlap-param-gather"));
  CHECK(set_by_line(both, "overlap-grad-reduce") == "(none)");
  CHECK(set_by_line(both, "overlap-param-gather") == "(none)");
  const MegatronScenario gradients = of_line(
      legal_line(fsdp + "--data-parallel-sharding-strategy optim_grads --overlap-grad-reduce --overlap-param-gather"));
  CHECK(set_by_line(gradients, "overlap-grad-reduce") == "(none)");
  CHECK(set_by_line(gradients, "overlap-param-gather") == "true");
  const auto optimizer = [](const std::string& more) { return set_by_line(of_line(legal_line(more)), "optimizer"); };
  CHECK(optimizer("") == "(none)");
  CHECK(optimizer("--optimizer sgd") == "momentum");
  CHECK(optimizer("--optimizer sgd --sgd-momentum 0") == "sgd");
  CHECK(optimizer("--optimizer muon") == "muon");
  const std::string aware =
      "--bf16 --use-distributed-optimizer --use-precision-aware-optimizer --main-grads-dtype bf16";
  CHECK(set_by_line(of_line(legal_line(aware)), "grad-dtype") == "bf16");
  const auto vocabulary = [](const std::string& more) {
    const std::string all = set_by_line(of_line(legal_line(more)), "model-size");
    return all.substr(all.find("vocabulary="), all.find(",biases") - all.find("vocabulary="));
  };
  CHECK(vocabulary("--tokenizer-type NullTokenizer") == "vocabulary=32000,gated=no,norm=layer");
  CHECK(vocabulary("--make-vocab-size-divisible-by 1187") == "vocabulary=32049,vocabulary_unit=1,gated=no,norm=layer");
}

TEST_CASE("an unknown argument that ends like a size is refused, others are named") {
  CHECK(refusals_of(legal_line("--outer-parallel-size 2 --patch-seq-length 9")) ==
        std::vector<std::string>{"F033", "F033"});
  CHECK(refusals_of(legal_line("--outer-parallel-mode 2 --colour red")).empty());
}

TEST_CASE("older releases and Megatron-DeepSpeed have rules of their own") {
  const std::string odd = "--pipeline-model-parallel-size 4 --num-layers 34 ";
  CHECK(refusals_of(legal_line(odd)).size() == 1);
  CHECK(refusals_of(legal_line(odd + "--checkpoint-activations")).empty());
  CHECK(refusals_of(legal_line(odd + "--deepspeed --zero-stage 1")).empty());
  CHECK(refusals_of(legal_line(odd + "--of-a-fork 1")).size() == 1);
  CHECK(refusals_of(legal_line("--use-precision-aware-optimizer")).size() == 1);
  CHECK(refusals_of(legal_line("--use-precision-aware-optimizer --of-a-fork 1")).empty());
}

}  // namespace debubble
