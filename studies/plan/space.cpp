#include "studies/plan/space.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "cost_models/partition/framework_cuts.hpp"
#include "cost_models/partition/partition.hpp"
#include "schedules/catalog.hpp"
#include "schedules/common/request.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"
#include "sim/core/suggest.hpp"
#include "studies/plan/rank_orders.hpp"
#include "studies/plan/recompute_modes.hpp"

namespace debubble {
namespace {

constexpr std::array kMicrobatchSizes{1, 2, 4, 8, 16, 32};
constexpr int kMostContext = 16;
constexpr int kMostStagesPerDevice = 8;

// "tp": {"4", "8"} as numbers, each once; nothing where the key is open.
std::optional<std::vector<std::int64_t>> allowed_numbers(const PlanRequest& request, const std::string& key) {
  const auto found = request.allowed.find(key);
  if (found == request.allowed.end()) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const std::string& value : found->second) {
    const std::optional<std::int64_t> number = count_of(value, std::numeric_limits<std::int64_t>::max());
    if (!number) {
      throw InputError(Diagnostic{"C003", place_of(request, key), "\"" + value + "\" is not a whole number",
                                  "write it like " + written_as(request, key, "2")});
    }
    if (std::find(numbers.begin(), numbers.end(), *number) == numbers.end()) numbers.push_back(*number);
  }
  return numbers;
}

// Each once.
std::optional<std::vector<std::string>> allowed_words(const PlanRequest& request, const std::string& key,
                                                      const std::vector<std::string>& all) {
  const auto found = request.allowed.find(key);
  if (found == request.allowed.end()) return std::nullopt;
  std::vector<std::string> words;
  for (const std::string& value : found->second) {
    if (std::find(all.begin(), all.end(), value) != all.end()) {
      if (std::find(words.begin(), words.end(), value) == words.end()) words.push_back(value);
      continue;
    }
    const std::string guess = closest_name(value, all);
    std::string names;
    for (const std::string& one : all) names += (names.empty() ? "" : ", ") + one;
    throw InputError(Diagnostic{"C002", place_of(request, key), "\"" + value + "\" is not one of its values",
                                guess.empty() ? "they are " + names : "did you mean " + guess + "?"});
  }
  return words;
}

bool is_allowed(const std::optional<std::vector<std::int64_t>>& allowed, std::int64_t value) {
  return !allowed || std::find(allowed->begin(), allowed->end(), value) != allowed->end();
}

std::vector<int> divisors(int number) {
  std::vector<int> all;
  for (int k = 1; k <= number; ++k) {
    if (number % k == 0) all.push_back(k);
  }
  return all;
}

const std::vector<std::string>& plan_keys() {
  static const std::vector<std::string> keys{
      "tp",       "cp",     "ep",         "pp",       "dp", "zero", "microbatch", "recompute", "sequence-parallel",
      "schedule", "chunks", "rank-order", "partition"};
  return keys;
}

// Rows whose order follows from p, m and v, that keep one version of the weights and every token of a microbatch
// together. Others are asked for by name.
bool is_usual(const ScheduleEntry& entry) {
  static constexpr std::array<std::string_view, 5> kOthers{"naive", "terapipe", "seq1f1b", "wavelet", "bpipe"};
  const bool planned = entry.uses_costs && entry.name != "pipeoffload";  // whose ops do not depend on the times
  return entry.family != ScheduleFamily::kAsynchronous && !planned &&
         std::find(kOthers.begin(), kOthers.end(), entry.name) == kOthers.end();
}

class SpaceMaker {
 public:
  explicit SpaceMaker(const PlanRequest& request)
      : request_(with_known_keys(request)),
        tensor_(allowed_numbers(request, "tp")),
        context_(allowed_numbers(request, "cp")),
        expert_(allowed_numbers(request, "ep")),
        pipeline_(allowed_numbers(request, "pp")),
        data_(allowed_numbers(request, "dp")),
        zero_(allowed_numbers(request, "zero")),
        microbatch_(allowed_numbers(request, "microbatch")),
        chunks_(allowed_numbers(request, "chunks")),
        recompute_(request.allowed.contains("recompute") ? &request.allowed.at("recompute") : nullptr),
        sequence_(allowed_words(request, "sequence-parallel", {"on", "off"})) {
    const auto orders = request.allowed.find("rank-order");
    choose_partitions();
    orders_ = allowed_rank_orders(orders == request.allowed.end() ? nullptr : &orders->second,
                                  place_of(request, "rank-order"));
  }

  PlanSpace run() {
    choose_variants();
    for (int zero = 0; zero <= 3; ++zero) {
      if (is_allowed(zero_, zero)) space_.zeros.push_back(zero);
    }
    if (space_.zeros.empty()) {
      throw InputError(Diagnostic{"C003", place_of(request_, "zero"), "there are the ZeRO stages 0 to 3",
                                  "write " + written_as(request_, "zero", "1")});
    }
    for (const int tensor : divisors(request_.gpus)) add_tensor(tensor);
    if (space_.bases.empty() || space_.variants.empty()) {
      throw InputError(Diagnostic{
          "B050", "--gpus",
          "no way to run the job on " + std::to_string(request_.gpus) + " GPUs has what --fix and --only ask for",
          "tp x cp x pp x dp is the number of GPUs, and dp x the microbatch divides "
          "--global-batch: leave one of them open"});
    }
    say_restrictions();
    return std::move(space_);
  }

 private:
  static const PlanRequest& with_known_keys(const PlanRequest& request) {
    for (const auto& [key, values] : request.allowed) {
      const auto& keys = plan_keys();
      if (std::find(keys.begin(), keys.end(), key) != keys.end() || is_schedule_param(key)) continue;
      const std::string guess = closest_name(key, keys);
      std::string names;
      for (const std::string& one : keys) names += (names.empty() ? "" : ", ") + one;
      throw InputError(Diagnostic{"C002", place_of(request, key), "a plan chooses nothing of that name",
                                  guess.empty() ? "there are " + names : "did you mean " + guess + "?"});
    }
    return request;
  }

  // The rows that are named, under any of their names; empty: none is.
  [[nodiscard]] std::set<const ScheduleEntry*> named_schedules() const {
    std::set<const ScheduleEntry*> named;
    const auto asked = request_.allowed.find("schedule");
    if (asked == request_.allowed.end()) return named;
    for (const std::string& name : asked->second) named.insert(&known_schedule(name, place_of(request_, "schedule")));
    return named;
  }

  void choose_variants() {
    const std::set<const ScheduleEntry*> asked = named_schedules();
    for (const ScheduleEntry& entry : schedule_catalog()) {
      const bool named = asked.contains(&entry);
      if (asked.empty() ? !is_usual(entry) : !named) continue;
      if (!request_.runs_in.empty() && !names_framework(entry.frameworks, request_.runs_in)) continue;
      const auto allowed = with_own_order(entry);
      const int most = entry.chunk_step < 1 || entry.default_chunks < 2 ? entry.default_chunks : kMostStagesPerDevice;
      for (int chunks = entry.default_chunks; chunks <= most; chunks += std::max(1, entry.chunk_step)) {
        if (!is_allowed(chunks_, chunks)) continue;
        for (PlanVariant& one : variants_with(entry, chunks, allowed)) {
          if (named || chunks_ || is_usual_variant(one)) space_.variants.push_back(std::move(one));
        }
      }
    }
    if (space_.variants.empty()) refuse_named(asked);
    check_params();
  }

  // The orders of PyTorch's classes, which parameters ask for, and of Megatron-LM's passes beside each other.
  [[nodiscard]] std::map<std::string, std::vector<std::string>> with_own_order(const ScheduleEntry& entry) const {
    std::map<std::string, std::vector<std::string>> allowed = request_.allowed;
    const std::string extra = exchange_warmup(request_.framework_job, request_.runs_in);
    if (!extra.empty()) allowed.insert({kExtraWarmup, {extra}});
    const std::vector<std::string> own = split(own_order(request_.runs_in, entry.name), '=');
    if (own.size() == 2 && (own[0] != "rounding" || !allowed.contains("group"))) allowed.insert({own[0], {own[1]}});
    return allowed;
  }

  // Where the framework has none of the schedules that are named, its rule says so.
  void refuse_named(const std::set<const ScheduleEntry*>& asked) const {
    if (request_.rules == nullptr || asked.empty()) return;
    FrameworkChoice choice;
    choice.schedule = (*asked.begin())->name;
    choice.pipeline = 2;
    choice.microbatches = 2;
    if (const auto refusal = request_.rules->refusal(choice, "P035", place_of(request_, "schedule"))) {
      throw InputError(*refusal);
    }
  }

  // A parameter that no schedule of the space has would change nothing.
  void check_params() const {
    for (const auto& one : request_.allowed) {
      const std::string& key = one.first;
      if (!is_schedule_param(key)) continue;
      const bool used = std::any_of(space_.variants.begin(), space_.variants.end(), [&](const PlanVariant& variant) {
        return has_param(known_schedule(variant.schedule, ""), key);
      });
      if (used || space_.variants.empty()) continue;
      throw InputError(Diagnostic{"C002", place_of(request_, key), "no schedule of the space has the parameter " + key,
                                  "name one that has it, like --only schedule=zb-auto"});
    }
  }

  void add_tensor(int tensor) {
    if (!is_allowed(tensor_, tensor)) return;
    const bool open = !tensor_;
    if (request_.heads == 0 && tensor > 1) return;
    if (request_.heads > 0 && request_.heads % tensor != 0) return;
    if (open && (tensor > request_.machine || (tensor & (tensor - 1)) != 0)) return;
    for (const int context : divisors(request_.gpus / tensor)) add_context(tensor, context);
  }

  void add_context(int tensor, int context) {
    if (!is_allowed(context_, context) || (request_.heads == 0 && context > 1)) return;
    if (!context_ && (context > kMostContext || (context & (context - 1)) != 0)) return;
    if (request_.sequence > 0 && request_.sequence % context != 0) return;
    for (const int pipeline : divisors(request_.gpus / tensor / context)) {
      const int data = request_.gpus / tensor / context / pipeline;
      if (!is_allowed(pipeline_, pipeline) || !is_allowed(data_, data) || pipeline > request_.layers) continue;
      const int stage = tensor * context * data;
      const int split = request_.job.cluster.expert_tensor.value_or(tensor);
      if (split < 1 || stage % split != 0) continue;
      for (const int expert : experts(stage / split)) {
        PlanChoice base;
        base.tensor = tensor;
        base.context = context;
        base.expert = expert;
        base.pipeline = pipeline;
        base.data = data;
        for (const std::string& order : distinct_rank_orders(base, orders_, request_.alike)) {
          base.rank_order = order;
          add_partitions(base);
        }
      }
    }
  }

  [[nodiscard]] std::vector<int> experts(int ranks) const {
    if (request_.experts == 0) return is_allowed(expert_, 1) ? std::vector<int>{1} : std::vector<int>{};
    std::vector<int> all;
    for (const int count : divisors(static_cast<int>(std::gcd(std::int64_t{ranks}, request_.experts)))) {
      if (is_allowed(expert_, count)) all.push_back(count);
    }
    return all;
  }

  void add_partitions(PlanChoice base) {
    for (const std::string& word : partitions_) {
      base.partition = word;
      add_microbatches(base);
      const bool named = word.empty() || word == kEvenCut || word == kMemoryCut || is_framework_cut(word);
      if (base.pipeline == 1 && named) return;  // one stage has nothing to cut
    }
  }

  // Each once; "" cuts automatically.
  void choose_partitions() {
    const auto found = request_.allowed.find("partition");
    if (found == request_.allowed.end()) {
      partitions_.emplace_back();
      space_.memory_cuts = true;
      return;
    }
    for (const std::string& word : found->second) {
      const CutRule choice = parse_cut_rule(word);
      if (choice.how == CutRule::How::kTyped && word.find_first_not_of("0123456789,") != std::string::npos) {
        throw InputError(Diagnostic{"C002", place_of(request_, "partition"),
                                    "\"" + word + "\" is not a cut of the layers",
                                    "write auto, even, memory, torchtitan, nanotron, deepspeed, neox, layers per stage "
                                    "(--partition 8,8,7,9), or Megatron-LM's layout"});
      }
      const std::string cut = choice.automatic() ? "" : word;
      if (std::find(partitions_.begin(), partitions_.end(), cut) == partitions_.end()) partitions_.push_back(cut);
    }
  }

  void add_microbatches(PlanChoice base) {
    if (request_.global_batch % base.data != 0) return;
    const std::int64_t samples = request_.global_batch / base.data;
    const auto add = [&](std::int64_t size) {
      if (samples % size != 0) return;
      base.microbatch = size;
      base.microbatches = static_cast<int>(samples / size);
      add_modes(base);
    };
    if (request_.microbatch > 0) return add(request_.microbatch);
    if (microbatch_) {
      for (const std::int64_t size : *microbatch_) {
        if (size > 0) add(size);
      }
      return;
    }
    for (const int size : kMicrobatchSizes) add(size);
  }

  void add_modes(PlanChoice base) {
    const bool modelled = request_.heads > 0;
    for (const RecomputeMode& mode : recompute_modes(recompute_, base.pipeline, place_of(request_, "recompute"))) {
      if (!modelled && mode.word > 0) continue;
      if (mode.fewest) {
        space_.fewest_blocks = request_.job.transformer.recompute_blocks.empty();
        continue;
      }
      base.recompute = mode.word;
      base.recompute_stages = mode.stages;
      base.recompute_first = mode.first;
      for (const bool sequence : sequence_modes(base)) {
        base.sequence = sequence;
        space_.bases.push_back(base);
      }
    }
  }

  // Where nothing else is asked for, tensor ranks split the sequence: the same traffic, less memory.
  [[nodiscard]] std::vector<bool> sequence_modes(const PlanChoice& base) const {
    if (base.tensor == 1) return {false};
    if (!sequence_) return {true};
    std::vector<bool> modes;
    for (const std::string& word : *sequence_) modes.push_back(word == "on");
    return modes;
  }

  void say_restrictions() {
    auto& all = space_.restrictions;
    if (!tensor_ && request_.heads > 0) {
      all.push_back("tensor ranks are a power of two within a machine of " + std::to_string(request_.machine) +
                    " GPUs");
    }
    if (!context_ && request_.heads > 0) {
      all.push_back("context ranks are a power of two up to " + std::to_string(kMostContext));
    }
    if (!microbatch_ && request_.microbatch == 0) {
      all.emplace_back("a microbatch is 1, 2, 4, 8, 16 or 32 samples");
    }
    if (request_.heads > 0) say_recompute_modes(recompute_ == nullptr, space_.fewest_blocks, all);
    if (!sequence_ && request_.heads > 0) all.emplace_back("tensor ranks split the sequence, too");
    if (!request_.allowed.contains("schedule")) {
      all.push_back(std::to_string(space_.variants.size()) + " schedules and numbers of stages per device (up to " +
                    std::to_string(kMostStagesPerDevice) + "): synchronous, planned without times, whole sequences");
      if (!chunks_) {
        all.emplace_back("pipeoffload offloads half of 2 or 4 stages per device: --only schedule= names the others");
      }
    }
    if (!request_.allowed.contains("rank-order")) {
      all.push_back(std::string("ranks are placed nearest first in the order ") + kUsualRankOrder +
                    (request_.alike < kMostGpus ? std::string(" or ") + kPipelineInside : "") +
                    ", unless --only rank-order= says otherwise");
    }
    if (!request_.allowed.contains("partition")) {
      all.emplace_back(
          "the cut of the layers balances time; where that does not fit and each device has one stage, also the "
          "fastest cut that fits (partition memory): --only partition=auto,even tries Megatron-LM's, too");
    }
  }

  const PlanRequest& request_;
  std::optional<std::vector<std::int64_t>> tensor_, context_, expert_, pipeline_, data_, zero_, microbatch_, chunks_;
  const std::vector<std::string>* recompute_;  // null: open
  std::optional<std::vector<std::string>> sequence_;
  std::vector<std::string> orders_;      // "" for the usual one
  std::vector<std::string> partitions_;  // "" for the automatic one
  PlanSpace space_;
};

}  // namespace

std::string place_of(const PlanRequest& request, const std::string& key) {
  const auto found = request.places.find(key);
  return found == request.places.end() ? "--fix " + key : found->second;
}

std::string written_as(const PlanRequest& request, const std::string& key, const std::string& value) {
  const std::string place = place_of(request, key);
  return place + (place.find(' ') == std::string::npos ? " " : "=") + value;
}

// One device has no order to choose; a stage needs a layer.
const std::vector<PlanVariant>& PlanSpace::variants_of(const PlanChoice& base) const {
  static const std::vector<PlanVariant> kOneDevice{{"1f1b", 1}};
  return base.pipeline == 1 ? kOneDevice : variants;
}

std::vector<int> PlanSpace::zeros_of(const PlanChoice& base) const {
  if (base.data > 1 || base.context > 1) return zeros;
  return {0};
}

PlanSpace plan_space(const PlanRequest& request) { return SpaceMaker(request).run(); }

}  // namespace debubble
