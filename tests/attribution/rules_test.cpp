// Every rule of attribution, and what lies just beside it.
#include "tests/attribution/script.hpp"
#include "tests/support/test.hpp"

namespace debubble::test {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("a kernel belongs to the innermost layer around its launch") {
  Script script;
  script.in("debubble.layer:outer", [&] {
    script.kernel(5);
    script.in("debubble.layer:inner", [&] { script.in("aten::mm", [&] { script.kernel(7); }); });
    script.kernel(6);
  });
  CHECK(lines_of(script.attributed()) == Lines{"outer F forward kernel 2 11", "inner F forward kernel 1 7"});
}

TEST_CASE("a layer inside itself is one execution") {
  Script script;
  script.in("debubble.layer:a", [&] { script.in("debubble.layer:a", [&] { script.kernel(7); }); });
  const Attribution found = script.attributed();
  CHECK(found.profile.layers[0].forward == TimeStatistics{7, 7, 7, 1});
}

TEST_CASE("explicit phases win over everything inside them") {
  Script script;
  script.in("debubble.layer:a", [&] {
    script.in("debubble.phase:W", [&] { script.in("aten::mm", {3, ""}, [&] { script.kernel(7); }); });
    script.in("debubble.phase:I", [&] { script.in("AddmmBackward0", {3, ""}, [&] { script.kernel(8); }); });
    script.in("debubble.phase:R", [&] { script.kernel(2); });
    script.in("debubble.phase:F", [&] { script.kernel(9); });
  });
  const Attribution found = script.attributed();
  CHECK(lines_of(found) == Lines{"a F explicit kernel 1 9", "a I explicit kernel 1 8", "a W explicit kernel 1 7",
                                 "a R explicit kernel 1 2"});
  const ProfileLayer& layer = found.profile.layers[0];
  CHECK(layer.forward.median == 9);
  CHECK(layer.input_grad->median == 10);  // with the recomputed forward
  CHECK(layer.weight_grad->median == 7);
  CHECK(layer.backward->median == 17);
  CHECK(layer.grad_split == GradSplit::kRange);
}

TEST_CASE("an unknown phase is no phase") {
  Script script;
  script.in("debubble.layer:a", [&] { script.in("debubble.phase:X", [&] { script.kernel(7); }); });
  CHECK(lines_of(script.attributed()) == Lines{"a F forward kernel 1 7"});
}

TEST_CASE("every explicit phase range is an execution of its own") {
  Script script;
  for (int k = 1; k <= 3; ++k) {
    script.in("debubble.layer:a", [&] { script.in("debubble.phase:F", [&] { script.kernel(10 * k); }); });
  }
  for (int k = 1; k <= 2; ++k) {
    script.in("debubble.layer:a", [&] {
      script.in("debubble.phase:B", [&] { script.kernel(100 * k); });
      script.in("debubble.phase:B", [&] { script.kernel(1000 * k); });
    });
  }
  const Attribution found = script.attributed();
  CHECK(found.profile.layers[0].forward == TimeStatistics{20, 10, 30, 3});
  CHECK(*found.profile.layers[0].backward == TimeStatistics{200, 100, 2000, 4});
  CHECK_FALSE(found.profile.layers[0].input_grad);
}

TEST_CASE("explicit recomputation joins the input gradients in their order") {
  Script script;
  const auto phase = [&](const char* name, Nanoseconds time) {
    script.in("debubble.layer:a",
              [&] { script.in(std::string("debubble.phase:") + name, [&] { script.kernel(time); }); });
  };
  phase("F", 1);
  phase("F", 1);
  phase("R", 10);
  phase("I", 100);
  phase("R", 20);
  phase("I", 200);
  phase("W", 5);
  const Attribution found = script.attributed();
  CHECK(*found.profile.layers[0].input_grad == TimeStatistics{110, 110, 220, 2});
  CHECK(noted(found, "layer \"a\": 30 ns of recomputed forward are counted in its backward"));
}

TEST_CASE("what is true of many layers is said once") {
  Script script;
  forward(script, "trained", 1);
  script.in("MulBackward0", {1, ""}, [&] { script.kernel(7); });
  for (const char* layer : {"a", "b", "c", "d", "e"}) {
    script.in(std::string("debubble.layer:") + layer, [&] { script.kernel(7); });
  }
  const Attribution found = script.attributed();
  CHECK(noted(found, R"(layers "a", "b", "c" and 2 more: no backward was seen, its time is 0)"));
  CHECK(found.any_backward);
}

TEST_CASE("a node belongs to the layer of the op with the latest start that carries its number") {
  Script script;
  script.in("debubble.layer:a", [&] { script.in("aten::linear", {4, ""}, [&] { script.kernel(1, "a"); }); });
  script.in("debubble.layer:b", [&] { script.in("aten::mul", {4, ""}, [&] { script.kernel(2, "b"); }); });
  script.thread = 2;
  script.in("MulBackward0", {4, ""}, [&] { script.kernel(100, "bwd"); });
  const Attribution found = script.attributed();
  CHECK(lines_of(found) == Lines{"b I name bwd 1 100", "b F forward b 1 2", "a F forward a 1 1"});
  CHECK(noted(found, "layer \"a\": no backward was seen, its time is 0"));
}

TEST_CASE("a node whose op was not seen, or was outside of layers, is rest") {
  Script script;
  forward(script, "a", 1);
  script.in("loss", {2, ""}, [&] {});
  script.in("MulBackward0", {2, ""}, [&] { script.kernel(30); });
  script.in("MulBackward0", {3, ""}, [&] { script.kernel(40); });
  CHECK(lines_of(script.attributed()) ==
        Lines{"a F forward fwd 1 1000", "unlinked backward - rest kernel 1 40", "outside layers - rest kernel 1 30"});
}

TEST_CASE("a range that merely ends in Backward is no node") {
  Script script;
  script.in("debubble.layer:a", [&] { script.in("MyBackward", [&] { script.kernel(3); }); });
  CHECK(lines_of(script.attributed()) == Lines{"a F forward kernel 1 3"});
}

TEST_CASE("the engine's range takes its number from the node inside it") {
  Script script;
  forward(script, "a", 1);
  script.thread = 2;
  script.in("autograd::engine::evaluate_function: MulBackward0", [&] {
    script.in("MulBackward0", {1, ""}, [&] { script.kernel(10, "inside"); });
    script.kernel(20, "after");
    script.in("aten::sum", [&] { script.kernel(30, "reduce"); });
    script.in("aten::add", [&] { script.kernel(40, "add"); });
  });
  CHECK(lines_of(script.attributed()) == Lines{"a F forward fwd 1 1000", "a I name add 1 40", "a W name reduce 1 30",
                                               "a I name after 1 20", "a I name inside 1 10"});
}

TEST_CASE("several forward threads are told apart where the thread is known, and noted where not") {
  Script script;
  forward(script, "one", 5);
  script.thread = 2;
  forward(script, "two", 5);
  script.thread = 9;
  script.in("MulBackward0", {5, "", 1}, [&] { script.kernel(10); });
  script.in("MulBackward0", {5, "", 2}, [&] { script.kernel(20); });
  script.in("MulBackward0", {5, "", 0}, [&] { script.kernel(40); });
  const Attribution found = script.attributed();
  CHECK(layer_of(found, "one").input_grad->median == 10);
  CHECK(layer_of(found, "two").input_grad->median == 60);
  CHECK(noted(found, "1 autograd nodes could belong to several threads: the newest op was taken"));
}

TEST_CASE("products of a node are told apart by the dimensions of their results") {
  Script script;
  forward(script, "a", 1, "aten::addmm", "[[5], [2, 3], [3, 5], [], []]");
  script.in("AddmmBackward0", {1, ""}, [&] {
    script.in("aten::mm", {-1, "[[2, 5], [5, 3]]"}, [&] { script.kernel(10, "dx"); });
    script.in("aten::mm", {-1, "[[5, 2], [2, 3]]"},
              [&] { script.in("aten::resolve_conj", [&] { script.kernel(20, "dw"); }); });
    script.in("aten::sum", [&] { script.kernel(30, "bias"); });
  });
  const Attribution found = script.attributed();
  CHECK(lines_of(found) ==
        Lines{"a F forward fwd 1 1000", "a W name bias 1 30", "a W shape dw 1 20", "a I shape dx 1 10"});
  CHECK(found.profile.layers[0].grad_split == GradSplit::kName);
}

TEST_CASE("without names the weakest rule is shape") {
  Script script;
  forward(script, "a", 1, "aten::mm", "[[2, 3], [3, 5]]");
  script.in("MmBackward0", {1, ""}, [&] {
    script.in("aten::mm", {-1, "[[3, 2], [2, 5]]"}, [&] { script.kernel(20, "dw"); });
    script.in("aten::mm", {-1, "[[2, 5], [5, 3]]"}, [&] { script.kernel(10, "dx"); });
  });
  CHECK(script.attributed().profile.layers[0].grad_split == GradSplit::kShape);
}

TEST_CASE("square products are told apart by PyTorch's order, which differs between Addmm and Mm, and marked") {
  for (const bool biased : {true, false}) {
    CAPTURE(biased);
    Script script;
    forward(script, "a", 1, biased ? "aten::addmm" : "aten::mm", biased ? "[[8], [8, 8], [8, 8]]" : "[[8, 8], [8, 8]]");
    script.in(biased ? "AddmmBackward0" : "MmBackward0", {1, ""}, [&] {
      script.in("aten::mm", {-1, "[[8, 8], [8, 8]]"}, [&] { script.kernel(10, "first"); });
      script.in("aten::mm", {-1, "[[8, 8], [8, 8]]"}, [&] { script.kernel(20, "second"); });
    });
    const Attribution found = script.attributed();
    const ProfileLayer& layer = found.profile.layers[0];
    CHECK(layer.input_grad->median == (biased ? 10 : 20));
    CHECK(layer.weight_grad->median == (biased ? 20 : 10));
    CHECK(layer.grad_split == GradSplit::kOrder);
    CHECK(noted(found, "layer \"a\": 30 ns of its backward are matmuls of equal shapes, told apart by their order"));
  }
}

TEST_CASE("a backward that cannot be told apart stays whole") {
  Script script;
  forward(script, "sizeless", 1, "aten::addmm");
  forward(script, "conv", 2, "aten::convolution");
  script.in("AddmmBackward0", {1, ""}, [&] {
    script.in("aten::mm", [&] { script.kernel(10); });
    script.in("aten::sum", [&] { script.kernel(5); });
  });
  script.in("ConvolutionBackward0", {2, ""},
            [&] { script.in("aten::convolution_backward", [&] { script.kernel(20, "wgrad"); }); });
  const Attribution found = script.attributed();
  for (const ProfileLayer& layer : found.profile.layers) {
    CHECK_FALSE(layer.input_grad);
    CHECK_FALSE(layer.weight_grad);
    CHECK(layer.grad_split == GradSplit::kNone);
  }
  CHECK(layer_of(found, "sizeless").backward->median == 15);
  CHECK(layer_of(found, "conv").backward->median == 20);
  CHECK(
      noted(found,
            "layer \"conv\": 20 ns of its backward compute both gradients at once or have unknown operands: it is not "
            "split"));
}

TEST_CASE("embeddings, norms and gradient accumulation are told apart by name") {
  Script script;
  forward(script, "emb", 1, "aten::embedding");
  forward(script, "norm", 2, "aten::native_layer_norm");
  script.in("NativeLayerNormBackward0", {2, ""}, [&] {
    script.kernel(10, "layer_norm_grad_input_kernel");
    script.kernel(20, "GammaBetaBackwardCUDAKernel");
  });
  script.in("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
            [&] { script.in("torch::autograd::AccumulateGrad", [&] { script.kernel(3, "add"); }); });
  script.in("EmbeddingBackward0", {1, ""}, [&] { script.kernel(40, "GammaBeta_is_just_a_name"); });
  const Attribution found = script.attributed();
  CHECK(layer_of(found, "norm").input_grad->median == 10);
  CHECK(layer_of(found, "norm").weight_grad->median == 23);
  CHECK(layer_of(found, "emb").input_grad->median == 0);
  CHECK(layer_of(found, "emb").weight_grad->median == 40);
}

TEST_CASE("batched products have no weight") {
  Script script;
  forward(script, "core", 1, "aten::bmm", "[[4, 8, 8], [4, 8, 8]]");
  script.in("BmmBackward0", {1, ""}, [&] {
    script.in("aten::bmm", {-1, "[[4, 8, 8], [4, 8, 8]]"}, [&] { script.kernel(10); });
    script.in("aten::bmm", {-1, "[[4, 8, 8], [4, 8, 8]]"}, [&] { script.kernel(20); });
  });
  const Attribution found = script.attributed();
  CHECK(found.profile.layers[0].input_grad->median == 30);
  CHECK(found.profile.layers[0].weight_grad->median == 0);
}

TEST_CASE("forward work inside a backward is recomputation, with and without a layer around it") {
  Script script;
  forward(script, "a", 1);
  forward(script, "b", 2);
  script.thread = 2;
  script.in("MulBackward0", {2, ""}, [&] { script.in("aten::gelu", {7, ""}, [&] { script.kernel(5, "gelu"); }); });
  script.in("MulBackward0", {1, ""}, [&] {
    script.kernel(1, "dx");
    script.in("debubble.layer:a", [&] { script.kernel(6, "again"); });
    script.in("aten::gelu", [&] { script.kernel(3, "no number"); });
  });
  const Attribution found = script.attributed();
  CHECK(lines_of(found) == Lines{"a F forward fwd 1 1000", "b F forward fwd 1 1000", "a R recompute again 1 6",
                                 "b R recompute gelu 1 5", "a I name no number 1 3", "a I name dx 1 1"});
  CHECK(layer_of(found, "a").input_grad->median == 10);
  CHECK(layer_of(found, "a").forward.n == 1);
  CHECK(noted(found, "layer \"a\": 6 ns of recomputed forward are counted in its backward"));
}

TEST_CASE("a reentrant checkpoint's backward belongs to the ops that were recomputed inside it") {
  Script script;
  script.in("CheckpointFunction", {1, ""}, [&] { script.in("debubble.layer:a", [&] { script.kernel(9, "fwd"); }); });
  forward(script, "late", 7);
  script.thread = 2;
  script.in("autograd::engine::evaluate_function: CheckpointFunctionBackward", {1, ""}, [&] {
    script.in("CheckpointFunctionBackward", {1, ""}, [&] {
      script.in("debubble.layer:a", [&] { script.in("aten::mul", {7, ""}, [&] { script.kernel(8, "again"); }); });
      script.in("autograd::engine::evaluate_function: MulBackward0", {7, ""}, [&] {
        script.in("MulBackward0", {7, ""}, [&] { script.kernel(20, "dx"); });
      });
    });
  });
  script.in("MulBackward0", {7, ""}, [&] { script.kernel(30, "dx"); });
  const Attribution found = script.attributed();
  CHECK(layer_of(found, "a").forward.median == 9);
  CHECK(layer_of(found, "a").input_grad->median == 28);
  CHECK(layer_of(found, "late").input_grad->median == 30);
}

TEST_CASE("the rest has its categories") {
  Script script;
  KernelRecord upload;
  upload.work = GpuWork::kCopy;
  upload.name = "copy host to device";
  script.work(11, upload);  // a model is set up before anything is recorded as training
  script.kernel(12, "cast");
  forward(script, "a", 1);
  script.kernel(1, "alone");
  script.in("Optimizer.step#AdamW.step", [&] { script.in("aten::add", [&] { script.kernel(2, "adam"); }); });
  script.in("Optimizer.zero_grad#AdamW.zero_grad", [&] { script.kernel(3, "fill"); });
  script.in("nccl:all_reduce", [&] { script.kernel(4, "reduce"); });
  script.in("debubble.layer:a", [&] { script.kernel(5, "ncclDevKernel_AllReduce"); });
  script.in("data", [&] { script.kernel(6, "augment"); });
  KernelRecord copy;
  copy.work = GpuWork::kCopy;
  copy.name = "copy";
  script.in("data", [&] { script.work(7, copy); });
  script.work(8, copy);
  script.in("debubble.layer:a", [&] { script.work(9, copy); });
  script.in("Optimizer.step#SGD.step", [&] { script.work(10, copy); });
  const Attribution found = script.attributed();
  CHECK(found.profile.measurement->rest == std::vector<RestItem>{{"optimizer", 3, 15},
                                                                 {"communication", 2, 9},
                                                                 {"copies", 2, 15},
                                                                 {"outside layers", 1, 6},
                                                                 {"outside ranges", 1, 1},
                                                                 {"before the first range", 2, 23}});
  CHECK(found.profile.measurement->layer_time == 1009);
  CHECK(noted(found, "5 ns of communication inside layers are counted in the rest"));
}

TEST_CASE("a kernel without a link is placed by the time of its launch, without either it is unlinked") {
  Script script;
  forward(script, "a", 1);
  KernelRecord kernel;
  kernel.name = "kernel";
  const auto launch = [&](std::uint32_t correlation, std::uint32_t thread, Nanoseconds time, Nanoseconds duration) {
    script.attributor.on(LaunchRecord{correlation, thread, time, time});
    kernel.correlation = correlation;
    kernel.begin = time;
    kernel.end = time + duration;
    script.attributor.on(kernel);
  };
  script.open("debubble.layer:a");
  const Nanoseconds inside = script.now;
  script.now += 100;
  script.close();
  launch(101, 1, inside + 50, 7);
  launch(102, 1, inside + 150, 11);
  launch(103, 5, inside + 50, 13);
  kernel.correlation = 104;
  kernel.end = kernel.begin + 17;
  script.attributor.on(kernel);
  const Attribution found = script.attributed();
  CHECK(lines_of(found) == Lines{"a F forward fwd 1 1000", "outside ranges - rest kernel 2 24",
                                 "unlinked - rest kernel 1 17", "a F forward kernel 1 7"});
  CHECK(noted(found, "1 kernels had no link and were placed by the time of their launch"));
}

TEST_CASE("all kernels of a graph launch share its correlation") {
  Script script;
  script.open("debubble.layer:a");
  const std::uint32_t correlation = script.kernel(10, "node 1");
  KernelRecord second;
  second.correlation = correlation;
  second.begin = script.now + 100;
  second.end = second.begin + 20;
  second.name = "node 2";
  script.attributor.on(second);
  script.close();
  CHECK(lines_of(script.attributed()) == Lines{"a F forward node 2 1 20", "a F forward node 1 1 10"});
}

TEST_CASE("the user's patterns name layers and steps") {
  AttributionRules rules = all_steps_explained();
  rules.layers = "^(block\\d+|head)$";
  rules.steps = "^iteration (\\d+)";
  Script script(rules);
  script.in("iteration 1 of 9", [&] {
    script.in("block12", [&] { script.kernel(3); });
    script.in("block", [&] { script.kernel(5); });
  });
  const Attribution found = script.attributed();
  CHECK(found.profile.layers.size() == 1);
  CHECK(found.profile.layers[0].name == "block12");
  CHECK(found.profile.measurement->steps == 1);
}

}  // namespace
}  // namespace debubble::test
