#include "studies/compare/runs_today.hpp"

#include <algorithm>
#include <array>

#include "cost_models/partition/layout.hpp"
#include "scenario/request/recompute_modules.hpp"
#include "schedules/frameworks.hpp"

namespace debubble {
namespace {

std::string kind_of_blocks(const RecomputeRule& rule) {
  constexpr std::array<const char*, 5> kWords{"", "first:", "every:", "chunks:", "list:"};
  return kWords.at(static_cast<std::size_t>(rule.how));
}

const char* word_of(MoeDispatch dispatch) {
  constexpr std::array<const char*, 4> kWords{"alltoall", "deepep", "hybridep", "allgather"};
  return kWords.at(static_cast<std::size_t>(dispatch));
}

// "tp-cp-pp-dp"; empty for the usual one.
std::string order_in_words(const std::vector<Dimension>& order) {
  if (order == RankLayout{}.order) return "";
  std::string words;
  for (const Dimension one : order) words += (words.empty() ? "" : "-") + std::string(to_string(one));
  return words;
}

FrameworkChoice framework_choice_of(const Scenario& scenario, const ScheduleFacts& schedule) {
  const Parallelism& sizes = scenario.cluster.sizes;
  FrameworkChoice choice;
  choice.schedule = schedule.name;
  for (const auto& [name, value] : scenario.params) choice.params.push_back(name + "=" + value);
  choice.tensor = sizes.tensor;
  choice.context = sizes.context;
  choice.expert = sizes.expert;
  choice.pipeline = schedule.devices;
  choice.chunks = schedule.stages / std::max(1, schedule.devices);
  choice.data = sizes.data;
  choice.zero = sizes.zero;
  choice.sequence = sizes.sequence;
  choice.microbatches = schedule.microbatches;
  choice.rank_order = order_in_words(scenario.cluster.order);
  if (!scenario.transformer.setup) return choice;
  choice.microbatch = scenario.transformer.setup->microbatch_size;
  choice.recompute = static_cast<int>(scenario.transformer.setup->recompute);
  for (const int stage : scenario.transformer.recompute_stages) {
    choice.recompute_stages += (choice.recompute_stages.empty() ? "" : ",") + std::to_string(stage);
  }
  return choice;
}

}  // namespace

FrameworkJob framework_job(const Scenario& scenario) {
  FrameworkJob job;
  job.expert_tensor = scenario.cluster.sizes.expert_tensor;
  job.coupled_transfers = scenario.p2p == P2p::kCoupled;
  job.overlap_reduce = scenario.step.typed.overlap_reduce;
  job.overlap_gather = scenario.step.typed.overlap_gather;
  job.graphs = scenario.transformer.cuda_graphs;
  job.blocks = kind_of_blocks(scenario.transformer.recompute_blocks);
  if (!scenario.transformer.setup) return job;
  const TrainingSetup& setup = *scenario.transformer.setup;
  const TransformerShape& shape = setup.shape;
  job.layers = shape.layers;
  job.heads = shape.heads;
  job.kv_heads = shape.kv_heads;
  job.sequence = setup.sequence;
  job.experts = shape.experts;
  job.predictors = shape.predicted_tokens;
  job.latent_attention = shape.kv_rank > 0;
  job.expert_biases = shape.biases;
  job.tied_embedding = shape.tied_embedding;
  job.rotary = shape.positions == 0;
  job.format = to_string(setup.compute);
  job.fp8_recipe = to_string(setup.fp8_recipe);
  job.eight_bit_weights = setup.eight_bit_weights_alone;
  job.first_moment = to_string(setup.moment_format);
  job.second_moment = to_string(setup.second_format);
  job.dispatch = word_of(setup.dispatch);
  job.exchange_overlap = setup.exchange_overlap;
  job.context_all_to_all = setup.context_all_to_all;
  job.modules = recompute_module_names(setup.modules);
  return job;
}

std::optional<Diagnostic> refused_by(const std::string& framework, const Scenario& scenario,
                                     const ScheduleFacts& schedule, const char* code, std::string place) {
  return RunRules(framework, framework_job(scenario))
      .refusal(framework_choice_of(scenario, schedule), code, std::move(place));
}

std::vector<std::string> frameworks_today(const ScheduleEntry* entry, const Scenario& scenario, const Report& report) {
  const bool plain = std::all_of(scenario.transforms.begin(), scenario.transforms.end(),
                                 [](const TransformSpec& spec) { return spec.name == "recompute"; });
  std::vector<std::string> found;
  if (entry == nullptr || !plain) return found;
  const FrameworkJob job = framework_job(scenario);
  const FrameworkChoice choice = framework_choice_of(scenario, report.schedule);
  for (const char* const framework : kFrameworks) {
    if (RunRules(framework, job).allow(choice)) found.emplace_back(framework);
  }
  return found;
}

void require_runs_in(const std::string& framework, const Scenario& scenario, const Job& job) {
  ScheduleFacts schedule;
  schedule.name = job.schedule.name;
  schedule.devices = job.schedule.devices;
  schedule.stages = job.schedule.stages;
  schedule.microbatches = job.schedule.microbatches;
  FrameworkChoice choice = framework_choice_of(scenario, schedule);
  choice.by_table = framework == "torchtitan";
  try {
    if (scenario.profile) choice.layout = write_layout(job.partition, *scenario.profile);
  } catch (const InputError&) {  // a cut inside the embedding or the head, which a paste moves to their edge
  }
  if (const auto refusal = RunRules(framework, framework_job(scenario)).refusal(choice, "T054", "--to")) {
    throw InputError(*refusal);
  }
}

}  // namespace debubble
