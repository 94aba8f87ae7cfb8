#include "tests/collectives/closed_forms.hpp"
#include "tests/support/test.hpp"

namespace closed = debubble::closed_forms;

namespace {

constexpr double kMicro = 1e-6;
constexpr double kMilli = 1e-3;

}  // namespace

TEST_CASE("1 GB on 4 nodes of 8: hierarchical 8.998 ms, one card per node 43.68 ms, all eight cards 6.002 ms") {
  constexpr double n = 1e9;
  constexpr double inside = 1 / 370e9;
  constexpr double outside = 1 / 45e9;
  const double hierarchical = closed::hierarchical_inside(8, n).seconds(3 * kMicro, inside) +
                              closed::hierarchical_across(8, 4, n).seconds(10 * kMicro, outside);
  CHECK(hierarchical / kMilli == doctest::Approx(8.998).epsilon(0.00005));
  CHECK(closed::ring_all_reduce(32, n).seconds(10 * kMicro, outside) / kMilli ==
        doctest::Approx(43.68).epsilon(0.0001));
  CHECK(closed::ring_all_reduce(32, n).seconds(10 * kMicro, outside / 8) / kMilli ==
        doctest::Approx(6.002).epsilon(0.00005));
}

TEST_CASE("the terms of every standard algorithm on 8 ranks") {
  struct Row {
    closed::Cost cost;
    double messages = 0;
    double bytes = 0;
  };
  const std::array rows{
      Row{closed::point_to_point(800), 1, 800},
      Row{closed::ring_all_reduce(8, 800), 14, 1400},
      Row{closed::ring_all_gather(8, 800), 7, 700},
      Row{closed::ring_reduce_scatter(8, 800), 7, 700},
      Row{closed::pairwise_all_to_all(8, 800), 7, 700},
      Row{closed::recursive_doubling_all_reduce(8, 800), 3, 2400},
      Row{closed::halving_doubling_all_reduce(8, 800), 6, 1400},
      Row{closed::binomial_broadcast(8, 800), 3, 2400},
      Row{closed::chain_broadcast(8, 800, 10), 16, 1280},
      Row{closed::double_tree_all_reduce(8, 800), 6, 1600},
      Row{closed::in_network_all_reduce(2, 800), 4, 800},
      Row{closed::torus_all_reduce(4, 800), 12, 600},
      Row{closed::two_rings_all_reduce(8, 800), 14, 350},
  };
  for (const Row& row : rows) {
    CHECK(row.cost.messages == row.messages);
    CHECK(row.cost.bytes == row.bytes);
  }
  CHECK(closed::ring_all_reduce(8, 800).reduced == 700);
  CHECK(closed::ring_all_reduce(8, 800).seconds(1, 2, 3) == 14 + 2800 + 2100);
  CHECK(closed::log2_up(5) == 3);
  CHECK(closed::log2_up(8) == 3);
  CHECK(closed::log2_up(9) == 4);
}

TEST_CASE("a saturated switch and fill-in of sparse sums") {
  CHECK(closed::in_network_rate(50e9, 800e9, 8) == 50e9);
  CHECK(closed::in_network_rate(50e9, 320e9, 8) == 40e9);
  CHECK(closed::filled_in(0.01, 1) == doctest::Approx(0.01));
  CHECK(closed::filled_in(0.5, 3) == 0.875);
}

// Bandwidths of all-reduce in Gb/s on 1024 accelerators, links of 400 Gb/s, 80 ns per step.
TEST_CASE("HammingMesh: rings and torus over sizes of 128 KiB to 2 GiB") {
  struct Row {
    double kib, rings, torus;
  };
  const std::array rows{Row{128, 6.4, 84.2},
                        Row{2048, 90.9, 331.9},
                        Row{8 * 1024, 271.2, 389.2},
                        Row{32 * 1024, 538.1, 406.7},
                        Row{128 * 1024, 713.7, 411.3},
                        Row{512 * 1024, 777.1, 412.5},
                        Row{2048.0 * 1024, 794.7, 412.8}};
  constexpr double alpha = 80e-9;
  constexpr double beta = 8 / 400e9;
  for (const Row& row : rows) {
    const double n = row.kib * 1024;
    const auto gigabits = [&](double seconds) { return 8 * n / seconds / 1e9; };
    CHECK(std::abs(gigabits(closed::two_rings_all_reduce(1024, n).seconds(alpha, beta)) - row.rings) < 0.051);
    CHECK(std::abs(gigabits(closed::torus_all_reduce(32, n).seconds(alpha, beta)) - row.torus) < 0.051);
  }
}

// 133.5 M numbers of BERT, 1 % of them kept, 256 ranks at 10 GB/s; 1.5 us per message.
TEST_CASE("Ok-Topk against dense and other sparse schemes") {
  constexpr int p = 256;
  constexpr double numbers = 133.5e6;
  constexpr double kept = numbers / 100;
  constexpr double entry = 8;
  const auto milliseconds = [](const closed::Cost& cost) { return cost.seconds(1.5 * kMicro, 1 / 10e9) / kMilli; };
  CHECK(milliseconds(closed::halving_doubling_all_reduce(p, 4 * numbers)) == doctest::Approx(106.4).epsilon(0.0005));
  CHECK(milliseconds(closed::top_k_all_gather(p, kept, entry)) == doctest::Approx(272).epsilon(0.002));
  CHECK(milliseconds(closed::global_top_k_tree(p, kept, entry)) == doctest::Approx(17.1).epsilon(0.001));
  CHECK(milliseconds(closed::ok_topk_least(p, kept, entry)) == doctest::Approx(1.9).epsilon(0.025));
  CHECK(milliseconds(closed::ok_topk_most(p, kept, entry)) == doctest::Approx(4.0).epsilon(0.01));
  // In words: 4 k (P - 1) / P at best, (2 k + n) (P - 1) / P at worst.
  CHECK(closed::top_k_dynamic_least(4, 100, 8).bytes == 4 * (4.0 * 100 * 3 / 4));
  CHECK(closed::top_k_dynamic_most(4, 100, 8, 4000).bytes == 4 * ((200.0 + 1000) * 3 / 4));
  CHECK(closed::top_k_dynamic_most(4, 100, 8, 4000).messages == 8);
}
