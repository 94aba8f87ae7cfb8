// Layers timed on a CPU: ranges with their ends known, as work that the attribution reads, to the nanosecond.
#include <random>

#include "profiler/attribution/attribution.hpp"
#include "profiler/host/host_records.hpp"
#include "profiler/host/host_tree.hpp"
#include "profiler/host/host_work.hpp"
#include "profiler/records/forwarding_sink.hpp"
#include "tests/support/test.hpp"

namespace debubble::test {
namespace {

HostRange range_of(std::string name, Nanoseconds begin, Nanoseconds end, std::int64_t sequence = -1,
                   std::string sizes = "", std::uint32_t thread = 1) {
  return {std::move(name), std::move(sizes), begin, end, sequence, thread, 0};
}

// The backward of y[8,4] = x[8,6] . w[6,4]: as PyTorch runs it, with 100 ns for the product of the input's gradient
// (when there is one), 200 ns for the weight's and 10 ns for everything else that takes time by itself.
void add_linear_backward(std::vector<HostRange>& ranges, Nanoseconds& now, std::int64_t sequence, bool input_wanted) {
  const Nanoseconds begin = now;
  ranges.push_back(range_of("autograd::engine::evaluate_function: AddmmBackward0", begin, begin, sequence));
  const std::size_t engine = ranges.size() - 1;
  now += 10;
  ranges.push_back(range_of("AddmmBackward0", now, now, sequence));
  const std::size_t node = ranges.size() - 1;
  if (input_wanted) {
    ranges.push_back(range_of("aten::t", now + 10, now + 20));
    now += 20;
    ranges.push_back(range_of("aten::mm", now, now + 100, -1, "[[8, 4], [4, 6]]"));
    now += 100;
  }
  ranges.push_back(range_of("aten::t", now + 10, now + 20));
  now += 20;
  ranges.push_back(range_of("aten::mm", now, now + 200, -1, "[[6, 8], [8, 4]]"));
  now += 200;
  now += 10;
  ranges[node].end = now;
  ranges.push_back(range_of("aten::sum", now, now + 20, -1, "[[8, 4], [], [], []]"));
  now += 20;
  now += 10;
  ranges[engine].end = now;
}

struct LinearStep {
  std::vector<HostRange> ranges;
  Nanoseconds end = 0;
};

// Two layers; the first one's input needs no gradient.
LinearStep linear_step(std::int64_t number, Nanoseconds begin) {
  LinearStep step;
  std::vector<HostRange>& ranges = step.ranges;
  Nanoseconds now = begin;
  ranges.push_back(range_of("debubble.step:" + std::to_string(number), begin, begin));
  for (const int layer : {0, 1}) {
    ranges.push_back(range_of("debubble.layer:" + std::to_string(layer), now + 5, now + 75));
    ranges.push_back(range_of("aten::addmm", now + 15, now + 65, 2 * number + layer, "[[4], [8, 6], [6, 4]]"));
    now += 80;
  }
  add_linear_backward(ranges, now, 2 * number + 1, true);
  now += 7;  // the engine, on its way to the next node
  add_linear_backward(ranges, now, 2 * number, false);
  ranges.push_back(range_of("Optimizer.step#SGD.step", now + 3, now + 33));
  ranges.front().end = step.end = now + 40;
  return step;
}

Attribution attributed(const std::vector<std::vector<HostRange>>& steps) {
  AttributionRules rules;
  rules.warm_up_steps = 0;
  rules.explain = true;
  Attributor attributor(rules);
  attributor.on(FactRecord{kProcessorFact, kCpuProcessor});
  HostRecords records(attributor);
  for (const std::vector<HostRange>& step : steps) records.step(step);
  return attributor.finish();
}

TEST_CASE("a step on the CPU: every nanosecond is a layer's or the rest's, and the gradients are told apart") {
  const LinearStep first = linear_step(0, 1000);
  const Attribution found = attributed({first.ranges, linear_step(1, 5000).ranges});
  const Measurement& measured = found.profile.measurement.value();
  CHECK(measured.on_cpu);
  CHECK(measured.kernel_time == 2 * (first.end - 1000));
  REQUIRE(found.profile.layers.size() == 2);
  const ProfileLayer& one = found.profile.layers[0];
  const ProfileLayer& two = found.profile.layers[1];
  CHECK(one.forward.median == 70);
  CHECK(one.forward.n == 2);
  // Its input needs no gradient: no product makes one, and all around the products is the weight's.
  CHECK(one.input_grad.value().median == 0);
  CHECK(one.weight_grad.value().median == 7 + 10 + 10 + 10 + 200 + 10 + 20 + 10);
  CHECK(two.input_grad.value().median == 10 + 10 + 10 + 100);
  CHECK(two.weight_grad.value().median == 10 + 10 + 200 + 10 + 20 + 10);
  CHECK(two.grad_split == GradSplit::kName);
  const auto rest = [&](const std::string& what) {
    const auto item = std::find_if(measured.rest.begin(), measured.rest.end(),
                                   [&](const RestItem& each) { return each.what == what; });
    return item == measured.rest.end() ? 0 : item->total;
  };
  CHECK(rest("optimizer") == 2 * 30);
  CHECK(rest("outside layers") == 2 * (5 + 10 + 5 + 3 + 7));
  CHECK(found.profile.origin.method.starts_with("own time of the operators of PyTorch"));
}

TEST_CASE("what lies outside of the step's time is the profiler's own, and left out") {
  LinearStep step = linear_step(0, 1000);
  const Nanoseconds time = attributed({step.ranges}).profile.measurement.value().kernel_time;
  step.ranges.push_back(range_of("aten::zeros", 900, 950));
  step.ranges.push_back(range_of("aten::zeros", step.end, step.end + 50));
  CHECK(attributed({step.ranges}).profile.measurement.value().kernel_time == time);
}

TEST_CASE("a node without a product is the input's gradient, and a transposed weight is the weight's") {
  std::vector<HostRange> ranges = {
      range_of("debubble.step:0", 0, 1000),
      range_of("debubble.layer:a", 0, 100),
      range_of("aten::t", 10, 20, 0, "[[4, 6]]"),
      range_of("aten::relu", 30, 60, 1, "[[8, 4]]"),
      range_of("autograd::engine::evaluate_function: ReluBackward0", 200, 240, 1),
      range_of("ReluBackward0", 205, 235, 1),
      range_of("aten::threshold_backward", 210, 230),
      range_of("autograd::engine::evaluate_function: TBackward0", 250, 270, 0),
      range_of("TBackward0", 255, 265, 0),
  };
  std::reverse(ranges.begin(), ranges.end());  // in any order
  const Attribution found = attributed({ranges});
  REQUIRE(found.profile.layers.size() == 1);
  CHECK(found.profile.layers[0].input_grad.value().median == 40);
  CHECK(found.profile.layers[0].weight_grad.value().median == 10 + 20);  // with the engine's way there
}

TEST_CASE("what a checkpoint computes again inside of a node is no product of that node") {
  const std::vector<HostRange> ranges = {
      range_of("debubble.step:0", 0, 2000),
      range_of("debubble.layer:a", 0, 100),
      range_of("CheckpointFunction", 10, 90, 5),
      range_of("autograd::engine::evaluate_function: CheckpointFunctionBackward", 200, 900, 5),
      range_of("CheckpointFunctionBackward", 200, 900, 5),
      range_of("debubble.layer:a", 210, 410),
      range_of("debubble.phase:R", 210, 410),
      range_of("aten::addmm", 220, 400, 6, "[[4], [8, 6], [6, 4]]"),
      range_of("autograd::engine::evaluate_function: AddmmBackward0", 500, 800, 6),
      range_of("AddmmBackward0", 500, 800, 6),
      range_of("aten::mm", 500, 800, -1, "[[6, 8], [8, 4]]"),
  };
  const Attribution found = attributed({ranges});
  REQUIRE(found.profile.layers.size() == 1);
  const ProfileLayer& layer = found.profile.layers[0];
  CHECK(layer.forward.median == 100);
  CHECK(layer.weight_grad.value().median == 300);
  CHECK(layer.input_grad.value().median == 400);  // 200 computed again, 200 of the checkpoint itself
}

TEST_CASE("layers keep their time where an operator does not nest with them") {
  const std::vector<HostRange> ranges = {
      range_of("debubble.step:0", 0, 1000),      range_of("debubble.layer:embedding", 0, 100),
      range_of("CheckpointFunction", 80, 400),   range_of("debubble.layer:block", 120, 300),
      range_of("debubble.layer:head", 350, 700),
  };
  const HostTree tree = host_tree_of(ranges);
  CHECK(tree.overlaps == 0);
  const Attribution found = attributed({ranges});
  REQUIRE(found.profile.layers.size() == 3);
  CHECK(found.profile.layers[0].forward.median == 100);
  CHECK(found.profile.layers[1].forward.median == 180);
  CHECK(found.profile.layers[2].forward.median == 350);
  CHECK(host_tree_of({range_of("a", 0, 10), range_of("b", 5, 20)}).overlaps == 1);
}

TEST_CASE("the work of random ranges adds up to the step") {
  std::mt19937 random(7);
  const auto up_to = [&](Nanoseconds most) { return std::uniform_int_distribution<Nanoseconds>(0, most)(random); };
  const std::vector<std::string> names = {"aten::mm",         "aten::sum",
                                          "aten::t",          "debubble.layer:a",
                                          "ReluBackward0",    "autograd::engine::evaluate_function: MmBackward0",
                                          "aten::native_norm"};
  for (int round = 0; round < 300; ++round) {
    std::vector<HostRange> ranges = {range_of("debubble.step:0", 0, 1000)};
    for (int k = 0; k < 40; ++k) {
      const Nanoseconds begin = up_to(999);
      ranges.push_back(range_of(names[static_cast<std::size_t>(up_to(6))], begin, begin + up_to(300), up_to(3) - 1));
    }
    const HostTree tree = host_tree_of(ranges);
    Nanoseconds sum = 0;
    Nanoseconds before = 0;
    for (const HostWork& piece : host_work_of(tree)) {
      CHECK(piece.begin == before);  // without a gap
      before = piece.end;
      sum += piece.end - piece.begin;
    }
    CHECK(sum == 1000);
    AttributionRules rules;
    Attributor attributor(rules);
    HostRecords(attributor).step(ranges);
    try {
      CHECK(attributor.finish().profile.measurement.value().kernel_time == 1000);
    } catch (const InputError& error) {  // none of them was a layer, or none had work
      CHECK(error.diagnostics().front().code.starts_with("A00"));
    }
  }
}

TEST_CASE("a step whose clock is behind the last one's end is moved there, and stays as long") {
  const Attribution found = attributed({linear_step(0, 1000).ranges, linear_step(1, 1100).ranges});
  const Attribution apart = attributed({linear_step(0, 1000).ranges, linear_step(1, 9000).ranges});
  CHECK(found.profile == apart.profile);
}

TEST_CASE("a step that was slowed is warm-up") {
  Attributor attributor{AttributionRules{}};
  HostRecords records(attributor);
  for (int k = 0; k < 3; ++k) records.step(linear_step(k, 1000 + 1000 * k).ranges, k == 0);
  CHECK(attributor.finish().profile.measurement.value().warm_up_steps == 1);
}

TEST_CASE("steps of which only the duration is known tell what the profiler costs") {
  AttributionRules rules;
  rules.warm_up_steps = 0;
  Attributor attributor(rules);
  HostRecords records(attributor);
  Nanoseconds now = 1000;
  for (int k = 0; k < 8; ++k) {
    LinearStep step = linear_step(k, now);
    const Nanoseconds duration = step.end - now;
    if (k % 2 == 0) {
      records.step(std::move(step.ranges));
    } else {
      records.bare_step(k, duration / 2, true);
    }
    now += 2 * duration;
  }
  CHECK(attributor.finish().profile.measurement.value().overhead_ppm.value() / 10'000 == 100);
}

}  // namespace
}  // namespace debubble::test
