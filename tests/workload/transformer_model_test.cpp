#include "gpu/workload/transformer_model.hpp"

#include "gpu/counting_device.hpp"
#include "gpu/workload/kernels.hpp"
#include "gpu/workload/layers.hpp"
#include "sim/core/model_presets.hpp"
#include "tests/support/test.hpp"
#include "tests/workload/host_device.hpp"

namespace debubble {
namespace {

using test::HostDevice;

TEST_CASE("a model is an embedding, a block and a head, and gives all memory back") {
  HostDevice device(DataType::kBf16);
  {
    TransformerModel model(device, model_preset("tiny-gpt"), {1, 8, 1, DataType::kBf16});
    CHECK(model.embedding().name() == "embedding");
    CHECK(model.block().name() == "block");
    CHECK(model.head().name() == "head");
    CHECK(std::string(model.block().kind()) == "transformer");
    CHECK(device.allocated > 0);
    for (WorkLayer* layer : {&model.embedding(), &model.block(), &model.head()}) {
      for (const Pass pass : {Pass::kForward, Pass::kInputGrad, Pass::kWeightGrad}) layer->run(pass);
    }
  }
  CHECK(device.allocated == 0);
}

// The kernels of one pass; products under "gemm".
std::map<std::string, int> counts_of(HostDevice& device, WorkLayer& layer, Pass pass) {
  device.counts.clear();
  layer.run(pass);
  return device.counts;
}

TEST_CASE("each pass of a GPT block launches what belongs to it and nothing else") {
  HostDevice device(DataType::kBf16);
  TransformerModel model(device, model_preset("tiny-gpt"), {1, 8, 1, DataType::kBf16});
  using Counts = std::map<std::string, int>;
  CHECK(counts_of(device, model.block(), Pass::kForward) == Counts{{"gemm", 6},
                                                                   {"layer_norm_forward", 2},
                                                                   {"bias_add", 1},
                                                                   {"causal_softmax_forward", 1},
                                                                   {"residual_add", 2},
                                                                   {"gelu_forward", 1}});
  CHECK(counts_of(device, model.block(), Pass::kInputGrad) ==
        Counts{{"gemm", 8}, {"layer_norm_backward", 2}, {"causal_softmax_backward", 1}, {"gelu_backward", 1}});
  CHECK(counts_of(device, model.block(), Pass::kWeightGrad) ==
        Counts{{"gemm", 4}, {"bias_grad", 4}, {"layer_norm_weight_grad", 2}, {"add_partials", 6}});
}

TEST_CASE("each pass of a LLaMA block launches what belongs to it and nothing else") {
  HostDevice device(DataType::kBf16);
  TransformerModel model(device, model_preset("tiny-llama"), {1, 8, 1, DataType::kBf16});
  using Counts = std::map<std::string, int>;
  CHECK(counts_of(device, model.block(), Pass::kForward) == Counts{{"gemm", 8},  // two queries share a key
                                                                   {"rms_norm_forward", 2},
                                                                   {"rotary", 1},
                                                                   {"causal_softmax_forward", 1},
                                                                   {"residual_add", 2},
                                                                   {"swiglu_forward", 1}});
  CHECK(counts_of(device, model.block(), Pass::kInputGrad) == Counts{{"gemm", 12},
                                                                     {"rms_norm_backward", 2},
                                                                     {"rotary", 1},
                                                                     {"causal_softmax_backward", 1},
                                                                     {"swiglu_backward", 1}});
  CHECK(counts_of(device, model.block(), Pass::kWeightGrad) ==
        Counts{{"gemm", 4}, {"rms_norm_weight_grad", 2}, {"add_partials", 2}});
}

TEST_CASE("embedding and head launch their own passes") {
  HostDevice device(DataType::kBf16);
  TransformerModel model(device, model_preset("tiny-gpt"), {1, 8, 1, DataType::kBf16});
  using Counts = std::map<std::string, int>;
  CHECK(counts_of(device, model.embedding(), Pass::kForward) == Counts{{"embedding_forward", 1}});
  CHECK(counts_of(device, model.embedding(), Pass::kInputGrad).empty());
  CHECK(counts_of(device, model.embedding(), Pass::kWeightGrad) ==
        Counts{{"embedding_weight_grad", 1}, {"position_weight_grad", 1}});
  CHECK(counts_of(device, model.head(), Pass::kForward) ==
        Counts{{"gemm", 1}, {"layer_norm_forward", 1}, {"cross_entropy_forward", 1}});
  CHECK(counts_of(device, model.head(), Pass::kInputGrad) ==
        Counts{{"gemm", 1}, {"layer_norm_backward", 1}, {"cross_entropy_backward", 1}});
  CHECK(counts_of(device, model.head(), Pass::kWeightGrad) ==
        Counts{{"gemm", 1}, {"layer_norm_weight_grad", 1}, {"add_partials", 1}});
}

// In units of samples * sequence * hidden numbers of two bytes (Korthikanti et al. 2022 count the same way, with
// dropout masks that are not here). GPT: feed-forward 2 * hidden in tiny-gpt.
TEST_CASE("the memory of a GPT block is what the formula says") {
  HostDevice device(DataType::kBf16);
  constexpr Bytes b = 2, s = 24, h = 64, a = 4, f = 128, sbh = s * b * h;
  TransformerModel model(device, model_preset("tiny-gpt"), {b, s, 1, DataType::kBf16});
  const LayerMemory memory = model.block().memory();
  CHECK(memory.parameters == 2 * (4 * h * h + 4 * h + 2 * h * f + f + h + 4 * h));
  CHECK(memory.parameters == 2 * block_parameters(model_preset("tiny-gpt")));
  CHECK(memory.gradients == 2 * memory.parameters);
  const Bytes statistics = 4 * 4 * s * b;  // mean and deviation of two norms
  // x, n1, q, k, v, context, x2, n2; up and active; probabilities
  CHECK(memory.activation == 2 * (8 * sbh + 2 * s * b * f + a * b * s * s) + statistics);
  // x, n1, context, x2, n2, active, and the gradients of y, up, n2, x2, q, k, v, n1
  CHECK(memory.weight_grad_held == 2 * (12 * sbh + 2 * s * b * f) + statistics);
  CHECK(memory.output == 2 * sbh);
  CHECK(memory.workspace == 2 * (sbh + a * b * s * s));  // gradients of context and scores
}

TEST_CASE("the memory of half a LLaMA block is what the formula says, with rows of scores padded") {
  HostDevice device(DataType::kFp32);
  constexpr Bytes b = 1, s = 20, padded = 24, h = 64, a = 2, d = 16, f = 48, tokens = b * s;
  TransformerModel model(device, model_preset("tiny-llama"), {b, s, 2, DataType::kFp32});
  const LayerMemory memory = model.block().memory();
  const Bytes qkv = (a + 2) * d;
  CHECK(memory.parameters == 4 * (h * qkv + a * d * h + 3 * h * f + 2 * h));
  CHECK(memory.gradients == memory.parameters);
  CHECK(memory.activation == 4 * tokens * (4 * h + qkv + a * d + 3 * f + a * padded + 2));
  CHECK(memory.weight_grad_held == 4 * tokens * (4 * h + a * d + f + h + 2 * f + 3 * h + qkv + 2));
  CHECK(memory.output == 4 * tokens * h);
  CHECK(memory.workspace == 4 * tokens * (a * d + a * padded));
}

TEST_CASE("the memory of embedding and head is what the formula says, with the vocabulary padded") {
  HostDevice device(DataType::kBf16);
  constexpr Bytes b = 2, s = 24, h = 64, tokens = b * s, vocabulary = 128, positions = 128;
  TransformerModel model(device, model_preset("tiny-gpt"), {b, s, 1, DataType::kBf16});
  const LayerMemory embedding = model.embedding().memory();
  CHECK(embedding.parameters == 2 * (vocabulary + positions) * h);
  CHECK(embedding.activation == 4 * tokens);  // the tokens
  CHECK(embedding.weight_grad_held == 4 * tokens + 2 * tokens * h);
  CHECK(embedding.output == 2 * tokens * h);
  CHECK(embedding.workspace == 0);
  const LayerMemory head = model.head().memory();
  CHECK(head.parameters == 2 * (vocabulary * h + 2 * h));
  CHECK(head.activation == 2 * tokens * (2 * h + vocabulary) + 4 * 4 * tokens);
  CHECK(head.weight_grad_held == 2 * tokens * (3 * h + vocabulary) + 2 * 4 * tokens);
  CHECK(head.output == 4 * tokens);
}

TEST_CASE("a vocabulary is padded to whole multiples of 128 on every device") {
  TransformerShape shape = model_preset("gpt2-small");
  CHECK(shard_of(shape, {1, 8, 1, DataType::kBf16}).vocabulary == 50304);  // Megatron-LM's
  CHECK(shard_of(shape, {1, 8, 4, DataType::kBf16}).vocabulary == 12672);
  CHECK(shard_of(shape, {1, 8, 4, DataType::kBf16}).all_vocabulary == 50688);
  CHECK(shard_of(model_preset("llama-8b"), {1, 8, 8, DataType::kBf16}).vocabulary == 16128);
}

std::string refusal(const TransformerShape& shape, const WorkloadSize& size) {
  return problems_of([&] { (void)shard_of(shape, size); });
}

// The rows are split as for `hidden` columns, while each partial row holds the weight's and the bias's gradients.
TEST_CASE("the partial sums of a LayerNorm's gradient have room at every size") {
  for (const std::int64_t microbatch : {1, 2, 4, 8}) {
    for (const char* preset : {"gpt2-small", "gpt-1.3b", "gpt-13b", "gpt-175b"}) {
      CAPTURE(preset);
      CAPTURE(microbatch);
      CountingDevice device;
      const TransformerShape shape = model_preset(preset);
      TransformerModel model(device, shape, {microbatch, shape.positions, 1, DataType::kBf16});
      const ColumnSplit split = column_blocks(microbatch * shape.positions, shape.hidden, DataType::kBf16);
      CHECK(model.head().memory().workspace >= split.chunks * 2 * shape.hidden * 4);
      CHECK(model.block().memory().workspace >= split.chunks * 2 * shape.hidden * 4);
    }
  }
}

TEST_CASE("sizes that cannot be are refused, each by its name") {
  const TransformerShape gpt = model_preset("gpt-1.3b");
  const TransformerShape llama = model_preset("llama-8b");
  CHECK(refusal(gpt, {1, 2048, 1, DataType::kBf16}).empty());
  CHECK(refusal(llama, {8, 8192, 8, DataType::kBf16}).empty());
  CHECK(contains(refusal(gpt, {0, 2048, 1, DataType::kBf16}), "F001"));
  CHECK(contains(refusal(gpt, {1, -1, 1, DataType::kBf16}), "F001"));
  CHECK(contains(refusal(gpt, {1, 2048, 0, DataType::kBf16}), "F001"));
  CHECK(contains(refusal(gpt, {std::int64_t{1} << 60, 2048, 1, DataType::kBf16}), "F001"));
  CHECK(contains(refusal(llama, {1, 2048, 16, DataType::kBf16}), "--tp 16 does not divide the key/value heads, 8"));
  const std::string both = refusal(gpt, {1, 4096, 3, DataType::kBf16});
  CHECK(contains(both, "--tp 3 does not divide the heads, 16"));
  CHECK(contains(both, "F002"));
  CHECK(contains(refusal(llama, {1 << 20, 1 << 20, 1, DataType::kBf16}), "X005"));
  TransformerShape odd = llama;
  odd.kv_heads = 5;
  CHECK(contains(refusal(odd, {1, 8, 1, DataType::kBf16}), "F003"));
  odd = llama;
  odd.hidden = 4092;
  odd.head_size = 24;
  odd.feed_forward = 14332;
  const std::string unaligned = refusal(odd, {1, 8, 1, DataType::kBf16});
  CHECK(contains(unaligned, "hidden must be a multiple of 8; got 4092"));
  CHECK(contains(unaligned, "rotary positions must be a multiple of 16; got 24"));
  CHECK(contains(unaligned, "feed-forward width must be a multiple of 8; got 14332"));
}

TEST_CASE("every preset can be measured") {
  for (const ModelPreset& preset : model_presets()) {
    CAPTURE(preset.shape.name);
    CHECK(refusal(preset.shape, {1, 64, 1, DataType::kBf16}).empty());
  }
}

}  // namespace
}  // namespace debubble
