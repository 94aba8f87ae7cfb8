// What frameworks, extensions and other recorders do that the rules do not name.
#include "tests/attribution/script.hpp"
#include "tests/support/test.hpp"

namespace debubble::test {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("a node is what the engine runs, whatever its name") {
  Script script;
  forward(script, "cpp", 1);
  forward(script, "view", 2);
  const auto run = [&](const std::string& name, std::int64_t sequence, Nanoseconds duration) {
    script.in("autograd::engine::evaluate_function: " + name, {sequence, ""}, [&] {
      script.in(name, {sequence, ""}, [&] { script.kernel(duration); });
    });
  };
  run("torch::autograd::CppNode<my::Fused>", 1, 40);
  run("torch::autograd::CopySlices", 2, 30);
  script.in("autograd::engine::evaluate_function: MulBackward0", {2, ""}, [&] {
    script.in("aten::sum", {7, ""}, [&] { script.kernel(5); });
  });
  CHECK(lines_of(script.attributed()) == Lines{"cpp F forward fwd 1 1000", "view F forward fwd 1 1000",
                                               "cpp B unsplit kernel 1 40", "view I name kernel 1 30",
                                               "view R recompute kernel 1 5"});
}

TEST_CASE("fused linear functions of one kernel stay whole, and fused norms are told apart by name") {
  Script script;
  forward(script, "linear", 1);
  forward(script, "mlp", 2);
  forward(script, "norm", 3);
  forward(script, "rms", 4);
  script.in("_LayerNormLinearBackward", {1, ""}, [&] { script.kernel(10, "wgrad"); });
  script.in("_LayerNormMLPBackward", {2, ""}, [&] { script.kernel(20, "wgrad"); });
  script.in("FusedLayerNormAffineFunctionBackward", {3, ""}, [&] { script.kernel(30, "cuComputeGradGammaBeta"); });
  script.in("FusedRmsNormBackward0", {4, ""}, [&] { script.kernel(40, "GammaBetaBackward"); });
  const Attribution found = script.attributed();
  CHECK_FALSE(layer_of(found, "linear").weight_grad);
  CHECK(layer_of(found, "linear").backward->median == 10);
  CHECK_FALSE(layer_of(found, "mlp").weight_grad);
  CHECK(layer_of(found, "norm").weight_grad->median == 30);
  CHECK(layer_of(found, "rms").weight_grad->median == 40);
}

TEST_CASE("a recording without any backward is no training") {
  Script script;
  forward(script, "a", 1);
  forward(script, "b", 2);
  const Attribution found = script.attributed();
  CHECK_FALSE(found.any_backward);
  CHECK(noted(found, "no backward was recorded (inference?): a schedule of this profile means nothing"));
  CHECK_FALSE(noted_in_part(found, "its time is 0"));
}

TEST_CASE("kernels without a correlation belong to the link just before them, or to none") {
  Script script;
  KernelRecord kernel;
  const auto run = [&](std::uint32_t correlation, Nanoseconds duration, bool linked) {
    if (linked) script.attributor.on(LinkRecord{correlation, script.range()});
    kernel.correlation = correlation;
    kernel.begin = ++script.now;
    kernel.end = kernel.begin + duration;
    kernel.name = "kernel";
    script.attributor.on(kernel);
  };
  script.in("debubble.layer:a", [&] {
    run(0, 100, true);
    run(7, 1, true);
  });
  script.in("debubble.layer:b", [&] {
    run(0, 200, true);
    run(7, 2, true);
  });
  run(0, 400, false);
  CHECK(lines_of(script.attributed()) ==
        Lines{"unlinked - rest kernel 1 400", "b F forward kernel 2 202", "a F forward kernel 2 101"});
}

TEST_CASE("a step inside of a step is part of it") {
  AttributionRules rules = all_steps_explained();
  rules.steps = "^(ProfilerStep#|debubble\\.step:)";
  Script script(rules);
  for (int k = 0; k < 3; ++k) {
    script.in("ProfilerStep#" + std::to_string(k), [&] {
      script.in("debubble.layer:a", [&] { script.kernel(1); });
      script.in("debubble.step:" + std::to_string(k),
                [&] { script.in("debubble.layer:b", [&] { script.kernel(2); }); });
      script.in("debubble.layer:c", [&] { script.kernel(4); });
    });
  }
  const Attribution found = script.attributed();
  CHECK(found.profile.measurement->steps == 3);
  for (const char* layer : {"a", "b", "c"}) CHECK(layer_of(found, layer).forward.n == 3);
}

}  // namespace
}  // namespace debubble::test
