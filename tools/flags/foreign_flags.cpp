#include "tools/flags/foreign_flags.hpp"

#include <algorithm>
#include <array>

#include "sim/core/words.hpp"

namespace debubble {
namespace {

struct ForeignFlag {
  std::string_view name;  // in small letters, with dashes between the words
  std::string_view here;  // "--devices"
  std::string_view with;  // how it is written, where the name alone does not tell
};

constexpr const char* kRankFlags = "-p N --tp N --cp N --dp N: their product is the number of GPUs";
constexpr const char* kGpuFlag = "--gpus N: all GPUs of the job, over all machines";
constexpr const char* kMachineTopology = "--topology dgx-h100:N, N machines of 8 GPUs (`debubble list topologies`)";
constexpr const char* kDeepspeedImport =
    "--config job.toml, which `debubble import --from deepspeed FILE -o job.toml` makes";

constexpr std::array kForeignFlags{
    // the pipeline
    ForeignFlag{"stages", "--devices", "-p N: one stage on each device; -v: several on each"},
    ForeignFlag{"num-stages", "--devices", "-p N: one stage on each device; -v: several on each"},
    ForeignFlag{"pipeline-model-parallel-size", "--devices", ""},
    ForeignFlag{"pipeline-parallel-size", "--devices", ""},
    ForeignFlag{"pipeline-parallel-degree", "--devices", ""},
    ForeignFlag{"pp-size", "--devices", ""},
    ForeignFlag{"num-devices", "--devices", ""},
    ForeignFlag{"virtual-pipeline-model-parallel-size", "--chunks", ""},
    ForeignFlag{"num-virtual-stages-per-pipeline-rank", "--chunks", ""},
    ForeignFlag{"num-layers-per-virtual-pipeline-stage", "--chunks",
                "-v V: the layers of one device divided by that number"},
    ForeignFlag{"pipeline-parallel-layers-per-stage", "--chunks",
                "-v V: the layers of one device divided by that number"},
    ForeignFlag{"pipeline-model-parallel-layout", "--partition", ""},
    ForeignFlag{"pipeline-parallel-schedule", "--schedule", ""},
    ForeignFlag{"pipeline-schedule", "--schedule", ""},
    ForeignFlag{"vpp", "--chunks", ""},
    ForeignFlag{"vp", "--chunks", ""},
    ForeignFlag{"virtual-pipeline-size", "--chunks", ""},
    ForeignFlag{"devices", "--stages", ""},  // of import
    ForeignFlag{"pp", "--stages", ""},       // of import
    ForeignFlag{"partition-method", "--partition", ""},
    // the number of GPUs: of plan, of import, and of the verbs that are told how they are used
    ForeignFlag{"gpus", "--dp", kRankFlags},
    ForeignFlag{"num-gpus", "--gpus", ""},
    ForeignFlag{"num-gpus", "--dp", kRankFlags},
    ForeignFlag{"ngpus", "--gpus", ""},
    ForeignFlag{"ngpus", "--dp", kRankFlags},
    ForeignFlag{"ngpu", "--gpus", ""},
    ForeignFlag{"ngpu", "--dp", kRankFlags},
    ForeignFlag{"world-size", "--gpus", ""},
    ForeignFlag{"world-size", "--dp", kRankFlags},
    ForeignFlag{"nodes", "--gpus", kGpuFlag},
    ForeignFlag{"nodes", "--topology", kMachineTopology},
    ForeignFlag{"num-nodes", "--gpus", kGpuFlag},
    ForeignFlag{"num-nodes", "--topology", kMachineTopology},
    ForeignFlag{"nnodes", "--gpus", kGpuFlag},
    ForeignFlag{"nnodes", "--topology", kMachineTopology},
    // the batch
    ForeignFlag{"gas", "--microbatches", ""},
    ForeignFlag{"gradient-accumulation-steps", "--microbatches", ""},
    ForeignFlag{"num-microbatches", "--microbatches", ""},
    ForeignFlag{"n-microbatches", "--microbatches", ""},
    ForeignFlag{"micro-batch-size", "--microbatch-size", ""},
    ForeignFlag{"train-micro-batch-size-per-gpu", "--microbatch-size", ""},
    ForeignFlag{"pipeline-parallel-microbatch-size", "--microbatch-size", ""},
    ForeignFlag{"local-batch-size", "--microbatches",
                "-m N microbatches of --microbatch-size B samples: N x B is the "
                "local batch"},
    ForeignFlag{"global-batch-size", "--global-batch", ""},
    ForeignFlag{"train-batch-size", "--global-batch", ""},
    ForeignFlag{"seq-len", "--sequence", ""},
    // the other dimensions
    ForeignFlag{"tensor-model-parallel-size", "--tp", ""},
    ForeignFlag{"tensor-parallel-size", "--tp", ""},
    ForeignFlag{"tensor-parallel-degree", "--tp", ""},
    ForeignFlag{"context-parallel-size", "--cp", ""},
    ForeignFlag{"context-parallel-degree", "--cp", ""},
    ForeignFlag{"expert-model-parallel-size", "--ep", ""},
    ForeignFlag{"expert-parallel-degree", "--ep", ""},
    ForeignFlag{"data-parallel-size", "--dp", ""},
    ForeignFlag{"data-parallel-replicate-degree", "--dp", ""},
    ForeignFlag{"data-parallel-shard-degree", "--zero", "--dp N --zero 3: the replicas shard the weights"},
    ForeignFlag{"fsdp", "--zero", "--dp N --zero 3: the replicas shard the weights"},
    ForeignFlag{"hsdp", "--zero", "--dp N --zero 3: the replicas shard the weights"},
    ForeignFlag{"use-distributed-optimizer", "--zero", "--zero 1"},
    ForeignFlag{"zero-stage", "--zero", ""},
    ForeignFlag{"zero-optimization", "--zero", ""},
    // the model
    ForeignFlag{"num-layers", "--model-size", "--model gpt --model-size layers=N,hidden=N,heads=N,vocabulary=N"},
    ForeignFlag{"hidden-size", "--model-size", "--model gpt --model-size layers=N,hidden=N,heads=N,vocabulary=N"},
    ForeignFlag{"num-attention-heads", "--model-size",
                "--model gpt --model-size layers=N,hidden=N,heads=N,vocabulary=N"},
    ForeignFlag{"bf16", "--dtype", "--dtype bf16"},
    ForeignFlag{"fp16", "--dtype", "--dtype fp16"},
    ForeignFlag{"fp8-format", "--dtype", "--dtype fp8"},
    ForeignFlag{"recompute-activations", "--recompute", "--recompute selective"},
    ForeignFlag{"recompute-granularity", "--recompute", ""},
    ForeignFlag{"activation-checkpointing", "--recompute", "--recompute full"},
    ForeignFlag{"checkpoint-activations", "--recompute", "--recompute full"},
    ForeignFlag{"gradient-checkpointing", "--recompute", "--recompute full"},
    ForeignFlag{"activation-checkpoint-interval", "--recompute", "--recompute full"},
    ForeignFlag{"activation-checkpoint.mode", "--recompute", ""},
    ForeignFlag{"model.name", "--model", "--model NAME (`debubble list models`)"},
    ForeignFlag{"model.flavor", "--model", "--model NAME (`debubble list models`)"},
    // the framework's own configuration
    ForeignFlag{"deepspeed", "--config", kDeepspeedImport},
    ForeignFlag{"deepspeed-config", "--config", kDeepspeedImport},
    ForeignFlag{"job.config-file", "--config",
                "--config job.toml, which `debubble import --from torchtitan FILE -o job.toml` makes"},
};

std::string plain_flag(std::string_view name) {
  name = name.substr(0, name.find('='));
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  std::string plain;
  for (const char c : name) plain += c == '_' ? '-' : lower_case(c);
  return plain;
}

}  // namespace

std::string foreign_flag_help(std::string_view name, const FlagRows& rows) {
  if (!name.starts_with("--")) return "";
  const std::string plain = plain_flag(name);
  // torchtitan's flags begin with their section: --parallelism.pipeline_parallel_degree
  const std::size_t dot = plain.find_last_of('.');
  const std::string last = dot == std::string::npos ? plain : plain.substr(dot + 1);
  const auto* const found = std::find_if(kForeignFlags.begin(), kForeignFlags.end(), [&](const ForeignFlag& one) {
    return (one.name == plain || one.name == last) && find_flag(rows, one.here) != nullptr;
  });
  if (found == kForeignFlags.end()) return "";
  const Flag* const here = find_flag(rows, found->here);
  if (!found->with.empty()) return "write " + std::string(found->with);
  std::string others;
  for (const std::string_view other : names_of(*here)) {
    if (other != here->name) others += (others.empty() ? "" : ", ") + std::string(other);
  }
  return "here it is " + std::string(here->name) + " " + std::string(type_of(*here)) +
         (others.empty() ? "" : " (" + others + ")");
}

}  // namespace debubble
