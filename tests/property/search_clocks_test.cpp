// Searches keep clocks of their own while they place ops: what they count is what the engine runs.
#include "schedules/catalog.hpp"
#include "schedules/optimal.hpp"
#include "schedules/zero_bubble/zb_auto_search.hpp"
#include "schedules/zero_bubble/zb_v_auto_search.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/planned.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

Case random_passes(Dice& dice, int chunks) {
  Case of;
  of.devices = dice.from(chunks, 6);
  of.microbatches = dice.from(1, 20);
  const int most = dice.once_in(3) ? 2 : 1'000;
  for (int s = 0; s < of.devices * chunks; ++s) {
    of.passes.push_back({dice.from(1, most), dice.from(1, most), dice.from(1, most), dice.from(1, 4), dice.from(1, 4)});
  }
  of.hop = dice.from(0, most);
  return of;
}

Nanoseconds engine_span(const Case& of, const char* placed_like, std::vector<std::vector<Op>> rows) {
  Schedule schedule = build(placed_like, of.devices, of.microbatches);
  schedule.rows = std::move(rows);
  return totals_of(schedule, of).span;
}

TEST_CASE("zb-auto: the span of its plan is the engine's") {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    Dice dice(seed);
    const Case of = random_passes(dice, 1);
    std::vector<AutoStage> stages;
    for (const Pass& pass : of.passes) {
      stages.push_back({pass.forward, pass.input_grad, pass.weight_grad, of.hop, pass.activation, pass.held,
                        std::max(pass.activation, pass.held) + dice.from(0, 4 * of.devices)});
    }
    const AutoPlan plan = search_auto_plan(stages, of.microbatches);
    std::vector<std::vector<Op>> rows;
    for (std::size_t d = 0; d < stages.size(); ++d) {
      std::array<std::int32_t, kOpKinds> next{};
      rows.emplace_back();
      for (const OpKind kind : plan.orders[d]) {
        rows.back().push_back({kind, false, static_cast<std::int32_t>(d), next.at(static_cast<std::size_t>(kind))++});
      }
    }
    CAPTURE(seed);
    REQUIRE(engine_span(of, "zb-h1", std::move(rows)) == plan.span);
  }
}

TEST_CASE("zb-v-auto: the span of its plan is the engine's") {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    Dice dice(seed);
    const Case of = random_passes(dice, 2);
    std::vector<VDevice> devices;
    for (int d = 0; d < of.devices; ++d) {
      VDevice device;
      for (const int chunk : {0, 1}) {
        const Pass& pass = of.passes[static_cast<std::size_t>(chunk == 0 ? d : 2 * of.devices - 1 - d)];
        device.chunks[chunk] = {pass.forward, pass.input_grad, pass.weight_grad, pass.activation, pass.held};
        device.hops[chunk] = of.hop;
      }
      device.limit = least_memory(device) + dice.from(0, 4 * of.devices);
      devices.push_back(device);
    }
    const VPlan plan = search_v_plans(devices, of.microbatches).front();
    std::vector<std::vector<Op>> rows;
    for (int d = 0; d < of.devices; ++d) {
      rows.emplace_back();
      for (const VOp& op : plan.orders[static_cast<std::size_t>(d)]) {
        rows.back().push_back({op.kind, false, op.chunk == 0 ? d : 2 * of.devices - 1 - d, op.microbatch});
      }
    }
    CAPTURE(seed);
    REQUIRE(engine_span(of, "zb-v", std::move(rows)) == plan.span);
  }
}

// Nothing where it deadlocks.
std::optional<Nanoseconds> engine_step(const Schedule& schedule, const Case& of, P2p p2p) {
  const auto lowered = lower(schedule, p2p);
  const auto* program = std::get_if<Program>(&lowered);
  if (program == nullptr) return std::nullopt;
  return simulate_totals(*program, of.costs(), Topology::ideal(of.hop, 0)).makespan;
}

TEST_CASE("under every rule for transfers a plan takes what it says, and no other of its search takes less") {
  int better = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    Case of = random_passes(dice, 1);
    of.microbatches = dice.from(1, 8);
    PlanningCosts costs = of.known();
    ScheduleRequest request{of.devices, of.microbatches, 1, {{"memory_limit", "4p"}}, &costs};
    for (const P2p p2p : kEveryP2p) {
      CAPTURE(seed);
      CAPTURE(static_cast<int>(p2p));
      costs.p2p = P2p::kOverlapped;
      request.params.erase("budget");
      const std::optional<Nanoseconds> unaware = engine_step(build_schedule("zb-auto", request), of, p2p);
      costs.p2p = p2p;
      const std::optional<Nanoseconds> aware = engine_step(build_schedule("zb-auto", request), of, p2p);
      if (unaware) REQUIRE(aware <= unaware);
      if (aware < unaware) ++better;
      request.params["budget"] = "100";
      const OptimalSchedule found = search_optimal(request);
      REQUIRE(engine_step(found.schedule, of, p2p) == found.proof.time);
      REQUIRE(found.proof.bound <= found.proof.time);
      if (aware) REQUIRE(found.proof.time <= *aware);
    }
  }
  CHECK(better > 10);
}

}  // namespace
