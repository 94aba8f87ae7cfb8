// Orders as other frameworks run them: rows of DeepSpeed 0.19.8's DualPipeVSchedule and of the ZBH1 pass of
// PaddlePaddle 3.3.1, and what their job lists take; rows, steps and peaks after MindSpore 2.10's rules, which were
// read and not run.
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

const Params kSeqsmartvpp{{"rounding", "mindspore"}, {"warmup", "short"}};
const Params kSeqpipe{{"rounding", "mindspore"}};

std::vector<std::string> framework_rows_of(const Schedule& schedule) {
  std::vector<std::string> rows;
  for (const std::vector<Op>& ops : schedule.rows) {
    std::string& row = rows.emplace_back();
    for (const Op& op : ops) row += (row.empty() ? "" : " ") + to_string(op);
  }
  return rows;
}

struct FrameworkOrder {
  std::string schedule;
  int devices, microbatches;
  Params params;
  std::vector<std::string> rows;
};

const std::vector<FrameworkOrder> kFrameworkOrders{
    {"dualpipe-v",
     2,
     4,
     {{"order", "deepspeed"}},
     {"0F0 0F1 0F2 3F0 3B0 3F1 0F3 3B1 3F2 0B0 3B2 3F3 0B1 3B3 0B2 0B3",
      "1F0 2F0 1F1 2F1 1F2 2B0 2F2 1B0 1F3 2B1 2F3 1B1 2B2 1B2 2B3 1B3"}},
    {"dualpipe-v",
     4,
     8,
     {{"order", "deepspeed"}},
     {"0F0 0F1 0F2 0F3 0F4 0F5 0F6 7F0 7B0 7F1 7B1 7F2 7B2 7F3 0F7 7B3 7F4 0B0 7B4 7F5 0B1 7B5 7F6 0B2 7B6 "
      "7F7 0B3 7B7 0B4 0B5 0B6 0B7",
      "1F0 1F1 1F2 1F3 1F4 6F0 1F5 6F1 6B0 6F2 6B1 6F3 1F6 6B2 6F4 1B0 1F7 6B3 6F5 1B1 6B4 6F6 1B2 6B5 6F7 "
      "1B3 6B6 1B4 6B7 1B5 1B6 1B7",
      "2F0 2F1 2F2 5F0 2F3 5F1 2F4 5F2 5B0 5F3 2F5 5B1 5F4 2B0 2F6 5B2 5F5 2B1 2F7 5B3 5F6 2B2 5B4 5F7 2B3 "
      "5B5 2B4 5B6 2B5 5B7 2B6 2B7",
      "3F0 4F0 3F1 4F1 3F2 4F2 3F3 4F3 3F4 4B0 4F4 3B0 3F5 4B1 4F5 3B1 3F6 4B2 4F6 3B2 3F7 4B3 4F7 3B3 4B4 "
      "3B4 4B5 3B5 4B6 3B6 4B7 3B7"}},
    {"dualpipe-v",
     2,
     4,
     {{"order", "mindspore"}},
     {"0F0 0F1 0F2 3F0 3I0 3W0 3F1 3B1 0F3 0B0 3F2 3B2 0B1 3F3 3B3 0I2 0W2 0I3 0W3",
      "1F0 2F0 1F1 2F1 2B0 1F2 1B0 2F2 2B1 1F3 1B1 2F3 2B2 1B2 2I3 1I3 1W3 2W3"}},
    {"zb-h1",
     2,
     4,
     {{"split", "paddle"}},
     {"0F0 0F1 0B0 0F2 0B1 0F3 0B2 0B3", "1F0 1I0 1F1 1B1 1F2 1B2 1F3 1I3 1W3 1W0"}},
    {"zb-h1",
     4,
     8,
     {{"split", "paddle"}},
     {"0F0 0F1 0F2 0F3 0B0 0F4 0B1 0F5 0B2 0F6 0B3 0F7 0B4 0B5 0B6 0B7",
      "1F0 1F1 1F2 1I0 1F3 1B1 1F4 1B2 1F5 1B3 1F6 1B4 1F7 1B5 1B6 1I7 1W7 1W0",
      "2F0 2F1 2I0 2F2 2I1 2F3 2B2 2F4 2B3 2F5 2B4 2F6 2B5 2F7 2B6 2I7 2W7 2W0 2W1",
      "3F0 3I0 3F1 3I1 3F2 3I2 3F3 3B3 3F4 3B4 3F5 3B5 3F6 3B6 3F7 3I7 3W7 3W0 3W1 3W2"}},
    {"interleaved",
     2,
     4,
     kSeqsmartvpp,
     {"0F0 0F1 2F0 2F1 2B0 0F2 2B1 0F3 0B0 2F2 0B1 2F3 2B2 2B3 0B2 0B3",
      "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3"}},
    {"interleaved",
     4,
     8,
     kSeqsmartvpp,
     {"0F0 0F1 0F2 0F3 4F0 4F1 4F2 4F3 4B0 0F4 4B1 0F5 4B2 0F6 4B3 0F7 0B0 4F4 0B1 4F5 0B2 4F6 0B3 4F7 4B4 "
      "4B5 4B6 4B7 0B4 0B5 0B6 0B7",
      "1F0 1F1 1F2 1F3 5F0 5F1 5F2 5B0 5F3 5B1 1F4 5B2 1F5 5B3 1F6 1B0 1F7 1B1 5F4 1B2 5F5 1B3 5F6 5B4 5F7 "
      "5B5 5B6 5B7 1B4 1B5 1B6 1B7",
      "2F0 2F1 2F2 2F3 6F0 6F1 6B0 6F2 6B1 6F3 6B2 2F4 6B3 2F5 2B0 2F6 2B1 2F7 2B2 6F4 2B3 6F5 6B4 6F6 6B5 "
      "6F7 6B6 6B7 2B4 2B5 2B6 2B7",
      "3F0 3F1 3F2 3F3 7F0 7B0 7F1 7B1 7F2 7B2 7F3 7B3 3F4 3B0 3F5 3B1 3F6 3B2 3F7 3B3 7F4 7B4 7F5 7B5 7F6 "
      "7B6 7F7 7B7 3B4 3B5 3B6 3B7"}},
};

// Every stage takes f = 1 and b = 2, or f = i = w = 1.
Nanoseconds chunk_makespan(const Schedule& schedule, double input_grad, double weight_grad) {
  StageCosts costs =
      split_costs(schedule, schedule.chunks, input_grad * schedule.chunks, weight_grad * schedule.chunks);
  for (StageCost& cost : costs.stages) cost.backward = cost.input_grad + cost.weight_grad;
  return totals_of(schedule, costs).makespan;
}

}  // namespace

TEST_CASE("golden: rows of DeepSpeed's DualPipeV, Paddle's ZBH1 and MindSpore's schedulers") {
  for (const FrameworkOrder& order : kFrameworkOrders) {
    const Schedule schedule = build(order.schedule, order.devices, order.microbatches, 0, order.params);
    CAPTURE(describe(schedule));
    CHECK(framework_rows_of(schedule) == order.rows);
  }
}

TEST_CASE("golden: DeepSpeed's DualPipeV waits 4p - 5 passes, Paddle's ZBH1 2p - 3") {
  struct Row {
    int devices, microbatches;
    double step;
  };
  for (const Row& row : {Row{2, 4, 27}, {2, 9, 57}, {4, 8, 59}, {4, 17, 113}, {3, 13, 85}, {8, 16, 123}}) {
    const Schedule schedule = build("dualpipe-v", row.devices, row.microbatches, 0, {{"order", "deepspeed"}});
    CHECK(chunk_makespan(schedule, 1, 1) == units(row.step));
    CHECK(row.step == 6 * row.microbatches + 4 * row.devices - 5);
  }
  for (const Row& row : {Row{2, 4, 13}, {3, 5, 18}, {4, 8, 29}, {4, 16, 53}, {8, 16, 61}, {8, 32, 109}}) {
    const Schedule schedule = build("zb-h1", row.devices, row.microbatches, 0, {{"split", "paddle"}});
    CHECK(chunk_makespan(schedule, 1, 1) == units(row.step));
    CHECK(row.step == 3 * row.microbatches + 2 * row.devices - 3);
  }
}

TEST_CASE("golden: steps and chunks in flight of MindSpore's seqpipe and seqsmartvpp") {
  struct Row {
    bool smart;
    int devices, microbatches, chunks;
    double step;
    std::vector<int> held;  // chunks on each device
  };
  const std::vector<Row> rows{
      {false, 2, 4, 2, 13.5, {5, 3}},
      {true, 2, 4, 2, 13.5, {4, 3}},
      {true, 4, 8, 2, 28.5, {8, 7, 6, 5}},
      {false, 4, 13, 2, 43.5, {12, 10, 8, 6}},
      {false, 4, 10, 2, 34.5, {12, 10, 8, 6}},
      {true, 4, 10, 2, 34.5, {9, 8, 7, 6}},
      {true, 4, 16, 3, 51, {12, 11, 10, 9}},
      {false, 6, 12, 2, 43.5, {17, 15, 13, 11, 9, 7}},
      {false, 8, 16, 2, 58.5, {23, 21, 19, 17, 15, 13, 11, 9}},
      {true, 8, 16, 2, 58.5, {16, 15, 14, 13, 12, 11, 10, 9}},
      {true, 4, 7, 2, 25.5, {11, 10, 9, 8}},
      {false, 6, 14, 2, 49.5, {18, 16, 14, 12, 10, 8}},
  };
  for (const Row& row : rows) {
    const Schedule schedule =
        build("interleaved", row.devices, row.microbatches, row.chunks, row.smart ? kSeqsmartvpp : kSeqpipe);
    CAPTURE(describe(schedule));
    const Totals totals = totals_of(schedule, toy_costs(schedule, 1, 2));
    CHECK(totals.makespan == units(row.step));
    for (std::size_t d = 0; d < row.held.size(); ++d) {
      CHECK(totals.devices[d].peak_activation * row.chunks == row.held[d] * kShare);
    }
  }
}

TEST_CASE("golden: Paddle's VPP is interleaved, and at m = p all forwards first, which is breadth-first") {
  for (const int p : {2, 4, 5}) {
    for (const int v : {2, 3}) {
      const Schedule schedule = build("interleaved", p, p, v, {{"extra_warmup", std::to_string(p)}});
      const Schedule breadth = build("breadth-first", p, p, v, {{"backward", "ascending"}});
      CHECK(schedule.rows == breadth.rows);
    }
  }
}

TEST_CASE("refused: Paddle's ZBH1 with fewer microbatches than devices, groups beside MindSpore's rounds") {
  const auto refusal = [](const char* name, const Params& params) {
    return first_problem([&] { (void)build(name, 4, 3, 0, params); });
  };
  CHECK(refusal("zb-h1", {{"split", "paddle"}}).code == "S044");
  CHECK(contains(refusal("zb-h1", {{"split", "paddle"}}).help, "-m 4"));
  CHECK(refusal("interleaved", {{"rounding", "mindspore"}, {"group", "4"}}).code == "S075");
  CHECK(refusal("dualpipe-v", {{"order", "deepspeed"}}).code == "S044");
}
