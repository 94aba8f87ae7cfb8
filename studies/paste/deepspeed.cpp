// DeepSpeed's JSON. What of a run its program says, in Python, is a note; what of that has a key in "pipeline", which
// the engine passes over, is written there, too, for an import.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "cost_models/partition/framework_cuts.hpp"
#include "formats/frameworks/framework_scenario.hpp"
#include "sim/core/error.hpp"
#include "studies/paste/deepspeed_text.hpp"
#include "studies/paste/fields.hpp"

namespace debubble {
namespace {

std::string json_text(const std::string& text) { return "\"" + text + "\""; }

void write_key(PastePart& part, const char* path, bool value) { part.word(path, value ? "true" : "false"); }

bool casts(const RunToPaste& run) {
  return run.setup->weights == NumberFormat::kFp32 && run.setup->compute != NumberFormat::kFp32;
}

// Without ZeRO gradients are summed in the format of the weights; over one rank ZeRO-1 shards nothing and sums in fp32.
int stage_of(const RunToPaste& run) {
  const bool alone = run.sizes.data * run.sizes.context == 1;
  const bool wider = run.setup != nullptr && run.setup->compute != NumberFormat::kFp32 &&
                     run.setup->gradients == NumberFormat::kFp32 && !casts(run);
  return run.sizes.zero == 0 && alone && wider ? 1 : run.sizes.zero;
}

// BF16_Optimizer, beside ZeRO's own: it keeps 16-bit gradients until the sums are made, unless told.
bool sums_beside(const RunToPaste& run) {
  const bool bfloat = run.setup->compute == NumberFormat::kBf16 || run.setup->compute == NumberFormat::kFp8;
  const bool sharded = stage_of(run) == 1 && run.setup->gradients == NumberFormat::kFp32;
  return bfloat && (sharded || (stage_of(run) == 0 && run.pipeline > 1));
}

void refuse_deepspeed_schedule(const RunToPaste& run, PastePart& part) { refuse_schedule(run, "DeepSpeed", part); }

void refuse_deepspeed_params(const RunToPaste& run, PastePart& part) {
  if (!run.scenario.params.empty()) {
    part.refusal = "runs " + run.schedule + " as it is, without " + run.scenario.params.begin()->first;
  }
}

void write_deepspeed_batch(const RunToPaste& run, PastePart& part) {
  part.value("train_batch_size", run.batch);
  part.value("train_micro_batch_size_per_gpu", run.microbatch);
  part.value("gradient_accumulation_steps", run.microbatches);
}

void write_zero(const RunToPaste& run, PastePart& part) {
  part.value("zero_optimization.stage", stage_of(run));
  if (run.setup != nullptr && run.sizes.zero == 0 && sums_beside(run) && run.sizes.data > 1) {
    part.note("its bf16 pipelines share the optimizer's state over the data ranks: --zero 1");
  }
}

// The layers of each stage, by PipelineModule's own methods: the first that cuts so, or else the nearest.
void write_method(const RunToPaste& run, PastePart& part) {
  if (run.pipeline == 1 || !run.scenario.profile) return;
  std::string nearest;
  std::vector<int> cut;
  int least = 0;
  const std::string typed = run.typed(part.field);
  std::vector<std::string> methods{"parameters", "uniform", "type:transformer"};
  if (typed.starts_with("deepspeed:")) methods.insert(methods.begin(), typed.substr(10));
  for (const std::string& method : methods) {
    std::vector<int> layers;
    try {
      LayersToCut to_cut{.profile = &*run.scenario.profile, .stages = run.pipeline * run.chunks};
      if (run.setup != nullptr) to_cut.sizes = cut_sizes(run.setup->shape, bytes_of(run.setup->weights));
      layers = framework_cut("deepspeed:" + method, to_cut);
    } catch (const InputError&) {
      continue;
    }
    int apart = 0;
    for (std::size_t k = 0; k < layers.size(); ++k) apart += std::abs(layers[k] - run.job.partition[k]);
    if (!nearest.empty() && apart >= least) continue;
    nearest = method;
    cut = layers;
    least = apart;
  }
  if (nearest.empty()) return;
  part.word("pipeline.partition", json_text(nearest));
  part.note("PipelineModule(num_stages=" + std::to_string(run.pipeline) + ", partition_method=\"" + nearest + "\")");
  if (least > 0) {
    part.note("none of its methods cuts the layers as the run does: --partition deepspeed:" + nearest + " is " +
              partition_text(cut));
  }
}

void write_sequence_ranks(const RunToPaste& run, PastePart& part) {
  if (run.sizes.context == 1) return;
  // DeepSpeed makes a mesh of the two where both are there, which knows no tensor ranks of a program's own.
  if (run.sizes.tensor == 1) part.value("data_parallel_size", run.sizes.data);
  part.value("sequence_parallel_size", run.sizes.context);
  if (run.setup == nullptr || !run.setup->context_all_to_all) {
    part.refusal = "has no context ranks but those of --context-exchange all-to-all";
  }
}

void write_auto_experts(const RunToPaste& run, PastePart& part) {
  if (run.sizes.expert == 1) return;
  write_key(part, "expert_parallel.enabled", true);
  part.value("expert_parallel.autoep_size", run.sizes.expert);
  if (run.setup != nullptr && run.setup->dispatch == MoeDispatch::kDeepEp) {
    part.word("expert_parallel.comm_backend", json_text("deepep"));
    part.value("expert_parallel.comm_max_tokens_per_rank", run.microbatch * run.setup->sequence);
  }
  if (run.sizes.split_of_expert() > 1) part.note("splits no expert over tensor ranks: --etp 1");
}

void note_dispatch(const RunToPaste& run, PastePart& part) {
  const bool deep = run.setup->dispatch == MoeDispatch::kDeepEp && run.sizes.expert > 1;
  if (run.setup->dispatch != MoeDispatch::kAllToAll && !deep) part.note(has_no_argument(run, part.field));
}

void write_formats(const RunToPaste& run, PastePart& part) {
  const NumberFormat format = run.setup->compute;
  if (format == NumberFormat::kFp8) part.note("has no products in 8 bits: bf16 is written");
  if (format == NumberFormat::kFp32) return;
  const bool half = format == NumberFormat::kFp16;
  if (casts(run)) {
    write_key(part, "torch_autocast.enabled", true);
    part.word("torch_autocast.dtype", json_text(half ? "float16" : "bfloat16"));
    return;
  }
  write_key(part, half ? "fp16.enabled" : "bf16.enabled", true);
  if (sums_beside(run)) write_key(part, "bf16.immediate_grad_update", !run.setup->keeps_low_gradients);
}

void write_sums(const RunToPaste& run, PastePart& part) {
  if (run.setup->compute == NumberFormat::kFp32 || casts(run)) return;
  part.word("data_types.grad_accum_dtype", json_text(to_string(run.setup->gradients)));
}

void write_deepspeed_masters(const RunToPaste& run, PastePart& part) {
  if (run.setup->weights == NumberFormat::kFp32 && run.sizes.zero > 0) {
    part.note("ZeRO keeps a copy of 32-bit weights, too: --master-weights fp32");
  }
  if (run.typed(part.field).empty() || run.setup->compute == NumberFormat::kFp32) return;
  if (!run.setup->master_weights) {
    part.refusal = has_no_argument(run, part.field);
  } else if (run.setup->master_format == NumberFormat::kBf16) {
    write_key(part, "bf16.bf16_master_weights_and_grads", true);
    if (sums_beside(run)) part.note("where gradients are summed in fp32, so are its copies of the weights");
  } else if (run.setup->master_format == NumberFormat::kFp16) {
    write_key(part, "fp16.fp16_master_weights_and_grads", true);
  }
}

void write_deepspeed_moments(const RunToPaste& run, PastePart& part) {
  const NumberFormat first = run.setup->moment_format;
  if (first == NumberFormat::kBf16 && run.setup->second_format == first) {
    write_key(part, "bf16.bf16_optimizer_states", true);
  } else if (first != NumberFormat::kFp32 || run.setup->second_format != first) {
    part.refusal = has_no_argument(run, "--moment-dtype");
  }
}

void write_deepspeed_optimizer(const RunToPaste& run, PastePart& part) {
  const std::string name = run.typed(part.field);
  if (name.empty() || name == "adam") return;
  part.word("optimizer.type", json_text(name == "muon" ? "Muon" : name == "sgd" ? "SGD" : "Lion"));
  if (name == "momentum") part.note("writes Lion, which keeps one moment; SGD with momentum keeps as much");
  if (name == "sgd" && run.sizes.zero > 0) write_key(part, "zero_allow_untested_optimizer", true);
}

void write_intervals(const RunToPaste& run, PastePart& part) {
  const std::string blocks = run.typed("--recompute-blocks");
  if (run.setup->recompute == Recompute::kNone) return;
  if (run.setup->recompute == Recompute::kSelective) return part.note("selective recomputation is the model's own");
  if (!blocks.empty() && !blocks.starts_with("chunks:")) part.refusal = has_no_argument(run, "--recompute-blocks");
  const std::string interval = blocks.empty() ? "1" : blocks.substr(blocks.find(':') + 1);
  if (run.pipeline == 1) return part.note("recomputation is the script's (deepspeed.checkpointing)");
  part.word("pipeline.activation_checkpoint_interval", interval);
  part.note("PipelineModule(activation_checkpoint_interval=" + interval + ")");
}

void write_slices(const RunToPaste& run, PastePart& part) {
  const bool sliced = !run.typed(part.field).empty();
  if (run.sizes.tensor == 1 || run.pipeline == 1) return;
  write_key(part, "pipeline.pipe_partitioned", sliced);
  write_key(part, "pipeline.grad_partitioned", sliced);
}

void write_deepspeed_overlap(const RunToPaste& run, PastePart& part) {
  if (run.sizes.zero == 1 && run.pipeline == 1) {
    write_key(part, "zero_optimization.overlap_comm", !run.typed(part.field).empty());
  } else {
    note_given(run, part);
  }
}

void write_deepspeed_norm(const RunToPaste& run, PastePart& part) {
  if (run.typed(part.field) == "none" && run.sizes.zero > 0) {
    write_key(part, "zero_optimization.compute_grad_norm", false);
    part.value("gradient_clipping", 0);  // 1.0 by default, which takes the norm
  } else if (run.typed(part.field) != "barrier") {
    note_given(run, part);
  }
}

void note_script(const RunToPaste& run, PastePart& part) {
  part.note("the model, its sequence length and its precision's kernels are the training script's: " +
            run.setup->shape.name + ", " + std::to_string(run.setup->sequence) + " tokens");
}

void nothing_around(const RunToPaste& /*run*/, Paste& /*paste*/) {}

void import_deepspeed(const RunToPaste& run, const Paste& paste) {
  FrameworkRequest request;
  request.model = run.setup->shape.name;
  request.world_size = static_cast<int>(run.ranks());
  request.pipeline = run.pipeline;
  if (run.sizes.tensor > 1) request.tensor = run.sizes.tensor;
  (void)read_framework("deepspeed", paste.text('\n', true), "the paste", request);
}

std::vector<FieldRow> deepspeed_rows() {
  return {
      {"--schedule", refuse_deepspeed_schedule},
      {"--param", refuse_deepspeed_params},
      {"--microbatches", write_deepspeed_batch,
       "train_batch_size train_micro_batch_size_per_gpu gradient_accumulation_steps"},
      {"--microbatch-size", nullptr},
      {"--dp", nullptr},
      {"--zero", write_zero, "zero_optimization.stage"},
      {"--overlap-grad-reduce", write_deepspeed_overlap, "zero_optimization.overlap_comm"},
      {"--norm", write_deepspeed_norm, "zero_optimization.compute_grad_norm"},
      {"--dtype", write_formats, "bf16.enabled fp16.enabled torch_autocast.enabled bf16.immediate_grad_update", true},
      {"--weight-dtype", nullptr},
      {"--low-gradients", nullptr},
      {"--grad-dtype", write_sums, "data_types.grad_accum_dtype", true},
      {"--master-weights", write_deepspeed_masters,
       "bf16.bf16_master_weights_and_grads fp16.fp16_master_weights_and_grads", true},
      {"--moment-dtype", write_deepspeed_moments, "bf16.bf16_optimizer_states", true},
      {"--second-moment-dtype", nullptr},
      {"--optimizer", write_deepspeed_optimizer, "optimizer.type zero_allow_untested_optimizer", true},
      {"--devices",
       [](const RunToPaste& run, PastePart& part) {
         if (run.pipeline > 1) part.value("pipeline.stages", run.pipeline);
       },
       "pipeline.stages"},
      {"--partition", write_method, "pipeline.partition"},
      {"--recompute", write_intervals, "pipeline.activation_checkpoint_interval", true},
      {"--recompute-blocks", nullptr},
      {"--recompute-modules", nullptr},
      {"--tp",
       [](const RunToPaste& run, PastePart& part) {
         if (run.sizes.tensor > 1) part.note("tensor ranks are the model's own (Megatron-DeepSpeed)");
       }},
      {"--scatter-gather", write_slices, "pipeline.pipe_partitioned pipeline.grad_partitioned"},
      {"--cp", write_sequence_ranks, "data_parallel_size sequence_parallel_size"},
      {"--context-exchange", nullptr},
      {"--ep", write_auto_experts,
       "expert_parallel.enabled expert_parallel.autoep_size expert_parallel.comm_backend "
       "expert_parallel.comm_max_tokens_per_rank"},
      {"--etp", nullptr},
      {"--moe-dispatch", note_dispatch, "", true},
      {"--moe-overlap", nullptr},
      {"--rank-order", nullptr},
      // Of the model's own code.
      {"--sequence", nullptr},
      {"--sequence-parallel", note_given},
      {"--attention", note_given},
      {"--dropout", note_given},
      {"--loss", note_given},
      {"--grad-accumulation", note_given},
      {"--tensor-overlap", note_given},
  };
}

}  // namespace

std::string deepspeed_json(const std::vector<PastedFlag>& keys) {
  std::vector<std::pair<std::string, std::string>> sections;  // of the first level, in order
  for (const PastedFlag& key : keys) {
    const std::size_t dot = key.name.find('.');
    const std::string section = key.name.substr(0, dot);
    const auto found =
        std::find_if(sections.begin(), sections.end(), [&](const auto& known) { return known.first == section; });
    if (dot == std::string::npos) {
      sections.emplace_back(section, key.values.front());
      continue;
    }
    const std::string entry = json_text(key.name.substr(dot + 1)) + ": " + key.values.front();
    if (found == sections.end()) {
      sections.emplace_back(section, "{" + entry + "}");
    } else {
      found->second.insert(found->second.size() - 1, ", " + entry);
    }
  }
  std::string text;
  for (const auto& [name, value] : sections) text += (text.empty() ? "{" : ", ") + json_text(name) + ": " + value;
  return text + "}";
}

const FrameworkTable& deepspeed_table() {
  static const FrameworkTable table = [] {
    FrameworkTable made{deepspeed_rows(), note_script, nothing_around, import_deepspeed};
    for (const char* const noted : {"--fp8-recipe", "--fp8-weights", "--capacity-factor", "--cuda-graphs",
                                    "--overlap-param-gather", "--bucket-size", "--keep-whole"}) {
      made.rows.push_back({noted, note_given});
    }
    made.rows.push_back(
        {"--p2p", [](const RunToPaste& run, PastePart& part) { note_transfers(run, "DeepSpeed", part); }});
    add_common_rows(made.rows);
    return made;
  }();
  return table;
}

}  // namespace debubble
