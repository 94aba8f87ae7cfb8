// Launch scripts of Megatron-LM: the shell's words, and what they mean as a scenario.
#include "formats/megatron/launch.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

constexpr const char* kScript = R"sh(#!/bin/bash
# A GPT of 2.7 billion, as examples/gpt3 starts it.
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NUM_NODES=2
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
TP=${TP:-4}
HIDDEN="2560"

DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE   # per node
    --nnodes $NUM_NODES
    --master_addr localhost
)
GPT_MODEL_ARGS=(
    --num-layers 32
    --hidden-size ${HIDDEN}
    --num-attention-heads 32
    --seq-length 2048 --max-position-embeddings 2048
)
TRAINING_ARGS=(--micro-batch-size 2 --global-batch-size 64 --train-iters 500000 --lr 6.0e-5 --fp16 --clip-grad 1.0)
TRAINING_ARGS+=(--frobnicate 3)
PARALLEL="--tensor-model-parallel-size $TP \
  --pipeline-model-parallel-size 2"

torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    "${GPT_MODEL_ARGS[@]}" \
    ${TRAINING_ARGS[@]} $PARALLEL --sequence-parallel \
    --tokenizer-type GPT2BPETokenizer --data-path "my data_text_document" --recompute-activations \
    --use-distributed-optimizer --attention-dropout=0 --hidden-dropout 0.0
)sh";

std::string flag(const MegatronScenario& scenario, const std::string& name) {
  for (const auto& [key, value] : scenario.flags) {
    if (key == name) return value;
  }
  return "(none)";
}

bool found(const MegatronScenario& scenario, const std::string& part) {
  return std::any_of(scenario.findings.begin(), scenario.findings.end(),
                     [&](const std::string& finding) { return contains(finding, part); });
}

}  // namespace

TEST_CASE("a script's words: continuations, quotes, variables, arrays, arithmetic") {
  const MegatronLaunch launch = read_launch(kScript, "pretrain.sh", LaunchGiven{});
  CHECK(launch.program == "pretrain_gpt.py");
  CHECK(launch.ranks == 16);
  const auto value = [&](const std::string& name) {
    const auto at = std::find(launch.arguments.begin(), launch.arguments.end(), name);
    REQUIRE(at != launch.arguments.end());
    return *(at + 1);
  };
  CHECK(value("--hidden-size") == "2560");
  CHECK(value("--tensor-model-parallel-size") == "4");
  CHECK(value("--data-path") == "my data_text_document");
  CHECK(std::find(launch.arguments.begin(), launch.arguments.end(), "#") == launch.arguments.end());
}

TEST_CASE("arguments without a program: a list, and the lines of a recipe") {
  const auto words = [](const std::string& text) { return read_launch(text, "x", LaunchGiven{}).arguments; };
  CHECK(words("# mine\n--num-layers 2  # few\n--hidden-size \\\n 8\n") ==
        std::vector<std::string>{"--num-layers", "2", "--hidden-size", "8"});
  CHECK(words("  --bf16: true\n  --fp16: false\n  --lr: 1e-4 # slow\n") ==
        std::vector<std::string>{"--bf16", "--lr", "1e-4"});
}

TEST_CASE("a script's scales of 8-bit products and its CUDA graphs") {
  const std::string script = kScript;
  const auto with_words = [&script](const std::string& words) {
    std::string changed = script;
    changed.replace(changed.find("--fp16"), 6, words);
    return read_megatron(changed, "pretrain.sh");
  };
  const MegatronScenario scenario = with_words("--bf16 --fp8-format hybrid --fp8-recipe blockwise --enable-cuda-graph");
  CHECK(flag(scenario, "dtype") == "fp8");
  CHECK(flag(scenario, "fp8-recipe") == "blockwise");
  CHECK(flag(scenario, "cuda-graphs") == "on");
  const MegatronScenario half = with_words("--bf16 --fp8-recipe delayed --cuda-graph-impl none");
  CHECK(flag(half, "fp8-recipe") == "(none)");
  CHECK(flag(half, "cuda-graphs") == "(none)");
  const MegatronScenario own = with_words("--bf16 --fp8-format e4m3 --fp8-recipe custom --cuda-graph-impl local");
  CHECK(flag(own, "fp8-recipe") == "(none)");
  CHECK(found(own, "--fp8-recipe custom"));
  CHECK(flag(own, "cuda-graphs") == "on");
}

TEST_CASE("a script as a scenario") {
  const MegatronScenario scenario = read_megatron(kScript, "pretrain.sh");
  CHECK(flag(scenario, "model") == "gpt");
  const std::string sizes = flag(scenario, "model-size");
  for (const char* part : {"layers=32", "hidden=2560", "heads=32", "feed_forward=10240", "positions=2048", "biases=yes",
                           "tied_embedding=yes", "norm=layer"}) {
    CHECK(contains(sizes, part));
  }
  CHECK(contains(sizes, "vocabulary=50688"));  // 50257, padded to a multiple of 128 * 4
  CHECK(flag(scenario, "tp") == "4");
  CHECK(flag(scenario, "sequence-parallel") == "true");
  CHECK(flag(scenario, "dp") == "2");
  CHECK(flag(scenario, "devices") == "2");
  CHECK(flag(scenario, "microbatches") == "16");
  CHECK(flag(scenario, "microbatch-size") == "2");
  CHECK(flag(scenario, "dtype") == "fp16");
  CHECK(flag(scenario, "recompute") == "selective");
  CHECK(flag(scenario, "zero") == "1");
  CHECK(flag(scenario, "schedule") == "1f1b");
  CHECK(flag(scenario, "dropout") == "(none)");
  CHECK(scenario.findings.size() == 2);
  CHECK(found(scenario, "--frobnicate 3: not known"));
  CHECK(found(scenario, "taken as not set outside of the script, with their defaults"));
  CHECK(found(scenario, "TP (4)"));
}

TEST_CASE("modules that are recomputed, 8-bit weights, moments, and DeepSpeed's BF16 optimizer") {
  const std::string dense =
      "torchrun --nproc_per_node 8 x.py --num-layers 4 --hidden-size 256 --num-attention-heads 4 --seq-length 64 "
      "--micro-batch-size 1 ";
  const std::string modules = "--bf16 --recompute-granularity selective --recompute-modules mlp moe core_attn mlp ";
  const std::string fork = "--of-a-fork ";  // whose names are not Megatron-LM's own
  const MegatronScenario some = read_megatron(dense + modules, "x.sh");
  CHECK(flag(some, "recompute") == "selective");
  CHECK(flag(some, "recompute-modules") == "mlp,core_attn");
  CHECK(found(some, "moe: the model has none"));
  CHECK_THROWS_AS((void)read_megatron(dense + modules + "spin", "x.sh"), InputError);
  CHECK(found(read_megatron(dense + modules + "spin " + fork, "x.sh"), "spin: not known"));
  const MegatronScenario experts = read_megatron(dense + modules + "--num-experts 8", "x.sh");
  CHECK(flag(experts, "recompute-modules") == "mlp,moe,core_attn");
  CHECK(flag(read_megatron(dense + "--recompute-granularity selective --recompute-modules core_attn", "x.sh"),
             "recompute-modules") == "(none)");
  CHECK(flag(read_megatron(dense + "--bf16 --use-distributed-optimizer --fp8-format hybrid --fp8-param-gather", "x.sh"),
             "fp8-weights") == "alone");
  const std::string aware =
      "--use-distributed-optimizer --use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16";
  CHECK(flag(read_megatron(dense + aware, "x.sh"), "moment-dtype") == "bf16");
  const std::string wide = fork + "--use-precision-aware-optimizer --exp-avg-dtype torch.bfloat16 ";
  const MegatronScenario first = read_megatron(dense + wide, "x.sh");
  CHECK(flag(first, "moment-dtype") == "bf16");
  CHECK(flag(first, "second-moment-dtype") == "fp32");
  const MegatronScenario second =
      read_megatron(dense + fork + "--use-precision-aware-optimizer --exp-avg-sq-dtype fp8", "x.sh");
  CHECK(flag(second, "moment-dtype") == "(none)");
  CHECK(flag(second, "second-moment-dtype") == "fp8");
  CHECK(found(read_megatron(dense + fork + "--exp-avg-dtype bf16", "x.sh"), "without --use-precision-aware-optimizer"));
  CHECK(found(read_megatron(dense + wide + "--exp-avg-sq-dtype int4", "x.sh"), "int4: not known"));
  const MegatronScenario deepspeed = read_megatron(dense + "--bf16 --deepspeed --zero-stage 0", "x.sh");
  CHECK(flag(deepspeed, "low-gradients") == "kept");
  CHECK(flag(deepspeed, "zero") == "1");
  CHECK(flag(read_megatron(dense + "--bf16 --deepspeed --zero-stage 1", "x.sh"), "low-gradients") == "(none)");
}

TEST_CASE("the older word for selective recomputation takes modules, too") {
  const std::string dense =
      "torchrun --nproc_per_node 8 x.py --num-layers 4 --hidden-size 256 --num-attention-heads 4 --seq-length 64 "
      "--micro-batch-size 1 ";
  const MegatronScenario both = read_megatron(dense + "--recompute-activations --recompute-modules mlp", "x.sh");
  CHECK(flag(both, "recompute") == "selective");
  CHECK(flag(both, "recompute-modules") == "mlp");
  const std::string full =
      "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1 "
      "--recompute-modules mlp";
  const MegatronScenario all = read_megatron(dense + full, "x.sh");
  CHECK(flag(all, "recompute") == "full");
  CHECK(flag(all, "recompute-modules") == "(none)");
  CHECK(found(all, "--recompute-modules mlp: nothing is recomputed by module"));
  CHECK(found(read_megatron(dense + "--recompute-modules mlp", "x.sh"), "nothing is recomputed by module"));
}

TEST_CASE("experts, latent attention and interleaving") {
  const MegatronScenario scenario = read_megatron(
      "torchrun --nproc_per_node 8 --nnodes 32 pretrain_gpt.py --num-layers 64 --hidden-size 7168 "
      "--num-attention-heads 128 --seq-length 4096 --ffn-hidden-size 18432 --swiglu --normalization RMSNorm "
      "--multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 --num-experts 256 --moe-router-topk 8 "
      "--moe-router-num-groups 8 --moe-router-group-topk 4 "
      "--moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048 --moe-layer-freq [0]*3+[1]*61 "
      "--expert-model-parallel-size 32 --pipeline-model-parallel-size 8 --num-layers-per-virtual-pipeline-stage 4 "
      "--position-embedding-type rope --disable-bias-linear --untie-embeddings-and-output-weights --bf16 "
      "--micro-batch-size 1 --global-batch-size 2048 --vocab-size 129280 --mtp-num-layers 1 "
      "--attention-dropout 0 --hidden-dropout 0 --recompute-granularity full --recompute-method uniform "
      "--recompute-num-layers 1 --moe-token-dispatcher-type alltoall",
      "x.sh");
  CHECK(flag(scenario, "model") == "llama");
  const std::string sizes = flag(scenario, "model-size");
  for (const char* part : {"dense_layers=3", "experts=256", "experts_per_token=8", "query_rank=1536", "kv_rank=512",
                           "rope_size=64", "expert_groups=8", "groups_per_token=4", "value_size=128",
                           "shared_feed_forward=2048", "vocabulary=129280", "predicted_tokens=1"}) {
    CAPTURE(part);
    CHECK(contains(sizes, part));
  }
  CHECK(flag(scenario, "schedule") == "interleaved");
  CHECK(flag(scenario, "chunks") == "2");
  CHECK(flag(scenario, "ep") == "32");
  CHECK(flag(scenario, "dp") == "32");
  CHECK(flag(scenario, "microbatches") == "64");
  CHECK(flag(scenario, "recompute") == "full");
  CHECK(scenario.findings.empty());
}

TEST_CASE("norms of queries and keys, which latent attention has elsewhere") {
  const std::string plain =
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 8 "
      "--seq-length 2048 --micro-batch-size 1 --global-batch-size 64 --vocab-size 32000 ";
  const auto sizes = [&](const std::string& more) { return flag(read_megatron(plain + more, "x.sh"), "model-size"); };
  CHECK(contains(sizes("--qk-layernorm"), ",qk_norm=head"));
  CHECK_FALSE(contains(sizes(""), "qk_norm"));
  CHECK_FALSE(contains(sizes("--qk-layernorm --multi-latent-attention"), "qk_norm"));
  CHECK_FALSE(found(read_megatron(plain + "--qk-layernorm", "x.sh"), "qk-layernorm"));
}

TEST_CASE("buckets and the exchange of tokens") {
  const std::string script =
      "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 8 --hidden-size 2048 --num-attention-heads "
      "16 "
      "--seq-length 4096 --num-experts 16 --expert-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 64 "
      "--vocab-size 50000 --swiglu --normalization RMSNorm --disable-bias-linear --position-embedding-type rope "
      "--bf16 --overlap-grad-reduce --ddp-bucket-size 50000000 --moe-token-dispatcher-type ";
  const MegatronScenario flex =
      read_megatron(script + "flex --moe-enable-deepep --use-distributed-optimizer --overlap-param-gather", "x.sh");
  CHECK(flag(flex, "overlap-grad-reduce") == "true");
  CHECK(flag(flex, "overlap-param-gather") == "true");
  CHECK(flag(flex, "bucket-size") == "50000000");
  CHECK(flag(flex, "moe-dispatch") == "deepep");
  CHECK(flag(flex, "moe-overlap") == "(none)");
  CHECK(flag(read_megatron(script + "flex --overlap-moe-expert-parallel-comm", "x.sh"), "moe-overlap") == "on");
  CHECK(flag(read_megatron(script + "flex --moe-flex-dispatcher-backend hybridep", "x.sh"), "moe-dispatch") ==
        "hybrid");
  // Without the distributed optimizer there is nothing to gather.
  const MegatronScenario plain = read_megatron(script + "alltoall", "x.sh");
  CHECK(flag(plain, "overlap-grad-reduce") == "true");
  CHECK(flag(plain, "overlap-param-gather") == "(none)");
  CHECK(flag(plain, "moe-dispatch") == "(none)");
  CHECK(flag(read_megatron(script + "allgather", "x.sh"), "moe-dispatch") == "allgather");
}

TEST_CASE("activations that leave for the host are named, with which they are") {
  const std::string plain =
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 8 "
      "--seq-length 2048 --micro-batch-size 1 --global-batch-size 64 --vocab-size 32000 --bf16 ";
  const MegatronScenario blocks = read_megatron(plain + "--cpu-offloading-num-layers 3", "x.sh");
  CHECK(found(blocks, "activations of 3 blocks leave for the host"));
  CHECK_FALSE(found(blocks, "not modelled"));
  const MegatronScenario parts =
      read_megatron(plain + "--fine-grained-activation-offloading --offload-modules core_attn attn_proj", "x.sh");
  CHECK(found(parts, "the inputs of core_attn attn_proj leave for the host"));
  CHECK_FALSE(found(read_megatron(plain, "x.sh"), "leave for the host"));
}

TEST_CASE("transfers that are not to overlap are one exchange between two steps") {
  const std::string interleaved =
      "--num-layers 8 --hidden-size 8 --num-attention-heads 1 --seq-length 2 --bf16 --micro-batch-size 1 "
      "--global-batch-size 4 --pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 1 ";
  CHECK(flag(read_megatron("torchrun --nproc_per_node 4 x.py " + interleaved, "x"), "p2p") == "(none)");
  CHECK(flag(read_megatron("torchrun --nproc_per_node 4 x.py " + interleaved + "--no-overlap-p2p-communication", "x"),
             "p2p") == "coupled");
}

TEST_CASE("what a script switches off: overlap over the tensor ranks, gradients that products add up") {
  const MegatronScenario scenario = read_megatron(
      "--num-layers 2 --hidden-size 8 --num-attention-heads 1 --seq-length 2 --bf16 --no-gradient-accumulation-fusion "
      "--no-async-tensor-model-parallel-allreduce",
      "x");
  CHECK(flag(scenario, "grad-accumulation") == "separate");
  CHECK(flag(scenario, "tensor-overlap") == "off");
  CHECK(!found(scenario, "fusion"));
}

TEST_CASE("a script's user buffers, and what of them it switches off") {
  const auto overlap = [](const std::string& more) {
    return read_megatron(
        "torchrun --nproc_per_node 8 x.py --num-layers 2 --hidden-size 64 --num-attention-heads 8 "
        "--seq-length 16 --bf16 --micro-batch-size 1 --global-batch-size 8 " +
            more,
        "x");
  };
  const std::string split = "--tensor-model-parallel-size 4 --sequence-parallel ";
  CHECK(flag(overlap(split), "tensor-overlap") == "(none)");
  CHECK(flag(overlap(split + "--tp-comm-overlap"), "tensor-overlap") == "userbuffers");
  CHECK(!found(overlap(split + "--tp-comm-overlap"), "tp-comm"));
  CHECK(flag(overlap(split + "--tp-comm-overlap --disable-tp-comm-overlap-ag"), "tensor-overlap") == "userbuffers-rs");
  CHECK(flag(overlap(split + "--tp-comm-overlap --disable-tp-comm-overlap-rs"), "tensor-overlap") == "userbuffers-ag");
  const std::string neither = "--tp-comm-overlap --disable-tp-comm-overlap-ag --disable-tp-comm-overlap-rs ";
  CHECK(flag(overlap(split + neither), "tensor-overlap") == "(none)");
  // NCCL's collectives take the place of user buffers, beside the same products.
  const MegatronScenario bulk =
      overlap(split + "--tp-comm-overlap --disable-tp-comm-bulk-dgrad --disable-tp-comm-bulk-wgrad");
  CHECK(flag(bulk, "tensor-overlap") == "userbuffers");
  CHECK(!found(bulk, "tp-comm"));
  const MegatronScenario early = overlap(split + "--tp-comm-overlap --tp-comm-overlap-rs-dgrad");
  CHECK(found(early, "--tp-comm-overlap-rs-dgrad: sums of input gradients"));
  CHECK_THROWS_AS((void)overlap("--tp-comm-overlap"), InputError);  // one rank
  const MegatronScenario whole = overlap("--tensor-model-parallel-size 4 --tp-comm-overlap --of-a-fork");
  CHECK(flag(whole, "tensor-overlap") == "(none)");
  CHECK(found(whole, "--tp-comm-overlap: Megatron-LM refuses it without --sequence-parallel"));
  // A log names what is on.
  CHECK(flag(overlap(split + "--tp-comm-overlap --tp-comm-bulk-dgrad --tp-comm-overlap-rs"), "tensor-overlap") ==
        "userbuffers-rs");
}

TEST_CASE("what a script does not say is refused or said") {
  const auto refusal = [](const std::string& text) { return problems_of([&] { (void)read_megatron(text, "x.sh"); }); };
  CHECK(contains(refusal("echo hello"), "P010"));
  CHECK(contains(refusal("python a.py --num-layers 2"), "--hidden-size, --num-attention-heads, --seq-length"));
  CHECK(contains(refusal("python a.py --num-layers $L --hidden-size 8 --num-attention-heads 1 --seq-length 2"),
                 "--num-layers"));
  const MegatronScenario bare =
      read_megatron("--num-layers 2 --hidden-size 8 --num-attention-heads 1 --seq-length 2 --bf16", "x");
  CHECK(found(bare, "vocabulary"));
  CHECK(found(bare, "number of ranks"));
  CHECK(found(bare, "global batch"));
}

TEST_CASE("numbers that divide something are no zeros") {
  const std::string model =
      "--num-layers 2 --hidden-size 8 --num-attention-heads 1 --seq-length 2 --world-size 8 "
      "--micro-batch-size 1 ";
  for (const char* name : {"micro-batch-size", "global-batch-size", "tensor-model-parallel-size",
                           "pipeline-model-parallel-size", "context-parallel-size", "expert-model-parallel-size",
                           "make-vocab-size-divisible-by", "world-size", "nproc_per_node", "nnodes"}) {
    CAPTURE(name);
    const std::string before =
        std::string(name).starts_with("n") ? std::string("torchrun --") + name + " 0 " : "torchrun --nproc_per_node 8 ";
    const bool own = !std::string(name).starts_with("n");
    if (own) {
      const std::string zero = model + std::string("--") + name + " 0";
      CHECK_THROWS_AS((void)read_megatron(before + "a.py " + zero, "x"), InputError);
      CHECK(found(read_megatron(zero, "x"), "is 0, and at least 1 is needed"));
    } else {
      CHECK(flag(read_megatron(before + "a.py " + model, "x"), "devices") == "1");
    }
  }
  const std::string uneven =
      "torchrun --nproc_per_node 8 a.py " + model + "--micro-batch-size 4 --global-batch-size 65";
  CHECK_THROWS_AS((void)read_megatron(uneven, "x"), InputError);
  CHECK(found(read_megatron(uneven + " --deepspeed --zero-stage 1", "x"), "not a multiple of microbatch"));
}

TEST_CASE("the file has a line per flag, and the findings as comments") {
  MegatronScenario scenario;
  scenario.flags = {{"devices", "4"}, {"sequence-parallel", "true"}, {"model-size", "layers=2"}, {"dtype", "bf16"}};
  scenario.findings = {"--x: not known"};
  CHECK(write_scenario(scenario, "a.sh") ==
        "# From a.sh, by debubble import --from megatron.\n# note: --x: not known\ndevices = 4\n"
        "sequence-parallel = true\nmodel-size = \"layers=2\"\ndtype = \"bf16\"\n");
}

}  // namespace debubble
