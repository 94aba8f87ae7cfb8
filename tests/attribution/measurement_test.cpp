// Statistics, warm-up, overhead, memory and losses: what a measurement says about itself.
#include "tests/attribution/script.hpp"
#include "tests/support/test.hpp"

namespace debubble::test {
namespace {

AttributionRules detecting() {
  AttributionRules rules;
  rules.explain = true;
  return rules;
}

TimeStatistics forward_of(const Attribution& found) { return found.profile.layers.at(0).forward; }

TEST_CASE("the first steps are discarded until one is like the later ones") {
  Script script(detecting());
  for (const Nanoseconds time : {900, 600, 1040, 1001, 1002, 1000, 999, 1003}) step(script, time);
  const Attribution found = script.attributed();
  CHECK(found.profile.measurement->steps == 8);
  CHECK(found.profile.measurement->warm_up_steps == 2);
  CHECK(forward_of(found) == TimeStatistics{1001, 999, 1040, 6});
  CHECK(found.profile.origin.repetitions == 6);
  CHECK(noted(found, "2 of 8 steps were discarded as warm-up"));
}

TEST_CASE("steps that are alike from the start are all kept, and a late outlier is no warm-up") {
  Script script(detecting());
  for (const Nanoseconds time : {1000, 1000, 1000, 5000, 1000, 1000}) step(script, time);
  CHECK(script.attributed().profile.measurement->warm_up_steps == 0);
}

TEST_CASE("steps in which code was loaded do not count") {
  for (const OverheadKind kind : {OverheadKind::kCompiler, OverheadKind::kModuleLoading, OverheadKind::kLazyLoading,
                                  OverheadKind::kBufferFlush}) {
    Script script(detecting());
    const auto load = [&] { script.attributor.on(OverheadRecord{kind, 1, script.now + 1, script.now + 2}); };
    for (int k = 0; k < 8; ++k) {
      if (k == 1 || k == 6) load();
      step(script, 1000);
    }
    CAPTURE(static_cast<int>(kind));
    CHECK(script.attributed().profile.measurement->warm_up_steps == (kind == OverheadKind::kBufferFlush ? 0 : 3));
  }
}

TEST_CASE("a fixed number of steps is discarded, but never all") {
  for (const std::int64_t fixed : {0, 2, 5, 99}) {
    AttributionRules rules;
    rules.warm_up_steps = fixed;
    Script script(rules);
    for (const Nanoseconds time : {100, 200, 300, 400, 500}) step(script, time);
    const Attribution found = script.attributed();
    CAPTURE(fixed);
    CHECK(forward_of(found).n == (fixed >= 5 ? 1 : 5 - fixed));
    CHECK(noted(found, "nothing was left after the warm-up: the last step counts all the same") == (fixed >= 5));
  }
}

TEST_CASE("without steps the executions of each layer are the steps") {
  Script script(detecting());
  for (const Nanoseconds time : {9000, 1000, 1000, 1000, 1000, 1000}) {
    script.in("debubble.layer:a", [&] { script.kernel(time); });
    script.in("debubble.layer:b", [&] { script.kernel(time); });
  }
  const Attribution found = script.attributed();
  CHECK(found.profile.measurement->steps == 0);
  CHECK(found.profile.measurement->warm_up_steps == 0);
  CHECK(forward_of(found) == TimeStatistics{1000, 1000, 1000, 5});
  CHECK(noted(found, "the recording has no steps: the first 1 executions of every layer were discarded as warm-up"));
}

TEST_CASE("executions outside of steps do not count where there are steps") {
  Script script;
  script.in("debubble.layer:a", [&] { script.kernel(9000); });
  step(script, 100);
  const Attribution found = script.attributed();
  CHECK(forward_of(found) == TimeStatistics{100, 100, 100, 1});
  CHECK(found.profile.measurement->layer_time == 9100);
  CHECK(noted(found, "1 executions of layers outside of steps do not count"));
}

TEST_CASE("steps with and without the profiler give its overhead, and silent steps are no measurements of 0 ns") {
  for (const int unrecorded : {0, 2, 3}) {
    Script script;
    for (int k = 0; k < 4; ++k) {
      script.in("debubble.step:1", [&] {
        script.in("debubble.layer:a", [&] { script.kernel(500); });
        script.now += 1100 - 4;
      });
    }
    script.attributor.on(SwitchRecord{++script.now, false});
    for (int k = 0; k < unrecorded; ++k) {
      script.in("debubble.step:1", [&] {
        script.in("debubble.layer:a", [] {});
        script.now += 1000 - 3;
      });
    }
    script.attributor.on(SwitchRecord{++script.now, true});
    const Attribution found = script.attributed();
    CAPTURE(unrecorded);
    CHECK(forward_of(found) == TimeStatistics{500, 500, 500, 4});
    CHECK(found.profile.measurement->overhead_ppm.has_value() == (unrecorded == 3));
    if (unrecorded == 3) CHECK(found.profile.measurement->overhead_ppm == 100'000);
    CHECK(noted(found,
                "the profiler's overhead is not known: it takes 3 steps with it and as many without, there were 4 "
                "and " +
                    std::to_string(unrecorded)) == (unrecorded != 3));
  }
}

TEST_CASE("a clip whose first kernels have no launch says so") {
  Script script;
  const auto alone = [&](std::uint32_t correlation) {
    KernelRecord record;
    record.name = "early";
    record.correlation = correlation;
    record.begin = script.now;
    record.end = record.begin + 7;
    script.attributor.on(record);
  };
  script.correlation = 10;
  alone(3);
  step(script, 100);
  alone(5);
  const std::uint32_t late = script.correlation + 1;
  alone(late);  // launched after others: not of the clip's start
  const Attribution found = script.attributed();
  CHECK(noted(found,
              "2 kernels at the start have no launch: the recording begins in the middle of work (a clip); their 14 ns "
              "are in the rest"));
}

TEST_CASE("percentiles are nearest ranks") {
  Script script;
  for (Nanoseconds k = 20; k >= 1; --k) script.in("debubble.layer:a", [&] { script.kernel(k); });
  CHECK(forward_of(script.attributed()) == TimeStatistics{10, 2, 18, 20});
}

TEST_CASE("work with impossible times is refused and counted") {
  Script script;
  script.open("debubble.layer:a");
  script.kernel(100);
  const auto add = [&](Nanoseconds begin, Nanoseconds end) {
    const std::uint32_t correlation = script.kernel(0);
    KernelRecord record;
    record.correlation = correlation;
    record.begin = begin == 0 ? 0 : script.now + begin;
    record.end = end == 0 ? 0 : script.now + end;
    record.name = "bad";
    script.attributor.on(record);
  };
  add(0, 0);
  add(20, 10);
  add(-1'000'001, 10);
  add(10, 3'600'000'000'011);
  add(-999'990, -999'989);  // a little before its launch: the clocks are two
  script.close();
  const Attribution found = script.attributed();
  CHECK(lost(found, "kernels without times") == 1);
  CHECK(lost(found, "kernels that end before they begin") == 1);
  CHECK(lost(found, "kernels before their launch") == 1);
  CHECK(lost(found, "kernels longer than an hour") == 1);
  CHECK(found.profile.measurement->kernel_time == 101);
  CHECK(noted(found, "1 kernels without times"));
}

TEST_CASE("everything that was lost is told") {
  Script script;
  script.close();
  step(script, 100);
  script.attributor.on(LossRecord{"dropped records", 3});
  script.attributor.on(LossRecord{"dropped records", 4});
  script.attributor.on(LinkRecord{900, 77'777});
  script.open("left open");
  script.attributor.end_of_stream(false);
  const Attribution found = script.attributed();
  CHECK(found.profile.measurement->losses == std::vector<LossItem>{{"dropped records", 7},
                                                                   {"links to ranges that are not known", 1},
                                                                   {"pops without a range", 1},
                                                                   {"ranges never popped", 1},
                                                                   {"incomplete recordings", 1}});
}

TEST_CASE("kernels of one execution that run side by side are noted") {
  Script script;
  script.open("debubble.layer:a");
  KernelRecord record;
  record.name = "k";
  record.stream = 1;
  script.work(100, record);
  record.stream = 2;
  script.work(100, record);
  script.close();
  const Attribution found = script.attributed();
  CHECK(forward_of(found).median == 200);
  CHECK(noted_in_part(found, "ns of kernels overlapped others of their layer"));
  Script alone;
  alone.in("debubble.layer:a", [&] { alone.kernel(100); });
  CHECK_FALSE(noted_in_part(alone.attributed(), "beside others"));
}

TEST_CASE("a layer's forward keeps its net allocation, and the peak above it is workspace") {
  Script script;
  const auto allocate = [&](Bytes bytes, std::uint32_t thread = 1) {
    script.attributor.on(MemoryRecord{thread, 0, ++script.now, 0x1000, bytes});
  };
  allocate(1'000'000);
  for (const Bytes kept : {100, 300, 200}) {
    script.in("debubble.layer:a", [&] {
      script.in("aten::mul", {1, ""}, [&] { script.kernel(5); });
      allocate(kept);
      allocate(50, 0);
      allocate(-50);
    });
    script.in("MulBackward0", {1, ""}, [&] { allocate(7777); });
  }
  const Attribution found = script.attributed();
  CHECK(found.profile.layers[0].activation == 200);
  CHECK(found.profile.layers[0].workspace == 50);
  CHECK(found.profile.layers[0].kind == "layer");
  CHECK(found.profile.origin.memory == Source::kMeasured);
  CHECK(
      noted(found, "sizes are the net allocation of each layer's forward: what it keeps for backward and its output"));
}

TEST_CASE("facts win over what was seen, and are held against it") {
  Script script;
  script.in("debubble.layer:a", [&] {
    script.kernel(5);
    script.attributor.on(MemoryRecord{1, 0, ++script.now, 0, 999});
  });
  script.in("debubble.layer:b", [&] { script.kernel(5); });
  LayerFacts facts{"transformer", 10, 20, 30, 5, 40};
  const Attribution found = script.attributed({{"a", facts}, {"ghost", {}}});
  const ProfileLayer& layer = found.profile.layers[0];
  CHECK(layer.kind == "transformer");
  CHECK(layer.parameters == 10);
  CHECK(layer.output == 20);
  CHECK(layer.activation == 30);
  CHECK(layer.weight_grad_held == 5);
  CHECK(layer.workspace == 40);
  CHECK(noted(found, "layer \"ghost\" has sizes but was never seen to run"));
  CHECK(noted(found, "layer \"b\": nothing is known of its sizes but what was seen"));
}

TEST_CASE("without any sizes the profile says so") {
  Script script;
  step(script, 1);
  const Attribution found = script.attributed();
  CHECK(found.profile.origin.memory == Source::kModelled);
  CHECK(noted(found, "nothing is known of sizes: they are 0"));
}

TEST_CASE("several streams have numbers of their own and share their layers") {
  Script script;
  for (int rank = 0; rank < 2; ++rank) {
    script.correlation = 0;
    script.attributor.on(FactRecord{"device.0.name", "NVIDIA H200"});
    script.attributor.on(FactRecord{"driver", rank == 0 ? "580.1" : "580.2"});
    script.attributor.on(RangePush{1, 1, 100, rank == 0 ? "debubble.layer:a" : "debubble.layer:b", -1, 0, {}});
    script.attributor.on(LinkRecord{1, 1});
    script.attributor.on(LaunchRecord{1, 1, 101, 102});
    script.attributor.on(RangePop{1, 200});
    script.attributor.on(RangePush{2, 1, 300, "debubble.layer:shared", -1, 0, {}});
    script.attributor.on(LinkRecord{2, 2});
    script.attributor.on(LaunchRecord{2, 1, 301, 302});
    script.attributor.on(RangePop{1, 400});
    for (const std::uint32_t correlation : {1U, 2U}) {
      KernelRecord record;
      record.correlation = correlation;
      record.begin = 1000;
      record.end = 1000 + 10 * correlation + static_cast<Nanoseconds>(rank);
      record.name = "k";
      script.attributor.on(record);
    }
    script.attributor.end_of_stream();
  }
  const Attribution found = script.attributed();
  REQUIRE(found.profile.layers.size() == 3);
  CHECK(found.profile.layers[0].name == "a");
  CHECK(found.profile.layers[1].name == "shared");
  CHECK(found.profile.layers[1].forward == TimeStatistics{20, 20, 21, 2});
  CHECK(found.profile.layers[2].name == "b");
  CHECK(found.profile.origin.device == "NVIDIA H200");
  CHECK(found.profile.origin.driver == "580.1, 580.2");
}

TEST_CASE("layers come in order of their first forward, those without one last") {
  Script script;
  script.in("debubble.layer:z", [&] { script.in("debubble.phase:W", [&] { script.kernel(1); }); });
  for (const char* name : {"debubble.layer:c", "debubble.layer:a", "debubble.layer:b"}) {
    script.in(name, [&] { script.kernel(1); });
  }
  const Attribution found = script.attributed();
  std::string order;
  for (const ProfileLayer& layer : found.profile.layers) order += layer.name;
  CHECK(order == "cabz");
  CHECK(noted(found, "layer \"z\": no forward counts, its time is 0"));
}

TEST_CASE("the eight longest kernels of a layer are named, demangled, the others added up") {
  Script script;
  script.open("debubble.layer:a");
  for (int k = 1; k <= 9; ++k) script.kernel(k, "kernel_" + std::to_string(k));
  script.kernel(1000, "_Z4gemmPfS_");
  script.close();
  const std::vector<KernelSummary> kernels = script.attributed().profile.layers[0].kernels;
  REQUIRE(kernels.size() == 9);
  CHECK(kernels[0] == KernelSummary{"gemm(float*, float*)", 1, 1000});
  CHECK(kernels[1] == KernelSummary{"kernel_9", 1, 9});
  CHECK(kernels[8] == KernelSummary{"others", 2, 3});
}

std::string refusal(Script& script) {
  return problems_of([&] { (void)script.attributed(); });
}

TEST_CASE("what cannot be a profile is refused with what would help") {
  Script no_layer;
  for (int k = 0; k < 3; ++k) no_layer.in("block.0", [&] { no_layer.in("aten::mm", [&] { no_layer.kernel(1); }); });
  no_layer.in("once", [&] { no_layer.kernel(1); });
  for (const char* operation : {"detach", "detach_", "record_param_comms", "autograd::Other", "cudaLaunchKernel"}) {
    for (int k = 0; k < 2; ++k) no_layer.in(operation, [&] {});
  }
  CHECK(refusal(no_layer) ==
        "error[A002]: no range is a layer\n"
        "  = help: name the layers with a pattern; ranges that repeat: \"block.0\"\n");
  Script no_range;
  no_range.kernel(1);
  CHECK(refusal(no_range) ==
        "error[A002]: no range is a layer\n"
        "  = help: name ranges debubble.layer:NAME, or run the script under debubble_hooks\n");
  Script no_kernel;
  no_kernel.in("debubble.layer:a", [&] {});
  no_kernel.attributor.on(LossRecord{"dropped records", 5});
  CHECK(refusal(no_kernel) ==
        "error[A003]: no GPU work was recorded\n"
        "  = help: what was lost or refused: 5 dropped records\n");
  Script outside;
  outside.in("debubble.layer:a", [&] {});
  outside.kernel(5);
  CHECK(refusal(outside) ==
        "error[A004]: no GPU work was launched from inside a layer\n"
        "  = help: are launches linked to their ranges? layers seen: \"a\"\n");
}

TEST_CASE("a pattern that is none is refused at once") {
  AttributionRules rules;
  rules.layers = "(";
  CHECK_THROWS_WITH_AS(Attributor{rules}, doctest::Contains("error[A001]: \"(\" is not a regular expression"),
                       InputError);
  rules.layers = "a";
  rules.steps = "[";
  CHECK_THROWS_WITH_AS(Attributor{rules}, doctest::Contains("--> --steps"), InputError);
}

TEST_CASE("so many layers are a mistake in the pattern") {
  AttributionRules rules;
  rules.layers = "^layer(\\d+)$";
  Script script(rules);
  const auto too_many = [&] {
    for (int k = 0; k <= 100'000; ++k) script.in("layer" + std::to_string(k), [] {});
  };
  CHECK_THROWS_WITH_AS(too_many(), doctest::Contains("error[P017]: more than 100000 layers"), InputError);
}

}  // namespace
}  // namespace debubble::test
