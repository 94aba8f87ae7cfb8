// Devices that share a GPU slow each other down (StageCosts::at_work): closed forms, and an independent replay of small
// steps of time.
#include "schedules/catalog.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

StageCost op_times(Nanoseconds forward, Nanoseconds backward) {
  StageCost cost;
  cost.forward = forward;
  cost.backward = backward;
  cost.input_grad = backward / 2;
  cost.weight_grad = backward - backward / 2;
  return cost;
}

StageCosts alike(int stages, Nanoseconds forward, Nanoseconds backward) {
  StageCosts costs;
  costs.stages.assign(static_cast<std::size_t>(stages), op_times(forward, backward));
  return costs;
}

Timeline beside_each_other(const Schedule& schedule, const StageCosts& costs, Nanoseconds latency) {
  const auto lowered = lower(schedule, P2p::kOverlapped);
  const auto& program = std::get<Program>(lowered);
  return simulate_cluster(program, schedule, costs, Topology::ideal(latency, 0), {}).front();
}

double time_of(const StageCosts& costs, const Op& op, int at_work, int devices) {
  const auto time = [&op](const std::vector<StageCost>& stages) {
    return static_cast<double>(duration_of(op.kind, stages[static_cast<std::size_t>(op.stage)]));
  };
  int below = 0;
  double lower = 0;
  for (const TimesAtWork& times : costs.at_work) {
    if (times.devices >= at_work) {
      const double upper = time(times.stages);
      if (below == 0 || times.devices == at_work) return upper;
      return lower + (upper - lower) * (at_work - below) / (times.devices - below);
    }
    below = times.devices;
    lower = time(times.stages);
  }
  const double upper = time(costs.stages);
  if (below == 0 || at_work == devices) return upper;
  return lower + (upper - lower) * (at_work - below) / (devices - below);
}

// All devices side by side, from one change to the next; shares no code with the engine. 1F1B-like rows of one stage
// for each device only. Returns the step.
double replay(const Schedule& schedule, const StageCosts& costs, double latency) {
  struct Device {
    std::size_t next = 0;
    double left = 0;  // of the running op, as a share
    bool runs = false;
  };
  const int devices = schedule.devices;
  std::vector<Device> all(static_cast<std::size_t>(devices));
  std::vector<std::vector<double>> done_f(all.size(), std::vector<double>(1000, -1));
  std::vector<std::vector<double>> done_b = done_f;
  double now = 0;
  for (;;) {
    double next_event = 1e300;
    int at_work = 0;
    for (std::size_t d = 0; d < all.size(); ++d) {
      Device& device = all[d];
      if (!device.runs && device.next < schedule.rows[d].size()) {
        const Op& op = schedule.rows[d][device.next];
        const auto piece = static_cast<std::size_t>(op.microbatch);
        double ready = 0;
        if (op.kind == OpKind::kForward) {
          if (d > 0) ready = done_f[d - 1][piece] < 0 ? 1e300 : done_f[d - 1][piece] + latency;
        } else if (d + 1 < all.size()) {
          ready = done_b[d + 1][piece] < 0 ? 1e300 : done_b[d + 1][piece] + latency;
        }
        if (ready <= now + 1e-6) {
          device.runs = true;
          device.left = 1;
        } else {
          next_event = std::min(next_event, ready);
        }
      }
      if (device.runs) ++at_work;
    }
    if (at_work == 0 && next_event > 1e299) return now;
    for (std::size_t d = 0; d < all.size(); ++d) {
      if (!all[d].runs) continue;
      const double time = time_of(costs, schedule.rows[d][all[d].next], at_work, devices);
      next_event = std::min(next_event, now + all[d].left * time);
    }
    for (std::size_t d = 0; d < all.size(); ++d) {
      Device& device = all[d];
      if (!device.runs) continue;
      const Op& op = schedule.rows[d][device.next];
      device.left -= (next_event - now) / time_of(costs, op, at_work, devices);
      if (device.left > 1e-9) continue;
      (op.kind == OpKind::kForward ? done_f : done_b)[d][static_cast<std::size_t>(op.microbatch)] = next_event;
      device.runs = false;
      ++device.next;
    }
    now = next_event;
  }
}

}  // namespace

TEST_CASE("an op takes as long as beside as many devices as work at the time") {
  // Two devices, one microbatch: never both at work.
  StageCosts costs = alike(2, 2'000, 4'000);
  costs.at_work = {{1, alike(2, 1'000, 3'000).stages}};
  CHECK_EQ(beside_each_other(build("gpipe", 2, 1), costs, 0).makespan, 8'000);
  // Two microbatches: 0F0 alone 1000, then 0F1 beside 1F0 2000, then 1F1 alone 1000; backwards 3000, 4000, 3000.
  CHECK_EQ(beside_each_other(build("gpipe", 2, 2), costs, 0).makespan, 14'000);
}

TEST_CASE("an op whose company changes while it runs is as long as its parts") {
  // Stage 0 forwards take 4000 beside another, 2000 alone; stage 1 forwards 1000 either way.
  StageCosts costs = alike(2, 1'000, 1'000);
  costs.stages[0].forward = 4'000;
  costs.at_work = {{1, costs.stages}};
  costs.at_work[0].stages[0].forward = 2'000;
  const Timeline timeline = beside_each_other(build("gpipe", 2, 2), costs, 0);
  // 0F1 runs 1000 beside 1F0 (a quarter of it), then three quarters of 2000 alone.
  const auto second = std::find_if(timeline.spans.begin(), timeline.spans.end(), [](const Span& span) {
    return span.op.stage == 0 && span.op.kind == OpKind::kForward && span.op.microbatch == 1;
  });
  REQUIRE(second != timeline.spans.end());
  CHECK_EQ(second->begin, 2'000);
  CHECK_EQ(second->end, 4'500);
  CHECK_EQ(timeline.slowed(*second), 0);
}

TEST_CASE("times that do not depend on the others give the run of simulate to the nanosecond") {
  for (const char* name : {"1f1b", "zb-h1", "interleaved", "chimera", "zb-v"}) {
    CAPTURE(name);
    const Schedule schedule = build(name, 4, 8);
    StageCosts costs = alike(schedule.stages, 1'001, 2'003);
    const auto lowered = lower(schedule, P2p::kOverlapped);
    const Nanoseconds plain = simulate_totals(std::get<Program>(lowered), costs, Topology::ideal(7, 0)).makespan;
    costs.at_work = {{1, costs.stages}, {3, costs.stages}};
    CHECK_EQ(beside_each_other(schedule, costs, 7).makespan, plain);
  }
}

TEST_CASE("an independent replay gives the same step") {
  for (const int devices : {2, 3, 4, 8}) {
    for (const char* name : {"gpipe", "1f1b"}) {
      for (const Nanoseconds latency : {0, 5'000}) {
        CAPTURE(name);
        CAPTURE(devices);
        CAPTURE(latency);
        const Schedule schedule = build(name, devices, 2 * devices);
        StageCosts costs = alike(devices, 1'500'000, 3'100'000);
        TimesAtWork alone{1, alike(devices, 1'000'000, 2'000'000).stages};
        for (std::size_t s = 0; s < alone.stages.size(); ++s) {
          costs.stages[s].forward += static_cast<Nanoseconds>(70'001 * s);
          alone.stages[s].forward += static_cast<Nanoseconds>(30'011 * s);
        }
        costs.at_work = {alone};
        if (devices > 2) {
          TimesAtWork half = alone;
          half.devices = (devices + 1) / 2;
          for (StageCost& cost : half.stages) cost.backward += 200'000;
          costs.at_work.push_back(half);
        }
        const auto engine = static_cast<double>(beside_each_other(schedule, costs, latency).makespan);
        // Every change of speed rounds to a nanosecond.
        CHECK(std::abs(engine - replay(schedule, costs, static_cast<double>(latency))) < 500);
      }
    }
  }
}
