#include "formats/megatron/rule_facts.hpp"

#include <algorithm>
#include <utility>

#include "formats/megatron/defaults.hpp"
#include "formats/megatron/pipeline_cut.hpp"
#include "sim/core/error.hpp"
#include "sim/core/layout_letters.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

// Of numbers from 0 on; what is too large to count stays the largest.
std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMost = std::int64_t{1} << 61;
  return b > 0 && a > kMost / b ? kMost : a * b;
}

class DerivedFacts {
 public:
  DerivedFacts(RuleFacts& facts, std::optional<std::int64_t> ranks) : facts_(facts), world_(ranks) {}

  void add() {
    if (flag("use-rotary-position-embeddings")) facts_.set("position-embedding-type", RuleFacts::Words{"rope"});
    ranks();
    batches();
    chunks();
    cut();
    layout();
    experts();
    memory();
  }

 private:
  [[nodiscard]] bool flag(const char* name) const { return facts_.given(name); }
  [[nodiscard]] std::optional<std::int64_t> number(const char* name) const { return facts_.count(name); }
  [[nodiscard]] std::int64_t number(const char* name, std::int64_t otherwise) const {
    return number(name).value_or(otherwise);
  }
  [[nodiscard]] const RuleFacts::Words* words(const char* name) const {
    const RuleValue* found = facts_.find(name);
    return found == nullptr ? nullptr : &found->words;
  }

  // How many words an argument has.
  void count(const char* fact, const char* name) {
    const RuleFacts::Words* all = words(name);
    facts_.set(fact, static_cast<std::int64_t>(all == nullptr ? 0 : all->size()));
  }

  void ranks() {
    tensor_ = number("tensor-model-parallel-size", 1);
    pipeline_ = number("pipeline-model-parallel-size", 1);
    const std::int64_t context = number("context-parallel-size", 1);
    const std::int64_t parts = tensor_ > 0 ? number("tensor-parallel-num-weight-shards", tensor_) / tensor_ : 1;
    const std::int64_t model =
        capped_product(capped_product(tensor_, pipeline_), capped_product(context, std::max<std::int64_t>(parts, 1)));
    const std::int64_t etp = number("expert-tensor-parallel-size", tensor_);
    facts_.set("SHARDS", parts);
    facts_.set("MODEL", model);
    facts_.set("ETP", etp);
    facts_.set("EXPERT_MODEL", capped_product(capped_product(etp, number("expert-model-parallel-size", 1)), pipeline_));
    if (world_) facts_.set("WORLD", *world_);
    if (world_ && model > 0 && *world_ % model == 0) replicas_ = *world_ / model;
    if (replicas_) facts_.set("RANKS", *replicas_);
    if (flag("sequence-parallel") && tensor_ > 1) facts_.set("SEQUENCE_PARALLEL", RuleFacts::Words{});
    const std::int64_t heads = number("num-attention-heads", 1);
    facts_.set("QUERY_GROUPS", flag("group-query-attention") ? number("num-query-groups", 1) : heads);
    count("CONTEXT_TYPES", "cp-comm-type");
    const RuleFacts::Words* parts_of_context = words("hierarchical-context-parallel-sizes");
    if (parts_of_context == nullptr) return;
    std::int64_t product = 1;
    for (const std::string& part : *parts_of_context)
      product = capped_product(product, count_of(part, 1'000'000).value_or(1));
    facts_.set("CONTEXT_PRODUCT", product);
  }

  void batches() {
    const auto micro = number("micro-batch-size");
    if (!replicas_ || !micro || *micro < 1) return;
    const std::int64_t all = capped_product(*micro, *replicas_);
    const std::int64_t batch = number("global-batch-size", all);
    facts_.set("BATCH", batch);
    facts_.set("EVAL_BATCH", number("eval-global-batch-size", batch));
    facts_.set("EVAL_MICRO_BATCHES", capped_product(number("eval-micro-batch-size", *micro), *replicas_));
    // Then the rest of a batch is left out, and batches may follow one another by a schedule.
    if (!flag("decrease-batch-size-if-needed") && !flag("step-batch-size-schedule")) facts_.set("MICRO_BATCHES", all);
    if (batch >= all && !flag("step-batch-size-schedule")) facts_.set("MICROBATCHES", batch / all);
  }

  void chunks() {
    std::int64_t arguments = 0;
    for (const char* one : {"num-layers-per-virtual-pipeline-stage", "num-virtual-stages-per-pipeline-rank",
                            "pipeline-model-parallel-layout"}) {
      arguments += flag(one) ? 1 : 0;
    }
    facts_.set("CHUNK_ARGUMENTS", arguments);
    blocks_ = number("num-layers", 0) + (flag("account-for-embedding-in-pipeline-split") ? 1 : 0) +
              (flag("account-for-loss-in-pipeline-split") ? 1 : 0);
    facts_.set("BLOCKS", blocks_);
    chunks_ = megatron_chunks({blocks_, pipeline_, number("num-layers-per-virtual-pipeline-stage"),
                               number("num-virtual-stages-per-pipeline-rank")});
    facts_.set("GROUP", number("microbatch-group-size-per-virtual-pipeline-stage", pipeline_));
  }

  void cut() {
    const auto first = number("decoder-first-pipeline-num-layers");
    const auto last = number("decoder-last-pipeline-num-layers");
    const bool layout = flag("pipeline-model-parallel-layout");
    if (layout || !number("num-layers") || pipeline_ < 1) return;
    if (!first && !last) {
      facts_.set("EVEN", RuleFacts::Words{});
      const bool both = pipeline_ * chunks_ == 1;
      const bool embedding = flag("account-for-embedding-in-pipeline-split");
      const bool loss = flag("account-for-loss-in-pipeline-split");
      const std::int64_t taken = both ? (embedding ? 1 : 0) + (loss ? 1 : 0) : embedding || loss ? 1 : 0;
      if (chunks_ > 0) facts_.set("SMALLEST_STAGE", blocks_ / pipeline_ / chunks_ - taken);
      return;
    }
    facts_.set("UNEVEN", RuleFacts::Words{});
    facts_.set("MIDDLE", number("num-layers", 0) - first.value_or(0) - last.value_or(0));
    facts_.set("MIDDLE_RANKS", pipeline_ - (first ? 1 : 0) - (last ? 1 : 0));
  }

  // Whether all m are on one stage, behind every t, that stage being its rank's last.
  [[nodiscard]] bool predictors_fit(const std::vector<std::string>& stages, const std::string& all) const {
    const std::size_t first = all.find('m');
    if (first == std::string::npos) return true;
    if (all.find('t', first) != std::string::npos) return false;
    const auto holds_one = [](const std::string& stage) { return stage.find('m') != std::string::npos; };
    if (std::count_if(stages.begin(), stages.end(), holds_one) > 1) return false;
    const auto at = std::find_if(stages.begin(), stages.end(), holds_one) - stages.begin();
    return pipeline_ < 1 || at >= static_cast<std::ptrdiff_t>(stages.size()) - pipeline_;
  }

  void layout() {
    facts_.set("PREDICTORS", number("mtp-num-layers", 0));
    const RuleFacts::Words* text = words("pipeline-model-parallel-layout");
    if (text != nullptr && !text->empty()) {
      try {
        const std::vector<std::string> stages = layout_letters(text->front());
        std::string all;
        for (const std::string& stage : stages) all += stage;
        const auto times = [&all](char letter) { return std::int64_t{std::count(all.begin(), all.end(), letter)}; };
        facts_.set("LAYOUT_STAGES", static_cast<std::int64_t>(stages.size()));
        facts_.set("LAYOUT_BLOCKS", times('t'));
        facts_.set("LAYOUT_PREDICTORS", times('m'));
        const bool ends = times('E') == 1 && times('L') == 1 && all.front() == 'E' && all.back() == 'L';
        facts_.set("LAYOUT", RuleFacts::Words{!ends                          ? "misplaced"
                                              : !predictors_fit(stages, all) ? "predictors"
                                                                             : "fits"});
        if (pipeline_ > 0) chunks_ = static_cast<std::int64_t>(stages.size()) / pipeline_;
      } catch (const InputError&) {
        facts_.set("LAYOUT", RuleFacts::Words{"unreadable"});
      }
    }
    facts_.set("CHUNKS", chunks_);
  }

  void experts() {
    const auto experts = number("num-experts");
    if (experts && *experts > 0) facts_.set("EXPERTS", *experts);
    count("BALANCINGS", "moe-router-load-balancing-type");
    count("BALANCING_COEFFICIENTS", "moe-aux-loss-coeff");
    const RuleFacts::Words* pattern = words("moe-layer-freq");
    if (pattern == nullptr || pattern->empty()) return;
    std::string text;
    for (const std::string& word : *pattern) text += word;
    const auto blocks = expert_blocks(text, number("num-layers", 0));
    facts_.set("PATTERN", RuleFacts::Words{blocks ? "fits" : "unreadable"});
    if (!blocks) return;
    facts_.set("PATTERN_LENGTH", static_cast<std::int64_t>(blocks->size()));
    if (std::find(blocks->begin(), blocks->end(), false) != blocks->end()) facts_.set("MIXED", RuleFacts::Words{});
  }

  void memory() {
    const RuleFacts::Words* granularity = words("recompute-granularity");
    RuleFacts::Words modules = *words("recompute-modules");
    if (granularity != nullptr) facts_.set("RECOMPUTE", RuleFacts::Words(*granularity));
    if (flag("recompute-activations")) facts_.set("RECOMPUTE", RuleFacts::Words{"selective"});
    if (flag("moe-layer-recompute")) {
      modules.emplace_back("moe");
      if (granularity == nullptr) facts_.set("RECOMPUTE", RuleFacts::Words{"selective"});
    }
    facts_.set("MODULES", std::move(modules));
    const std::int64_t offloaded = number("cpu-offloading-num-layers", 0);
    if (offloaded > 0 || flag("cpu-offloading")) facts_.set("OFFLOADED", offloaded);
    if (const RuleFacts::Words* left = words("offload-modules")) facts_.set("OFFLOAD_MODULES", RuleFacts::Words(*left));
    const RuleFacts::Words* impl = words("cuda-graph-impl");
    std::string graphs = impl == nullptr || impl->empty() ? "none" : impl->front();
    if (flag("enable-cuda-graph")) graphs = "local";
    if (flag("external-cuda-graph")) graphs = "transformer_engine";
    facts_.set("GRAPHS", RuleFacts::Words{graphs});
  }

  RuleFacts& facts_;
  std::optional<std::int64_t> world_;
  std::optional<std::int64_t> replicas_;
  std::int64_t tensor_ = 1;
  std::int64_t pipeline_ = 1;
  std::int64_t blocks_ = 0;
  std::int64_t chunks_ = 1;
};

}  // namespace

void add_megatron_defaults(RuleFacts& facts) {
  for (const auto& [name, value] : megatron_defaults()) facts.set(name, RuleFacts::Words{value});
}

void add_derived_megatron_facts(RuleFacts& facts, std::optional<std::int64_t> ranks) {
  DerivedFacts(facts, ranks).add();
}

RuleFacts megatron_facts(const MegatronArguments& arguments, std::optional<std::int64_t> ranks) {
  RuleFacts facts;
  add_megatron_defaults(facts);
  for (const auto& [name, values] : arguments.values()) {
    // A log has "None" for what was not given.
    if (values.size() == 1 && (values.front() == "None" || values.front() == "False")) continue;
    facts.set(std::string_view(name), values);
    facts.give(std::string_view(name));
  }
  add_derived_megatron_facts(facts, ranks);
  return facts;
}

}  // namespace debubble
