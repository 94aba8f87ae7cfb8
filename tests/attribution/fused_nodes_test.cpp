// Backward nodes that run their products without operators: TransformerEngine's functions, Megatron Core's linear.
#include "profiler/attribution/fused_nodes.hpp"

#include "tests/attribution/script.hpp"
#include "tests/support/test.hpp"

namespace debubble::test {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* kWhole =
    "1 fused backward nodes have another number of products than their order tells apart: they stay whole";

TEST_CASE("a fused linear computes the input gradient first and the weight gradient second") {
  Script script;
  forward(script, "linear", 1, "_LayerNormLinear");
  script.in("_LayerNormLinearBackward", {1, ""}, [&] {
    script.kernel(1, "transformer_engine::cast_transpose_kernel");
    script.kernel(10, "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT");
    script.kernel(20, "nvjet_hsh_128x256_64x4_2x1_v_bz_coopB_NTT");
    script.kernel(2, "void cublasLt::splitKreduce_kernel<32, 16, int, float>");
    script.kernel(4, "ln_bwd_finalize_GammaBeta");
    script.kernel(3, "ln_bwd_tuned_kernel");
  });
  const Attribution found = script.attributed();
  const ProfileLayer& layer = layer_of(found, "linear");
  CHECK(layer.input_grad->median == 14);
  CHECK(layer.weight_grad->median == 26);
  CHECK(layer.backward->median == 40);
  CHECK(layer.grad_split == GradSplit::kOrder);
  CHECK_FALSE(noted_in_part(found, "stay whole"));
}

TEST_CASE("a fused MLP does so for its second matrix, then for its first") {
  Script script;
  forward(script, "mlp", 1, "_LayerNormMLP");
  script.in("_LayerNormMLPBackward", {1, ""}, [&] {
    for (const Nanoseconds time : {10, 200, 30, 400}) script.kernel(time, "sm90_xmma_gemm_bf16bf16");
    script.kernel(5, "dgelu_kernel");
  });
  const Attribution found = script.attributed();
  CHECK(layer_of(found, "mlp").input_grad->median == 45);
  CHECK(layer_of(found, "mlp").weight_grad->median == 600);
}

TEST_CASE("a grouped linear computes the input gradients of all experts before their weight gradients") {
  Script script;
  forward(script, "experts", 1, "_GroupedLinear");
  script.in("_GroupedLinearBackward", {1, ""}, [&] {
    for (const Nanoseconds time : {1, 2, 4, 100, 200, 400}) script.kernel(time, "cutlass::device_kernel");
  });
  const Attribution found = script.attributed();
  CHECK(layer_of(found, "experts").input_grad->median == 7);
  CHECK(layer_of(found, "experts").weight_grad->median == 700);
}

TEST_CASE("a fused node with another number of products stays whole, and is counted") {
  for (const std::string node : {"_LinearBackward", "_LayerNormMLPBackward", "_GroupedLinearBackward"}) {
    CAPTURE(node);
    for (const int products : {1, 3}) {
      Script script;
      forward(script, "a", 1);
      script.in(node, {1, ""}, [&] {
        for (int k = 0; k < products; ++k) script.kernel(10, "gemm");
      });
      const Attribution found = script.attributed();
      CHECK_FALSE(layer_of(found, "a").weight_grad);
      CHECK(layer_of(found, "a").backward->median == 10 * products);
      CHECK(noted(found, kWhole));
    }
  }
}

TEST_CASE("Megatron's linear: the input gradient by shape, the fused accumulation by order") {
  Script script;
  forward(script, "a", 1, "LinearWithGradAccumulationAndAsyncCommunication", "[[8, 2, 64], [256, 64], [256]]");
  script.in("LinearWithGradAccumulationAndAsyncCommunicationBackward", {1, ""}, [&] {
    script.in("aten::matmul", {-1, "[[8, 2, 256], [256, 64]]"}, [&] {
      script.in("aten::mm", {-1, "[[16, 256], [256, 64]]"}, [&] { script.kernel(10, "ampere_bf16_s16816gemm_nn"); });
    });
    script.kernel(20, "ampere_bf16_s16816gemm_nt");
    script.in("aten::sum", [&] { script.kernel(3, "reduce_kernel"); });
  });
  CHECK(lines_of(script.attributed()) == Lines{"a F forward fwd 1 1000", "a W order ampere_bf16_s16816gemm_nt 1 20",
                                               "a I shape ampere_bf16_s16816gemm_nn 1 10",
                                               "a I order reduce_kernel 1 3"});
}

TEST_CASE("where shapes disagree with the order the node stays whole but for what shapes say") {
  Script script;
  forward(script, "a", 1, "LinearWithGradAccumulationAndAsyncCommunication", "[[16, 64], [256, 64], [256]]");
  script.in("LinearWithGradAccumulationAndAsyncCommunicationBackward", {1, ""}, [&] {
    script.in("aten::mm", {-1, "[[256, 16], [16, 64]]"}, [&] { script.kernel(10, "gemm_w"); });
    script.kernel(20, "gemm_x");
  });
  const Attribution found = script.attributed();
  CHECK(lines_of(found) == Lines{"a F forward fwd 1 1000", "a B unsplit gemm_x 1 20", "a W shape gemm_w 1 10"});
  CHECK(noted(found, kWhole));
  CHECK_FALSE(layer_of(found, "a").weight_grad);
}

TEST_CASE("a frozen weight has an input gradient only") {
  Script script;
  forward(script, "a", 1);
  script.in("LinearWithFrozenWeightBackward", {1, ""}, [&] { script.kernel(10, "gemm"); });
  CHECK(lines_of(script.attributed()) == Lines{"a F forward fwd 1 1000", "a I name gemm 1 10"});
}

TEST_CASE("the engine's range around a fused node is the same node") {
  Script script;
  forward(script, "a", 1);
  script.in("autograd::engine::evaluate_function: _LinearBackward", [&] {
    script.in("_LinearBackward", {1, ""}, [&] {
      script.kernel(10, "gemm");
      script.kernel(20, "gemm");
    });
  });
  const Attribution found = script.attributed();
  CHECK(layer_of(found, "a").input_grad->median == 10);
  CHECK(layer_of(found, "a").weight_grad->median == 20);
}

TEST_CASE("the order is that of the launches, whatever the order of the records") {
  using namespace attribution;
  Instances instances;
  Ledger ledger(instances);
  const std::uint32_t instance = instances.add(0, kNoStep, 0);
  Slot slot = layer_slot(instance, Phase::kBackward, Rule::kUnsplit);
  slot.finer = Finer::kLinearProducts;
  slot.node = 7;
  const auto product = [&](Nanoseconds begin, Nanoseconds duration) {
    KernelRecord record;
    record.name = "gemm";
    record.begin = begin;
    record.end = begin + duration;
    Work work;
    REQUIRE(ledger.take(record, work));
    return work;
  };
  FusedNodes nodes(ledger, 8);
  nodes.add(12, slot, product(500, 2));
  nodes.add(11, slot, product(900, 1));  // another stream: launched first, ran last
  slot.node = 15;                        // takes the place of node 7
  nodes.add(13, slot, product(2000, 40));
  CHECK(instances[instance].time(Phase::kInputGrad) == 1);
  CHECK(instances[instance].time(Phase::kWeightGrad) == 2);
  nodes.add(13, slot, product(1000, 30));  // a CUDA graph: one launch of both
  nodes.flush();
  CHECK(instances[instance].time(Phase::kInputGrad) == 31);
  CHECK(instances[instance].time(Phase::kWeightGrad) == 42);
  CHECK(nodes.whole() == 0);
}

TEST_CASE("a node of very many kernels is bounded") {
  using namespace attribution;
  Instances instances;
  Ledger ledger(instances);
  Slot slot = layer_slot(instances.add(0, kNoStep, 0), Phase::kBackward, Rule::kUnsplit);
  slot.finer = Finer::kLinearProducts;
  slot.node = 1;
  FusedNodes nodes(ledger, 8);
  KernelRecord record;
  record.begin = 1;
  record.end = 2;
  Work work;
  REQUIRE(ledger.take(record, work));
  for (std::size_t k = 0; k < FusedNodes::kMostKernels + 3; ++k) nodes.add(1, slot, work);
  nodes.flush();
  CHECK(ledger.entered() == static_cast<std::int64_t>(FusedNodes::kMostKernels + 3));
  CHECK(ledger.losses().at("kernels of fused nodes that have too many") == 3);
}

}  // namespace
}  // namespace debubble::test
