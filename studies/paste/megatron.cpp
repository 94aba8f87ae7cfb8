// Megatron-LM's arguments, of the release whose rules are in formats/megatron.
#include <algorithm>

#include "cost_models/partition/layout.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "schedules/common/request.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/error.hpp"
#include "sim/core/split.hpp"
#include "studies/paste/fields.hpp"
#include "studies/paste/megatron_model.hpp"

namespace debubble {
namespace {

bool shards_weights(const RunToPaste& run) { return run.sizes.zero > 1; }

void write_schedule(const RunToPaste& run, PastePart& part) { refuse_schedule(run, "Megatron-LM", part); }

void write_param(const RunToPaste& run, PastePart& part) {
  for (const auto& [name, value] : run.scenario.params) {
    if (run.pipeline == 1) return;
    if (run.schedule == "interleaved" && name == "group") {
      part.word("--microbatch-group-size-per-virtual-pipeline-stage", value);
    } else if (name != kExtraWarmup) {  // --overlap-moe-expert-parallel-comm's, where rules for runs let it stay
      part.refusal = "runs " + run.schedule + " as it is, without " + name + "=" + value;
    }
  }
}

void write_partition(const RunToPaste& run, PastePart& part) {
  if (run.pipeline == 1) return;
  if (!run.scenario.profile) {
    if (run.chunks > 1) part.value("--num-virtual-stages-per-pipeline-rank", run.chunks);
    return;
  }
  const std::vector<int> layers = run.whole_ends();
  const std::string layout = write_layout(layers, *run.scenario.profile);
  part.word("--pipeline-model-parallel-layout", layout);
  if (layers != run.job.partition) {
    part.note("embedding and head are whole on one stage, and the run cuts one of them: --partition '" + layout +
              "' is what is written");
  }
}

void write_message_overlap(const RunToPaste& run, PastePart& part) {
  if (run.pipeline == 1) return;
  if (run.chunks == 1) {
    if (run.job.p2p != P2p::kCoupled) {
      part.note("with one stage per rank no transfer overlaps computing: --p2p coupled simulates that");
    }
  } else if (run.job.p2p == P2p::kCoupled) {
    part.flag("--no-overlap-p2p-communication");
  } else if (run.job.p2p == P2p::kOverlapped) {
    const auto group = run.scenario.params.find("group");
    const bool large =
        group != run.scenario.params.end() && has_large_groups(run.schedule, group->second, run.pipeline);
    if (large) part.flag("--overlap-p2p-communication-warmup-flush");
  } else if (run.job.p2p != P2p::kJoined) {
    part.note(has_no_argument(run, part.field));
  }
}

void write_context(const RunToPaste& run, PastePart& part) {
  if (run.sizes.context > 1) part.value("--context-parallel-size", run.sizes.context);
}

void write_context_exchange(const RunToPaste& run, PastePart& part) {
  if (run.sizes.context > 1 && run.setup->context_all_to_all) part.word("--cp-comm-type", "a2a");
}

void write_expert_tensor(const RunToPaste& run, PastePart& part) {
  if (run.sizes.expert_tensor > 0) part.value("--expert-tensor-parallel-size", run.sizes.expert_tensor);
}

void write_sharding(const RunToPaste& run, PastePart& part) {
  if (run.sizes.zero > 0) part.flag("--use-distributed-optimizer");
  if (!shards_weights(run)) return;
  part.flag("--use-megatron-fsdp");
  part.word("--data-parallel-sharding-strategy", run.sizes.zero == 2 ? "optim_grads" : "optim_grads_params");
  part.word("--ckpt-format", "fsdp_dtensor");
}

void write_sequence(const RunToPaste& run, PastePart& part) {
  if (run.sizes.tensor == 1) return;
  const bool needed = run.setup != nullptr && run.setup->shape.experts > 0;
  if (run.sizes.sequence || needed) part.flag("--sequence-parallel");
  if (needed && !run.sizes.sequence) {
    part.note("trains experts over tensor ranks with sequence parallelism only: --sequence-parallel simulates that");
  }
}

void write_rank_order(const RunToPaste& run, PastePart& part) {
  if (run.scenario.cluster.order != RankLayout{}.order) part.flag("--use-tp-pp-dp-mapping");
}

void write_dtype(const RunToPaste& run, PastePart& part) {
  const NumberFormat format = run.setup->compute;
  if (format == NumberFormat::kFp16) part.flag("--fp16");
  if (format == NumberFormat::kBf16 || format == NumberFormat::kFp8) part.flag("--bf16");
  if (format == NumberFormat::kFp8) part.word("--fp8-format", "hybrid");
}

void write_fp8_recipe(const RunToPaste& run, PastePart& part) {
  if (run.setup->compute == NumberFormat::kFp8) part.word("--fp8-recipe", to_string(run.setup->fp8_recipe));
}

void write_gradients(const RunToPaste& run, PastePart& part) {
  const NumberFormat sums = run.setup->gradients;
  const bool half = run.setup->compute == NumberFormat::kFp16;
  if (run.setup->compute == NumberFormat::kFp32) return;
  if (sums == NumberFormat::kBf16 && !half) {
    part.flag("--grad-reduce-in-bf16");
  } else if (sums == NumberFormat::kFp32) {
    if (half) part.flag("--accumulate-allreduce-grads-in-fp32");
  } else if (sums == NumberFormat::kBf16 || !half) {
    part.refusal = has_no_argument(run, part.field) + " with --dtype " + to_string(run.setup->compute);
  }
}

void write_optimizer(const RunToPaste& run, PastePart& part) {
  const std::string name = run.typed(part.field);
  if (name == "muon") part.word("--optimizer", "muon");
  if (name != "sgd" && name != "momentum") return;
  part.word("--optimizer", "sgd");
  part.word("--sgd-momentum", name == "sgd" ? "0.0" : "0.9");
}

void write_weight_format(const RunToPaste& run, PastePart& part) {
  if (run.setup->weights == NumberFormat::kFp32 && run.setup->compute != NumberFormat::kFp32) {
    part.refusal = has_no_argument(run, part.field);
  }
}

void write_masters(const RunToPaste& run, PastePart& part) {
  if (run.setup->compute == NumberFormat::kFp32 || run.typed(part.field).empty()) return;
  if (run.setup->master_weights && run.setup->master_format == NumberFormat::kFp16) {
    part.word("--main-params-dtype", "fp16");
  } else if (!run.setup->master_weights || run.setup->master_format != NumberFormat::kFp32) {
    part.refusal = has_no_argument(run, part.field);
  }
}

void write_moments(const RunToPaste& run, PastePart& part) {
  const NumberFormat first = run.setup->moment_format;
  const NumberFormat second = run.setup->second_format;
  const bool moments = first != NumberFormat::kFp32 || second != NumberFormat::kFp32;
  const bool masters = run.setup->master_weights && run.setup->master_format == NumberFormat::kFp16;
  if (moments || masters) part.flag("--use-precision-aware-optimizer");
  if (!moments) return;
  part.word("--exp-avg-dtype", to_string(first));
  part.word("--exp-avg-sq-dtype", to_string(second));
}

void write_fp8_weights(const RunToPaste& run, PastePart& part) {
  if (run.setup->compute == NumberFormat::kFp8 && run.setup->eight_bit_weights_alone) part.flag("--fp8-param-gather");
}

void write_attention_kernel(const RunToPaste& run, PastePart& part) {
  part.word("--attention-backend", run.setup->flash_attention ? "flash" : "unfused");
}

void write_recomputation(const RunToPaste& run, PastePart& part) {
  if (run.setup->recompute == Recompute::kNone) return;
  const std::string blocks = run.typed("--recompute-blocks");
  const std::string modules = run.typed("--recompute-modules");
  if (run.setup->recompute == Recompute::kFull) {
    const bool first = blocks.starts_with("first:");
    if (!blocks.empty() && !first && !blocks.starts_with("chunks:")) {
      part.refusal = has_no_argument(run, "--recompute-blocks");
    }
    part.word("--recompute-granularity", "full");
    part.word("--recompute-method", first ? "block" : "uniform");
    part.word("--recompute-num-layers", blocks.empty() ? "1" : blocks.substr(blocks.find(':') + 1));
    return;
  }
  if (!blocks.empty()) part.refusal = has_no_argument(run, "--recompute-blocks") + " and selected modules";
  if (modules == "op" || modules.starts_with("budget=")) part.refusal = has_no_argument(run, "--recompute-modules");
  part.word("--recompute-granularity", "selective");
  if (modules.empty()) return;
  part.flags.push_back({"--recompute-modules", split(modules)});
}

void write_tensor_overlap(const RunToPaste& run, PastePart& part) {
  if (run.sizes.tensor == 1) return;
  const UserBuffers& buffers = run.setup->user_buffers;
  if (!run.setup->tensor_overlap) part.note(has_no_argument(run, part.field));
  if (buffers == UserBuffers{}) return;
  if (!run.sizes.sequence) return part.note("user buffers go with --sequence-parallel");
  part.flag("--tp-comm-overlap");
  if (!buffers.gathers) part.flag("--disable-tp-comm-overlap-ag");
  if (!buffers.sums) part.flag("--disable-tp-comm-overlap-rs");
}

void write_capacity(const RunToPaste& run, PastePart& part) {
  const std::string factor = run.typed(part.field);
  if (factor.empty() || run.setup->shape.experts == 0) return;
  part.word("--moe-expert-capacity-factor", factor);
  if (run.setup->dispatch != MoeDispatch::kDeepEp) return part.flag("--moe-pad-expert-input-to-capacity");
  part.note("with DeepEP no expert is padded to its capacity: what is beyond it is dropped");
}

void write_dispatch(const RunToPaste& run, PastePart& part) {
  if (run.setup->shape.experts == 0) return;
  if (run.setup->dispatch == MoeDispatch::kAllToAll) return part.word("--moe-token-dispatcher-type", "alltoall");
  part.word("--moe-token-dispatcher-type", "flex");
  part.word("--moe-flex-dispatcher-backend", run.setup->dispatch == MoeDispatch::kDeepEp ? "deepep" : "hybridep");
  part.word("--moe-router-dtype", "fp32");  // else its first step refuses the router's weights
}

void write_exchange_overlap(const RunToPaste& run, PastePart& part) {
  if (run.setup->exchange_overlap) part.flag("--overlap-moe-expert-parallel-comm");
}

// Graphs of layers leave out experts, whose tokens are counted on the host, and go without full recomputation.
void write_graphs(const RunToPaste& run, PastePart& part) {
  if (!run.scenario.transformer.cuda_graphs) return;
  if (run.setup->recompute == Recompute::kFull) {
    part.word("--cuda-graph-impl", "full_iteration");
    return part.flag("--no-check-for-nan-in-loss-and-grad");
  }
  part.word("--cuda-graph-impl", "transformer_engine");
  if (run.setup->shape.experts == 0) return;
  part.flags.push_back({"--cuda-graph-modules", {"attn", "moe_router"}});
  part.note("experts run outside of the CUDA graphs");
}

void write_dropout(const RunToPaste& run, PastePart& part) {
  for (const char* const name : {"--hidden-dropout", "--attention-dropout"}) {
    part.word(name, run.setup->dropout ? "0.1" : "0.0");
  }
}

void write_norm(const RunToPaste& run, PastePart& part) {
  const std::string norm = run.typed(part.field);
  if (norm == "none") part.word("--clip-grad", "0.0");
  if (norm == "post-validation") part.note(has_no_argument(run, part.field));
}

// What ZeRO-2 and 3 send lies beside the passes, but the weights that ZeRO-2 gathers after its step.
void write_gradient_overlap(const RunToPaste& run, PastePart& part) {
  if (!run.typed(part.field).empty() || shards_weights(run)) part.flag("--overlap-grad-reduce");
}

void write_gather_overlap(const RunToPaste& run, PastePart& part) {
  if (!run.typed(part.field).empty() || run.sizes.zero == 3) part.flag("--overlap-param-gather");
}

void write_bucket(const RunToPaste& run, PastePart& part) {
  if (const std::string size = run.typed(part.field); !size.empty()) part.word("--ddp-bucket-size", size);
}

std::vector<FieldRow> rows_of_split() {
  return {
      {"--schedule", write_schedule},
      {"--tp",
       [](const RunToPaste& run, PastePart& part) { part.value("--tensor-model-parallel-size", run.sizes.tensor); },
       "--tensor-model-parallel-size --tensor-parallel-num-weight-shards"},
      {"--devices",
       [](const RunToPaste& run, PastePart& part) { part.value("--pipeline-model-parallel-size", run.pipeline); },
       "--pipeline-model-parallel-size"},
      {"--partition", write_partition,
       "--pipeline-model-parallel-layout --num-layers-per-virtual-pipeline-stage "
       "--num-virtual-stages-per-pipeline-rank --decoder-first-pipeline-num-layers "
       "--decoder-last-pipeline-num-layers --account-for-embedding-in-pipeline-split "
       "--account-for-loss-in-pipeline-split"},
      {"--microbatch-size",
       [](const RunToPaste& run, PastePart& part) { part.value("--micro-batch-size", run.microbatch); },
       "--micro-batch-size"},
      {"--microbatches", [](const RunToPaste& run, PastePart& part) { part.value("--global-batch-size", run.batch); },
       "--global-batch-size --rampup-batch-size --step-batch-size-schedule"},
      {"--param", write_param, "--microbatch-group-size-per-virtual-pipeline-stage"},
      {"--p2p", write_message_overlap, "--no-overlap-p2p-communication --overlap-p2p-communication-warmup-flush"},
      {"--cp", write_context, "--context-parallel-size --hierarchical-context-parallel-sizes"},
      {"--ep",
       [](const RunToPaste& run, PastePart& part) {
         if (run.sizes.expert > 1) part.value("--expert-model-parallel-size", run.sizes.expert);
       },
       "--expert-model-parallel-size"},
      {"--etp", write_expert_tensor, "--expert-tensor-parallel-size"},
      {"--dp", nullptr},  // what the ranks leave
      {"--sequence", nullptr},
      {"--sequence-parallel", write_sequence, "--sequence-parallel"},
      {"--rank-order", write_rank_order, "--use-tp-pp-dp-mapping"},
      {"--zero", write_sharding,
       "--use-distributed-optimizer --use-megatron-fsdp --data-parallel-sharding-strategy --ckpt-format "
       "--use-torch-fsdp2 --use-custom-fsdp"},
      {"--overlap-grad-reduce", write_gradient_overlap, "--overlap-grad-reduce"},
      {"--overlap-param-gather", write_gather_overlap,
       "--overlap-param-gather --overlap-param-gather-with-optimizer-step"},
      {"--bucket-size", write_bucket, "--ddp-bucket-size --ddp-num-buckets"},
      {"--keep-whole", note_given},
      {"--norm", write_norm, "--clip-grad"},
      {"--scatter-gather", note_given},
  };
}

std::vector<FieldRow> rows_of_setup() {
  return {
      {"--dtype", write_dtype, "--fp16 --bf16 --fp8-format --fp4-format", true},
      {"--fp8-recipe", write_fp8_recipe, "--fp8-recipe", true},
      {"--fp8-weights", write_fp8_weights, "--fp8-param-gather --reuse-grad-buf-for-mxfp8-param-ag", true},
      {"--grad-dtype", write_gradients, "--grad-reduce-in-bf16 --accumulate-allreduce-grads-in-fp32 --main-grads-dtype",
       true},
      {"--optimizer", write_optimizer, "--optimizer --sgd-momentum", true},
      {"--weight-dtype", write_weight_format, "", true},
      {"--master-weights", write_masters, "--main-params-dtype", true},
      {"--moment-dtype", write_moments, "--use-precision-aware-optimizer --exp-avg-dtype --exp-avg-sq-dtype", true},
      {"--second-moment-dtype", nullptr},  // with the first
      {"--low-gradients", note_given, "", true},
      {"--attention", write_attention_kernel, "--attention-backend --use-flash-attn --transformer-impl", true},
      {"--recompute", write_recomputation,
       "--recompute-granularity --recompute-method --recompute-num-layers --recompute-modules "
       "--recompute-activations --moe-layer-recompute --distribute-saved-activations",
       true},
      {"--recompute-blocks", nullptr},
      {"--recompute-modules", nullptr},
      {"--loss",
       [](const RunToPaste& run, PastePart& part) {
         if (run.setup->fused_loss) part.flag("--cross-entropy-loss-fusion");
       },
       "--cross-entropy-loss-fusion --cross-entropy-fusion-impl", true},
      {"--grad-accumulation",
       [](const RunToPaste& run, PastePart& part) {
         if (!run.setup->fused_accumulation) part.flag("--no-gradient-accumulation-fusion");
       },
       "--no-gradient-accumulation-fusion", true},
      {"--tensor-overlap", write_tensor_overlap,
       "--tp-comm-overlap --disable-tp-comm-overlap-ag --disable-tp-comm-overlap-rs", true},
      {"--context-exchange", write_context_exchange, "--cp-comm-type", true},
      {"--capacity-factor", write_capacity,
       "--moe-expert-capacity-factor --moe-pad-expert-input-to-capacity --moe-token-drop-policy", true},
      {"--moe-dispatch", write_dispatch,
       "--moe-token-dispatcher-type --moe-flex-dispatcher-backend --moe-enable-deepep --moe-router-dtype", true},
      {"--moe-overlap", write_exchange_overlap,
       "--overlap-moe-expert-parallel-comm --delay-wgrad-compute --moe-shared-expert-overlap", true},
      {"--cuda-graphs", write_graphs,
       "--cuda-graph-impl --cuda-graph-modules --enable-cuda-graph --external-cuda-graph "
       "--no-check-for-nan-in-loss-and-grad",
       true},
      {"--dropout", write_dropout, "--hidden-dropout --attention-dropout", true},
  };
}

// GPUs before Blackwell: FSDP and exchanges beside computing need several connections, overlap of tensor or context
// ranks exactly one.
void write_environment(const RunToPaste& run, Paste& paste) {
  const char* connections = nullptr;
  if (run.sizes.tensor > 1 || run.sizes.context > 1) connections = "1";
  if (run.setup != nullptr && run.setup->exchange_overlap) connections = "32";
  if (shards_weights(run)) connections = "8";
  if (connections != nullptr) paste.environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS", connections);
}

void import_megatron(const RunToPaste& run, const Paste& paste) {
  LaunchGiven given;
  given.gpus = run.ranks();
  (void)read_megatron(paste.text('\n', true) + "\n", "the paste", given);
}

}  // namespace

const FrameworkTable& megatron_table() {
  static const FrameworkTable table = [] {
    FrameworkTable made{rows_of_split(), write_megatron_model, write_environment, import_megatron};
    const std::vector<FieldRow> more = rows_of_setup();
    made.rows.insert(made.rows.end(), more.begin(), more.end());
    add_common_rows(made.rows);
    return made;
  }();
  return table;
}

}  // namespace debubble
