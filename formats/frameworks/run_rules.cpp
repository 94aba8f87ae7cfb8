#include "formats/frameworks/run_rules.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "formats/frameworks/torchtitan_models.hpp"
#include "formats/megatron/rule_facts.hpp"
#include "formats/rules/refusal.hpp"
#include "schedules/catalog.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"

namespace debubble {
namespace {

constexpr const char* kPipelineFirst = "tp-cp-pp-dp";
constexpr const char* kUnknownSchedule = "UNKNOWN_SCHEDULE";
constexpr std::string_view kExtra = "extra_warmup=";

// With a value, as an argument that was typed.
void set_typed(RuleFacts& facts, RuleName name, std::int64_t number) {
  facts.set(name, number);
  facts.give(name);
}
void set_typed(RuleFacts& facts, RuleName name, const std::string& word) {
  facts.set(name, RuleFacts::Words{word});
  facts.give(name);
}
void set_typed(RuleFacts& facts, RuleName name) {
  facts.set(name, RuleFacts::Words{});
  facts.give(name);
}
void set_typed_words(RuleFacts& facts, RuleName name, std::vector<std::string> words) {
  facts.set(name, std::move(words));
  facts.give(name);
}
void mark_fact(RuleFacts& facts, RuleName name, bool holds) {
  if (holds) facts.set(name, RuleFacts::Words{});
}

std::vector<std::string> modules_of(const std::string& modules) {
  std::vector<std::string> all = split(modules);
  for (std::string& one : all) one = one.substr(0, one.find('='));
  return all;
}

RuleFacts megatron_job(const FrameworkJob& job) {
  RuleFacts facts;
  add_megatron_defaults(facts);
  if (job.layers > 0) set_typed(facts, "num-layers", job.layers);
  if (job.sequence > 0) set_typed(facts, "seq-length", job.sequence);
  if (job.heads > 0) set_typed(facts, "num-attention-heads", job.heads);
  set_typed(facts, "kv-channels", 1);
  if (job.heads > 0 && job.kv_heads > 0 && job.kv_heads != job.heads && !job.latent_attention) {
    set_typed(facts, "group-query-attention");
    set_typed(facts, "num-query-groups", job.kv_heads);
  }
  if (job.latent_attention) set_typed(facts, "multi-latent-attention");
  if (!job.expert_biases) set_typed(facts, "disable-bias-linear");
  if (job.rotary) set_typed(facts, "position-embedding-type", "rope");
  if (job.predictors > 0) set_typed(facts, "mtp-num-layers", job.predictors);
  if (job.format == "fp16") set_typed(facts, "fp16");
  if (job.format == "bf16" || job.format == "fp8") set_typed(facts, "bf16");
  if (job.format == "fp8") {
    set_typed(facts, "fp8-format", "hybrid");
    set_typed(facts, "fp8-recipe", job.fp8_recipe);
    if (job.eight_bit_weights) set_typed(facts, "fp8-param-gather");
  }
  if (job.first_moment != "fp32" || job.second_moment != "fp32") {
    set_typed(facts, "use-precision-aware-optimizer");
    set_typed(facts, "exp-avg-dtype", job.first_moment);
    set_typed(facts, "exp-avg-sq-dtype", job.second_moment);
  }
  if (job.experts > 0) {
    set_typed(facts, "num-experts", job.experts);
    set_typed(facts, "moe-grouped-gemm");
    const bool flexible = job.dispatch == "deepep" || job.dispatch == "hybridep";
    set_typed(facts, "moe-token-dispatcher-type", flexible ? "flex" : job.dispatch);
    if (job.exchange_overlap) set_typed(facts, "overlap-moe-expert-parallel-comm");
  }
  if (job.overlap_reduce || job.overlap_gather) set_typed(facts, "overlap-grad-reduce");
  if (job.overlap_gather) set_typed(facts, "overlap-param-gather");
  return facts;
}

// What a framework refuses, read once.
const std::vector<std::pair<const FrameworkRule*, RuleCondition>>& read_refusals_of(const FrameworkRules& rules) {
  using Read = std::vector<std::pair<const FrameworkRule*, RuleCondition>>;
  static const std::map<const FrameworkRules*, Read> all = [] {
    std::map<const FrameworkRules*, Read> read;
    for (const FrameworkRules& one : framework_rules()) {
      for (const FrameworkRule& rule : one.rows) {
        if (rule.kind == RuleKind::kRefuses) read[&one].emplace_back(&rule, RuleCondition(rule.condition));
      }
    }
    return read;
  }();
  return all.at(&rules);
}

// Of what can be chosen, everything: which facts a choice has.
std::vector<FrameworkChoice> widest_choices() {
  FrameworkChoice all;
  all.schedule = "none of the catalog";
  all.params = {"group=2"};
  all.tensor = all.context = all.expert = all.pipeline = all.chunks = all.data = 2;
  all.sequence = true;
  all.recompute_stages = "0";
  all.rank_order = kPipelineFirst;
  all.layout = "EtL";
  std::vector<FrameworkChoice> choices;
  for (int k = 0; k < 4; ++k) {
    all.zero = k;
    all.recompute = k == 0 ? 0 : 1 + k % 2;
    choices.push_back(all);
  }
  return choices;
}

}  // namespace

RunRules::RunRules(std::string_view framework, const FrameworkJob& job) : rules_(*rules_titled(framework)), job_(job) {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    if (!names_framework(entry.frameworks, std::string(framework))) continue;
    std::string& its_class = schedules_[entry.name];
    if (rules_.name == "torchtitan") its_class = torchtitan_class(entry);
    if (rules_.name == "pytorch") its_class = pytorch_class(entry);
  }
  if (rules_.name == "megatron") of_job_ = megatron_job(job);
  std::vector<RuleFacts> choices;
  for (const FrameworkChoice& one : widest_choices()) choices.push_back(facts_of(one));
  const auto is_chosen = [&](std::string_view name) {
    const RuleName plain(name.starts_with("--") ? name.substr(2) : name);
    return std::any_of(choices.begin(), choices.end(), [&](const RuleFacts& one) { return one.has_own(plain); });
  };
  for (const auto& [rule, condition] : read_refusals_of(rules_)) {
    const bool chosen = std::any_of(condition.names().begin(), condition.names().end(), is_chosen);
    if (chosen || rule->of_run || condition.holds(of_job_)) rows_.push_back({rule, &condition});
  }
  for (const Row& row : rows_) {
    if (row.rule->condition == kUnknownSchedule) unknown_schedule_ = row.rule;
  }
  // First what debubble was asked for: a file has no words for it.
  std::stable_partition(rows_.begin(), rows_.end(), [](const Row& row) { return row.rule->of_run; });
}

const FrameworkRule* RunRules::first_broken(const RuleFacts& facts) const {
  const auto found =
      std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.condition->holds(facts); });
  return found == rows_.end() ? nullptr : found->rule;
}

const FrameworkRule* RunRules::broken(const FrameworkChoice& choice) const {
  // Most of a plan's choices: seen without looking at anything else.
  const bool unknown = choice.pipeline > 1 && !choice.by_table && !schedules_.contains(choice.schedule);
  return unknown ? unknown_schedule_ : first_broken(facts_of(choice));
}

std::optional<Diagnostic> RunRules::refusal(const FrameworkChoice& choice, const char* code, std::string place) const {
  const RuleFacts facts = facts_of(choice);
  const FrameworkRule* rule = first_broken(facts);
  if (rule == nullptr) return std::nullopt;
  return debubble::refusal(rules_, *rule, facts, code, std::move(place));
}

RuleFacts RunRules::facts_of(const FrameworkChoice& choice) const {
  RuleFacts facts(&of_job_);
  add_order(choice, facts);
  add_recomputation(choice, facts);
  if (!job_.format.empty()) facts.set("RUN_FORMAT", RuleFacts::Words{job_.format});
  const bool inside = choice.rank_order == kPipelineFirst && rules_.name == "megatron";
  if (!choice.rank_order.empty() && !inside) {
    facts.set("RANK_ORDER", RuleFacts::Words{choice.rank_order});
  }
  if (rules_.name == "megatron") {
    add_megatron(choice, facts);
  } else if (rules_.name == "deepspeed") {
    add_deepspeed(choice, facts);
  } else {
    add_pipeline(choice, facts);
    if (rules_.name == "torchtitan") add_torchtitan(choice, facts);
  }
  return facts;
}

void RunRules::add_order(const FrameworkChoice& choice, RuleFacts& facts) const {
  const bool megatron = rules_.name == "megatron";
  const std::string_view extra = megatron && job_.exchange_overlap ? "1" : "0";  // also on one rank
  for (const std::string& param : choice.params) {
    if (param.starts_with(kExtra) && std::string_view(param).substr(kExtra.size()) != extra) {
      facts.set("OTHER_PARAM", RuleFacts::Words{param});
    }
  }
  if (choice.pipeline < 2) return;
  const auto known = schedules_.find(choice.schedule);
  if (known == schedules_.end()) {
    if (!choice.by_table) facts.set(kUnknownSchedule, RuleFacts::Words{choice.schedule});
    return;
  }
  const std::string needed(own_order(rules_.title, choice.schedule));
  const bool grouped = megatron || known->second == "Interleaved1F1B";
  bool own = false;  // the order of the framework is asked for
  std::optional<std::int64_t> group;
  for (const std::string& param : choice.params) {
    own = own || param == needed;
    const bool plain = param == "rounding=megatron" || param == "backward=descending" || param.starts_with(kExtra);
    const auto size = param.starts_with("group=") ? count_of(std::string_view(param).substr(6)) : std::nullopt;
    if (size) group = size;
    if (plain || param == needed || (size && (grouped || *size == choice.pipeline))) continue;
    facts.set("OTHER_PARAM", RuleFacts::Words{param});
  }
  if (megatron) {
    if (group) set_typed(facts, "microbatch-group-size-per-virtual-pipeline-stage", *group);
    return;
  }
  facts.set("SCHEDULE", RuleFacts::Words{choice.schedule});
  if (!known->second.empty()) facts.set("CLASS", RuleFacts::Words{known->second});
  if (own || choice.microbatches == 1) return;
  if (known->second != "Interleaved1F1B") {
    if (!needed.empty()) facts.set("MISSING_PARAM", RuleFacts::Words{needed});
    return;
  }
  const std::int64_t rounds = std::max<std::int64_t>(1, choice.microbatches / choice.pipeline);
  // Groups of as many microbatches as ranks are PyTorch's rounds where these come out even.
  if (group.value_or(choice.pipeline) * rounds == choice.microbatches) return;
  facts.set("MISSING_PARAM", RuleFacts::Words{needed.empty() ? "rounding=pytorch of interleaved" : needed});
}

void RunRules::add_recomputation(const FrameworkChoice& choice, RuleFacts& facts) const {
  if (choice.recompute == 0) return;
  if (!choice.recompute_stages.empty()) {
    facts.set("RECOMPUTED_STAGES", RuleFacts::Words{choice.recompute_stages});
  }
  const std::string& blocks = blocks_of(choice);
  if (!blocks.empty()) facts.set("RECOMPUTED_BLOCKS", RuleFacts::Words{blocks.substr(0, blocks.find(':'))});
  if (choice.recompute == 1)
    facts.set("RECOMPUTED_MODULES", modules_of(job_.modules.empty() ? "core_attn" : job_.modules));
}

void RunRules::add_megatron(const FrameworkChoice& choice, RuleFacts& facts) const {
  const std::int64_t model = std::int64_t{choice.tensor} * choice.context * choice.pipeline;
  set_typed(facts, "tensor-model-parallel-size", choice.tensor);
  set_typed(facts, "pipeline-model-parallel-size", choice.pipeline);
  set_typed(facts, "context-parallel-size", choice.context);
  if (choice.expert > 1) set_typed(facts, "expert-model-parallel-size", choice.expert);
  if (job_.expert_tensor > 0) set_typed(facts, "expert-tensor-parallel-size", job_.expert_tensor);
  set_typed(facts, "micro-batch-size", choice.microbatch);
  set_typed(facts, "global-batch-size", choice.microbatch * choice.microbatches * choice.data);
  if (choice.context > 1 && job_.context_all_to_all) set_typed(facts, "cp-comm-type", "a2a");
  if (choice.sequence) set_typed(facts, "sequence-parallel");
  if (choice.rank_order == kPipelineFirst) set_typed(facts, "use-tp-pp-dp-mapping");
  if (choice.zero == 1) set_typed(facts, "use-distributed-optimizer");
  if (choice.zero > 1) {
    set_typed(facts, "use-megatron-fsdp");
    set_typed(facts, "data-parallel-sharding-strategy", choice.zero == 2 ? "optim_grads" : "optim_grads_params");
    set_typed(facts, "ckpt-format", "fsdp_dtensor");
  }
  if (choice.recompute == 2) {
    const bool first = blocks_of(choice).starts_with("first:");
    set_typed(facts, "recompute-granularity", "full");
    set_typed(facts, "recompute-method", first ? "block" : "uniform");
    set_typed(facts, "recompute-num-layers", 1);
  } else if (choice.recompute == 1) {
    set_typed(facts, "recompute-granularity", "selective");
    if (!job_.modules.empty()) set_typed_words(facts, "recompute-modules", split(job_.modules));
  }
  const bool virtual_stages = choice.chunks > 1 && choice.pipeline > 1;
  if (virtual_stages && job_.coupled_transfers) set_typed(facts, "no-overlap-p2p-communication");
  const bool cut = choice.pipeline * choice.chunks > 1;
  if (cut) {
    facts.give("pipeline-model-parallel-layout");
    if (!choice.layout.empty()) facts.set("pipeline-model-parallel-layout", RuleFacts::Words{choice.layout});
  }
  add_derived_megatron_facts(facts, model * choice.data);
  facts.set("CHUNKS", virtual_stages ? choice.chunks : 1);
}

void RunRules::add_pipeline(const FrameworkChoice& choice, RuleFacts& facts) const {
  facts.set("PIPELINE", choice.pipeline);
  facts.set("CHUNKS", choice.chunks);
  facts.set("STAGES", std::int64_t{choice.pipeline} * choice.chunks);
  facts.set("MICROBATCHES", choice.microbatches);
  facts.set("ROUNDS", std::max<std::int64_t>(1, choice.microbatches / choice.pipeline));
  facts.set("STAGE", choice.zero);
  if (rules_.name == "nanotron") facts.set("ENGINE", RuleFacts::Words{choice.schedule == "gpipe" ? "afab" : "1f1b"});
}

void RunRules::add_torchtitan(const FrameworkChoice& choice, RuleFacts& facts) const {
  mark_fact(facts, "ULYSSES", choice.context > 1 && job_.context_all_to_all);
  mark_fact(facts, "EXCHANGE_OVERLAP", job_.exchange_overlap);
  mark_fact(facts, "GRAPHS", job_.graphs);
  mark_fact(facts, "TIED", job_.tied_embedding);
  facts.set("PREDICTORS", job_.predictors);
  facts.set("TENSOR", choice.tensor);
  facts.set("CONTEXT", choice.context);
  facts.set("EXPERT", choice.expert);
  facts.set("EXPERT_TENSOR", job_.expert_tensor > 0 ? job_.expert_tensor : choice.tensor);
  facts.set("SHARDS", choice.zero == 3 ? choice.data : 1);
  if (job_.heads > 0) facts.set("HEADS", job_.heads);
  if (job_.heads > 0 && !job_.latent_attention) facts.set("KV_HEADS", job_.kv_heads > 0 ? job_.kv_heads : job_.heads);
  if (job_.sequence == 0) return;
  facts.set("SEQUENCE", job_.sequence);
  facts.set("SEQUENCE_PARTS",
            std::int64_t{choice.sequence ? choice.tensor : 1} * (choice.context > 1 ? 2 * choice.context : 1));
}

void RunRules::add_deepspeed(const FrameworkChoice& choice, RuleFacts& facts) const {
  facts.set("STAGE", choice.zero);
  facts.set("PIPELINE", choice.pipeline);
  facts.set("TENSOR", choice.tensor);
  facts.set("WORLD", std::int64_t{choice.tensor} * choice.context * choice.pipeline * choice.data);
  facts.set("SEQUENCE", job_.context_all_to_all ? choice.context : 1);
  if (choice.context > 1 && !job_.context_all_to_all) facts.set("RING", choice.context);
  facts.set("EXPERT", choice.expert);
  facts.set("EXPERT_TENSOR", job_.expert_tensor > 0 ? job_.expert_tensor : choice.tensor);
  mark_fact(facts, "AUTO_EP", choice.expert > 1);
  mark_fact(facts, "EXCHANGE_OVERLAP", job_.exchange_overlap);
}

}  // namespace debubble
