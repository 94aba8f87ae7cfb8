// Late transfers against PyTorch's own GPipe and LoopedBFS: their step code on a virtual clock, where a message begins
// when both sides have posted it.
#include "schedules/catalog.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Times of a device share's pass in ms, hop and step in ns.
struct MeasuredStep {
  const char* schedule;
  int devices, microbatches, chunks;
  int forward, input_grad, weight_grad;
  Nanoseconds hop, step;
};

constexpr MeasuredStep kSteps[] = {
    {"breadth-first", 2, 4, 2, 1, 1, 1, 20'000, 13'820'000},  {"breadth-first", 2, 4, 2, 1, 1, 1, 100'000, 15'100'000},
    {"breadth-first", 2, 4, 2, 1, 2, 1, 20'000, 18'320'000},  {"breadth-first", 2, 4, 2, 1, 2, 1, 100'000, 19'600'000},
    {"breadth-first", 2, 4, 2, 2, 1, 1, 20'000, 18'320'000},  {"breadth-first", 2, 4, 2, 2, 1, 1, 100'000, 19'600'000},
    {"breadth-first", 2, 6, 2, 1, 1, 1, 20'000, 19'980'000},  {"breadth-first", 2, 6, 2, 1, 1, 1, 100'000, 21'900'000},
    {"breadth-first", 2, 6, 2, 1, 2, 1, 20'000, 26'480'000},  {"breadth-first", 2, 6, 2, 1, 2, 1, 100'000, 28'400'000},
    {"breadth-first", 2, 6, 2, 2, 1, 1, 20'000, 26'480'000},  {"breadth-first", 2, 6, 2, 2, 1, 1, 100'000, 28'400'000},
    {"breadth-first", 4, 8, 2, 1, 1, 1, 20'000, 29'220'000},  {"breadth-first", 4, 8, 2, 1, 1, 1, 100'000, 32'100'000},
    {"breadth-first", 4, 8, 2, 1, 2, 1, 20'000, 38'720'000},  {"breadth-first", 4, 8, 2, 1, 2, 1, 100'000, 41'600'000},
    {"breadth-first", 4, 8, 2, 2, 1, 1, 20'000, 38'720'000},  {"breadth-first", 4, 8, 2, 2, 1, 1, 100'000, 41'600'000},
    {"breadth-first", 4, 12, 2, 1, 1, 1, 20'000, 41'540'000}, {"breadth-first", 4, 12, 2, 1, 1, 1, 100'000, 45'700'000},
    {"breadth-first", 4, 12, 2, 1, 2, 1, 20'000, 55'040'000}, {"breadth-first", 4, 12, 2, 1, 2, 1, 100'000, 59'200'000},
    {"breadth-first", 4, 12, 2, 2, 1, 1, 20'000, 55'040'000}, {"breadth-first", 4, 12, 2, 2, 1, 1, 100'000, 59'200'000},
    {"gpipe", 2, 4, 1, 1, 1, 1, 20'000, 15'160'000},          {"gpipe", 2, 4, 1, 1, 1, 1, 100'000, 15'800'000},
    {"gpipe", 2, 4, 1, 1, 2, 1, 20'000, 20'160'000},          {"gpipe", 2, 4, 1, 1, 2, 1, 100'000, 20'800'000},
    {"gpipe", 4, 8, 1, 1, 1, 1, 20'000, 33'400'000},          {"gpipe", 4, 8, 1, 1, 1, 1, 100'000, 35'000'000},
    {"gpipe", 4, 8, 1, 1, 2, 1, 20'000, 44'400'000},          {"gpipe", 4, 8, 1, 1, 2, 1, 100'000, 46'000'000},
    {"gpipe", 8, 16, 1, 1, 1, 1, 20'000, 69'880'000},         {"gpipe", 8, 16, 1, 1, 1, 1, 100'000, 73'400'000},
    {"gpipe", 8, 16, 1, 1, 2, 1, 20'000, 92'880'000},         {"gpipe", 8, 16, 1, 1, 2, 1, 100'000, 96'400'000}};

TEST_CASE("golden: PyTorch's GPipe and LoopedBFS post a receive directly before its op") {
  for (const MeasuredStep& row : kSteps) {
    ScheduleRequest request{row.devices, row.microbatches, row.chunks, {}, nullptr};
    if (row.schedule == std::string("gpipe")) request.params["backward"] = "ascending";
    const Schedule schedule = build_schedule(row.schedule, request);
    StageCost cost;
    const Nanoseconds unit = kNanosecondsPerMillisecond / row.chunks;
    cost.forward = row.forward * unit;
    cost.input_grad = row.input_grad * unit;
    cost.weight_grad = row.weight_grad * unit;
    cost.backward = cost.input_grad + cost.weight_grad;
    StageCosts costs;
    costs.stages.assign(static_cast<std::size_t>(schedule.stages), cost);
    CAPTURE(schedule.name);
    CAPTURE(row.devices);
    CAPTURE(row.microbatches);
    CHECK(run_engine(schedule, costs, {row.hop, 0}, P2p::kLate).totals.makespan == row.step);
  }
}

}  // namespace
