// Transfers as frameworks have them, against their own step code on a virtual clock, where a message begins when both
// sides have posted it (tests/witness runs that code for more sizes).
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

// Forward 12 ms and backward 24 ms of a device share; message and step in us, by Megatron-LM's own function on a
// virtual clock (megatron-core 0.19.2), without --overlap-p2p-communication-warmup-flush.
struct JoinedStep {
  int devices, microbatches, chunks, group;
  Nanoseconds message, step;
};

constexpr JoinedStep kJoinedSteps[] = {
    {2, 4, 2, 4, 500, 167000},    {2, 8, 2, 4, 2000, 326000},    {2, 8, 2, 8, 1000, 324000},
    {2, 4, 3, 4, 3000, 210000},   {2, 8, 3, 4, 1000, 318000},    {2, 8, 3, 8, 1000, 334000},
    {2, 4, 4, 4, 500, 166000},    {2, 8, 4, 4, 1000, 323000},    {2, 8, 4, 8, 500, 322000},
    {3, 6, 2, 6, 3000, 300000},   {3, 12, 2, 6, 3000, 516000},   {3, 12, 2, 12, 1000, 496000},
    {3, 6, 3, 6, 500, 254000},    {3, 12, 3, 6, 3000, 540000},   {3, 12, 3, 12, 1000, 508000},
    {3, 6, 4, 6, 2000, 314000},   {3, 12, 4, 6, 3000, 570000},   {3, 12, 4, 12, 2000, 602000},
    {4, 8, 2, 8, 1000, 364000},   {4, 16, 2, 8, 500, 641000},    {4, 16, 2, 16, 1000, 668000},
    {4, 8, 3, 8, 500, 343000},    {4, 16, 3, 8, 3000, 726000},   {4, 16, 3, 16, 3000, 822000},
    {4, 8, 4, 8, 500, 342000},    {4, 16, 4, 8, 1000, 657000},   {4, 16, 4, 16, 500, 654000},
    {6, 12, 2, 12, 500, 539000},  {6, 24, 2, 12, 2000, 1022000}, {6, 24, 2, 24, 2000, 1070000},
    {6, 12, 3, 12, 2000, 608000}, {6, 24, 3, 12, 500, 953000},   {6, 24, 3, 24, 500, 977000},
    {6, 12, 4, 12, 3000, 723000}, {6, 24, 4, 12, 2000, 1073000}, {6, 24, 4, 24, 1000, 1063000},
    {8, 16, 2, 16, 3000, 840000}, {8, 32, 2, 16, 3000, 1416000}, {8, 32, 2, 32, 3000, 1512000},
    {8, 16, 3, 16, 3000, 894000}, {8, 32, 3, 16, 2000, 1392000}, {8, 32, 3, 32, 3000, 1662000},
    {8, 16, 4, 16, 2000, 859000}, {8, 32, 4, 16, 3000, 1545000}, {8, 32, 4, 32, 2000, 1627000},
    {2, 2, 2, 2, 3000, 108000},   {2, 2, 4, 2, 1000, 95000},     {3, 3, 3, 3, 2000, 164000},
    {4, 4, 2, 4, 500, 205000},    {4, 4, 4, 4, 500, 186000},     {6, 6, 3, 6, 1000, 310000},
    {8, 8, 2, 8, 2000, 474000},   {8, 8, 4, 8, 2000, 475000}};

TEST_CASE("golden: Megatron-LM joins the messages between two passes of its warm-up and cool-down") {
  constexpr Nanoseconds kMicrosecond = 1000;
  for (const JoinedStep& row : kJoinedSteps) {
    ScheduleRequest request{row.devices, row.microbatches, row.chunks, {}, nullptr};
    request.params["group"] = std::to_string(row.group);
    const Schedule schedule = build_schedule("interleaved", request);
    CAPTURE(row.devices);
    CAPTURE(row.microbatches);
    CAPTURE(row.chunks);
    CAPTURE(row.group);
    StageCost cost;
    cost.forward = 12 * kNanosecondsPerMillisecond / row.chunks;
    cost.backward = 2 * cost.forward;
    StageCosts costs;
    costs.stages.assign(static_cast<std::size_t>(schedule.stages), cost);
    const EngineRun run = run_engine(schedule, costs, {row.message * kMicrosecond, 0}, P2p::kJoined);
    CHECK(run.totals.makespan == row.step * kMicrosecond);
  }
}

TEST_CASE("golden: DeepSpeed's messages meet one after another") {
  struct Met {
    int devices, microbatches, forward, backward;
    Nanoseconds message, step;  // us, by TrainSchedule's own instructions (DeepSpeed 0.19.8)
  };
  constexpr Met kMet[] = {{4, 8, 1, 2, 500, 49'000}, {4, 8, 1, 2, 100, 36'200},  {8, 16, 1, 2, 250, 87'000},
                          {4, 2, 1, 2, 500, 19'000}, {6, 12, 1, 2, 200, 61'400}, {2, 8, 1, 3, 400, 42'400}};
  for (const Met& row : kMet) {
    const Schedule schedule = build_schedule("1f1b", {row.devices, row.microbatches, 0, {}, nullptr});
    StageCost cost;
    cost.forward = row.forward * kNanosecondsPerMillisecond;
    cost.backward = row.backward * kNanosecondsPerMillisecond;
    StageCosts costs;
    costs.stages.assign(static_cast<std::size_t>(schedule.stages), cost);
    const EngineRun run = run_engine(schedule, costs, {row.message * 1000, 0}, P2p::kRendezvous);
    CHECK(run.totals.makespan == row.step * 1000);
  }
}

}  // namespace
