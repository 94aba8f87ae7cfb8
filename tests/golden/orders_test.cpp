// The printed programs of the references, op for op, and the catalog against a second writing of every published rule.
#include "schedules/catalog.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/reference_orders.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

std::string microbatches_of(const Schedule& schedule, int device) {
  std::string text;
  for (const Op& op : schedule.rows.at(static_cast<std::size_t>(device))) {
    text += (text.empty() ? "" : " ") + std::to_string(op.microbatch);
  }
  return text;
}

// The paper numbers microbatches per unit of D, down pipe first; we number per replica. For one pair of pipes.
int papers_number(int ours, int devices, int microbatches) {
  const int half = devices / 2;
  const int pipe = ours < microbatches / 2 ? 0 : 1;
  const int within = ours - pipe * microbatches / 2;
  return within / half * devices + pipe * half + within % half;
}

struct InterleavedCase {
  int p, v, m, g;
};

std::vector<InterleavedCase> interleaved_grid() {
  std::vector<InterleavedCase> grid;
  for (int p = 2; p <= 6; ++p) {
    for (int v = 2; v <= 4; ++v) {
      for (int m = 1; m <= 18; ++m) {
        for (int g = p; g <= std::max(p, m); ++g) grid.push_back({p, v, m, g});
      }
    }
  }
  return grid;
}

// Whether the published order, run as it stands, gets stuck.
bool interleaved_deadlocks(int p, int m, int v, int g) {
  Schedule schedule;
  schedule.devices = p;
  schedule.chunks = v;
  schedule.stages = p * v;
  schedule.microbatches = m;
  schedule.placement = loop_placement(p, p * v);
  schedule.replica_of.assign(static_cast<std::size_t>(m), 0);
  schedule.rows = reference::interleaved_rows(p, m, v, g);
  const StageCosts costs = toy_costs(schedule, 1, 2);
  return reference::simulate(schedule, costs, 0, 0, reference::Mode::kOverlapped).deadlock;
}

}  // namespace

TEST_CASE("golden: order of 1F1B, p=4 m=6") {
  const Schedule schedule = build("1f1b", 4, 6);
  CHECK(order_of(schedule, 0) == "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
  CHECK(order_of(schedule, 1) == "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 B4 B5");
  CHECK(order_of(schedule, 2) == "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5");
  CHECK(order_of(schedule, 3) == "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
}

TEST_CASE("golden: order of GPipe, backwards last in first out unless asked otherwise") {
  CHECK(order_of(build("gpipe", 2, 3), 1) == "F0 F1 F2 B2 B1 B0");
  CHECK(order_of(build("gpipe", 2, 3, 0, {{"backward", "descending"}}), 0) == "F0 F1 F2 B2 B1 B0");
  CHECK(order_of(build("gpipe", 2, 3, 0, {{"backward", "ascending"}}), 0) == "F0 F1 F2 B0 B1 B2");
}

TEST_CASE("golden: order of the interleaved schedule, p=4 m=8 v=2") {
  const Schedule schedule = build("interleaved", 4, 8, 2);
  CHECK(order_of(schedule, 0, true) ==
        "F0.0 F1.0 F2.0 F3.0 F0.1 F1.1 F2.1 F3.1 F4.0 F5.0 F6.0 B0.1 F7.0 B1.1 F4.1 B2.1 F5.1 B3.1 F6.1 B0.0 F7.1 "
        "B1.0 B2.0 B3.0 B4.1 B5.1 B6.1 B7.1 B4.0 B5.0 B6.0 B7.0");
  CHECK(order_of(schedule, 3, true) ==
        "F0.0 F1.0 F2.0 F3.0 F0.1 B0.1 F1.1 B1.1 F2.1 B2.1 F3.1 B3.1 F4.0 B0.0 F5.0 B1.0 F6.0 B2.0 F7.0 B3.0 F4.1 "
        "B4.1 F5.1 B5.1 F6.1 B6.1 F7.1 B7.1 B4.0 B5.0 B6.0 B7.0");
}

TEST_CASE("golden: groups that do not divide the microbatches, p=2 m=5 v=2 g=3") {
  const Schedule schedule = build("interleaved", 2, 5, 2, {{"group", "3"}});
  CHECK(order_of(schedule, 1, true) ==
        "F0.0 F1.0 F2.0 F0.1 B0.1 F1.1 B1.1 F2.1 B2.1 F3.0 B0.0 F4.0 B1.0 F3.1 B2.0 F4.1 B3.1 B4.1 B3.0 B4.0");
  std::string table;  // Megatron-LM's table of (microbatch, chunk) is the order of the forwards
  for (const Op& op : schedule.rows[0]) {
    if (op.kind == OpKind::kForward) table += std::to_string(op.microbatch) + "." + std::to_string(op.stage / 2) + " ";
  }
  CHECK(table == "0.0 1.0 2.0 0.1 1.1 2.1 3.0 4.0 3.1 4.1 ");
}

TEST_CASE("golden: order of Chimera, D=4 N=4") {
  const Schedule schedule = build("chimera", 4, 4);
  CHECK(order_of(schedule, 0) == "F0 F1 F2 B2 F3 B3 B0 B1");
  CHECK(order_of(schedule, 1) == "F0 F2 F1 F3 B2 B0 B3 B1");
  CHECK(order_of(schedule, 2) == "F2 F0 F3 F1 B0 B2 B1 B3");
  CHECK(order_of(schedule, 3) == "F2 F3 F0 B0 F1 B1 B2 B3");
  CHECK(schedule.replica_of == std::vector<std::int32_t>{0, 0, 1, 1});
}

TEST_CASE("golden: Chimera with two pairs of pipes, D=8") {
  CHECK(microbatches_of(build("chimera", 8, 8, 0, {{"pairs", "2"}}), 0) == "0 1 6 2 7 3 4 4 5 5 2 6 3 7 0 1");
}

TEST_CASE("golden: Chimera's second unit starts while the first one ends, N=2D") {
  const Schedule schedule = build("chimera", 4, 8);
  std::string second_half;  // the paper's figure: from the first unit's last backwards on
  for (std::size_t i = 6; i < 14; ++i) {
    second_half += (i > 6 ? " " : "") + std::to_string(papers_number(schedule.rows[0][i].microbatch, 4, 8));
  }
  CHECK(second_half == "0 4 1 5 6 6 7 7");
}

TEST_CASE("golden: order of Chimera with forward doubling, D=4 N=8") {
  const Schedule schedule = build("chimera", 4, 8, 0, {{"mode", "doubling"}});
  const std::string first = "Fd0 Fd1 Fd2 Fd3 Fu0 Fu1 Bu0 Fu2 Fu3 Bu1 Bd0 Bu2 Bd1 Bu3 Bd2 Bd3";
  const std::string second = "Fd0 Fd1 Fu0 Fu1 Fd2 Fd3 Fu2 Fu3 Bu0 Bd0 Bu1 Bd1 Bu2 Bd2 Bu3 Bd3";
  CHECK(order_by_pipe(schedule, 0) == first);
  CHECK(order_by_pipe(schedule, 1) == second);
  CHECK(order_by_pipe(schedule, 2) == swapped_directions(second));
  CHECK(order_by_pipe(schedule, 3) == swapped_directions(first));
}

TEST_CASE("golden: order of ZB-H1, p=2 m=4") {
  const Schedule schedule = build("zb-h1", 2, 4);  // the paper's B is our I
  CHECK(order_of(schedule, 0) == "F0 F1 I0 W0 F2 I1 W1 F3 I2 W2 I3 W3");
  CHECK(order_of(schedule, 1) == "F0 I0 F1 I1 W0 F2 I2 W1 F3 I3 W2 W3");
}

TEST_CASE("orders: GPipe, 1F1B and ZB-H1 equal their published rules") {
  for (int p = 1; p <= 9; ++p) {
    for (int m = 1; m <= 20; ++m) {
      CAPTURE(p);
      CAPTURE(m);
      REQUIRE(build("gpipe", p, m).rows == reference::gpipe_rows(p, m, true));
      REQUIRE(build("gpipe", p, m, 0, {{"backward", "ascending"}}).rows == reference::gpipe_rows(p, m, false));
      REQUIRE(build("1f1b", p, m).rows == reference::one_f_one_b_rows(p, m));
      REQUIRE(build("zb-h1", p, m).rows == reference::zb_h1_rows(p, m));
    }
  }
}

TEST_CASE("orders: the interleaved schedule equals Megatron's rule for every group with which that can run") {
  int refused = 0;
  for (const InterleavedCase& row : interleaved_grid()) {
    const int p = row.p;
    const int v = row.v;
    const int m = row.m;
    const int g = row.g;
    CAPTURE(p);
    CAPTURE(v);
    CAPTURE(m);
    CAPTURE(g);
    const Params params{{"group", std::to_string(g)}};
    if (interleaved_deadlocks(p, m, v, g)) {
      REQUIRE_THROWS_AS((void)build("interleaved", p, m, v, params), InputError);
      ++refused;
      continue;
    }
    const Schedule schedule = build("interleaved", p, m, v, params);
    REQUIRE(schedule.rows == reference::interleaved_rows(p, m, v, g));
    const int rest = m % g;
    const bool megatron_takes_it = g <= m && (rest == 0 || rest >= p);
    REQUIRE_EQ(schedule.notes.empty(), megatron_takes_it);
  }
  CHECK(refused == 57);  // a last group smaller than p, from p=4 v=3 on; p=4 v=2 runs with every remainder
}

TEST_CASE("orders: the group is p unless asked otherwise") {
  CHECK(build("interleaved", 4, 8, 2).rows == reference::interleaved_rows(4, 8, 2, 4));
  CHECK(build("interleaved", 3, 12, 3).rows == reference::interleaved_rows(3, 12, 3, 3));
  CHECK(build("interleaved", 4, 10, 2).rows == reference::interleaved_rows(4, 10, 2, 4));
}

TEST_CASE("orders: PyTorch's rounding is Megatron's rule with the group that it derives") {
  for (int p = 2; p <= 6; ++p) {
    for (int m = 1; m <= 24; ++m) {
      CAPTURE(p);
      CAPTURE(m);
      const int rounds = std::max(1, m / p);
      const Params params{{"rounding", "pytorch"}};
      if (m % rounds != 0) {
        REQUIRE_THROWS_AS((void)build("interleaved", p, m, 2, params), InputError);
      } else {
        REQUIRE(build("interleaved", p, m, 2, params).rows == reference::interleaved_rows(p, m, 2, m / rounds));
      }
    }
  }
}

TEST_CASE("orders: Chimera equals its slot rule for every number of pipes") {
  for (int devices = 2; devices <= 16; devices += 2) {
    for (int f = 1; f <= devices / 2; ++f) {
      if (devices / 2 % f != 0) continue;
      for (int units_of_d = 1; units_of_d <= 3; ++units_of_d) {
        CAPTURE(devices);
        CAPTURE(f);
        const int m = units_of_d * devices;
        const Schedule schedule = build("chimera", devices, m, 0, {{"pairs", std::to_string(f)}});
        REQUIRE(schedule.rows == reference::chimera_rows(devices, m, f));
      }
    }
  }
}

TEST_CASE("orders: Chimera spreads a last unit that is not full evenly over both directions") {
  for (int devices = 2; devices <= 10; devices += 2) {
    for (int m = 1; m <= 3 * devices; ++m) {
      CAPTURE(devices);
      CAPTURE(m);
      REQUIRE(build("chimera", devices, m).rows == reference::chimera_rows(devices, m, 1));
    }
  }
}

TEST_CASE("orders: Chimera's forward doubling and backward halving equal the published block form") {
  for (int devices = 2; devices <= 12; devices += 2) {
    for (int unit = 1; unit <= 3; ++unit) {
      CAPTURE(devices);
      CAPTURE(unit);
      const int m = 2 * devices * unit;
      const Schedule loose = build("chimera", devices, m, 0, {{"mode", "doubling"}});
      REQUIRE(loose.rows == reference::chimera_doubling_rows(devices, m, false));
      const Schedule fused = build("chimera", devices, m, 0, {{"mode", "doubling"}, {"fused", "true"}});
      REQUIRE(fused.rows == reference::chimera_doubling_rows(devices, m, true));
      const Schedule halving = build("chimera", devices, m / 2, 0, {{"mode", "halving"}});
      REQUIRE(halving.pieces == 2);
      REQUIRE(halving.rows == reference::chimera_doubling_rows(devices, m, true));
    }
  }
}

TEST_CASE("orders: the block form of Chimera's direct mode gives the same programs as its slots") {
  // "first half enters a times its own pipe" as the reference code writes it, for one pair of pipes.
  const Schedule schedule = build("chimera", 8, 16);
  for (int d = 0; d < 8; ++d) {
    const int main_pipe = d < 4 ? 0 : 1;
    const int a = d < 4 ? 4 - d : d - 3;
    std::string blocks;
    for (int u = 0; u < 2; ++u) {
      for (int n = 0; n < a; ++n) blocks += u > 0 ? "BmFm" : "Fm";
      for (int n = 0; n < 4 - a; ++n) blocks += "FoFm";
      for (int n = 0; n < a; ++n) blocks += "FoBo";
      for (int n = 0; n < 4 - a; ++n) blocks += "BmBo";
    }
    for (int n = 0; n < a; ++n) blocks += "Bm";
    std::string ours;
    for (const Op& op : schedule.rows[static_cast<std::size_t>(d)]) {
      const int pipe = schedule.replica_of[static_cast<std::size_t>(op.microbatch)];
      ours += std::string(1, letter(op.kind)) + (pipe == main_pipe ? "m" : "o");
    }
    CAPTURE(d);
    CHECK(ours == blocks);
  }
}
