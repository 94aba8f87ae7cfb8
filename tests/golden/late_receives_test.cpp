// Late transfers against PyTorch's own classes: their step code on a virtual clock, where a message begins when both
// sides have posted it (tests/witness/pytorch_test.py runs it for more).
#include "schedules/catalog.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Times of a device share's pass in ms; the step in us, where a message takes 100 us.
struct MeasuredStep {
  const char* schedule;
  int devices, microbatches, chunks;
  int forward, input_grad, weight_grad;
  Nanoseconds step;
};

constexpr MeasuredStep kSteps[] = {{"interleaved", 2, 4, 2, 1, 1, 1, 14100},
                                   {"interleaved", 2, 4, 2, 1, 2, 1, 18600},
                                   {"interleaved", 2, 4, 2, 2, 1, 1, 18600},
                                   {"interleaved", 2, 6, 2, 1, 1, 1, 20100},
                                   {"interleaved", 2, 6, 2, 1, 2, 1, 26600},
                                   {"interleaved", 2, 6, 2, 2, 1, 1, 26600},
                                   {"interleaved", 4, 8, 2, 1, 1, 1, 29900},
                                   {"interleaved", 4, 8, 2, 1, 2, 1, 39400},
                                   {"interleaved", 4, 8, 2, 2, 1, 1, 39400},
                                   {"interleaved", 4, 12, 2, 1, 1, 1, 41900},
                                   {"interleaved", 4, 12, 2, 1, 2, 1, 55400},
                                   {"interleaved", 4, 12, 2, 2, 1, 1, 55400},
                                   {"breadth-first", 2, 4, 2, 1, 1, 1, 15100},
                                   {"breadth-first", 2, 4, 2, 1, 2, 1, 19600},
                                   {"breadth-first", 2, 4, 2, 2, 1, 1, 19600},
                                   {"breadth-first", 2, 6, 2, 1, 1, 1, 21900},
                                   {"breadth-first", 2, 6, 2, 1, 2, 1, 28400},
                                   {"breadth-first", 2, 6, 2, 2, 1, 1, 28400},
                                   {"breadth-first", 4, 8, 2, 1, 1, 1, 32100},
                                   {"breadth-first", 4, 8, 2, 1, 2, 1, 41600},
                                   {"breadth-first", 4, 8, 2, 2, 1, 1, 41600},
                                   {"breadth-first", 4, 12, 2, 1, 1, 1, 45700},
                                   {"breadth-first", 4, 12, 2, 1, 2, 1, 59200},
                                   {"breadth-first", 4, 12, 2, 2, 1, 1, 59200},
                                   {"interleaved-zb", 2, 4, 2, 1, 1, 1, 13300},
                                   {"interleaved-zb", 2, 4, 2, 1, 2, 1, 17800},
                                   {"interleaved-zb", 2, 4, 2, 2, 1, 1, 17800},
                                   {"interleaved-zb", 2, 6, 2, 1, 1, 1, 19300},
                                   {"interleaved-zb", 2, 6, 2, 1, 2, 1, 25800},
                                   {"interleaved-zb", 2, 6, 2, 2, 1, 1, 25800},
                                   {"interleaved-zb", 4, 8, 2, 1, 1, 1, 27500},
                                   {"interleaved-zb", 4, 8, 2, 1, 2, 1, 37000},
                                   {"interleaved-zb", 4, 8, 2, 2, 1, 1, 37000},
                                   {"interleaved-zb", 4, 12, 2, 1, 1, 1, 39500},
                                   {"interleaved-zb", 4, 12, 2, 1, 2, 1, 53000},
                                   {"interleaved-zb", 4, 12, 2, 2, 1, 1, 53000},
                                   {"zb-v", 2, 4, 2, 1, 1, 1, 12800},
                                   {"zb-v", 2, 4, 2, 1, 2, 1, 17400},
                                   {"zb-v", 2, 4, 2, 2, 1, 1, 17400},
                                   {"zb-v", 2, 6, 2, 1, 1, 1, 18800},
                                   {"zb-v", 2, 6, 2, 1, 2, 1, 25400},
                                   {"zb-v", 2, 6, 2, 2, 1, 1, 25400},
                                   {"zb-v", 4, 8, 2, 1, 1, 1, 26800},
                                   {"zb-v", 4, 8, 2, 1, 2, 1, 36600},
                                   {"zb-v", 4, 8, 2, 2, 1, 1, 37000},
                                   {"zb-v", 4, 12, 2, 1, 1, 1, 38800},
                                   {"zb-v", 4, 12, 2, 1, 2, 1, 52600},
                                   {"zb-v", 4, 12, 2, 2, 1, 1, 53000},
                                   {"dualpipe-v", 2, 4, 2, 1, 1, 1, 13500},
                                   {"dualpipe-v", 2, 4, 2, 1, 2, 1, 18200},
                                   {"dualpipe-v", 2, 4, 2, 2, 1, 1, 18500},
                                   {"dualpipe-v", 2, 6, 2, 1, 1, 1, 19700},
                                   {"dualpipe-v", 2, 6, 2, 1, 2, 1, 26400},
                                   {"dualpipe-v", 2, 6, 2, 2, 1, 1, 26700},
                                   {"dualpipe-v", 4, 8, 2, 1, 1, 1, 28800},
                                   {"dualpipe-v", 4, 8, 2, 1, 2, 1, 39800},
                                   {"dualpipe-v", 4, 8, 2, 2, 1, 1, 39700},
                                   {"dualpipe-v", 4, 12, 2, 1, 1, 1, 41400},
                                   {"dualpipe-v", 4, 12, 2, 1, 2, 1, 56400},
                                   {"dualpipe-v", 4, 12, 2, 2, 1, 1, 56300},
                                   {"gpipe", 2, 4, 1, 1, 1, 1, 15800},
                                   {"gpipe", 2, 4, 1, 1, 2, 1, 20800},
                                   {"gpipe", 4, 8, 1, 1, 1, 1, 35000},
                                   {"gpipe", 4, 8, 1, 1, 2, 1, 46000},
                                   {"gpipe", 8, 16, 1, 1, 1, 1, 73400},
                                   {"gpipe", 8, 16, 1, 1, 2, 1, 96400}};

TEST_CASE("golden: PyTorch posts a receive where its table with communication has it") {
  constexpr Nanoseconds kMicrosecond = 1000;
  for (const MeasuredStep& row : kSteps) {
    const std::string name = row.schedule;
    ScheduleRequest request{row.devices, row.microbatches, row.chunks, {}, nullptr};
    if (name == "gpipe") request.params["backward"] = "ascending";
    if (name == "interleaved") request.params["rounding"] = "pytorch";
    const Schedule schedule = build_schedule(name, request);
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
    const EngineRun run = run_engine(schedule, costs, {100 * kMicrosecond, 0}, P2p::kLate);
    CHECK(run.totals.makespan == row.step * kMicrosecond);
  }
}

}  // namespace
