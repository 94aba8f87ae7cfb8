// zb-auto and zb-v-auto on random pipelines: unequal stages, hops and limits. The plan is complete, does not deadlock,
// stays within every device's limit and is what the engine finds; a limit works from one microbatch per device on.
#include "sim/rows/check.hpp"
#include "tests/support/planned.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

struct Planned {
  Case of;
  std::vector<Bytes> limits;  // by device, in bytes
  std::vector<Bytes> least;   // one microbatch: what a limit must hold
};

// Equal or unequal stages; small numbers for ties, large ones for none, sometimes no time or no memory at all.
Pass random_pass(Dice& dice, int scale) {
  Pass pass;
  for (Nanoseconds* time : {&pass.forward, &pass.input_grad, &pass.weight_grad}) *time = dice.from(0, scale);
  pass.activation = dice.from(0, 20);
  pass.held = dice.once_in(4) ? dice.from(0, 30) : dice.from(0, static_cast<int>(pass.activation));
  return pass;
}

Bytes least_of(const Case& of, int device) {
  const Pass& first = of.passes[static_cast<std::size_t>(device)];
  if (of.chunks() == 1) return std::max(first.activation, first.held);
  const Pass& second = of.passes[static_cast<std::size_t>(2 * of.devices - 1 - device)];
  return std::max({first.activation + second.activation, first.activation + second.held, first.held});
}

Planned random_planned(Dice& dice, int chunks) {
  Planned planned;
  Case& of = planned.of;
  of.devices = dice.from(1, 7);
  of.microbatches = dice.from(1, 14);
  const int scale = dice.once_in(2) ? 4 : 9973;
  of.hop = dice.once_in(3) ? 0 : dice.from(0, scale);
  const Pass same = random_pass(dice, scale);
  const bool equal = dice.once_in(3);
  for (int s = 0; s < of.devices * chunks; ++s) of.passes.push_back(equal ? same : random_pass(dice, scale));
  for (int d = 0; d < of.devices; ++d) {
    planned.least.push_back(least_of(of, d));
    planned.limits.push_back(planned.least.back() + (dice.once_in(3) ? 0 : dice.from(0, 20 * chunks * of.devices)));
  }
  return planned;
}

std::string in_bytes(const std::vector<Bytes>& limits) {
  std::string text;
  for (const Bytes limit : limits) text += (text.empty() ? "" : ",") + std::to_string(limit) + "B";
  return text;
}

std::string problem_of(const std::string& name, const Planned& planned) {
  const Schedule schedule = plan(name, planned.of, {{"memory_limit", in_bytes(planned.limits)}});
  for (const ScheduleProblem& problem : find_problems(schedule)) return problem.message;
  if (find_deadlock(schedule)) return "deadlocks";
  const Totals totals = totals_of(schedule, planned.of);
  for (std::size_t d = 0; d < planned.limits.size(); ++d) {
    if (totals.devices[d].peak_activation <= planned.limits[d]) continue;
    return "device " + std::to_string(d) + " holds " + std::to_string(totals.devices[d].peak_activation) +
           " of at most " + std::to_string(planned.limits[d]);
  }
  return "";
}

// Whether the limit is refused once a device has a byte less than one microbatch needs.
bool refuses_less(const std::string& name, const Planned& planned, std::size_t device) {
  Planned less = planned;
  less.limits[device] = planned.least[device] - 1;
  try {
    (void)plan(name, less.of, {{"memory_limit", in_bytes(less.limits)}});
  } catch (const InputError& error) {
    return error.diagnostics().front().code == "S042";
  }
  return false;
}

void check_row(const std::string& name, int chunks, int cases) {
  for (int seed = 1; seed <= cases; ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed));
    const Planned planned = random_planned(dice, chunks);
    CAPTURE(seed);
    REQUIRE_EQ(problem_of(name, planned), "");
    const auto device = static_cast<std::size_t>(dice.from(0, planned.of.devices - 1));
    if (planned.least[device] > 0) REQUIRE(refuses_less(name, planned, device));
  }
}

}  // namespace

TEST_CASE("zb-auto keeps every device's limit and works from one microbatch per device on") {
  check_row("zb-auto", 1, 3000);
}

TEST_CASE("zb-v-auto keeps every device's limit and works from one microbatch per device on") {
  check_row("zb-v-auto", 2, 3000);
}

TEST_CASE("zb-auto with 1F1B's memory is never slower than ZB-H1, equal stages") {
  for (int seed = 1; seed <= 300; ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed));
    const Pass pass{dice.from(1, 50), dice.from(1, 50), dice.from(1, 50), 2, dice.from(0, 2)};
    const Case of = equal_case(dice.from(1, 7), dice.from(1, 20), pass, dice.from(0, 10));
    CAPTURE(seed);
    const Nanoseconds searched = totals_of(plan("zb-auto", of), of).span;
    CHECK(searched <= totals_of(build("zb-h1", of.devices, of.microbatches), of).span);
    CHECK(searched >= of.work(0));
  }
}

TEST_CASE("zb-auto: all times and the hop doubled double the span and keep the order") {
  for (int seed = 1; seed <= 200; ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed));
    Planned planned = random_planned(dice, 1);
    const Params params{{"memory_limit", in_bytes(planned.limits)}};
    const Schedule once = plan("zb-auto", planned.of, params);
    const Nanoseconds span = totals_of(once, planned.of).span;
    planned.of.hop *= 2;
    for (Pass& pass : planned.of.passes) {
      for (Nanoseconds* time : {&pass.forward, &pass.input_grad, &pass.weight_grad}) *time *= 2;
    }
    const Schedule twice = plan("zb-auto", planned.of, params);
    CAPTURE(seed);
    REQUIRE(twice.rows == once.rows);
    REQUIRE(totals_of(twice, planned.of).span == 2 * span);
  }
}
