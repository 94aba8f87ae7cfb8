// DualPipe and DualPipeV: makespan, idle times and peaks with and without overlap, printed orders, the README's formula
// where it holds and where it does not, and what both refuse.
#include "sim/rows/check.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Times of one stage, and of a pair; 0: the sum of its members.
StageCosts stage_costs(const Schedule& schedule, double f, double i, double w, double pair = 0, double held = 1) {
  const double per_stage = schedule.chunks;
  StageCosts costs = split_costs(schedule, f * per_stage, i * per_stage, w * per_stage, held);
  for (StageCost& cost : costs.stages) cost.backward = cost.input_grad + cost.weight_grad;
  if (pair > 0) costs.overlapped_pair = units(pair);
  return costs;
}

std::vector<double> idle_of(const Totals& totals) {
  std::vector<double> idle;
  for (const DeviceTotals& device : totals.devices) {
    idle.push_back(static_cast<double>(totals.makespan - device.busy) / static_cast<double>(kUnit));
  }
  return idle;
}

double longest_idle(const Schedule& schedule, const StageCosts& costs) {
  const std::vector<double> idle = idle_of(totals_of(schedule, costs));
  return *std::max_element(idle.begin(), idle.end());
}

std::vector<double> dualpipe_all(int devices, double value) {
  std::vector<double> list(static_cast<std::size_t>(devices), value);
  return list;
}

// "0F0 (0F3;7B1) ...", replica 1's stages and microbatches as DualPipe's own listing counts them: stage + p, from 0.
std::string dualpipe_row_of(const Schedule& schedule, std::size_t device) {
  std::string text;
  bool inside = false;
  for (const Op& op : schedule.rows.at(device)) {
    const int replica = schedule.replica_of.at(static_cast<std::size_t>(op.microbatch));
    const int first = replica == 0 ? 0 : schedule.microbatches / 2;
    const Op shown{op.kind, false, op.stage + replica * schedule.stages, op.microbatch - first};
    if (!inside) text += text.empty() ? "" : " ";
    if (op.paired_with_next) text += "(";
    text += to_string(shown) + (op.paired_with_next ? ";" : "") + (inside ? ")" : "");
    inside = op.paired_with_next;
  }
  return text;
}

struct DualpipePoint {
  std::string schedule;
  int devices, microbatches;
  double makespan, work;
};

const std::vector<DualpipePoint> kDualpipePoints{
    {"dualpipe", 4, 8, 26, 24},     {"dualpipe", 8, 16, 54, 48},  {"dualpipe", 8, 20, 66, 60},
    {"dualpipe", 16, 32, 110, 96},  {"dualpipe-v", 4, 8, 54, 48}, {"dualpipe-v", 4, 10, 66, 60},
    {"dualpipe-v", 8, 16, 110, 96}, {"dualpipe-v", 2, 4, 26, 24},
};

}  // namespace

TEST_CASE("golden: DualPipe and DualPipeV in unit passes, a pair takes three, or what is left out of --times") {
  for (const DualpipePoint& point : kDualpipePoints) {
    const Schedule schedule = build(point.schedule, point.devices, point.microbatches);
    CAPTURE(describe(schedule));
    const double peak = (schedule.stages + 1.0) / schedule.chunks;
    for (const double pair : {0.0, 3.0}) {
      for (const double held : {0.0, 1.0}) {
        const StageCosts costs = stage_costs(schedule, 1, 1, 1, pair, held);
        CHECK_EQ(mismatch(schedule, costs, {}, units(point.makespan), dualpipe_all(point.devices, peak)), "");
        CHECK(idle_of(totals_of(schedule, costs)) == dualpipe_all(point.devices, point.makespan - point.work));
      }
    }
  }
}

TEST_CASE("golden: pairs that hide something shorten DualPipe, and leave the outer devices busier") {
  const Schedule small = build("dualpipe", 8, 16);
  CHECK_EQ(mismatch(small, stage_costs(small, 1, 1, 1, 2), {}, units(44)), "");
  CHECK(idle_of(totals_of(small, stage_costs(small, 1, 1, 1, 2))) == std::vector<double>{1, 2, 3, 3, 3, 3, 2, 1});
  CHECK_EQ(mismatch(small, stage_costs(small, 1, 1, 1, 2.5), {}, units(49)), "");
  const Schedule large = build("dualpipe", 8, 20);
  CHECK_EQ(mismatch(large, stage_costs(large, 1, 1, 1, 2), {}, units(52)), "");
  CHECK_EQ(mismatch(large, stage_costs(large, 1, 1, 1, 2.5), {}, units(59)), "");
  const Schedule folded = build("dualpipe-v", 4, 10);
  CHECK_EQ(mismatch(folded, stage_costs(folded, 1, 1, 1, 2), {}, units(52), dualpipe_all(4, 4.5)), "");
  CHECK(idle_of(totals_of(folded, stage_costs(folded, 1, 1, 1, 2))) == std::vector<double>{1, 2, 3, 3});
}

TEST_CASE("golden: DualPipe and DualPipeV with latency, p=4 m=8") {
  struct Row {
    double f, i, w, hop, dualpipe_v, dualpipe;  // times of a whole stage; a chunk of DualPipeV takes half of them
  };
  for (const Row& row : {Row{10, 10, 10, 1, 287, 269}, {10, 11, 7, 2, 300.5, 266}, {20, 22, 14, 5, 623, 541}}) {
    CAPTURE(row.f);
    CAPTURE(row.i);
    const HopFigures link{units(row.hop), 0};
    const Schedule two_ways = build("dualpipe", 4, 8);
    CHECK_EQ(mismatch(two_ways, stage_costs(two_ways, row.f, row.i, row.w), link, units(row.dualpipe)), "");
    const Schedule folded = build("dualpipe-v", 4, 8);
    const StageCosts halves = stage_costs(folded, row.f / 2, row.i / 2, row.w / 2);
    CHECK_EQ(mismatch(folded, halves, link, units(row.dualpipe_v)), "");
  }
}

TEST_CASE("golden: DualPipe's printed order, p=4 m=8") {
  const Schedule schedule = build("dualpipe", 4, 8);
  CHECK(dualpipe_row_of(schedule, 0) ==
        "0F0 0F1 0F2 7F0 7I0 7W0 7F1 (0F3;7B1) (7F2;0B0) 7B2 (7F3;0B1) 7B3 0I2 0W2 0I3 0W3");
  CHECK(dualpipe_row_of(schedule, 1) ==
        "1F0 6F0 1F1 6F1 1F2 6B0 (6F2;1B0) (1F3;6B1) (6F3;1B1) 6B2 1B2 6I3 1I3 6W3 1W3");
  // The other half of the devices runs the same with the two directions exchanged.
  CHECK(dualpipe_row_of(schedule, 3) ==
        "4F0 4F1 4F2 3F0 3I0 3W0 3F1 (4F3;3B1) (3F2;4B0) 3B2 (3F3;4B1) 3B3 4I2 4W2 4I3 4W3");
}

TEST_CASE("DualPipe keeps two copies of every stage, on devices d and p-1-d") {
  const Schedule schedule = build("dualpipe", 6, 12);
  CHECK(schedule.placement.replicas() == 2);
  for (int s = 0; s < 6; ++s) {
    CHECK(schedule.placement.device_of(0, s) == s);
    CHECK(schedule.placement.device_of(1, s) == 5 - s);
  }
  for (std::size_t i = 0; i < 12; ++i) CHECK(schedule.replica_of[i] == (i < 6 ? 0 : 1));
  CHECK(build("dualpipe-v", 6, 12).placement.replicas() == 1);
}

TEST_CASE("golden: the README's bubble is exact where F and I take equal times") {
  const auto readme = [](int stages, double i, double w, double pair) {
    return (stages / 2 - 1) * (pair + i + w - 3 * w);
  };
  for (const int p : {2, 4, 6, 8, 12}) {
    for (const double w : {0.0, 0.5, 1.0, 1.5, 2.0}) {
      CAPTURE(p);
      CAPTURE(w);
      const Schedule two_ways = build("dualpipe", p, 2 * p + 4);
      CHECK(longest_idle(two_ways, stage_costs(two_ways, 2, 2, w)) == readme(p, 2, w, 4 + w));
      const Schedule folded = build("dualpipe-v", p, 2 * p + 3);
      CHECK(longest_idle(folded, stage_costs(folded, 2, 2, w)) == readme(2 * p, 2, w, 4 + w));
    }
  }
  const Schedule schedule = build("dualpipe", 8, 16);
  CHECK_EQ(mismatch(schedule, stage_costs(schedule, 1, 1, 0.5, 2.5), {}, units(47.5)), "");
  CHECK(idle_of(totals_of(schedule, stage_costs(schedule, 1, 1, 0.5, 2.5))) == dualpipe_all(8, 7.5));
  CHECK(longest_idle(schedule, stage_costs(schedule, 10, 11, 9, 30)) == 66);  // and here it says
  CHECK(readme(8, 11, 9, 30) == 69);
}

TEST_CASE("golden: DualPipeV of PyTorch's table for 4 ranks and 10 microbatches") {
  const Schedule schedule = build("dualpipe-v", 4, 10);
  CHECK_EQ(mismatch(schedule, stage_costs(schedule, 1, 1, 1, 3), {}, units(66), dualpipe_all(4, 4.5)), "");  // 9 chunks
  CHECK(idle_of(totals_of(schedule, stage_costs(schedule, 1, 1, 1, 3))) == dualpipe_all(4, 6));
  // Rank 3 turns: its very first pair runs one by one.
  CHECK(dualpipe_row_of(schedule, 3).substr(0, 74) ==
        "3F0 4F0 3F1 4F1 3F2 4F2 3F3 4F3 3F4 4B0 (4F4;3B0) (3F5;4B1) (4F5;3B1) (3F6");
  CHECK(dualpipe_row_of(schedule, 0).substr(0, 74) ==
        "0F0 0F1 0F2 0F3 0F4 0F5 0F6 7F0 7I0 7W0 7F1 7I1 7W1 7F2 7I2 7W2 7F3 (0F7;7");
}

TEST_CASE("DualPipe and DualPipeV do not deadlock, whatever the transfers hold") {
  for (int p = 1; p <= 10; ++p) {
    for (int m = 2 * p; m <= 2 * p + 5; ++m) {
      for (const char* name : {"dualpipe", "dualpipe-v"}) {
        if (std::string(name) == "dualpipe" && (p % 2 != 0 || m % 2 != 0)) continue;
        const Schedule schedule = build(name, p, m);
        CAPTURE(describe(schedule));
        CHECK(find_problems(schedule).empty());
        CHECK_FALSE(find_deadlock(schedule).has_value());
        for (const P2p p2p : {P2p::kOverlapped, P2p::kBlocking}) {
          CHECK(std::holds_alternative<Program>(lower(schedule, p2p)));
        }
      }
    }
  }
}

TEST_CASE("refused: DualPipe on odd devices, odd or few microbatches, several stages, each with what is near") {
  const auto refusal = [](const char* name, int p, int m, int v = 0) {
    return first_problem([&] { (void)build(name, p, m, v); });
  };
  for (const int p : {1, 3, 5, 7}) CHECK(refusal("dualpipe", p, 16).code == "S011");
  CHECK(contains(refusal("dualpipe", 5, 16).help, "-p 4 or 6"));
  CHECK(contains(refusal("dualpipe", 1, 16).help, "-p 2"));
  for (const int m : {1, 6, 7}) CHECK(refusal("dualpipe", 4, m).code == "S044");
  CHECK(refusal("dualpipe", 4, 8).code.empty());
  CHECK(contains(refusal("dualpipe", 4, 7).help, "-m 8"));
  CHECK(refusal("dualpipe", 4, 9).code == "S009");
  CHECK(contains(refusal("dualpipe", 4, 9).help, "-m 8 or 10"));
  CHECK(refusal("dualpipe", 4, 8, 2).code == "S005");
  for (const int m : {1, 7}) CHECK(refusal("dualpipe-v", 4, m).code == "S044");
  CHECK(refusal("dualpipe-v", 4, 8).code.empty());
  CHECK(refusal("dualpipe-v", 3, 7).code.empty());  // neither needs to be even
  for (const int v : {1, 3}) CHECK(refusal("dualpipe-v", 4, 8, v).code == "S005");
}
