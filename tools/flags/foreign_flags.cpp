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

// The twenty most typed, and two of ours that `import` calls otherwise.
constexpr std::array kForeignFlags{
    // the pipeline
    ForeignFlag{"num-stages", "--devices", "-p N: one stage on each device; -v: several on each"},
    ForeignFlag{"pipeline-model-parallel-size", "--devices", ""},
    ForeignFlag{"pipeline-parallel-degree", "--devices", ""},
    ForeignFlag{"num-layers-per-virtual-pipeline-stage", "--chunks",
                "-v V: the layers of one device divided by that number"},
    ForeignFlag{"pipeline-parallel-schedule", "--schedule", ""},
    ForeignFlag{"vpp", "--chunks", ""},
    ForeignFlag{"devices", "--stages", ""},  // of import
    ForeignFlag{"pp", "--stages", ""},       // of import
    // the number of GPUs: of plan, of import, and of the verbs that are told how they are used
    ForeignFlag{"gpus", "--dp", kRankFlags},
    ForeignFlag{"num-gpus", "--gpus", ""},
    ForeignFlag{"num-gpus", "--dp", kRankFlags},
    ForeignFlag{"nnodes", "--gpus", kGpuFlag},
    ForeignFlag{"nnodes", "--topology", kMachineTopology},
    // the batch
    ForeignFlag{"gradient-accumulation-steps", "--microbatches", ""},
    ForeignFlag{"micro-batch-size", "--microbatch-size", ""},
    ForeignFlag{"global-batch-size", "--global-batch", ""},
    // the other dimensions
    ForeignFlag{"tensor-model-parallel-size", "--tp", ""},
    ForeignFlag{"context-parallel-size", "--cp", ""},
    ForeignFlag{"expert-model-parallel-size", "--ep", ""},
    ForeignFlag{"expert-tensor-parallel-size", "--etp", ""},
    ForeignFlag{"fsdp", "--zero", "--dp N --zero 3: the replicas shard the weights"},
    ForeignFlag{"use-distributed-optimizer", "--zero", "--zero 1"},
    // the model
    ForeignFlag{"num-layers", "--model-size", "--model gpt --model-size layers=N,hidden=N,heads=N,vocabulary=N"},
    ForeignFlag{"bf16", "--dtype", "--dtype bf16"},
    ForeignFlag{"recompute-granularity", "--recompute", ""},
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
