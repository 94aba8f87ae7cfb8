// What decisions are worth, by closed forms; every planner tried on one job; a job from a profile.
#include "studies/planners/regret.hpp"
#include "studies/planners/from_profile.hpp"
#include "studies/planners/stages.hpp"
#include "tests/planners/jobs.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

PlannerJob uniform_job(int layers, int devices, int microbatches) {
  PlannerJob job = equal_devices(devices, 1'000'000'000);
  set_layers(job, std::vector<LayerRow>(static_cast<std::size_t>(layers), LayerRow{1, 2, 0, 1e6, 3e6}));
  job.microbatches = microbatches;
  return job;
}

TEST_CASE("a straight decision on equal layers is worth (M + S - 1)(F + B)") {
  const PlannerJob job = uniform_job(8, 4, 16);
  const DecisionWorth worth = decision_worth(job, decide("even", job));
  CHECK(worth.step == (16 + 3) * 6'000'000);
  CHECK(worth.peak_memory == 4 * 2'000'000 + 4 * 6'000'000);
  CHECK(worth.fits);
}

TEST_CASE("replicas share microbatches, cuts and exchanges") {
  PlannerJob job = uniform_job(4, 4, 8);
  job.layers[1].output = 4'000'000;
  PlannerDecision decision;
  decision.planner = "test";
  decision.stages = {{0, 4, 4, {0, 1, 2, 3}}};
  // 8 x 3 ms, and 2 x 3/4 x 4 MB in a ring.
  CHECK(decision_worth(job, decision).step == 24'000'000 + 6'000'000);
  decision.stages = {{0, 2, 2, {0, 1}}, {2, 4, 2, {2, 3}}};
  // Two stages of 3 ms; 4 MB shared by two pairs: 2 ms there and back. Stage 0 ends last, after an exchange of 2 MB.
  const Nanoseconds step = decision_worth(job, decision).step;
  CHECK(step >= (8 + 1) * 3'000'000 + 4'000'000 + 2'000'000);
  job.layers[1].output = 0;
  CHECK(decision_worth(job, decision).step == (8 + 1) * 3'000'000 + 2'000'000);
  job.types.front().memory = 10'000'000;
  CHECK(!decision_worth(job, decision).fits);
}

TEST_CASE("recomputation and larger microbatches") {
  const PlannerJob job = uniform_job(4, 2, 8);
  PlannerDecision decision;
  decision.stages = stages_of_sizes({2, 2});
  decision.choices = {{"recompute", "yes"}};
  CHECK(decision_worth(job, decision).step == 9 * 8'000'000);
  decision.choices = {{"microbatch", "2 times the job's"}};
  CHECK(decision_worth(job, decision).step == 5 * 12'000'000);
}

TEST_CASE(
    "optpipe with copies to the host is simulated as it predicts, within the memory, and no longer than without") {
  PlannerJob job = uniform_job(4, 2, 6);
  for (PlannerLayer& layer : job.layers) layer.output = 2'000'000;  // 2 ms to the next stage
  // Two activations of 6 MB beside 8 MB of state and what has been received.
  job.types.front().memory = 24'000'000;
  const DecisionWorth plain = decision_worth(job, decide("optpipe", job));
  const PlannerDecision with = decide(parse_planner("optpipe:host=6"), job);
  const DecisionWorth copied = decision_worth(job, with);
  CHECK(plain.fits);
  CHECK(copied.fits);
  CHECK(copied.step < plain.step);
  CHECK(copied.step == static_cast<Nanoseconds>(with.predicted));
}

TEST_CASE("all planners on one job: what they decide is simulated") {
  Draws draws(43);
  for (int run = 0; run < 30; ++run) {
    CAPTURE(run);
    PlannerJob job = random_chain(draws, draws.whole(3, 9), 4);
    job.levels = {{2, 20'000'000'000}, {2, 1'000'000'000}};
    std::size_t simulated = 0;
    for (const PlannerEntry& planner : planner_catalog()) {
      CAPTURE(planner.name);
      if (const auto worth = worth_if_decided(planner, job)) {
        ++simulated;
        CHECK(worth->step > 0);
      }
    }
    CHECK(simulated >= 5);
  }
}

TEST_CASE("a job from a profile has its layers, kinds, products and links") {
  Profile profile;
  profile.model = "model";
  profile.microbatch_size = 2;
  profile.sequence_length = 8;
  profile.transformer = ProfiledTransformer{};
  profile.transformer->hidden = 64;
  profile.transformer->heads = 4;
  profile.transformer->kv_heads = 2;
  profile.transformer->head_size = 16;
  profile.transformer->feed_forward = 256;
  profile.transformer->gated = true;
  for (const char* kind : {"embedding", "transformer", "transformer", "head"}) {
    ProfileLayer layer;
    layer.name = kind;
    layer.kind = kind;
    layer.forward.median = 5;
    layer.input_grad = TimeStatistics{6, {}, {}, 0};
    layer.weight_grad = TimeStatistics{7, {}, {}, 0};
    layer.output = 11;
    layer.parameters = 13;
    layer.activation = 17;
    profile.layers.push_back(layer);
  }
  const PlannerJob job = planner_job(profile, Topology::ideal(10, 2'000'000'000), 2, 8, 1 << 30);
  check_planner_job(job);
  CHECK(job.layers[1].forward == 5);
  CHECK(job.layers[1].backward == 13);
  CHECK((job.layers[0].role == LayerRole::kEmbedding));
  CHECK((job.layers[3].role == LayerRole::kHead));
  CHECK(job.products[0].rows == 16);
  CHECK(job.products[0].out == 128);
  CHECK(job.products[2].out == 512);
  REQUIRE(job.levels.size() == 1);
  CHECK(job.levels[0].members == 2);
  CHECK(job.levels[0].bandwidth == doctest::Approx(2e9).epsilon(1e-6));
  CHECK(decided_partition(decide("megatron", job), job) == std::vector<int>{2, 2});
  CHECK(job.microbatches == 8);
  CHECK(least_memory(job) == 1 << 30);
}

}  // namespace
}  // namespace debubble::testing
