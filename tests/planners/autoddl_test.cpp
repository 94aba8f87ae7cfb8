// AutoDDL: volumes computed apart, descent against the exact optimum and against all signatures.
#include "studies/planners/autoddl.hpp"
#include "studies/planners/catalog.hpp"
#include "tests/planners/jobs.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

constexpr auto kData = SbpStrategy::kData;
constexpr auto kColumn = SbpStrategy::kColumn;
constexpr auto kRow = SbpStrategy::kRow;

std::vector<PlannerProduct> two_layers(std::int64_t rows, std::int64_t d0, std::int64_t d1, std::int64_t d2) {
  return {{"first", rows, d0, d1}, {"second", rows, d1, d2}};
}

PlannerDecision decide_products(const std::vector<PlannerProduct>& products, int devices, bool as_published = false) {
  PlannerJob job = equal_devices(devices, 1'000'000'000);
  set_layers(job, {{1, 2, 1, 1, 1}});
  job.products = products;
  return decide("autoddl", job, as_published);
}

TEST_CASE("AutoDDL's model and optimum of a two-layer network on four devices") {
  struct Row {
    std::vector<PlannerProduct> products;
    SbpSignatures best;
    double volume, all_data;
    bool sticks;
  };
  const SbpSignatures data{{kData}, {kData}};
  for (const Row& row : {Row{two_layers(64, 1024, 4096, 1024), {{kColumn}, {kRow}}, 147456, 12582912, false},
                         Row{two_layers(4096, 1024, 4096, 1024), {{kColumn}, {kRow}}, 9437184, 12582912, true},
                         Row{two_layers(512, 25088, 4096, 4096), {{kRow}, {kRow}}, 8699904, 179306496, false},
                         Row{two_layers(32, 25088, 4096, 4096), {{kRow}, {kRow}}, 543744, 179306496, false},
                         Row{two_layers(4096, 512, 512, 512), {{kData}, {kData}}, 786432, 786432, false}}) {
    CAPTURE(row.volume);
    CHECK(sbp_volume(row.products, {4}, data) == doctest::Approx(row.all_data));
    const SbpPlan optimum = sbp_optimum(row.products, {4});
    CHECK(optimum.volume == doctest::Approx(row.volume));
    CHECK((optimum.signatures == row.best));
    const SbpPlan descent = sbp_descent(row.products, {4}, data);
    if (row.sticks) {
      CHECK((descent.signatures == data));
    } else {
      CHECK((descent.signatures == row.best));
    }
    CHECK(decide_products(row.products, 4).predicted <= row.volume);  // on the best of its grids
  }
}

double least_volume(const std::vector<PlannerProduct>& products, const std::vector<int>& grid) {
  std::vector<std::vector<SbpStrategy>> all{{}};
  for (std::size_t dimension = 0; dimension < grid.size(); ++dimension) {
    std::vector<std::vector<SbpStrategy>> longer;
    for (const auto& one : all) {
      for (const SbpStrategy strategy : {kData, kColumn, kRow}) {
        longer.push_back(one);
        longer.back().push_back(strategy);
      }
    }
    all = longer;
  }
  std::size_t count = 1;
  for (std::size_t i = 0; i < products.size(); ++i) count *= all.size();
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t code = 0; code < count; ++code) {
    SbpSignatures signatures;
    for (std::size_t i = 0, rest = code; i < products.size(); ++i, rest /= all.size()) {
      signatures.push_back(all[rest % all.size()]);
    }
    best = std::min(best, sbp_volume(products, grid, signatures));
  }
  return best;
}

TEST_CASE("AutoDDL's dynamic program equals all signatures, and the descent with restarts reaches it") {
  Draws draws(31);
  int stuck = 0;
  for (int run = 0; run < 300; ++run) {
    CAPTURE(run);
    std::vector<PlannerProduct> products;
    const int rows = 1 << draws.whole(2, 12);
    int in = 1 << draws.whole(3, 12);
    for (int i = draws.whole(1, 4); i > 0; --i) {
      const int out = 1 << draws.whole(3, 12);
      products.push_back({"product", rows, in, out});
      in = out;
    }
    const std::vector<int> grid = run % 2 == 0 ? std::vector<int>{1 << draws.whole(1, 4)} : std::vector<int>{4, 2};
    const SbpPlan optimum = sbp_optimum(products, grid);
    CHECK(optimum.volume == doctest::Approx(sbp_volume(products, grid, optimum.signatures)).epsilon(1e-9));
    if (products.size() < 4) CHECK(optimum.volume == doctest::Approx(least_volume(products, grid)).epsilon(1e-9));
    if (grid.size() == 1) {
      PlannerJob job = equal_devices(2, 1'000'000'000);  // two devices have one grid only
      set_layers(job, {{1, 2, 1, 1, 1}});
      job.products = products;
      CHECK(decide("autoddl", job).predicted == doctest::Approx(sbp_optimum(products, {2}).volume).epsilon(1e-9));
      stuck += decide("autoddl", job, true).predicted > sbp_optimum(products, {2}).volume * (1 + 1e-9);
    } else {
      const double least = std::min(sbp_optimum(products, {8}).volume, optimum.volume);
      CHECK(decide_products(products, 8).predicted == doctest::Approx(least).epsilon(1e-9));
    }
  }
  CHECK(stuck > 0);
}

TEST_CASE("AutoDDL says what it needs") {
  CHECK(problems_of([] { static_cast<void>(decide_products({}, 4)); }).starts_with("error[Z003]"));
  CHECK(problems_of([] { static_cast<void>(decide_products({{"x", 0, 1, 1}}, 4)); }).starts_with("error[Z003]"));
  const PlannerDecision decision = decide_products(two_layers(64, 1024, 4096, 1024), 4);
  CHECK(decision.stages.empty());
  CHECK(decision.choices[1].first == "first");
}

}  // namespace
}  // namespace debubble::testing
