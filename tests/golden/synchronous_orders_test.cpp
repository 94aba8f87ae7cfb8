// The printed programs of Hanayo and BitPipe, op for op, and the rules of the other fixed orders without a split
// backward.
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

TEST_CASE("golden: order of Hanayo, P=4 W=1 N=4") {
  const Schedule schedule = build("hanayo", 4, 4, 0, {{"waves", "1"}});
  CHECK(order_by_stage(schedule, 0) ==
        "F0@0 F1@0 F2@0 F3@0 F0@7 B0@7 F1@7 B1@7 F2@7 B2@7 F3@7 B3@7 B0@0 B1@0 B2@0 B3@0");
  CHECK(order_by_stage(schedule, 1) ==
        "F0@1 F1@1 F2@1 F0@6 F3@1 F1@6 B0@6 F2@6 B1@6 F3@6 B2@6 B0@1 B3@6 B1@1 B2@1 B3@1");
  CHECK(order_by_stage(schedule, 2) ==
        "F0@2 F1@2 F0@5 F2@2 F1@5 F3@2 F2@5 B0@5 F3@5 B1@5 B0@2 B2@5 B1@2 B3@5 B2@2 B3@2");
  CHECK(order_by_stage(schedule, 3) ==
        "F0@3 F0@4 F1@3 F1@4 F2@3 F2@4 F3@3 F3@4 B0@4 B0@3 B1@4 B1@3 B2@4 B2@3 B3@4 B3@3");
}

TEST_CASE("golden: order of BitPipe, D=4 N=4") {
  const Schedule schedule = build("bitpipe", 4, 4);
  const std::string first =
      "Fd0@0 Fd1@0 Fu0@3 Fu0@4 Fu1@3 Fu1@4 Fd0@7 Bd0@7 Fd1@7 Bd1@7 Bu0@4 Bu0@3 Bu1@4 Bu1@3 Bd0@0 Bd1@0";
  const std::string second =
      "Fd0@1 Fu0@2 Fd1@1 Fu1@2 Fu0@5 Fd0@6 Fu1@5 Fd1@6 Bd0@6 Bu0@5 Bd1@6 Bu1@5 Bu0@2 Bd0@1 Bu1@2 Bd1@1";
  CHECK(order_by_stage(schedule, 0) == first);
  CHECK(order_by_stage(schedule, 1) == second);
  CHECK(order_by_stage(schedule, 2) == swapped_directions(second));
  CHECK(order_by_stage(schedule, 3) == swapped_directions(first));
  CHECK(schedule.replica_of == std::vector<std::int32_t>{0, 0, 1, 1});
}

TEST_CASE("orders: depth-first is interleaved, and DAPPLE's policy a is 1F1B, row for row") {
  for (int p = 2; p <= 6; ++p) {
    for (int m = 1; m <= 12; ++m) {
      CAPTURE(p);
      CAPTURE(m);
      if (p <= 4 || m % p == 0) {  // beyond that, some remainders deadlock
        REQUIRE(build("depth-first", p, m, 2).rows == build("interleaved", p, m, 2).rows);
      }
      REQUIRE(build("dapple", p, m).rows == build("1f1b", p, m).rows);
      REQUIRE(build("breadth-first", p, m, 1).rows == build("gpipe", p, m).rows);
    }
  }
}

TEST_CASE("orders: DAPPLE starts K forwards, then runs backward and forward in turn") {
  const Schedule b = build("dapple", 4, 8, 0, {{"policy", "b"}});
  CHECK(order_of(b, 0) == "F0 F1 F2 F3 F4 F5 F6 B0 F7 B1 B2 B3 B4 B5 B6 B7");
  CHECK(order_of(b, 2) == "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 B6 B7");
  CHECK(order_of(b, 3) == order_of(build("1f1b", 4, 8), 3));
  const Schedule capped = build("dapple", 4, 4, 0, {{"policy", "b"}, {"memory_limit", "2"}});
  for (int d = 0; d < 3; ++d) CHECK(order_of(capped, d) == "F0 F1 B0 F2 B1 F3 B2 B3");
  CHECK(order_of(capped, 3) == "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST_CASE("orders: GEMS runs one microbatch of each direction in turn") {
  const Schedule schedule = build("gems", 4, 5);
  for (int d = 0; d < 4; ++d) CHECK(order_by_pipe(schedule, d) == "Fd0 Bd0 Fu0 Bu0 Fd1 Bd1 Fu1 Bu1 Fd2 Bd2");
  for (int s = 0; s < 4; ++s) {
    CHECK(schedule.placement.device_of(0, s) == s);
    CHECK(schedule.placement.device_of(1, s) == 3 - s);
  }
}

TEST_CASE("orders: breadth-first runs a chunk for all microbatches before the next, and back") {
  CHECK(order_of(build("breadth-first", 2, 3, 2), 1, true) ==
        "F0.0 F1.0 F2.0 F0.1 F1.1 F2.1 B2.1 B1.1 B0.1 B2.0 B1.0 B0.0");
  CHECK(order_of(build("breadth-first", 2, 3, 2, {{"backward", "ascending"}}), 0, true) ==
        "F0.0 F1.0 F2.0 F0.1 F1.1 F2.1 B0.1 B1.1 B2.1 B0.0 B1.0 B2.0");
}

// The paper's construction: Chimera on twice the devices, of which the mirrored half is folded onto the first.
TEST_CASE("orders: one wave of Hanayo is Chimera on twice the devices, folded in the middle") {
  for (int p = 2; p <= 6; ++p) {
    for (int unit = 1; unit <= 3; ++unit) {
      CAPTURE(p);
      const Schedule hanayo = build("hanayo", p, p * unit);
      const Schedule chimera = build("chimera", 2 * p, 2 * p * unit);
      for (std::size_t d = 0; d < static_cast<std::size_t>(p); ++d) {
        std::vector<Op> folded = chimera.rows[d];
        for (Op& op : folded)
          op.microbatch %= p * unit;  // the up pipe's microbatches are the same ones on their way back
        REQUIRE(hanayo.rows[d] == folded);
      }
    }
  }
}

// The authors' program in its own words: warm up, one forward one backward in turn, drain.
TEST_CASE("orders: BitPipe warms up D + D/2 + min(d, D-1-d) forwards of chunks, then alternates") {
  for (const int devices : {2, 4, 8, 12}) {
    const Schedule schedule = build("bitpipe", devices, devices);
    for (int d = 0; d < devices; ++d) {
      const int warmup = devices + devices / 2 + std::min(d, devices - 1 - d);
      std::string kinds(static_cast<std::size_t>(warmup), 'F');
      for (int k = 0; k < 2 * devices - warmup; ++k) kinds += "FB";
      kinds += std::string(static_cast<std::size_t>(warmup), 'B');
      std::string ours;
      for (const Op& op : schedule.rows[static_cast<std::size_t>(d)]) ours += letter(op.kind);
      CAPTURE(d);
      CHECK(ours == kinds);
    }
  }
}
