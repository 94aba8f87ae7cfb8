#include "formats/megatron/argument_table.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

// The names. "name" takes no value, "name=" one, "name*" as many as follow; behind "|" stands
// what is not modelled.

constexpr std::string_view kArgumentsUsed = R"(
num-layers= hidden-size= main-params-dtype= clip-grad= num-attention-heads= seq-length= max-position-embeddings= ffn-hidden-size= kv-channels=
group-query-attention num-query-groups= vocab-size= padded-vocab-size= make-vocab-size-divisible-by= pad-vocab-size-to=
tokenizer-type= position-embedding-type= use-rotary-position-embeddings normalization= swiglu squared-relu
disable-bias-linear add-qkv-bias untie-embeddings-and-output-weights qk-layernorm
multi-latent-attention q-lora-rank= kv-lora-rank= qk-head-dim= qk-pos-emb-head-dim= v-head-dim=
num-experts* moe-router-topk= moe-router-num-groups= moe-router-group-topk= moe-ffn-hidden-size=
moe-shared-expert-intermediate-size= mtp-num-layers= moe-layer-freq=
moe-expert-capacity-factor= moe-pad-expert-input-to-capacity moe-token-drop-policy= expert-tensor-parallel-size=
moe-enable-deepep moe-flex-dispatcher-backend= moe-token-dispatcher-type= overlap-moe-expert-parallel-comm
moe-shared-expert-overlap
tensor-model-parallel-size= pipeline-model-parallel-size= context-parallel-size= expert-model-parallel-size=
sequence-parallel cp-comm-type* world-size= actor-num-nodes= actor-num-gpus-per-node=
micro-batch-size= global-batch-size= rampup-batch-size* gas= num-layers-per-virtual-pipeline-stage=
num-virtual-stages-per-pipeline-rank= pipeline-model-parallel-layout= decoder-first-pipeline-num-layers=
decoder-last-pipeline-num-layers= account-for-embedding-in-pipeline-split account-for-loss-in-pipeline-split
overlap-p2p-communication no-overlap-p2p-communication overlap-p2p-communication-warmup-flush
microbatch-group-size-per-virtual-pipeline-stage= use-tp-pp-dp-mapping tensor-parallel-num-weight-shards=
main-grads-dtype= sgd-momentum= pp-partition-method=
fp16 bf16 fp8-format= fp8-hybrid fp8-e4m3 fp8-margin= fp8-interval= fp8-amax-history-len= fp8-amax-compute-algo=
fp8-wgrad fp8-recipe= fp8-param-gather use-precision-aware-optimizer exp-avg-dtype= exp-avg-sq-dtype=
accumulate-allreduce-grads-in-fp32 grad-reduce-in-bf16
enable-cuda-graph external-cuda-graph cuda-graph-impl= attention-backend= transformer-impl= use-flash-attn
recompute-method= recompute-num-layers= recompute-modules* recompute-granularity= recompute-activations
checkpoint-activations distribute-saved-activations cpu-offloading cpu-offloading-num-layers=
fine-grained-activation-offloading offload-modules*
hidden-dropout= attention-dropout= cross-entropy-fusion-impl= cross-entropy-loss-fusion
tp-comm-overlap tp-comm-overlap-ag tp-comm-overlap-rs tp-comm-bulk-dgrad tp-comm-bulk-wgrad disable-tp-comm-overlap-ag
disable-tp-comm-overlap-rs disable-tp-comm-bulk-dgrad disable-tp-comm-bulk-wgrad tp-comm-overlap-rs-dgrad
tp-comm-overlap-cfg= async-tensor-model-parallel-allreduce no-async-tensor-model-parallel-allreduce
no-gradient-accumulation-fusion use-distributed-optimizer overlap-grad-reduce overlap-param-gather ddp-bucket-size=

deepspeed zero-stage= deepspeed-config= use-megatron-fsdp use-custom-fsdp use-torch-fsdp2
data-parallel-sharding-strategy= no-pipeline-parallel pp-partition-method=
topk= expert-interval= ds-sequence-parallel-size= use-flash-attn-v2 use-flash-attn-triton use-flash-attn-cute quick-geglu
attention-softmax-in-fp32 apply-query-key-layer-scaling optimizer=
)";

constexpr std::string_view kArgumentsNamed = R"(
hybrid-override-pattern= hybrid-layer-pattern= hybrid-attention-ratio= hybrid-mlp-ratio= is-hybrid-model
mamba-state-dim= mamba-head-dim= mamba-num-groups= mamba-num-heads= spec* | blocks of another kind (state spaces)
decoder-num-layers= decoder-seq-length= encoder-tensor-model-parallel-size= encoder-pipeline-model-parallel-size= pipeline-model-parallel-split-rank= | a decoder beside the encoder
window-size* window-attn-skip-freq= softmax-type= | windows of attention: every layer attends to all tokens
linear-attention-type= linear-attention-freq= experimental-attention-variant= gated-attention attention-output-gate dsa-indexer-n-heads= dsa-indexer-head-dim= dsa-indexer-topk= | another kind of attention
heterogeneous-layers-config-path= heterogeneous-layers-config-encoded-json= | layers of different sizes
embed-layernorm | the norm behind the embedding
partition-activations checkpoint-in-cpu contigious-checkpointing contiguous-checkpointing profile-backward split-transformers | how kept activations are laid out
deepspeed-activation-checkpointing synchronize-each-layer | by whom activations are recomputed
cpu-optimizer cpu_torch_adam optimizer-cpu-offload optimizer-offload-fraction= overlap-cpu-optimizer-d2h-h2d use-torch-optimizer-for-cpu-offload pin-cpu-grads pin-cpu-params | an optimizer on the host
cpu-offloading-activations cpu-offloading-weights offload-activation offload-chunk-num= offload-param min-offloaded-tensor-size= delta-offload-bytes-across-pp-ranks= activation-offload-fraction= delay-offload-until-cuda-graph fine-grained-offloading-max-inflight-offloads= | activations that leave the GPU
remote-device= use-tutel moe-expert-offload | parameters that leave the GPU
use-ulysses | ranks that share a sequence by DeepSpeed's all-to-all
hierarchical-context-parallel-sizes* hybrid-context-parallel max-seqlen-per-dp-cp-rank= cp-partition-mode= | another layout of context ranks
num-distributed-optimizer-instances= num-distributed-optimizer-instances-per-group= | several groups that share the optimizer's state
enable-zero-bubble zero-bubble-v-schedule zero-bubble-v-schedule-mem-setup= zero-bubble-max-pending-backward= zero-bubble-adaptive-memory-limit-percentile= enable-optimizer-post-validation enable-1f1b-v zero-bubble-pipeline-timers-start-iter= zero-bubble-pipeline-timers-end-iter= enable-exactly-numeric-match use-interleaved-1f1b enable-vocab-parallel disable-backward-fusion interleave-group-size= 1f1b-v allow-padding-num-layers enable-dualpipe-v patch-zero-bubble num-seq-splits= cpu-offload pipeline-schedule= | another schedule: give it with --schedule
delay-wgrad-compute defer-embedding-wgrad-compute wgrad-deferral-limit= batch-p2p-communication no-batch-p2p-comm ep-overlap-early-attn-memory-release | details of the schedule
standalone-embedding-stage use-standalone-embedding-stage | a stage for the embedding alone
moe-permute-fusion moe-router-topk-limited-devices= moe-use-legacy-grouped-gemm moe-use-upcycling moe-upcycling-granularity= moe-extended-tp moe-hybridep-num-sms= moe-deepep-num-sms= moe-input-jitter-eps= | details of the exchange of tokens
moe-layer-recompute moe-router-padding-for-fp8 moe-router-padding-for-quantization moe-apply-probs-on-input moe-latent-size= moe-pad-experts-for-cuda-graph-inference moe-paged-stash | experts in another form
use-residual moe-train-capacity-factor= moe-eval-capacity-factor= moe-min-capacity= moe-token-dropping moe-loss-coeff= mlp-type= disable-moe-token-dropping disable-moe-top2-2nd-expert-sampling moe-top2-2nd-expert-sampling create-moe-param-group enable-expert-tensor-parallelism inference | experts as DeepSpeed has them
fp4-format= fp4-recipe= fp4-param-gather fp4-param first-last-layers-bf16 num-layers-at-start-in-bf16= num-layers-at-end-in-bf16= fp8-quantizer-factory= te-precision-config-file= fp8-dot-product-attention fp8-multi-head-attention keep-fp8-weight-transpose-cache reuse-grad-buf-for-mxfp8-param-ag | products in another form of 8 or 4 bits
store-param-remainders megatron-fsdp-grad-comm-dtype= megatron-fsdp-main-grads-dtype= megatron-fsdp-main-params-dtype= fp16-lm-cross-entropy fp32-residual-connection no-fp32-allreduce | formats of what is kept and exchanged
outer-dp-sharding-strategy= fsdp-double-buffer init-model-with-meta-device torch-fsdp2-no-reshard-after-forward suggested-communication-unit-size= fsdp-manual-registration enable-full-sharding-in-hsdp fsdp-all-gather-in-start-param-sync | how shards are gathered
use-nccl-ub disable-symmetric-registration use-sharp ddp-pad-buckets-for-high-nccl-busbw use-ring-exchange-p2p ddp-average-in-collective  rank-order= high-priority-stream-groups* overlap-dispatch-backward-with-experts-wgrad nccl-all-reduce-for-prefill no-delay-grad-reduce delay-grad-reduce delay-param-gather no-scatter-gather-tensors-in-pipeline contiguous-buffers use-contiguous-buffers-in-local-ddp use-cpu-initialization-memory ddp-impl= DDP-impl= | how collectives are sent
zero-reduce-scatter zero-contigious-gradients zero-contiguous-gradients zero-reduce-bucket-size= zero-allgather-bucket-size= memory-centric-tiled-linear tile-factor= ds-inference ds-pipeline-enabled deepspeed-mpi compression-training | details of ZeRO
cuda-graph-scope* cuda-graph-modules* cuda-graph-use-single-mempool cuda-graph-retain-backward-graph cuda-graph-warmup-steps= inference-dynamic-batching cuda-graph-num-warmup-steps= optimizer-cuda-graph | which parts are in a CUDA graph
variable-seq-lengths reset-attention-mask use-packed-sequence sft use-dynamic-batch-size max-tokens-per-gpu= log-probs-max-tokens-per-gpu= train-mtp sequence-packing packing-buffer-size= data-efficiency-curriculum-learning curriculum-learning random-ltd random-ltd-layer-num= train-tokens-random-ltd= decrease-batch-size-if-needed use-varlen dynamic-context-parallel | samples of different lengths
image-size* img-h= img-w= patch-dim= disable-vision-class-token use-tiling max-num-tiles= use-thumbnail pixel-shuffle freeze-vit freeze-lm freeze-llm num-frames= vision-model-type= language-model-type= use-tile-tags max-num-images= use-te dataloader-seq-length= decoder-tp-comm-overlap allow-missing-vision-projection-checkpoint total-seq-length= packing-seq-length= | a part for images
dpo kd teacher-model-config= kd-teacher-load= kd-distill-cfg= export-kd-teacher-load= export-kd-cfg= export-kd-finalize export-quant-cfg= ref-load= use-kl-loss colocate kd-alpha-ce= kd-beta-ce= kd-temp= mos load-teacher= num-layers-teacher* num-experts-teacher* hidden-size-teacher= topk-teacher= num-attention-heads-teacher= lora-rank= lora-target-modules* lora-alpha= peft-type= | a second model, or a part that is trained
num-iterations-per-cpu-offload= use-checkpoint-args use-mp-args-from-checkpoint-args yaml-cfg= config-file= config= non-persistent-ckpt-type= finetune-config= | arguments that lie in a file
qkv-format= moe-router-fusion enable-mtp enable-hyper-connections num-residual-streams= conditional-embedding extra-vocab-size= num-extra-tokens= mup use-mup n-hash-layers= engram-layers* | another form of the block
recompute-mtp recompute-loss-function loss-chunk-size= recompute-loss-chunk= output-chunk-size= recompute-num-layers-per-stage* recompute-pipeline-stages* custom-recompute-layers-per-stage* recompute-layer-ids* checkpoint-num-layers-per-stage* | recomputation layer by layer
use-hpu hpu-deterministic use-fused-sdpa= use-fused-sdpa-with-recompute= use-fused-rmsnorm= use-fast-softmax= use-fp8 cache-fp8-weight cache-fp8-weight-fwd= flash-attn-v2 use-flex-attention | another accelerator's, or another's attention
no-masked-softmax-fusion no-bias-gelu-fusion no-bias-swiglu-fusion no-bias-dropout-fusion no-rope-fusion no-persist-layer-norm | fused kernels switched off: they count as fused
deterministic-mode log-num-zeros-in-grad log-params-norm empty-unused-memory-level= use-pytorch-profiler record-memory-history barrier-with-l1-time | what slows a step down beside the model
retro-add-retriever mtp-use-repeated-layer qk-l2-norm moe-shared-expert-gate vocab-extra-ids= output-bert-embeddings bert-no-binary-head ict-head-size= biencoder-projection-dim= vision-backbone-type= vision-pretraining vision-pretraining-type= | parts of another model
overlap-param-gather-with-optimizer-step ddp-num-buckets= align-grad-reduce align-param-gather | details of buckets and of when they are sent
)";

constexpr std::string_view kArgumentsWithoutEffect = R"(
adam-beta1= adam-beta2= adam-eps= beta1= weight-decay= start-weight-decay= end-weight-decay=
weight-decay-incr-style= lr= min-lr= decoupled-lr= decoupled-min-lr= lr-decay-style= lr-decay-iters=
lr-decay-samples= lr-decay-tokens= lr-warmup-fraction= lr-warmup-iters= lr-warmup-samples= lr-warmup-tokens=
lr-warmup-init= lr-wsd-decay-style= lr-wsd-decay-samples= lr-wsd-decay-iters= warmup= override-opt-param-scheduler
override-opt_param-scheduler use-checkpoint-opt-param-scheduler use-checkpoint-opt_param-scheduler
override-lr-scheduler use-checkpoint-lr-scheduler decoupled-weight-decay no-weight-decay-cond-type=
apply-wd-to-qk-layernorm embedding-init-method-std= init-method-std= init-method-xavier-uniform no-initialization
perform-initialization seed= data-parallel-random-init te-rng-tracker inference-rng-tracker
data-path* train-data-path* valid-data-path* test-data-path* data-args-path= per-split-data-args-path= data-cache-path=
data-impl= split= train-weighted-split-paths-path= valid-weighted-split-paths-path= test-weighted-split-paths-path=
train-weighted-split-paths* valid-weighted-split-paths* test-weighted-split-paths* mock-data no-mmap-bin-files
mmap-bin-files mmap-warmup num-workers= valid-num-workers= dataloader-type= no-data-sharding reset-position-ids
eod-mask-loss no-create-attention-mask-in-dataloader create-attention-mask-in-dataloader full-validation
multiple-validation-sets object-storage-cache-path= num-dataset-builder-threads= defer-npy-index-mmap
dataloader-fast-cache-load dataset= dataset-config= train-dataset= valid-dataset* task= train-data* valid-data*
prompt-path= fim-data fim-rate= fim-spm-rate= fim-split-sample= fim-fragment-rate= fim-no-prefix= mask-prob=
short-seq-prob= mask-type= mask-factor= query-in-block-prob= sample-rate= retriever-seq-length= train-desc=
data-sharding= repeated-dataloader= skip-train epochs= epoch= train-epochs= dataset-impl= is-instruction-dataset
answer-loss-only no-token-type-embeddings bert-load= classes-fraction= data-per-class-fraction=
tokenizer-model= tokenizer-name-or-path= tokenizer-hf-use-fast tokenizer-hf-include-special-tokens tiktoken-pattern=
tiktoken-num-special-tokens= tiktoken-special-tokens* vocab-file= merge-file= merges-file=
trust-remote-code legacy-tokenizer metadata-path= tokenizer-prompt-format= special-tokens* image-tag-type=
patch-tokenizer-type= tokenizer-path= hf-checkpoint= tokenizer-special-tokens* tokenizer-sentencepiece-legacy
eval-iters= eval-interval= eval-only eval-batch-size= eval-micro-batch-size= eval-global-batch-size= test-mode
train-iters= train-samples= train-tokens= exit-interval= exit-duration-in-mins= exit-signal-handler exit-signal=
exit-on-missing-checkpoint kill-switch-path= skip-iteration-range* abort-on-unmet-fused-kernel-constraints
iterations-to-skip* kill-switch-file= universal-checkpoint verify-checkpoint verify-checkpoint-model-type=
load= save= save-interval= save-retain-interval= no-save-optim no-save-rng no-load-optim no-load-rng no-load-lr-state
finetune pretrained-checkpoint= ckpt-step= ckpt-format= use-dist-ckpt dist-ckpt-format= ckpt-fully-parallel-save
ckpt-fully-parallel-load ckpt-assume-constant-structure ckpt-convert-format= ckpt-convert-save=
ckpt-convert-update-legacy-dist-opt-format no-ckpt-fully-parallel-save use-dist-ckpt-deprecated dist-ckpt-strictness=
auto-detect-ckpt-format async-save async-strategy= use-persistent-ckpt-worker load-model-opt-format
dist-ckpt-save-pre-mcore-014 dist-ckpt-optim-fully-reshardable distrib-optim-fully-reshardable-mem-efficient
non-persistent-save-interval= non-persistent-global-ckpt-dir= non-persistent-local-ckpt-dir=
non-persistent-local-ckpt-algo= replication replication-jump= replication-factor= load-main-params-from-ckpt
load-tag= checkpoint-dir= load-iteration= load-release save-torch-dist continual-pretraining
auto-detect-checkpoint ckpt-replicate convert-checkpoint-from-megatron-to-transformers
distributed-backend= distributed-timeout-minutes= distributed-timeout-seconds-after-init= local-rank= local_rank=
lazy-mpu-init= use-cpu-initialization disable-mem-efficient-buffer
check-weight-hash-across-dp-replicas-interval= use-gloo-process-groups disable-gloo-process-groups
enable-gloo-process-groups distribute-checkpointed-activations-dummy initialize-socket-timeout= fake-process-group
manual-gc manual-gc-interval= manual-gc-eval no-manual-gc-eval no-barrier-with-level-1-timing
nccl-communicator-config-path= account-for-nccl use-one-sent-docs one-logger-project= one-logger-run-name=
one-logger-async enable-one-logger no-one-logger app-tag-run-name= app-tag-run-version= inprocess-restart
enable-ft-package calc-ft-timeouts run-workload-inspector-server error-injection-rate= error-injection-type=
rerun-mode= check-for-nan-in-loss-and-grad no-check-for-nan-in-loss-and-grad check-for-spiky-loss
check-for-large-grads disable-straggler-on-startup log-straggler straggler-ctrlr-port= straggler-minmax-count=
suspend-resume logging-level= log-interval= log-throughput log-progress
log-energy log-memory-to-tensorboard log-memory-interval= log-timers-to-tensorboard log-batch-size-to-tensorboard
log-learning-rate-to-tensorboard log-loss-scale-to-tensorboard log-validation-ppl-to-tensorboard
log-world-size-to-tensorboard log-optimizer-states-to-tensorboard log-device-memory-used log-max-attention-logit
timing-log-level= timing-log-option= tensorboard-dir= tensorboard-log-interval= tensorboard-queue-size=
wandb-project= wandb-exp-name= wandb-save-dir= wandb-entity= wandb-group= wandb-key= wandb-id= wandb-mode=
wandb-random-suffix disable-wandb-random-suffix use-wandb wandb-name= wandb-dir= wandb-host= wandb-team= use-mlflow
config-logger-dir= profile profile-step-start= profile-step-end= profile-ranks*
pytorch-profiler-collect-shapes memory-snapshot-path= record-shapes nvtx-ranges
tensorboard-debug debug-param-names flush-wandb log-path= log-file=
)";

constexpr std::string_view kMoreArgumentsWithoutEffect = R"(
loss-scale= initial-loss-scale= min-loss-scale= loss-scale-window= hysteresis=
no-query-key-layer-scaling apply-layernorm-1p layernorm-epsilon= norm-epsilon=
apply-residual-connection-post-layernorm openai-gelu
masked-softmax-fusion bias-gelu-fusion bias-swiglu-fusion
bias-dropout-fusion rope-fusion use-fused-weighted-squared-relu use-fused-rmsnorm-fwd
no-position-embedding no-add-position-embedding rotary-base= rotary-percent= rotary-interleaved
rotary-seq-len-interpolation-factor= use-rope-scaling rope-scaling-factor= rotary-scaling-factor= rope-type=
beta-fast= beta-slow= mscale= mscale-all-dim= yarn-scaling-factor= no-rope-freq= mrope-section* original-max-position-embeddings=
no-rotary-bias clone-scatter-output-in-embedding use-legacy-models use-mcore-models use-mcore model-type= model=
enable-experimental transformer-engine sync-tp-duplicated-parameters qk-clip qk-clip-alpha= qk-clip-threshold=
activation-func-clamp-value= glu-linear-offset= calculate-per-token-loss
calculate-per-sample-loss mtp-loss-scaling-factor=
moe-grouped-gemm moe-router-dtype= moe-router-load-balancing-type* moe-router-score-function=
moe-router-pre-softmax moe-router-topk-scaling-factor=
moe-router-enable-expert-bias moe-router-bias-update-rate= moe-router-force-load-balancing moe-aux-loss-coeff*
moe-z-loss-coeff= moe-per-layer-logging moe-expert-score-correction-bias
moe-router-force-biased= enable-shared-expert moe-router-save-hidden
moe-no-shared-expert-gate moe-ep-barrier moe-multihot-routing
bf16-scale= muon-momentum= muon-split-qkv muon-use-nesterov muon-scale-mode= muon-fp32-matmul-prec=
muon-num-ns-steps= muon-tp-mode= muon-extra-scale-factor= no-bias-qkv log-loss-scale
query-pre-attn-scalar= attn-logit-softcapping= final-logit-softcapping= attention-logit-softcapping=
inference-max-requests= inference-max-seq-length= inference-batch-times-seqlen-threshold= max-tokens-to-oom=
bert-embedder-type= biencoder-shared-query-context-model
ict-load= titles-data-path= use-one-sent-docs evidence-data-path= retriever-report-topk-accuracies*
retriever-score-scaling block-data-path= embedding-path= indexer-batch-size= indexer-log-interval= num-classes=
head-lr-mult= iter-per-epoch= mask-token-id= adlr-autoresume adlr-autoresume-interval= reset-iteration
reset-progress custom-token-counting use-pin-memory return-data-index partition-data
num-epoch= num-rollout= rm-type= reward-key= prompt-data= input-key= label-key= apply-chat-template loss-type=
disable-compute-advantages-and-returns debug-train-only debug-rollout-only balance-data n-samples-per-prompt=
advantage-estimator= kl-loss-coef= kl-loss-type= kl-coef= entropy-coef= eps-clip= eps-clip-high= eps-clip-c=
n-samples-per-eval-prompt= over-sampling-batch-size= dynamic-sampling-filter-path= num-steps-per-rollout=
custom-generate-function-path= custom-rm-path= tool-key= metadata-key= use-tis megatron-to-hf-mode=
num-gpus-per-node= custom-config-path= use-fault-tolerance kl-loss-weight= use-slime-router
skip-eval-before-train partial-rollout use-rollout-routing-replay qkv-bias
export-te-mcore-model export-model-type= export-real-quant-cfg= export-legacy-megatron export-offline-model
modelopt-enabled enable-gpt-oss finetune-data-split= finetune-hf-dataset= multimodal-tokenizer
use-loss-scaling recompute-vision allow-missing-conv-checkpoint convert-model hf-model-path=
transformer-pipeline-model-parallel-dummy dist-init use-distillation-loss
reward-model-type= language-embed-path= vocab-size-multiple= eos-id= bos-id= pad-token-id=
use-loss-mask loss-mask-type= dataloader-save= dataloader-load-dir= log-ppl loss-on-targets-only
data-path2* retro-project-dir= retro-verify-neighbor-count
)";

using ArgumentTable = std::map<std::string, ArgumentRow, std::less<>>;

// "name" takes no value, "name=" one, "name*" as many as follow.
void add_names(std::string_view text, ArgumentEffect effect, ArgumentTable& table) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t bar = line.find('|');
    std::string_view reason;
    if (bar != std::string_view::npos) {
      reason = line.substr(bar + 1);
      while (reason.starts_with(" ")) reason.remove_prefix(1);
    }
    std::istringstream words{std::string(line.substr(0, bar))};
    for (std::string word; words >> word;) {
      ArgumentRow row{effect, ArgumentValues::kNone, reason};
      if (word.back() == '=') row.values = ArgumentValues::kOne;
      if (word.back() == '*') row.values = ArgumentValues::kMany;
      if (row.values != ArgumentValues::kNone) word.pop_back();
      table.insert_or_assign(word, row);
    }
  }
}

const ArgumentTable& argument_table() {
  static const ArgumentTable all = [] {
    ArgumentTable made;
    add_names(kArgumentsWithoutEffect, ArgumentEffect::kNothing, made);
    add_names(kMoreArgumentsWithoutEffect, ArgumentEffect::kNothing, made);
    add_names(kArgumentsNamed, ArgumentEffect::kNamed, made);
    add_names(kArgumentsUsed, ArgumentEffect::kUsed, made);
    return made;
  }();
  return all;
}

// All that begin like this, without effect; how many values they take is not known.
constexpr std::string_view kPrefixes =
    "adam- ckpt- dist-ckpt- eval- exit- init-method log- lr- muon- rl- grpo- sglang- rollout- tensorboard- wandb- "
    "tokenizer inference- straggler nccl-communicator";

struct Renamed {
  std::string_view old_name;
  std::string_view name;
};

constexpr std::array<Renamed, 15> kRenamed{{{"model-parallel-size", "tensor-model-parallel-size"},
                                            {"intra-layer-model-parallel-size", "tensor-model-parallel-size"},
                                            {"pipe-parallel-size", "pipeline-model-parallel-size"},
                                            {"inter-layer-model-parallel-size", "pipeline-model-parallel-size"},
                                            {"batch-size", "micro-batch-size"},
                                            {"encoder-num-layers", "num-layers"},
                                            {"encoder-seq-length", "seq-length"},
                                            {"moe-expert-parallel-size", "expert-model-parallel-size"},
                                            {"expert-parallel-size", "expert-model-parallel-size"},
                                            {"num-key-value-heads", "num-query-groups"},
                                            {"activations-checkpoint-method", "recompute-method"},
                                            {"activations-checkpoint-num-layers", "recompute-num-layers"},
                                            {"checkpoint-num-layers", "recompute-num-layers"},
                                            {"vocab-padded-size", "padded-vocab-size"},
                                            {"use-flash-attn-v1", "use-flash-attn"}}};

}  // namespace

std::optional<ArgumentRow> megatron_argument(const std::string& name) {
  const auto found = argument_table().find(name);
  if (found != argument_table().end()) return found->second;
  const auto prefixes = words_in(kPrefixes);
  const bool prefixed = std::any_of(prefixes.begin(), prefixes.end(),
                                    [&name](std::string_view prefix) { return name.starts_with(prefix); });
  if (prefixed) return ArgumentRow{ArgumentEffect::kNothing, ArgumentValues::kMany, {}};
  return std::nullopt;
}

std::string todays_name(const std::string& name) {
  const auto* const found =
      std::find_if(kRenamed.begin(), kRenamed.end(), [&name](const Renamed& one) { return one.old_name == name; });
  return found == kRenamed.end() ? name : std::string(found->name);
}

std::string nearest_argument(const std::string& name) {
  if (name.size() < 4) return "";
  std::string nearest;
  for (const auto& [known, row] : argument_table()) {
    if (!known.starts_with(name) || row.effect == ArgumentEffect::kNothing) continue;
    if (!nearest.empty()) return "";
    nearest = known;
  }
  return nearest;
}

}  // namespace debubble
