// Planners that count: even, megatron, deepspeed; and the balance that they share with others.
#include "studies/planners/catalog.hpp"
#include "studies/planners/stages.hpp"
#include "tests/planners/jobs.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

using Sizes = std::vector<int>;

PlannerJob blocks(int count, int devices, bool outer) {
  PlannerJob job = equal_devices(devices, 1'000'000'000);
  set_layers(job, std::vector<LayerRow>(static_cast<std::size_t>(count + (outer ? 2 : 0)), LayerRow{1, 2, 1, 1, 1}));
  if (outer) {
    job.layers.front().role = LayerRole::kEmbedding;
    job.layers.back().role = LayerRole::kHead;
  }
  return job;
}

Sizes sizes_of(std::string_view planner, const PlannerJob& job, bool as_published = false) {
  return decided_partition(decide(planner, job, as_published), job);
}

TEST_CASE("even: the rest goes to the first stages") {
  CHECK(sizes_of("even", blocks(10, 4, false)) == Sizes{3, 3, 2, 2});
  CHECK(sizes_of("even:stages=2", blocks(10, 4, false)) == Sizes{5, 5});
  CHECK(sizes_of("even", blocks(4, 4, false)) == Sizes{1, 1, 1, 1});
  CHECK(problems_of([] { static_cast<void>(decide("even", blocks(3, 4, false))); }) ==
        "error[Z003]: 4 stages need at least as many layers; the job has 3\n  --> --planner even\n"
        "  = help: use fewer devices, or a finer profile\n");
}

TEST_CASE("megatron: equal blocks, and embedding and loss count where that makes them divide") {
  CHECK(sizes_of("megatron", blocks(96, 8, true)) == Sizes{13, 12, 12, 12, 12, 12, 12, 13});
  CHECK(sizes_of("megatron", blocks(16, 4, false)) == Sizes{4, 4, 4, 4});
  const PlannerJob both = blocks(14, 4, true);
  CHECK(sizes_of("megatron", both) == Sizes{4, 4, 4, 4});  // the embedding and three blocks, ...
  CHECK(decide("megatron", both).notes.front() ==
        "Megatron-LM needs --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split for this");
  CHECK(sizes_of("megatron", blocks(15, 4, true)) == Sizes{4, 4, 4, 5});
  CHECK(sizes_of("megatron:account=loss", blocks(15, 4, true)) == Sizes{5, 4, 4, 4});
  CHECK(problems_of([] { static_cast<void>(decide("megatron", blocks(13, 4, true))); }).starts_with("error[Z003]"));
  CHECK(problems_of([] {
          static_cast<void>(decide("megatron:account=head", blocks(15, 4, true)));
        }).starts_with("error[C002]: \"head\" is not one of"));
}

TEST_CASE("deepspeed: the cuts of its own program, also where another one differs less between its stages") {
  PlannerJob job = equal_devices(4, 1'000'000'000);
  const auto cut = [&](const std::vector<Bytes>& weights) {
    job.layers.clear();
    for (const Bytes weight : weights) {
      PlannerLayer& layer = job.layers.emplace_back();
      layer.forward = 1;
      layer.backward = 2;
      layer.parameters = weight;
    }
    return sizes_of("deepspeed", job);
  };
  CHECK(cut({7, 1, 1, 1, 1, 1, 1, 7}) == Sizes{1, 3, 3, 1});
  CHECK(cut({3, 3, 3, 3, 3, 3, 3, 3, 3}) == Sizes{3, 2, 2, 2});
  CHECK(cut({3, 3, 6, 5, 2, 9, 5}) == Sizes{3, 2, 1, 1});
}

TEST_CASE("least_largest takes the earliest cuts and says when nothing is allowed") {
  const auto length = [](int, int begin, int end) { return static_cast<double>(end - begin); };
  CHECK(least_largest(0, 10, 4, length).cuts == Sizes{1, 4, 7});
  const auto first_only = [](int stage, int begin, int end) {
    CHECK((stage == 0) == (begin == 3));
    return static_cast<double>(end - begin);
  };
  CHECK(least_largest(3, 9, 3, first_only).cuts == Sizes{5, 7});
  const auto never = [](int, int, int) { return std::numeric_limits<double>::infinity(); };
  CHECK(least_largest(0, 4, 2, never).cuts.empty());
}

}  // namespace
}  // namespace debubble::testing
