// Arguments of Megatron-LM and Megatron-DeepSpeed by name: what each means, or that it is named.
#include "formats/megatron/scenario_of.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

std::string flag_of_arguments(const MegatronScenario& scenario, const std::string& name) {
  for (const auto& [key, value] : scenario.flags) {
    if (key == name) return value;
  }
  return "(none)";
}

bool argument_noted(const MegatronScenario& scenario, const std::string& part) {
  return std::any_of(scenario.findings.begin(), scenario.findings.end(),
                     [&](const std::string& finding) { return contains(finding, part); });
}

}  // namespace

TEST_CASE("Megatron-DeepSpeed's spellings and defaults of the model") {
  const std::string plain =
      "deepspeed --num_nodes 1 --num_gpus 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 8 "
      "--seq-length 64 --micro-batch-size 1 --global-batch-size 64 ";
  const auto of = [&](const std::string& more) { return read_megatron(plain + more, "x.sh"); };
  const auto sizes = [&](const std::string& more) {
    return flag_of_arguments(of("--vocab-size 32000 " + more), "model-size");
  };
  CHECK(contains(sizes("--num-key-value-heads 4"), "kv_heads=4"));
  CHECK_FALSE(contains(sizes("--num-key-value-heads 8"), "kv_heads"));
  CHECK_FALSE(contains(sizes("--num-query-groups 4"), "kv_heads"));  // which Megatron-LM ignores
  CHECK(flag_of_arguments(of("--swiglu --normalization rmsnorm"), "model") == "llama");
  CHECK(contains(sizes("--normalization layernorm"), "norm=layer"));
  CHECK(argument_noted(of("--normalization L2Norm"), "--normalization L2Norm: counts as LayerNorm"));
  CHECK_FALSE(argument_noted(of("--normalization layernorm"), "normalization"));
  CHECK(contains(sizes("--pad-vocab-size-to 250880"), "vocabulary=250880"));
  CHECK(contains(sizes("--quick-geglu"), "feed_forward=4096"));
  CHECK(contains(sizes("--quick-geglu"), "gated=yes"));
  CHECK(contains(sizes("--swiglu"), "feed_forward=2688"));
  CHECK(contains(sizes("--num-experts 8 --deepspeed --zero-stage 1"), "experts_per_token=1"));
  CHECK(contains(sizes("--num-experts 8 --deepspeed --zero-stage 1"), "moe_every=2"));
  CHECK(contains(sizes("--num-experts 8 --deepspeed --topk 2 --expert-interval 4"), "experts_per_token=2"));
  CHECK(contains(sizes("--num-experts 8 --deepspeed --topk 2 --expert-interval 4"), "moe_every=4"));
  CHECK(contains(sizes("--num-experts 8"), "experts_per_token=2"));
  CHECK_FALSE(contains(sizes("--num-experts 8"), "moe_every"));
  CHECK(contains(sizes("--kv-channels 64"), "head_size=64"));
  const std::string latent = sizes("--multi-latent-attention --kv-channels 64");
  CHECK(contains(latent, "head_size=128"));
  CHECK_FALSE(contains(latent, "head_size=64"));
  CHECK(contains(sizes("--mtp-num-layers 1 --position-embedding-type rope"), "predicted_tokens=1"));
  CHECK(contains(sizes("--tokenizer-type NullTokenizer --make-vocab-size-divisible-by 1"), "vocabulary=32000"));
}

TEST_CASE("attention and ranks of a sequence by the framework") {
  const std::string plain =
      "deepspeed --num_nodes 1 --num_gpus 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 8 "
      "--seq-length 64 --micro-batch-size 1 --global-batch-size 1_024 --vocab-size 32000 ";
  const auto of = [&](const std::string& more) { return read_megatron(plain + more, "x.sh"); };
  CHECK(flag_of_arguments(of(""), "microbatches") == "128");
  CHECK(flag_of_arguments(of(""), "attention") == "flash");
  const MegatronScenario local =
      of("--deepspeed --zero-stage 1 --attention-softmax-in-fp32 --no-masked-softmax-fusion");
  CHECK(flag_of_arguments(local, "attention") == "unfused");
  CHECK(
      argument_noted(local, "--attention-softmax-in-fp32: the softmax counts as fused, in the format of the products"));
  CHECK_FALSE(argument_noted(of("--attention-softmax-in-fp32"), "softmax"));
  CHECK_FALSE(argument_noted(of("--deepspeed --zero-stage 1 --attention-softmax-in-fp32"), "softmax"));
  CHECK(flag_of_arguments(of("--deepspeed --zero-stage 1 --use-flash-attn-v2"), "attention") == "flash");
  CHECK(flag_of_arguments(of("--deepspeed --zero-stage 1 --transformer-impl transformer_engine"), "attention") ==
        "flash");
  const MegatronScenario ulysses = of("--deepspeed --zero-stage 1 --ds-sequence-parallel-size 4");
  CHECK(flag_of_arguments(ulysses, "cp") == "4");
  CHECK(flag_of_arguments(ulysses, "dp") == "2");
  CHECK(flag_of_arguments(ulysses, "context-exchange") == "all-to-all");
}

TEST_CASE("what changes time or memory and is not modelled is named") {
  const std::string plain =
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 8 "
      "--seq-length 64 --micro-batch-size 1 --global-batch-size 64 --vocab-size 32000 --bf16 ";
  const auto of = [&](const std::string& more) { return read_megatron(plain + more, "x.sh"); };
  CHECK(of("--optimizer adam --empty-unused-memory-level 0 --data-path a --data-cache-path b").findings.empty());
  CHECK(flag_of_arguments(of("--optimizer muon"), "optimizer") == "muon");
  CHECK(argument_noted(of("--optimizer soap"), "--optimizer soap: counts as Adam"));
  CHECK(argument_noted(of("--no-rope-fusion"), "fused kernels switched off"));
  CHECK(argument_noted(of("--empty-unused-memory-level 2"), "what slows a step down"));
  CHECK(argument_noted(of("--retro-add-retriever"), "parts of another model"));
  CHECK(argument_noted(of("--moe-permute-fusion"), "details of the exchange of tokens"));
  CHECK(argument_noted(of("--ddp-num-buckets 4"), "--ddp-num-buckets 4: not modelled"));
  CHECK(argument_noted(of("--data-parallel-mode 4"), "--data-parallel-mode 4: not known"));
  CHECK(argument_noted(of("--tensor-model-parallel-size 2 --distribute-saved-activations --recompute-granularity full "
                          "--recompute-method uniform --recompute-num-layers 1"),
                       "--distribute-saved-activations"));
  const auto program = [&](const std::string& name) {
    std::string changed = plain;
    changed.replace(changed.find("pretrain_gpt.py"), 15, name);
    return read_megatron(changed, "x.sh");
  };
  CHECK(argument_noted(program("a/pretrain_bert.py"), "pretrain_bert.py: the model counts as a GPT"));
  CHECK_FALSE(argument_noted(program("a/pretrain_gpt.py"), "counts as a GPT"));
}

}  // namespace debubble
