#include "studies/plan/framework_flags.hpp"

#include <algorithm>
#include <string_view>

#include "cost_models/partition/layout.hpp"
#include "formats/frameworks/torchtitan_models.hpp"
#include "schedules/catalog.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/error.hpp"
#include "studies/plan/space.hpp"

namespace debubble {
namespace {

std::string argument(const char* name, std::int64_t value) {
  return std::string(" ") + name + " " + std::to_string(value);
}

// Megatron-LM cuts evenly unless a layout says otherwise.
std::string megatron_cut(const PlanChoice& choice, const Job& job, const Profile& profile) {
  if (choice.pipeline * choice.chunks == 1) return "";
  try {
    return " --pipeline-model-parallel-layout '" + write_layout(job.partition, profile) + "'";
  } catch (const InputError&) {
    return "";  // a cut inside the embedding or the head
  }
}

std::string megatron_recomputation(const PlanChoice& choice, std::string modules, const std::string& blocks) {
  if (choice.recompute == 2) {
    const std::string number = blocks.empty() ? "1" : blocks.substr(blocks.find(':') + 1);
    return std::string(" --recompute-granularity full --recompute-method ") +
           (blocks.starts_with("first:") ? "block" : "uniform") + " --recompute-num-layers " + number;
  }
  if (choice.recompute == 0) return "";
  std::replace(modules.begin(), modules.end(), ',', ' ');
  return " --recompute-granularity selective" + (modules.empty() ? "" : " --recompute-modules " + modules);
}

std::string megatron_user_buffers(const PlanChoice& choice, const UserBuffers& buffers) {
  if (buffers == UserBuffers{} || choice.tensor < 2 || !choice.sequence) return "";
  return std::string(" --tp-comm-overlap") + (buffers.gathers ? "" : " --disable-tp-comm-overlap-ag") +
         (buffers.sums ? "" : " --disable-tp-comm-overlap-rs");
}

FrameworkFlags megatron(const PlanChoice& choice, const ChosenRun& run) {
  FrameworkFlags flags{"Megatron-LM", "", ""};
  flags.text = argument("--tensor-model-parallel-size", choice.tensor) +
               argument("--pipeline-model-parallel-size", choice.pipeline) +
               megatron_cut(choice, run.job, run.profile) + argument("--micro-batch-size", choice.microbatch) +
               argument("--global-batch-size", run.global_batch);
  flags.text.erase(0, 1);
  if (choice.context > 1) flags.text += argument("--context-parallel-size", choice.context);
  if (choice.expert > 1) flags.text += argument("--expert-model-parallel-size", choice.expert);
  const int split = run.job.sizes.expert_tensor;
  if (split > 0) flags.text += argument("--expert-tensor-parallel-size", split);
  if (choice.sequence) flags.text += " --sequence-parallel";
  flags.text += megatron_user_buffers(choice, run.user_buffers);
  if (!choice.rank_order.empty()) flags.text += " --use-tp-pp-dp-mapping";
  if (choice.zero == 1) flags.text += " --use-distributed-optimizer";
  if (choice.zero == 2) flags.text += " --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads";
  if (choice.zero == 3) flags.text += " --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params";
  flags.text += megatron_recomputation(choice, run.recompute_modules, run.recompute_blocks);
  return flags;
}

// "torchtitan:2,3": what its own cut takes off the first and the last stage.
std::string torchtitan_less_layers(const std::string& partition) {
  constexpr std::string_view kRule = "torchtitan:";
  const std::size_t comma = partition.find(',');
  if (!partition.starts_with(kRule) || comma == std::string::npos) return "";
  return "pipeline_parallel_first_stage_less_layers = " + partition.substr(kRule.size(), comma - kRule.size()) +
         "\npipeline_parallel_last_stage_less_layers = " + partition.substr(comma + 1) + "\n";
}

FrameworkFlags torchtitan(const PlanChoice& choice, const ChosenRun& run) {
  FrameworkFlags flags{"torchtitan", "", ""};
  const ScheduleEntry* const entry = find_schedule(choice.schedule);
  const std::string name = entry == nullptr ? "" : torchtitan_class(*entry);
  const int shards = choice.zero == 3 ? choice.data : 1;
  const auto line = [&](const char* key, std::int64_t value) {
    flags.text += std::string(key) + " = " + std::to_string(value) + "\n";
  };
  flags.text = "[training]\n";
  line("local_batch_size", choice.microbatch * choice.microbatches);
  line("global_batch_size", run.global_batch);
  if (run.job.tokens_per_sample > 0) line("seq_len", run.job.tokens_per_sample);
  flags.text += "[parallelism]\n";
  line("data_parallel_replicate_degree", choice.data / shards);
  line("data_parallel_shard_degree", shards);
  line("tensor_parallel_degree", choice.tensor);
  line("context_parallel_degree", choice.context);
  if (choice.expert > 1) line("expert_parallel_degree", choice.expert);
  line("pipeline_parallel_degree", choice.pipeline);
  if (choice.pipeline > 1) {
    line("pipeline_parallel_microbatch_size", choice.microbatch);
    flags.text += torchtitan_less_layers(choice.partition);
    if (name.empty()) {
      flags.text += "pipeline_parallel_schedule_csv = \"plan.csv\"\n";
      flags.note = "has no class for " + choice.schedule +
                   ": write its table with --export-schedule plan.csv; "
                   "debubble export says which class takes it, if any";
    } else {
      flags.text += "pipeline_parallel_schedule = \"" + name + "\"\n";
    }
  }
  flags.text += "[activation_checkpoint]\nmode = \"" + std::string(kRecomputeWords[choice.recompute]) + "\"\n";
  if (choice.recompute == 1 && run.recompute_modules == "op") flags.text += "selective_ac_option = \"op\"\n";
  return flags;
}

FrameworkFlags deepspeed(const PlanChoice& choice, std::int64_t global_batch) {
  FrameworkFlags flags{"DeepSpeed", "", ""};
  flags.text = "{\"train_batch_size\": " + std::to_string(global_batch) +
               ", \"train_micro_batch_size_per_gpu\": " + std::to_string(choice.microbatch) +
               ", \"gradient_accumulation_steps\": " + std::to_string(choice.microbatches) +
               ", \"zero_optimization\": {\"stage\": " + std::to_string(choice.zero) + "}}";
  flags.note = "PipelineModule(num_stages=" + std::to_string(choice.pipeline) + ")";
  if (choice.tensor > 1) flags.note += "; tensor ranks are the model's own (Megatron-DeepSpeed)";
  return flags;
}

}  // namespace

FrameworkFlags framework_flags(const std::string& framework, const PlanChoice& choice, const ChosenRun& run) {
  if (framework == "Megatron-LM") return megatron(choice, run);
  if (framework == "torchtitan") return torchtitan(choice, run);
  return deepspeed(choice, run.global_batch);
}

}  // namespace debubble
