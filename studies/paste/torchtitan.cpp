// torchtitan's command line since 0.3: a module's configuration by name, and what of it is otherwise. A recomputation
// is a subcommand, and so the last.
#include <algorithm>
#include <array>

#include "cost_models/partition/blocks.hpp"
#include "cost_models/partition/framework_cuts.hpp"
#include "cost_models/transformer/layer_memory.hpp"
#include "formats/frameworks/framework_scenario.hpp"
#include "formats/frameworks/torchtitan_models.hpp"
#include "formats/schedule/torchtitan.hpp"
#include "scenario/request/model_choice.hpp"
#include "sim/core/error.hpp"
#include "studies/paste/fields.hpp"

namespace debubble {
namespace {

const std::string training = "--training.";
const std::string parallelism = "--parallelism.";

void write_table(const RunToPaste& run, PastePart& part) {
  const std::string name = torchtitan_table_class(run.job.schedule);
  if (name.empty()) part.refusal = "has no class that places stages as the table " + run.schedule + " does";
  part.word(parallelism + "pipeline_parallel_schedule", name);
  part.word(parallelism + "pipeline_parallel_schedule_csv", run.schedule);
  if (!run.schedule.ends_with(".csv")) part.note("reads tables that debubble export --to pytorch-csv writes");
}

void write_class(const RunToPaste& run, PastePart& part) {
  if (run.pipeline == 1) return;
  if (run.entry == nullptr) return write_table(run, part);
  refuse_schedule(run, "torchtitan", part);
  const std::string name = torchtitan_class(*run.entry);
  if (!part.refusal.empty()) return;
  if (name.empty()) {
    part.refusal = "has no class for " + run.schedule;
    return;
  }
  part.word(parallelism + "pipeline_parallel_schedule", name);
  const bool rounds = run.schedule == "interleaved" && run.microbatches % run.pipeline != 0;
  const auto given = [&](const char* key, const char* value) {
    const auto found = run.scenario.params.find(key);
    return found != run.scenario.params.end() && found->second == value;
  };
  if (rounds && !given("rounding", "pytorch")) part.note("counts rounds its own way: --param rounding=pytorch");
  if (run.schedule == "gpipe" && !given("backward", "ascending")) {
    part.note("runs its backwards in ascending order: --param backward=ascending");
  }
}

void refuse_titan_params(const RunToPaste& run, PastePart& part) {
  for (const auto& [name, value] : run.scenario.params) {
    if ((name == "rounding" && value == "pytorch") || (name == "backward" && value == "ascending")) continue;
    if (run.schedule == "interleaved" && name == "group" && value == std::to_string(run.pipeline)) continue;
    part.refusal = "runs " + run.schedule + " as it is, without " + name + "=" + value;
  }
}

// Whether torchtitan's own rule, which knows one or two stages per rank, cuts so.
bool cuts_so(const RunToPaste& run, const std::string& rule) {
  if (run.chunks > 2) return false;
  try {
    return framework_cut(rule, {.profile = &*run.scenario.profile, .stages = run.pipeline * run.chunks}) ==
           run.job.partition;
  } catch (const InputError&) {
    return false;
  }
}

// The modules of each stage, by name.
PastedFlag modules_of_stages(const std::vector<int>& layers, const LayerCounts& counts) {
  PastedFlag flag{parallelism + "module_fqns_per_model_part", {}};
  int layer = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    std::string names = stage == 0 ? "tok_embeddings" : "";
    for (int k = 0; k < layers[stage]; ++k, ++layer) {
      const int block = layer - counts.embedding;
      if (block >= 0 && block < counts.blocks)
        names += (names.empty() ? "" : ",") + ("layers." + std::to_string(block));
    }
    if (stage + 1 == layers.size()) names += (names.empty() ? "" : ",") + std::string("norm,lm_head");
    flag.values.push_back(names);
  }
  return flag;
}

void write_stages(const RunToPaste& run, PastePart& part) {
  if (run.pipeline == 1 || !run.scenario.profile) return;
  const std::string rule = run.typed(part.field);
  const bool typed = rule.starts_with("torchtitan:");
  if (cuts_so(run, typed ? rule : "torchtitan")) {
    const std::size_t comma = typed ? rule.find(',') : 0;
    const std::size_t colon = rule.find(':');
    part.word(parallelism + "pipeline_parallel_first_stage_less_layers",
              typed ? rule.substr(colon + 1, comma - colon - 1) : "1");
    part.word(parallelism + "pipeline_parallel_last_stage_less_layers", typed ? rule.substr(comma + 1) : "1");
    return;
  }
  const std::vector<int> layers = run.whole_ends();
  part.flags.push_back(modules_of_stages(layers, count_layers(*run.scenario.profile)));
  if (layers != run.job.partition) part.note("embedding and head are whole on one stage, and the run cuts one of them");
}

void write_data_ranks(const RunToPaste& run, PastePart& part) {
  const bool shards = run.sizes.zero == 3;
  part.value(parallelism + "data_parallel_replicate_degree", shards ? 1 : run.sizes.data);
  part.value(parallelism + "data_parallel_shard_degree", shards ? run.sizes.data : 1);
  if (run.sizes.zero == 1 || run.sizes.zero == 2) {
    part.note("shards all or nothing: ZeRO-" + std::to_string(run.sizes.zero) +
              " becomes replicas here, which take more memory");
  }
  if (run.sizes.context > 1 && !shards) part.note("shards over context ranks whatever is asked for: --zero 3");
}

void write_kept(const RunToPaste& run, PastePart& part) {
  if (run.sizes.zero < 3) return;
  part.word(parallelism + "fsdp_reshard_after_forward", run.typed(part.field).empty() ? "always" : "never");
}

void write_tensor_ranks(const RunToPaste& run, PastePart& part) {
  part.value(parallelism + "tensor_parallel_degree", run.sizes.tensor);
}

void write_split_sequence(const RunToPaste& run, PastePart& part) {
  part.flag(parallelism + (run.sizes.sequence || run.sizes.tensor == 1 ? "" : "no-") + "enable_sequence_parallel");
}

void write_expert_ranks(const RunToPaste& run, PastePart& part) {
  part.value(parallelism + "expert_parallel_degree", run.sizes.expert);
  if (run.sizes.expert > 1 && run.sizes.split_of_expert() > 1) {
    part.note("splits no expert over tensor ranks: --etp 1");
  }
}

void write_precision(const RunToPaste& run, PastePart& part) {
  const NumberFormat format = run.setup->compute;
  if (format == NumberFormat::kFp16) part.refusal = "trains in bf16 or fp32, not in fp16";
  part.word(training + "mixed_precision_param", format == NumberFormat::kFp32 ? "float32" : "bfloat16");
}

void note_gradients(const RunToPaste& run, PastePart& part) {
  if (run.setup->gradients != NumberFormat::kFp32)
    part.note("sums gradients in fp32: " + has_no_argument(run, part.field));
}

// Weights, gradients and moments in 16 bits, as training.dtype has them.
bool trains_in_16_bits(const RunToPaste& run) {
  const TrainingSetup& setup = *run.setup;
  const bool low = setup.compute == NumberFormat::kBf16 && setup.weights == NumberFormat::kBf16;
  return low && run.typed("--master-weights") == "none" && setup.moment_format == NumberFormat::kBf16 &&
         setup.second_format == NumberFormat::kBf16;
}

void write_weights(const RunToPaste& run, PastePart& part) {
  if (!trains_in_16_bits(run)) return refuse_given(run, part);
  part.word(training + "dtype", "bfloat16");
}

void note_moments(const RunToPaste& run, PastePart& part) {
  if (!trains_in_16_bits(run)) note_given(run, part);
}

void write_compilation(const RunToPaste& run, PastePart& part) {
  const bool buffers = run.setup->user_buffers != UserBuffers{} && run.sizes.tensor > 1;
  const bool budget = run.typed("--recompute-modules").starts_with("budget=");
  // A configuration may have it on, which goes with compiled models alone.
  part.flag(buffers ? "--compile.enable_async_tensor_parallel" : "--compile.no-enable_async_tensor_parallel");
  if (!buffers && !budget && !run.setup->fused_loss) return part.flag("--compile.no-enable");
  part.flag("--compile.enable");
  part.word("--compile.components", !buffers && !budget ? "loss" : run.setup->fused_loss ? "model,loss" : "model");
}

void write_titan_graphs(const RunToPaste& run, PastePart& part) {
  const bool graphs = run.scenario.transformer.cuda_graphs;
  if (graphs && run.pipeline > 1) part.refusal = "has no CUDA graphs of pipelines";
  part.flag(training + (graphs ? "no-" : "") + "disable_cuda_graphs");
}

void write_checkpoints(const RunToPaste& run, PastePart& part) {
  const std::string modules = run.typed("--recompute-modules");
  const std::string command = "activation-checkpoint:";
  if (run.setup->recompute == Recompute::kNone) return part.flag(command + "none");
  if (!run.typed("--recompute-blocks").empty()) part.refusal = has_no_argument(run, "--recompute-blocks");
  if (run.setup->recompute == Recompute::kFull) return part.flag(command + "full");
  if (modules.starts_with("budget=")) {
    part.flag(command + "memory-budget");
    return part.word("--activation-checkpoint.memory_budget", modules.substr(7));
  }
  part.flag(command + "selective");
  if (modules != "op") part.note("its selective recomputation keeps what costly ops make: --recompute-modules op");
}

void note_dropout(const RunToPaste& run, PastePart& part) {
  if (run.setup->dropout) part.note("its models have no dropout");
}

void note_attention(const RunToPaste& run, PastePart& part) {
  if (!run.setup->flash_attention) part.note("its attention is fused");
}

bool has_titan_sizes(const TorchtitanFlavour& flavour, const TransformerShape& shape) {
  TransformerShape known = choose_model("llama", flavour.sizes).shape;
  known.name = shape.name;
  known.rotary_base = shape.rotary_base;
  known.predicted_tokens = shape.predicted_tokens;
  known.vocabulary_unit = shape.vocabulary_unit;
  known.expert_balance = shape.expert_balance;
  known.expert_groups = shape.expert_groups;  // as its code has them
  known.groups_per_token = shape.groups_per_token;
  return known == shape;
}

void write_titan_model(const RunToPaste& run, PastePart& part) {
  const TrainingSetup& setup = *run.setup;
  const auto& flavours = torchtitan_flavours();
  const auto found = std::find_if(flavours.begin(), flavours.end(),
                                  [&](const TorchtitanFlavour& one) { return has_titan_sizes(one, setup.shape); });
  const std::string eight = setup.compute != NumberFormat::kFp8          ? ""
                            : setup.fp8_recipe == Fp8Recipe::kMxfp8      ? "mxfp8"
                            : setup.fp8_recipe == Fp8Recipe::kTensorwise ? "float8"
                                                                         : "none";
  const auto with = [&](const std::string& eight_bits) {
    return found == flavours.end() ? nullptr : torchtitan_configuration(*found, eight_bits);
  };
  const TitanConfiguration* configuration = with(eight);
  if (configuration == nullptr && !eight.empty()) {
    configuration = with("");
    part.note(
        "no configuration of it multiplies so in 8 bits: a converter in model_registry does (Float8LinearConverter)");
  }
  if (configuration == nullptr) {
    const bool in_eight = with("float8") != nullptr;
    part.note("no configuration of it has " + setup.shape.name + "'s sizes" +
              (in_eight ? " without products in 8 bits" : "") +
              ": write one in the config_registry of your module, and name both by --module and --config");
  } else {
    part.word("--module", configuration->model);
    part.word("--config", configuration->name);
    if (setup.shape.predicted_tokens > 0) part.note("this configuration predicts one token");
    if (setup.shape.vocabulary_unit > 1 && padded_vocabulary(setup) != setup.shape.vocabulary) {
      part.note("pads no vocabulary: --model-size vocabulary_unit=1");
    }
  }
  if (setup.dispatch != MoeDispatch::kAllToAll) {
    part.note("how tokens reach their experts is an argument of model_registry: moe_comm_backend");
  }
}

void no_environment(const RunToPaste& /*run*/, Paste& /*paste*/) {}

void import_torchtitan(const RunToPaste& run, const Paste& paste) {
  FrameworkRequest request;
  request.world_size = static_cast<int>(run.ranks());
  if (paste.model.empty()) request.model = run.setup->shape.name;
  (void)read_framework("torchtitan", paste.text('\n', true) + "\n", "the paste", request);
}

std::vector<FieldRow> titan_rows() {
  return {
      {"--microbatches",
       [](const RunToPaste& run, PastePart& part) {
         // Without a pipeline a step is that many runs of a batch, else one of all its microbatches.
         part.value(training + "local_batch_size", run.microbatch * (run.pipeline > 1 ? run.microbatches : 1));
         part.value(training + "global_batch_size", run.batch);
       },
       "--training.local_batch_size --training.global_batch_size"},
      {"--sequence",
       [](const RunToPaste& run, PastePart& part) {
         if (run.job.tokens_per_sample > 0) part.value(training + "seq_len", run.job.tokens_per_sample);
       },
       "--training.seq_len"},
      {"--dtype", write_precision, "--training.mixed_precision_param", true},
      {"--master-weights", write_weights, "--training.dtype", true},
      {"--moment-dtype", note_moments, "", true},
      {"--second-moment-dtype", note_moments, "", true},
      {"--cuda-graphs", write_titan_graphs, "--training.disable_cuda_graphs --training.no-disable_cuda_graphs", true},
      {"--dp", write_data_ranks,
       "--parallelism.data_parallel_replicate_degree --parallelism.data_parallel_shard_degree"},
      {"--zero", nullptr},
      {"--keep-whole", write_kept, "--parallelism.fsdp_reshard_after_forward"},
      {"--tp", write_tensor_ranks, "--parallelism.tensor_parallel_degree"},
      {"--sequence-parallel", write_split_sequence,
       "--parallelism.enable_sequence_parallel --parallelism.no-enable_sequence_parallel"},
      {"--cp",
       [](const RunToPaste& run, PastePart& part) {
         part.value(parallelism + "context_parallel_degree", run.sizes.context);
       },
       "--parallelism.context_parallel_degree"},
      {"--ep", write_expert_ranks, "--parallelism.expert_parallel_degree"},
      {"--etp", nullptr},
      {"--devices",
       [](const RunToPaste& run, PastePart& part) {
         part.value(parallelism + "pipeline_parallel_degree", run.pipeline);
       },
       "--parallelism.pipeline_parallel_degree"},
      {"--microbatch-size",
       [](const RunToPaste& run, PastePart& part) {
         if (run.pipeline > 1) part.value(parallelism + "pipeline_parallel_microbatch_size", run.microbatch);
       },
       "--parallelism.pipeline_parallel_microbatch_size"},
      {"--schedule", write_class,
       "--parallelism.pipeline_parallel_schedule --parallelism.pipeline_parallel_schedule_csv"},
      {"--param", refuse_titan_params},
      {"--partition", write_stages,
       "--parallelism.module_fqns_per_model_part --parallelism.pipeline_parallel_layers_per_stage "
       "--parallelism.pipeline_parallel_first_stage_less_layers "
       "--parallelism.pipeline_parallel_last_stage_less_layers"},
      {"--rank-order", nullptr},
      {"--grad-dtype", note_gradients, "", true},
      {"--loss", write_compilation,
       "--compile.enable --compile.no-enable --compile.components --compile.enable_async_tensor_parallel "
       "--compile.no-enable_async_tensor_parallel",
       true},
      {"--tensor-overlap",  // user buffers are the compilation's
       [](const RunToPaste& run, PastePart& part) {
         if (!run.setup->tensor_overlap && run.sizes.tensor > 1) part.note(has_no_argument(run, part.field));
       },
       "", true},
      {"--dropout", note_dropout, "", true},
      {"--attention", note_attention, "", true},
      {"--fp8-recipe", nullptr},  // with the model
      {"--moe-dispatch", nullptr},
      {"--moe-overlap", nullptr},
      {"--recompute", write_checkpoints,
       "activation-checkpoint:none activation-checkpoint:full activation-checkpoint:selective "
       "activation-checkpoint:memory-budget --activation-checkpoint.memory_budget",
       true},
      {"--recompute-blocks", nullptr},
      {"--recompute-modules", nullptr},
  };
}

}  // namespace

const FrameworkTable& torchtitan_table() {
  static const FrameworkTable table = [] {
    FrameworkTable made{titan_rows(), write_titan_model, no_environment, import_torchtitan};
    for (const char* const noted :
         {"--context-exchange", "--optimizer", "--weight-dtype", "--low-gradients", "--fp8-weights",
          "--grad-accumulation", "--capacity-factor", "--norm", "--overlap-grad-reduce", "--overlap-param-gather",
          "--bucket-size", "--scatter-gather"}) {
      made.rows.push_back({noted, note_given});
    }
    made.rows.push_back(
        {"--p2p", [](const RunToPaste& run, PastePart& part) { note_transfers(run, "torchtitan", part); }});
    add_common_rows(made.rows);
    return made;
  }();
  return table;
}

}  // namespace debubble
