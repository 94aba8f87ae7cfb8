#include "cost_models/step/step_work.hpp"

#include "tests/collectives/closed_forms.hpp"
#include "tests/collectives/graphs.hpp"
#include "tests/collectives/step_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::tests;
using Kind = StepTask::Kind;
namespace closed = debubble::closed_forms;

TEST_CASE("data parallel: each stage's gradients are all-reduced after its last backward, on ideal links") {
  Case run("1f1b", 4, 8);
  run.give_bytes();
  run.request.parallel.data = 8;
  const StepWork work = run.make();
  const std::vector<StepTask> reduces = of_kind(work, Kind::kGradientReduce);
  REQUIRE(reduces.size() == 4);
  for (std::size_t k = 0; k < 4; ++k) {
    const std::int32_t stage = 3 - static_cast<std::int32_t>(k);  // in the order of the backward
    CHECK(reduces[k].after_stages == std::vector<StageName>{{0, stage}});
    CHECK(reduces[k].devices == std::vector<std::int32_t>{stage});
    CHECK(reduces[k].across_replicas);
    CHECK(reduces[k].phases.empty());
    CHECK(reduces[k].bytes == 2 * kWeights);
    check_close(reduces[k].duration, closed::ring_all_reduce(8, 2e9).seconds(10e-6, 1 / 25e9));
  }
  CHECK(reduces[0].what == "gradients of stage 3: all-reduce of 1.9 GiB, ring over 8");
}

TEST_CASE("barrier: the norm waits for every reduction, every optimizer for the norm") {
  Case run("1f1b", 4, 8);
  run.give_bytes();
  run.request.parallel.data = 8;
  run.request.options.memory_bandwidth = 2'000'000'000'000;
  const StepWork work = run.make();
  const auto barrier = static_cast<std::int32_t>(
      std::find_if(work.tasks.begin(), work.tasks.end(),
                   [](const StepTask& task) { return task.kind == Kind::kGlobalNorm && task.devices.size() == 4; }) -
      work.tasks.begin());
  REQUIRE(barrier < static_cast<std::int32_t>(work.tasks.size()));
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(work.tasks.size()); ++k) {
    const StepTask& task = work.tasks[static_cast<std::size_t>(k)];
    for (const std::int32_t before : task.after) CHECK(before < k);
    if (task.kind == Kind::kGradientReduce) CHECK(follows(work, barrier, k));
    if (task.kind == Kind::kOptimizer) CHECK(follows(work, k, barrier));
  }
  CHECK(work.tasks[static_cast<std::size_t>(barrier)].after_stages.size() == 4);
  // The norm is a pass over 2 GB. The update: gradients cleared (2) and divided by the replicas (4), clipped (4), read
  // by Adam (2) beside its state read and written (12), weights copied (3).
  const std::vector<StepTask> norms = of_kind(work, Kind::kGlobalNorm);
  CHECK(norms.front().duration == 1'000'000);
  CHECK(norms.front().lane == StepTask::Lane::kCompute);
  CHECK(of_kind(work, Kind::kOptimizer).at(0).duration == 13'500'000);
  CHECK(of_kind(work, Kind::kOptimizer).at(0).lane == StepTask::Lane::kCompute);
}

TEST_CASE("the update's passes over memory: replicas, clipping, loss scaling, 16-bit gradients") {
  Case run("1f1b", 2, 4);
  run.give_bytes();
  run.request.options.memory_bandwidth = 2'000'000'000'000;
  const auto gigabytes = [&run] {
    return static_cast<double>(of_kind(run.make(), Kind::kOptimizer).at(0).bytes) / 1e9;
  };
  CHECK(gigabytes() == 2 + 4 + 2 + 12 + 3);  // one replica divides by nothing
  run.request.options.norm = NormMode::kNone;
  CHECK(gigabytes() == 2 + 2 + 12 + 3);  // without a norm nothing is clipped
  run.request.options.norm = NormMode::kBarrier;
  run.request.options.loss_scaling = true;
  CHECK(gigabytes() == 2 + 4 + 4 + 2 + 12 + 3);
  run.request.parallel.data = 4;
  CHECK(gigabytes() == 2 + 4 + 4 + 4 + 2 + 12 + 3);
  // 16-bit gradients: cleared and divided as such, then copied to 32 bits.
  run.request.stages.assign(2, {kWeights, kWeights, 6 * kWeights, 0, 0, 0});
  CHECK(gigabytes() == 1 + 2 + (1 + 2) + 4 + 4 + 2 + 12 + 3);
  CHECK(of_kind(run.make(), Kind::kGlobalNorm).at(0).bytes == 2 * kWeights);
  // 32-bit training: weights are no copy of anything, and are read and written.
  run.request.options = {};
  run.request.options.memory_bandwidth = 2'000'000'000'000;
  run.request.options.master_ratio = 0;
  run.request.stages.assign(2, {kWeights, kWeights, 2 * kWeights, 0, 0, 0});
  CHECK(gigabytes() == 1 + 2 + 2 + 1 + 4 + 2);
}

TEST_CASE("the update under ZeRO: gradients are cleared and divided whole until ZeRO-2 keeps a part of them") {
  Case run("1f1b", 2, 4);
  run.give_bytes();
  run.request.parallel.data = 8;
  run.request.options.memory_bandwidth = 2'000'000'000'000;
  const auto bytes = [&run](int zero) {
    run.request.parallel.zero = zero;
    return of_kind(run.make(), Kind::kOptimizer).at(0).bytes;
  };
  CHECK(bytes(0) == 27 * kWeights);
  CHECK(bytes(1) == 6 * kWeights + 21 * kWeights / 8);
  CHECK(bytes(2) == 27 * kWeights / 8);
  run.request.options.keep = true;
  CHECK(bytes(2) == bytes(1));
}

TEST_CASE("ZeRO-1 scatters and gathers as many bytes as ZeRO-0 reduces, and updates an eighth") {
  Case run("1f1b", 2, 4);
  run.give_bytes();
  run.request.parallel.data = 8;
  run.request.parallel.zero = 1;
  run.request.options.memory_bandwidth = 2'000'000'000'000;
  const StepWork work = run.make();
  const StepTask scatter = of_kind(work, Kind::kGradientReduce).at(0);
  const StepTask gather = of_kind(work, Kind::kParameterGather).at(0);
  check_close(scatter.duration, closed::ring_reduce_scatter(8, 2e9).seconds(10e-6, 1 / 25e9));
  check_close(gather.duration, closed::ring_all_gather(8, 1e9).seconds(10e-6, 1 / 25e9));
  CHECK(scatter.what == "gradients of stage 1: reduce-scatter of 1.9 GiB, ring over 8");
  // Cleared and divided whole, 6 GB; then an eighth of 21 GB.
  CHECK(of_kind(work, Kind::kOptimizer).at(0).duration == 3'000'000 + 10'500'000 / 8);
  CHECK(follows(work, first_of(work, Kind::kParameterGather), first_of(work, Kind::kOptimizer)));
  CHECK(gather.before_stages.empty());
  // Weights and gradients in one precision: 2 psi in both.
  run.request.stages.assign(2, {kWeights, kWeights, 6 * kWeights, 0, 0, 0});
  const StepWork same = run.make();
  run.request.parallel.zero = 0;
  const Nanoseconds reduced = of_kind(run.make(), Kind::kGradientReduce).at(0).duration;
  check_close(
      of_kind(same, Kind::kGradientReduce).at(0).duration + of_kind(same, Kind::kParameterGather).at(0).duration,
      static_cast<double>(reduced) * 1e-9);
}

TEST_CASE("weights gathered before the forward wait for nothing and hold up the stage's first forward") {
  Case run("1f1b", 2, 4);
  run.give_bytes();
  run.request.parallel.data = 8;
  run.request.parallel.zero = 1;
  run.request.options.gather = ParameterGather::kBeforeForward;
  const std::vector<StepTask> gathers = of_kind(run.make(), Kind::kParameterGather);
  REQUIRE(gathers.size() == 2);
  for (std::int32_t stage = 0; stage < 2; ++stage) {
    const StepTask& gather = gathers[static_cast<std::size_t>(stage)];
    CHECK(gather.before_stages == std::vector<StageName>{{0, stage}});
    CHECK(gather.after.empty());
    CHECK(gather.after_stages.empty());
  }
}

TEST_CASE("at the end: a device's reductions wait for all of its stages") {
  Case run("interleaved", 2, 4, 2);
  run.give_bytes();
  run.request.parallel.data = 2;
  run.request.options.reduce = GradientReduce::kAtEnd;
  for (const StepTask& task : of_kind(run.make(), Kind::kGradientReduce)) CHECK(task.after_stages.size() == 2);
}

TEST_CASE("tied embeddings: first and last stage add up theirs, after their own reductions") {
  Case run("1f1b", 4, 8);
  run.give_bytes();
  run.request.parallel.data = 2;
  run.request.tied_embedding = 500'000'000;
  const StepWork work = run.make();
  const std::vector<StepTask> tied = of_kind(work, Kind::kEmbeddingReduce);
  REQUIRE(tied.size() == 1);
  CHECK(tied[0].devices == std::vector<std::int32_t>{0, 3});
  CHECK(!tied[0].across_replicas);
  check_close(tied[0].duration, closed::ring_all_reduce(2, 5e8).seconds(10e-6, 1 / 25e9));
  const std::int32_t number = first_of(work, Kind::kEmbeddingReduce);
  CHECK(tied[0].after.size() == 2);
  CHECK(follows(work, first_of(work, Kind::kGlobalNorm), number));
}

TEST_CASE("tied embeddings on one device are added up for nothing") {
  for (const char* name : {"zb-v", "chimera"}) {
    CAPTURE(name);
    Case run(name, 4, 8);
    run.give_bytes();
    run.request.parallel.data = 2;
    run.request.tied_embedding = 500'000'000;
    CHECK(of_kind(run.make(), Kind::kEmbeddingReduce).empty());
  }
}

TEST_CASE("post-validation: each device waits for the one before, no one for the last") {
  Case run("zb-h2", 4, 8);
  run.give_bytes();
  run.request.parallel.data = 2;
  run.request.options.norm = NormMode::kPostValidation;
  run.request.options.memory_bandwidth = 2'000'000'000'000;
  const StepWork work = run.make();
  const std::vector<StepTask> updates = of_kind(work, Kind::kOptimizer);
  REQUIRE(updates.size() == 4);
  std::vector<std::int32_t> optimizers;
  std::vector<std::int32_t> reduces(4, -1);
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(work.tasks.size()); ++k) {
    const StepTask& task = work.tasks[static_cast<std::size_t>(k)];
    if (task.kind == Kind::kOptimizer) optimizers.push_back(k);
    if (task.kind == Kind::kGradientReduce) reduces[static_cast<std::size_t>(task.devices[0])] = k;
  }
  for (std::size_t device = 0; device < 4; ++device) {
    for (std::size_t other = 0; other < 4; ++other) {
      CHECK(follows(work, optimizers[device], reduces[other]) == (other <= device));
    }
  }
  CHECK(of_kind(work, Kind::kGlobalNorm).back().duration == 10'001);  // a message of 8 bytes
  run.request.options.norm = NormMode::kNone;
  CHECK(of_kind(run.make(), Kind::kGlobalNorm).empty());
}

TEST_CASE("experts' gradients reduce over every expert-th rank only, the rest over all") {
  Case run("1f1b", 2, 4);
  run.give_bytes();
  run.request.parallel.data = 16;
  run.request.parallel.expert = 4;
  for (StageState& state : run.request.stages) state.expert_gradients = kWeights / 2;
  const std::vector<StepTask> reduces = of_kind(run.make(), Kind::kGradientReduce);
  REQUIRE(reduces.size() == 4);
  check_close(reduces[0].duration, closed::ring_all_reduce(16, 1.5e9).seconds(10e-6, 1 / 25e9));
  check_close(reduces[1].duration, closed::ring_all_reduce(4, 0.5e9).seconds(10e-6, 1 / 25e9));
  run.request.parallel.expert = 16;  // every rank its own experts
  CHECK(of_kind(run.make(), Kind::kGradientReduce).size() == 2);
}

TEST_CASE("context ranks hold the same weights and reduce with the data ranks") {
  Case run("1f1b", 2, 4);
  run.give_bytes();
  run.request.parallel.context = 4;
  const StepTask alone = of_kind(run.make(), Kind::kGradientReduce).at(0);
  check_close(alone.duration, closed::ring_all_reduce(4, 2e9).seconds(10e-6, 1 / 25e9));
  CHECK(!alone.across_replicas);
  run.request.parallel.data = 2;
  check_close(of_kind(run.make(), Kind::kGradientReduce).at(0).duration,
              closed::ring_all_reduce(8, 2e9).seconds(10e-6, 1 / 25e9));
}

TEST_CASE("Chimera's replicas of a stage reduce with each other, with and without data ranks") {
  Case run("chimera", 4, 8);
  run.give_bytes();
  const std::vector<StepTask> reduces = of_kind(run.make(), Kind::kGradientReduce);
  REQUIRE(reduces.size() == 4);
  CHECK(reduces[3].devices == std::vector<std::int32_t>{0, 3});
  CHECK(reduces[3].after_stages == std::vector<StageName>{{0, 0}, {1, 0}});
  check_close(reduces[3].duration, closed::ring_all_reduce(2, 2e9).seconds(10e-6, 1 / 25e9));
  run.request.parallel.data = 4;
  check_close(of_kind(run.make(), Kind::kGradientReduce).at(3).duration,
              closed::ring_all_reduce(8, 2e9).seconds(10e-6, 1 / 25e9));
}

TEST_CASE("toy times: per device share, divided among chunks, nothing else is done") {
  Case run("interleaved", 2, 4, 2);
  run.request.options.times.reduce = 2'000'000;
  run.request.options.times.optimizer = 500'000;
  run.request.options.times.gather = 1'000'000;
  run.request.options.times.norm = 100'000;
  const StepWork work = run.make();
  CHECK(work.tasks.size() == 4 + 1 + 2 + 4);
  CHECK(of_kind(work, Kind::kGradientReduce).at(0).duration == 1'000'000);
  CHECK(of_kind(work, Kind::kGlobalNorm).at(0).duration == 100'000);
  CHECK(of_kind(work, Kind::kOptimizer).at(0).duration == 500'000);
  CHECK(of_kind(work, Kind::kParameterGather).at(0).duration == 500'000);
  CHECK(run.assumptions.empty());
  CHECK(of_kind(work, Kind::kGradientReduce).at(0).slow_down == 0);
  run.request.options.slow_down = 0.25;
  CHECK(of_kind(run.make(), Kind::kGradientReduce).at(0).slow_down == 0.25);
  REQUIRE(run.assumptions.size() == 1);
  CHECK(run.assumptions[0].source == Source::kGiven);
}

TEST_CASE("one rank and no bytes: nothing to do, without a flush: no step") {
  Case run("1f1b", 2, 4);
  CHECK(run.make().empty());
  run.give_bytes();
  CHECK(of_kind(run.make(), Kind::kGradientReduce).empty());
  Case stream("pipedream", 2, 4);
  stream.give_bytes();
  CHECK_THROWS_AS((void)stream.make(), InputError);
}

TEST_CASE("on a cluster: groups of all tensor ranks side by side, over the links that they use") {
  Case run("1f1b", 2, 4);
  run.give_bytes();
  auto network = std::make_shared<Network>();
  network->graph = tests::board_graph({.boards = 4});
  network->layout.sizes = {.tensor = 4, .data = 4, .pipeline = 2};
  run.request.parallel = network->layout.sizes;
  run.topology = Topology::over(network);
  run.request.options.algorithm = CollectiveAlgorithm::kRing;
  run.request.tied_embedding = 500'000'000;
  const StepWork work = run.make();
  const StepTask reduce = of_kind(work, Kind::kGradientReduce).at(0);
  REQUIRE(reduce.phases.size() == 1);
  // Rank = tensor + 4 data + 16 stage: stage 1 sits on boards 2 and 3, two data ranks on each, a card for each GPU.
  Nanoseconds sum = 0;
  for (const Flow& phase : reduce.phases[0]) sum += alone(phase, network->graph, NetworkModel::kFluid).total();
  CHECK(sum == reduce.duration);
  check_close(reduce.duration, 1.5 * 2e9 / 2 / 45e9);
  // Each pipeline replica adds up its own embeddings, over cards of its own.
  const StepTask tied = of_kind(work, Kind::kEmbeddingReduce).at(0);
  REQUIRE(tied.phases.size() == 4);
  CHECK(tied.phases[0][0].path.links != tied.phases[1][0].path.links);
  check_close(tied.duration, 5e8 / 45e9);
  // One after the other, as FIFO has them, flows of a collective are no flows.
  auto fifo = std::make_shared<Network>(*network);
  fifo->model = NetworkModel::kFifo;
  run.topology = Topology::over(fifo);
  const StepTask without = of_kind(run.make(), Kind::kGradientReduce).at(0);
  CHECK(without.phases.empty());
  CHECK(without.duration == reduce.duration);
}

TEST_CASE("calibration scales what collectives take") {
  Case run("1f1b", 2, 4);
  run.topology = Topology::ideal(0, 25'000'000'000);
  run.give_bytes();
  run.request.parallel.data = 8;
  const Nanoseconds plain = of_kind(run.make(), Kind::kGradientReduce).at(0).duration;
  run.request.options.network_scale = 0.5;
  check_close(of_kind(run.make(), Kind::kGradientReduce).at(0).duration, 2e-9 * static_cast<double>(plain));
}
