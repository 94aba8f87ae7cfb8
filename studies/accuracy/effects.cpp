#include "studies/accuracy/effects.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/core/error.hpp"
#include "studies/parallel.hpp"

namespace debubble {
namespace {

using EffectPart = bool ModelEffects::*;

ModelEffect switched(const char* name, const char* without, EffectPart part) {
  ModelEffect effect;
  effect.name = name;
  effect.without = without;
  effect.part = part;
  return effect;
}

ModelEffect flagged(const char* name, const char* without, std::vector<std::string> dropped, std::string added,
                    bool always) {
  ModelEffect effect;
  effect.name = name;
  effect.without = without;
  effect.dropped = std::move(dropped);
  effect.added = std::move(added);
  effect.always = always;
  return effect;
}

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<ModelEffect> make_effects() {
  using E = ModelEffects;
  return {
      switched("measured products", "constant shares of the peak, tiles and waves", &E::measured_products),
      flagged("products measured on that machine", "tables of the GPU (no --efficiency)", {"--efficiency"}, "", false),
      switched("size of products", "all reach the share of the largest", &E::product_sizes),
      switched("sustained cap", "short runs' shares", &E::sustained),
      switched("a framework's kernels", "as in CUDA graphs of a benchmark", &E::framework),
      switched("sums of gradients in 32 bits", "weight gradients write 16 bits once", &E::accumulation),
      switched("grouped products", "one product of all experts' rows", &E::grouped_products),
      switched("measured attention", "one share of the peak", &E::measured_attention),
      switched("softmax without masked scores", "it reads all of them", &E::causal_softmax),
      switched("sums of biases' gradients", "products have them in passing", &E::bias_sums),
      switched("measured passes over memory", "one share of the bandwidth", &E::measured_passes),
      switched("quantisation", "8-bit factors cost nothing", &E::quantisation),
      switched("logits and router in 16 bits", "in 8 bits as all products", &E::wide_logits),
      switched("launch of kernels on the device", "no time between kernels", &E::kernel_gaps),
      flagged("launches by the host", "kernels from CUDA graphs", {"--cuda-graphs"}, "--cuda-graphs=on", true),
      switched("experts' launches one by one", "one launch of the host for all experts' products", &E::expert_launches),
      switched("counts of tokens on the host", "it knows them before the GPU has counted", &E::counted_tokens),
      switched("measured collectives", "NCCL's latencies and bandwidths", &E::measured_collectives),
      switched("compute slowed beside collectives", "not slowed", &E::slowed_compute),
      flagged("tensor ranks' overlap", "none (--tensor-overlap off)", {"--tensor-overlap"}, "--tensor-overlap=off",
              true),
      flagged("user buffers", "products and exchanges whole (--tensor-overlap on)",
              {"--tensor-overlap=userbuffers", "--tensor-overlap=userbuffers-ag", "--tensor-overlap=userbuffers-rs"},
              "", false),
      flagged("gradients and weights in buckets", "reduced after the last backward",
              {"--overlap-grad-reduce", "--overlap-param-gather"}, "", false),
      flagged("scattered activations", "whole activations between stages", {"--scatter-gather"}, "", false),
      flagged("coupled sends and receives", "all overlapped with compute", {"--p2p"}, "", false),
      flagged("tokens cross once", "every copy by itself (--moe-dispatch alltoall)", {"--moe-dispatch"}, "", false),
      flagged("tokens travel while others compute", "exchanges hide behind nothing", {"--moe-overlap"}, "", false),
      switched("one permutation of tokens", "sorted before and after the exchange", &E::one_permutation),
      switched("padding of 8-bit rows", "experts' products take any number of rows", &E::padded_rows),
      flagged("PyTorch's allocator", "what is allocated (--allocator exact)", {"--allocator"}, "--allocator=exact",
              true),
  };
}

bool has_flag(const std::string& argument, const std::vector<std::string>& names) {
  const std::string name = argument.substr(0, argument.find('='));
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& one) { return one == name || one == argument; });
}

bool has_model(const ResultRecord& record) {
  return std::any_of(record.arguments.begin(), record.arguments.end(),
                     [](const std::string& one) { return has_flag(one, {"--model"}); });
}

// The record as it is run without the effect; the same arguments: the effect has no part in it.
ResultRecord without_flags(ResultRecord record, const ModelEffect& effect) {
  if (!has_model(record)) return record;
  const auto dropped = std::remove_if(record.arguments.begin(), record.arguments.end(),
                                      [&](const std::string& one) { return has_flag(one, effect.dropped); });
  const bool had = dropped != record.arguments.end();
  record.arguments.erase(dropped, record.arguments.end());
  if (!effect.added.empty() && (had || effect.always)) record.arguments.push_back(effect.added);
  return record;
}

// One record without one effect.
struct EffectTrial {
  std::size_t effect = 0, source = 0, record = 0;
  std::vector<ComparedQuantity> comparisons;
  bool refused = false;
};

void run_trial(EffectTrial& trial, const JudgedRecord& before) {
  const ModelEffect& effect = effects()[trial.effect];
  trial.comparisons = before.comparisons;
  ModelEffects parts;
  if (effect.part != nullptr) parts.*effect.part = false;
  const ResultRecord changed = without_flags(*before.record, effect);
  if (effect.part == nullptr && changed.arguments == before.record->arguments) return;
  try {
    const Prediction prediction = predict(changed, nullptr, parts);
    trial.comparisons = comparisons_of(changed, prediction);
  } catch (const InputError&) {
    trial.refused = true;
  }
}

bool differs(const std::vector<ComparedQuantity>& before, const std::vector<ComparedQuantity>& after,
             Quantity quantity) {
  for (std::size_t k = 0; k < before.size() && k < after.size(); ++k) {
    if (before[k].quantity == quantity && before[k].predicted != after[k].predicted) return true;
  }
  return false;
}

JudgedEffect judged_effect(std::size_t effect, const std::vector<JudgedSource>& with,
                           const std::vector<EffectTrial>& trials) {
  JudgedEffect judged;
  judged.effect = &effects()[effect];
  std::vector<JudgedSource> without = with;
  for (const EffectTrial& trial : trials) {
    if (trial.effect != effect) continue;
    JudgedRecord& record = without[trial.source].records[trial.record];
    record.comparisons = trial.comparisons;
    if (trial.refused) judged.refused.push_back(record.record->id);
  }
  for (std::size_t k = 0; k < with.size(); ++k) {
    for (const ErrorSummary& summary : with[k].summaries) {
      EffectErrors errors{with[k].source, summary, summarise(without[k].records, summary.quantity, summary.group), 0};
      for (std::size_t r = 0; r < with[k].records.size(); ++r) {
        const JudgedRecord& before = with[k].records[r];
        if (!summary.group.empty() && before.record->group != summary.group) continue;
        if (differs(before.comparisons, without[k].records[r].comparisons, summary.quantity)) ++errors.changed;
      }
      judged.errors.push_back(std::move(errors));
    }
  }
  return judged;
}

}  // namespace

const std::vector<ModelEffect>& effects() {
  static const std::vector<ModelEffect> list = make_effects();
  return list;
}

JudgedEffects judge_effects(const ResultsFile& results, const std::vector<std::string>& only) {
  JudgedEffects judged;
  for (const std::string& one : only) {
    for (JudgedSource& source : judge_results(results, {}, one)) judged.with.push_back(std::move(source));
  }
  std::vector<EffectTrial> trials;
  for (std::size_t effect = 0; effect < effects().size(); ++effect) {
    for (std::size_t source = 0; source < judged.with.size(); ++source) {
      for (std::size_t record = 0; record < judged.with[source].records.size(); ++record) {
        if (has_model(*judged.with[source].records[record].record))
          trials.push_back({effect, source, record, {}, false});
      }
    }
  }
  for_each_index(trials.size(), threads_for(trials.size(), 0),
                 [&](std::size_t k) { run_trial(trials[k], judged.with[trials[k].source].records[trials[k].record]); });
  for (std::size_t effect = 0; effect < effects().size(); ++effect) {
    judged.effects.push_back(judged_effect(effect, judged.with, trials));
  }
  return judged;
}

}  // namespace debubble
