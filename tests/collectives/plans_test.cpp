// A plan's time alone on a cluster is the closed form, wherever that describes the cluster.
#include "cost_models/collectives/algorithms.hpp"
#include "cost_models/collectives/collective.hpp"
#include "cost_models/collectives/known_drafts.hpp"
#include "sim/core/topology.hpp"
#include "tests/collectives/closed_forms.hpp"
#include "tests/collectives/graphs.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using tests::board_graph;
using tests::BoardSizes;
namespace closed = debubble::closed_forms;

namespace {

std::vector<std::int32_t> plans_first_devices(int count) {
  std::vector<std::int32_t> group(static_cast<std::size_t>(count));
  std::iota(group.begin(), group.end(), 0);
  return group;
}

CollectiveModel model_of(CollectiveAlgorithm algorithm, Nanoseconds step, Nanoseconds far) {
  CollectiveModel model;
  model.algorithm = algorithm;
  model.step_latency = step;
  model.far_latency = far;
  return model;
}

Nanoseconds time_of(const LinkGraph& graph, int ranks, CollectiveKind kind, Bytes bytes, const CollectiveModel& model) {
  return plan_collective(graph, {plans_first_devices(ranks)}, kind, bytes, model).duration;
}

// One rounding up per phase.
void check_close(Nanoseconds planned, double seconds, int phases = 1) {
  CHECK(static_cast<double>(planned) >= seconds * 1e9 - 1);
  CHECK(static_cast<double>(planned) <= seconds * 1e9 + 1 + phases);
}

constexpr Bytes kGigabyte = 1'000'000'000;
constexpr auto kAllReduce = CollectiveKind::kAllReduce;

}  // namespace

TEST_CASE("1 GB on 4 nodes of 8: hierarchical 8.998 ms") {
  const LinkGraph graph = board_graph({.boards = 4});
  const Nanoseconds time =
      time_of(graph, 32, kAllReduce, kGigabyte, model_of(CollectiveAlgorithm::kHierarchical, 3'000, 10'000));
  CHECK(static_cast<double>(time) / 1e6 == doctest::Approx(8.998).epsilon(0.00005));
}

TEST_CASE("1 GB on 4 nodes of 8: a flat ring over one card per node 43.68 ms, over all cards 6.002 ms") {
  const CollectiveModel ring = model_of(CollectiveAlgorithm::kRing, 10'000, 10'000);
  const Nanoseconds one =
      time_of(board_graph({.boards = 4, .card_per_device = false}), 32, kAllReduce, kGigabyte, ring);
  CHECK(static_cast<double>(one) / 1e6 == doctest::Approx(43.68).epsilon(0.0001));
  const Nanoseconds all = time_of(board_graph({.boards = 4}), 32, kAllReduce, kGigabyte, ring);
  CHECK(static_cast<double>(all) / 1e6 == doctest::Approx(6.002).epsilon(0.00005));
}

TEST_CASE("on one crossbar ring, halving-doubling and pairwise take what their formulas say") {
  const LinkGraph graph = board_graph({.per_board = 16});
  const Bytes n = 123'456'789;
  const double bytes = static_cast<double>(n);
  const double alpha = 3e-6;
  const double beta = 1 / 370e9;
  for (const int p : {2, 4, 8, 16}) {
    CAPTURE(p);
    const auto time = [&](CollectiveAlgorithm algorithm, CollectiveKind kind) {
      return time_of(graph, p, kind, n, model_of(algorithm, 3'000, 0));
    };
    const int steps = 2 * static_cast<int>(closed::log2_up(p));
    using Algorithm = CollectiveAlgorithm;
    check_close(time(Algorithm::kRing, kAllReduce), closed::ring_all_reduce(p, bytes).seconds(alpha, beta));
    check_close(time(Algorithm::kRing, CollectiveKind::kAllGather),
                closed::ring_all_gather(p, bytes).seconds(alpha, beta));
    check_close(time(Algorithm::kRing, CollectiveKind::kReduceScatter),
                closed::ring_reduce_scatter(p, bytes).seconds(alpha, beta));
    check_close(time(Algorithm::kPairwise, CollectiveKind::kAllToAll),
                closed::pairwise_all_to_all(p, bytes).seconds(alpha, beta));
    check_close(time(Algorithm::kHalvingDoubling, kAllReduce),
                closed::halving_doubling_all_reduce(p, bytes).seconds(alpha, beta), steps);
    // Cut into so many chunks that start-up is p - 1 messages.
    check_close(time(Algorithm::kRing, CollectiveKind::kBroadcast), (p - 1) * alpha + bytes * beta);
  }
}

TEST_CASE("rings of any length, halving-doubling of powers of two") {
  const LinkGraph graph = board_graph({.per_board = 16});
  for (int p = 2; p <= 16; ++p) {
    check_close(time_of(graph, p, kAllReduce, 1'000'003, model_of(CollectiveAlgorithm::kRing, 1'000, 0)),
                closed::ring_all_reduce(p, 1'000'003).seconds(1e-6, 1 / 370e9));
  }
  const CollectiveModel halving = model_of(CollectiveAlgorithm::kHalvingDoubling, 0, 0);
  CHECK_NOTHROW((void)time_of(graph, 4, kAllReduce, 100, halving));
  CHECK_THROWS_AS((void)time_of(graph, 6, kAllReduce, 100, halving), InputError);
}

TEST_CASE("a double tree between boards: every inner node sends 2 n, log2 levels up and down") {
  for (const int boards : {4, 7, 8, 16}) {
    CAPTURE(boards);
    const LinkGraph graph = board_graph({.boards = boards, .per_board = 1});
    check_close(time_of(graph, boards, kAllReduce, kGigabyte, model_of(CollectiveAlgorithm::kTree, 3'000, 10'000)),
                closed::double_tree_all_reduce(boards, 1e9).seconds(10e-6, 1 / 45e9));
  }
  // Two nodes: each is the other's only child.
  const LinkGraph two = board_graph({.boards = 2, .per_board = 1});
  check_close(time_of(two, 2, kAllReduce, kGigabyte, model_of(CollectiveAlgorithm::kTree, 0, 10'000)),
              2 * 10e-6 + 1e9 / 45e9);
}

TEST_CASE("a tree's broadcast brings the whole buffer to everybody once") {
  for (const int boards : {2, 3, 4, 5, 8, 9}) {
    CAPTURE(boards);
    const LinkGraph graph = board_graph({.boards = boards, .per_board = 1});
    const CollectivePlan plan = plan_collective(graph, {plans_first_devices(boards)}, CollectiveKind::kBroadcast,
                                                kGigabyte, model_of(CollectiveAlgorithm::kTree, 0, 10'000));
    std::vector<double> received(static_cast<std::size_t>(boards), 0.0);
    for (const LinkShare& share : plan.phases.at(0).path.links) {
      const std::int32_t to = graph.links[static_cast<std::size_t>(share.link)].to;
      if (to < boards) received[static_cast<std::size_t>(to)] += share.weight;
    }
    for (int rank = 1; rank < boards; ++rank) CHECK(received[static_cast<std::size_t>(rank)] == 1);
    CHECK(received[0] == 0);
  }
}

TEST_CASE("in the switches each rank sends n once and receives n once") {
  const LinkGraph graph = board_graph({.reducing = true});
  for (const int p : {2, 5, 8}) {
    check_close(time_of(graph, p, kAllReduce, kGigabyte, model_of(CollectiveAlgorithm::kInNetwork, 4'000, 0)),
                closed::in_network_all_reduce(1, 1e9).seconds(4e-6, 1 / 370e9));
  }
  // Gathered: all of it arrives, but for a rank's own part; scattered sums: the reverse.
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
    check_close(time_of(graph, 8, kind, kGigabyte, model_of(CollectiveAlgorithm::kInNetwork, 0, 0)),
                closed::ring_all_gather(8, 1e9).seconds(0, 1 / 370e9));
  }
  CHECK_THROWS_AS((void)time_of(board_graph({}), 8, kAllReduce, 100, model_of(CollectiveAlgorithm::kInNetwork, 0, 0)),
                  InputError);
}

TEST_CASE("a torus of 32 x 32: rows and columns both ways, as in the formula") {
  const LinkGraph graph = tests::torus_graph(32, 32, 50'000'000'000, 80);
  for (const Bytes n : {Bytes{128} << 10, Bytes{32} << 20, Bytes{2} << 30}) {
    check_close(time_of(graph, 1024, kAllReduce, n, model_of(CollectiveAlgorithm::kTorus, 0, 0)),
                closed::torus_all_reduce(32, static_cast<double>(n)).seconds(80e-9, 1 / 50e9), 2);
  }
}

TEST_CASE("sparse all-reduce at its upper bound") {
  const LinkGraph graph = board_graph({.per_board = 64});
  CollectiveModel model = model_of(CollectiveAlgorithm::kSparse, 1'500, 0);
  model.density = 0.01;
  const double kept = 1e6 * 0.01;
  const closed::Cost bound = closed::ok_topk_most(64, kept, 8);
  check_close(time_of(graph, 64, kAllReduce, 4'000'000, model), bound.seconds(1.5e-6, 1 / 370e9), 2);
  model.selection_bandwidth = 1'000'000'000'000;
  check_close(time_of(graph, 64, kAllReduce, 4'000'000, model), bound.seconds(1.5e-6, 1 / 370e9) + 4e-6, 2);
}

TEST_CASE("hierarchical all-gather, reduce-scatter and all-to-all: inside and across") {
  const LinkGraph graph = board_graph({.boards = 4});
  const CollectiveModel model = model_of(CollectiveAlgorithm::kHierarchical, 3'000, 10'000);
  const double inside = closed::ring_all_gather(8, 1e9).seconds(3e-6, 1 / 370e9);
  const double across = closed::ring_all_gather(4, 1e9 / 8).seconds(10e-6, 1 / 45e9);
  check_close(time_of(graph, 32, CollectiveKind::kAllGather, kGigabyte, model), inside + across, 2);
  check_close(time_of(graph, 32, CollectiveKind::kReduceScatter, kGigabyte, model), inside + across, 2);
  // Everything for the other boards crosses once, gathered by place.
  check_close(time_of(graph, 32, CollectiveKind::kAllToAll, kGigabyte, model),
              inside + closed::pairwise_all_to_all(4, 1e9).seconds(10e-6, 1 / 45e9), 2);
}

TEST_CASE("auto takes the fastest of those that fit") {
  const auto automatic = [](const LinkGraph& graph, int ranks, Bytes bytes) {
    return plan_collective(graph, {plans_first_devices(ranks)}, kAllReduce, bytes,
                           model_of(CollectiveAlgorithm::kAuto, 3'000, 10'000));
  };
  // Bandwidth: rings over all cards. Latency: a tree of 4 boards.
  CHECK(automatic(board_graph({.boards = 4}), 32, kGigabyte).algorithm == CollectiveAlgorithm::kRing);
  CHECK(automatic(board_graph({.boards = 16, .per_board = 1}), 16, 1'000).algorithm == CollectiveAlgorithm::kTree);
  CHECK(automatic(board_graph({.reducing = true}), 8, kGigabyte).algorithm == CollectiveAlgorithm::kInNetwork);
  // Latency, where a tree's chain of 7 inside a board is as long as the hierarchy's rings.
  for (const Bytes bytes : {Bytes{1'000}, Bytes{10'000'000}, kGigabyte}) {
    const LinkGraph graph = board_graph({.boards = 4});
    const CollectivePlan best = automatic(graph, 32, bytes);
    for (const auto algorithm :
         {CollectiveAlgorithm::kRing, CollectiveAlgorithm::kTree, CollectiveAlgorithm::kHierarchical}) {
      CHECK(best.duration <= time_of(graph, 32, kAllReduce, bytes, model_of(algorithm, 3'000, 10'000)));
    }
  }
}

TEST_CASE("nothing to do takes no time") {
  const LinkGraph graph = board_graph({});
  CHECK(time_of(graph, 1, kAllReduce, kGigabyte, {}) == 0);
  CHECK(time_of(graph, 8, kAllReduce, 0, {}) == 0);
  CHECK(plan_collective(graph, {plans_first_devices(1)}, kAllReduce, 1, {}).phases.empty());
}

TEST_CASE("groups side by side share the ports they have in common, and no others") {
  const LinkGraph graph = board_graph({.boards = 2});
  const CollectiveModel ring = model_of(CollectiveAlgorithm::kRing, 0, 0);
  // Eight tensor ranks each reduce with their counterpart on the other board: a card each.
  std::vector<std::vector<std::int32_t>> groups;
  for (std::int32_t k = 0; k < 8; ++k) groups.push_back({k, k + 8});
  const Nanoseconds apart = plan_collective(graph, groups, kAllReduce, kGigabyte, ring).duration;
  check_close(apart, 1e9 / 45e9);
  const LinkGraph narrow = board_graph({.boards = 2, .card_per_device = false});
  check_close(plan_collective(narrow, groups, kAllReduce, kGigabyte, ring).duration, 8 * 1e9 / 45e9);
}

TEST_CASE("drafts that are kept give the plans of fresh ones") {
  const LinkGraph graph = board_graph({.boards = 2});
  KnownDrafts known;
  for (int again = 0; again < 2; ++again) {
    for (const CollectiveKind kind : {kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kAllToAll}) {
      for (const int ranks : {4, 8, 16}) {
        for (const Bytes bytes : {Bytes{1}, Bytes{1} << 20, kGigabyte}) {
          const std::vector<std::vector<std::int32_t>> group{plans_first_devices(ranks)};
          const CollectivePlan kept = plan_collective(graph, group, kind, bytes, {}, &known);
          const CollectivePlan fresh = plan_collective(graph, group, kind, bytes, {});
          CHECK(kept.text == fresh.text);
          CHECK(kept.duration == fresh.duration);
          REQUIRE(kept.phases.size() == fresh.phases.size());
          for (std::size_t k = 0; k < kept.phases.size(); ++k) {
            CHECK(kept.phases[k].path.links.size() == fresh.phases[k].path.links.size());
          }
        }
      }
    }
  }
}

TEST_CASE("protocol overhead and latencies: base once, links beside or inside the steps") {
  const LinkGraph graph = board_graph({.inside_latency = 500});
  CollectiveModel model = model_of(CollectiveAlgorithm::kRing, 3'000, 0);
  model.base_latency = 8'000;
  model.efficiency = 0.8;
  const double bytes_time = 1.75 * 1e9 / 0.8 / 370e9;
  check_close(time_of(graph, 8, kAllReduce, kGigabyte, model), 8e-6 + 14 * 4e-6 + bytes_time);
  model.step_includes_links = true;
  check_close(time_of(graph, 8, kAllReduce, kGigabyte, model), 8e-6 + 14 * 3e-6 + bytes_time);
  CHECK(plan_collective(graph, {plans_first_devices(8)}, kAllReduce, kGigabyte, model).text ==
        "all-reduce of 953.7 MiB, ring over 8");
}

TEST_CASE("on ports of their own, rings and trees are those that are drawn link by link") {
  for (const std::size_t ranks : {2U, 3U, 8U, 17U, 64U}) {
    for (const std::int64_t bandwidth : {std::int64_t{0}, std::int64_t{25'000'000'000}}) {
      for (const auto algorithm :
           {CollectiveAlgorithm::kAuto, CollectiveAlgorithm::kRing, CollectiveAlgorithm::kTree}) {
        for (const auto kind : {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
                                CollectiveKind::kBroadcast}) {
          const bool sums_up = kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllGather;
          if (algorithm == CollectiveAlgorithm::kTree && sums_up) continue;
          CAPTURE(ranks);
          CAPTURE(to_string(algorithm));
          CAPTURE(to_string(kind));
          CollectiveModel model = model_of(algorithm, 1'300, 9'000);
          model.base_latency = 6'000;
          model.efficiency = 0.8;
          model.scale = 0.7;
          const LinkGraph drawn = collectives::port_graph(ranks, bandwidth, 700);
          const CollectivePlan expected =
              plan_collective(drawn, {plans_first_devices(static_cast<int>(ranks))}, kind, 1'000'000, model);
          const CollectivePlan plan = plan_on_ports(ranks, bandwidth, 700, kind, 1'000'000, model);
          CHECK(plan.duration == expected.duration);
          CHECK(plan.text == expected.text);
          CHECK(plan.algorithm == expected.algorithm);
        }
      }
    }
  }
  const CollectivePlan huge = plan_on_ports(1'000'000, 25'000'000'000, 0, CollectiveKind::kAllReduce, 1'000'000, {});
  check_close(huge.duration, closed::ring_all_reduce(1'000'000, 1e6).seconds(0, 1 / 25e9));
}

TEST_CASE("what is asked for on ports and does not fit is refused with the ranks that there are") {
  CHECK(first_problem([&] {
          const CollectiveModel tree = model_of(CollectiveAlgorithm::kTree, 0, 0);
          (void)plan_on_ports(1'000'000, 0, 0, CollectiveKind::kAllGather, 8, tree);
        }).message == "tree does no all-gather over 1000000 devices of ideal links");
}

TEST_CASE("what would have to be drawn for very many ranks is refused at once") {
  for (const CollectiveAlgorithm algorithm : {CollectiveAlgorithm::kHalvingDoubling, CollectiveAlgorithm::kSparse}) {
    const Diagnostic problem = first_problem(
        [&] { (void)plan_on_ports(16'000, 0, 0, CollectiveKind::kAllReduce, 8, model_of(algorithm, 0, 0)); });
    CHECK(problem.code == "B030");
    CHECK(problem.message ==
          "all-reduce over 16000 ranks on ideal links: beyond 1024 only rings and trees are planned");
  }
}

TEST_CASE("calibration divides all that a collective takes") {
  const LinkGraph graph = board_graph(BoardSizes{});
  CollectiveModel model = model_of(CollectiveAlgorithm::kRing, 4'000, 16'000);
  model.base_latency = 8'000;
  const auto ranks = graph.device_count();
  const Nanoseconds plain = time_of(graph, ranks, CollectiveKind::kAllReduce, 64'000'000, model);
  model.scale = 0.5;
  CHECK(std::abs(time_of(graph, ranks, CollectiveKind::kAllReduce, 64'000'000, model) - 2 * plain) <= 2);
}
