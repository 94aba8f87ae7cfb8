// What frameworks refuse of runs that debubble is asked for: --runs-in, plan and export read the same rows by which
// import refuses files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/rules/framework_rules.hpp"
#include "formats/rules/rule_condition.hpp"
#include "sim/core/error.hpp"

namespace debubble {

// What all ways to run a job have in common. 0, false and "" stand for what is not known, too.
struct FrameworkJob {
  std::int64_t layers = 0;  // blocks
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // 0: as many as heads
  std::int64_t sequence = 0;
  std::int64_t experts = 0;
  std::int64_t predictors = 0;  // layers of multi-token prediction
  int expert_tensor = 0;        // 0: as many as tensor ranks
  bool latent_attention = false;
  bool expert_biases = false;
  bool tied_embedding = false;
  bool rotary = true;
  std::string format;      // "bf16"
  std::string fp8_recipe;  // "delayed"
  bool eight_bit_weights = false;
  std::string first_moment = "fp32";
  std::string second_moment = "fp32";
  std::string dispatch = "alltoall";  // "allgather", "deepep", "hybridep"
  bool exchange_overlap = false;
  bool context_all_to_all = false;
  bool coupled_transfers = false;
  bool graphs = false;
  bool overlap_reduce = false;
  bool overlap_gather = false;
  std::string modules;  // --recompute-modules
  std::string blocks;   // --recompute-blocks
};

struct FrameworkChoice {
  std::string schedule;             // of the catalog, or a table's file
  std::vector<std::string> params;  // "group=6"
  int tensor = 1;
  int context = 1;
  int expert = 1;
  int pipeline = 1;
  int chunks = 1;
  int data = 1;
  int zero = 0;
  bool sequence = false;
  std::int64_t microbatch = 1;
  std::int64_t microbatches = 1;
  int recompute = 0;  // 1: selective, 2: full
  std::string recompute_stages;
  std::string blocks;      // "first:4": of the choice; empty: those of the job
  std::string rank_order;  // "tp-cp-pp-dp"; empty: tp-cp-dp-pp
  std::string layout;      // of the cut, in Megatron-LM's letters; empty: some layout
  bool by_table = false;   // an order that the framework has no name for may be told as a table
};

// The rules of one framework for the runs of one job.
class RunRules {
 public:
  // "Megatron-LM", or another of schedules/frameworks.hpp.
  RunRules(std::string_view framework, const FrameworkJob& job);

  // The first rule that a choice breaks; null: none.
  [[nodiscard]] const FrameworkRule* broken(const FrameworkChoice& choice) const;
  [[nodiscard]] bool allow(const FrameworkChoice& choice) const { return broken(choice) == nullptr; }
  // The same, told.
  [[nodiscard]] std::optional<Diagnostic> refusal(const FrameworkChoice& choice, const char* code,
                                                  std::string place) const;

 private:
  struct Row {
    const FrameworkRule* rule;
    const RuleCondition* condition;
  };
  [[nodiscard]] RuleFacts facts_of(const FrameworkChoice& choice) const;
  [[nodiscard]] const FrameworkRule* first_broken(const RuleFacts& facts) const;
  [[nodiscard]] const std::string& blocks_of(const FrameworkChoice& choice) const {
    return choice.blocks.empty() ? job_.blocks : choice.blocks;
  }
  void add_order(const FrameworkChoice& choice, RuleFacts& facts) const;
  void add_recomputation(const FrameworkChoice& choice, RuleFacts& facts) const;
  void add_megatron(const FrameworkChoice& choice, RuleFacts& facts) const;
  void add_pipeline(const FrameworkChoice& choice, RuleFacts& facts) const;
  void add_torchtitan(const FrameworkChoice& choice, RuleFacts& facts) const;
  void add_deepspeed(const FrameworkChoice& choice, RuleFacts& facts) const;

  const FrameworkRules& rules_;
  FrameworkJob job_;
  RuleFacts of_job_;
  std::map<std::string, std::string, std::less<>> schedules_;  // that it runs: its class, or ""
  std::vector<Row> rows_;
  const FrameworkRule* unknown_schedule_ = nullptr;
};

}  // namespace debubble
