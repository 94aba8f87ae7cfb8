// The fastest cut whose stages fit, against brute force over all cuts.
#include "cost_models/partition/memory.hpp"

#include "schedules/catalog.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"
#include "tests/unit/every_cut.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Sizes that do not simply add up: the workspace of a range is that of its largest layer.
RangeCosts random_ranges(Dice& dice, int layers) {
  std::vector<RangeCost> single;
  for (int k = 0; k < layers; ++k) {
    RangeCost one;
    one.time = dice.from(0, 9);
    one.states = dice.from(0, 20);
    one.buffers = dice.from(0, 5);
    one.activation = dice.from(0, 9);
    one.weight_grad = dice.from(0, 9);
    one.checkpoint = dice.from(0, 3);
    one.workspace = dice.from(0, 15);
    single.push_back(one);
  }
  std::vector<std::vector<RangeCost>> from(single.size());
  for (std::size_t begin = 0; begin < single.size(); ++begin) {
    RangeCost sum;
    for (std::size_t k = begin; k < single.size(); ++k) {
      sum.time += single[k].time;
      sum.states += single[k].states;
      sum.buffers = std::max(sum.buffers, single[k].buffers);
      sum.activation += single[k].activation;
      sum.weight_grad += single[k].weight_grad;
      sum.checkpoint = single[begin].checkpoint;
      sum.workspace = std::max(sum.workspace, single[k].workspace);
      from[begin].push_back(sum);
    }
  }
  return RangeCosts(std::move(from));
}

struct Judged {
  Bytes lacking = 0;
  Nanoseconds slowest = 0;
  std::int64_t squares = 0;
};

// On its own: what each device holds, counted from the schedule's rows, cut by cut.
Judged judge(const MemoryCutJob& job, const Schedule& schedule, const std::vector<int>& cut) {
  Judged judged;
  std::vector<RangeCost> stages;
  int begin = 0;
  for (std::size_t s = 0; s < cut.size(); ++s) {
    stages.push_back((*job.by_stage[s])(begin, begin + cut[s]));
    begin += cut[s];
    judged.slowest = std::max(judged.slowest, stages.back().time);
    judged.squares += stages.back().time * stages.back().time;
  }
  for (int d = 0; d < schedule.devices; ++d) {
    Bytes level = 0;
    Bytes buffers = 0;
    for (int replica = 0; replica < schedule.placement.replicas(); ++replica) {
      for (int s = 0; s < schedule.stages; ++s) {
        if (schedule.placement.device_of(replica, s) != d) continue;
        const RangeCost& stage = stages[static_cast<std::size_t>(s)];
        if (!schedule.replicas_share_weights || !holds_before(schedule.placement, replica, s)) level += stage.states;
        buffers = std::max(buffers, stage.buffers);
      }
    }
    level += buffers;
    Bytes most = level;
    const std::vector<Op>& row = schedule.rows[static_cast<std::size_t>(d)];
    for (std::size_t k = 0; k < row.size();) {
      const std::size_t end = k + (row[k].paired_with_next ? 2 : 1);
      Bytes running = 0;
      for (std::size_t i = k; i < end; ++i) {
        const RangeCost& stage = stages[static_cast<std::size_t>(row[i].stage)];
        running += stage.workspace;
        if (row[i].kind == OpKind::kForward) level += stage.activation;
      }
      most = std::max(most, level + running);
      for (std::size_t i = k; i < end; ++i) {
        const RangeCost& stage = stages[static_cast<std::size_t>(row[i].stage)];
        if (row[i].kind == OpKind::kBackward || row[i].kind == OpKind::kInputGrad) level -= stage.activation;
        if (row[i].kind == OpKind::kInputGrad) level += stage.weight_grad;
        if (row[i].kind == OpKind::kWeightGrad) level -= stage.weight_grad;
      }
      k = end;
    }
    judged.lacking = std::max(judged.lacking, most - job.rooms[static_cast<std::size_t>(d)]);
  }
  return judged;
}

struct BestCuts {
  Bytes least_lacking = Bytes{1} << 60;
  std::optional<Judged> fastest;  // of those that fit: slowest stage, then squares
};

BestCuts best_cuts(const MemoryCutJob& job, const Schedule& schedule, int layers) {
  BestCuts best;
  for_each_cut(layers, schedule.stages, [&](const std::vector<int>& cut) {
    const Judged one = judge(job, schedule, cut);
    best.least_lacking = std::min(best.least_lacking, one.lacking);
    if (one.lacking > 0) return;
    const auto order = [](const Judged& judged) { return std::pair(judged.slowest, judged.squares); };
    if (!best.fastest || order(one) < order(*best.fastest)) best.fastest = one;
  });
  return best;
}

// A random job for that order; its start is the first cut.
struct RandomCut {
  Schedule schedule;
  std::vector<RangeCosts> kinds;  // stages of two kinds
  MemoryCutJob job;
  int layers = 0;
};

RandomCut random_cut(Dice& dice, const std::string& name, int chunks) {
  RandomCut made;
  ScheduleRequest request;
  request.devices = chunks == 1 ? dice.from(1, 5) : dice.from(2, 3);
  request.chunks = chunks;
  request.microbatches = request.devices * dice.from(2, 3);
  made.schedule = build_schedule(name, request);
  const int stages = made.schedule.stages;
  made.layers = stages + dice.from(0, chunks == 1 ? 6 : 5);
  for (int kind = 0; kind < 2; ++kind) made.kinds.push_back(random_ranges(dice, made.layers));
  for (int s = 0; s < stages; ++s) made.job.by_stage.push_back(&made.kinds[dice.once_in(3) ? 1 : 0]);
  made.job.devices = holds_of(made.schedule);
  const int usual = dice.from(20, 200);
  for (int d = 0; d < request.devices; ++d) made.job.rooms.push_back(dice.once_in(3) ? dice.from(20, 200) : usual);
  made.job.start.assign(static_cast<std::size_t>(stages), 1);
  made.job.start.back() += made.layers - stages;
  return made;
}

int placed_layers_of(const std::vector<int>& cut) {
  int placed = 0;
  for (const int size : cut) placed += size < 1 ? 1000 : size;
  return placed;
}

}  // namespace

TEST_CASE("with one stage on each device the cut is the fastest of all that fit, or lacks least") {
  int fit = 0, start_fits = 0, lacking = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    const char* const names[] = {"1f1b", "gpipe", "zb-h1", "zb-h2", "naive"};
    RandomCut made = random_cut(dice, names[dice.from(0, 4)], 1);
    const Judged start = judge(made.job, made.schedule, made.job.start);
    const BestCuts best = best_cuts(made.job, made.schedule, made.layers);
    const LayerCut cut = memory_partition(made.job);
    REQUIRE_EQ(placed_layers_of(cut.layers), made.layers);
    const Judged judged = judge(made.job, made.schedule, cut.layers);
    REQUIRE_EQ(judged.lacking, cut.lacking);
    if (start.lacking == 0) {
      CHECK(cut.layers == made.job.start);
      ++start_fits;
    } else if (best.fastest) {
      REQUIRE_EQ(cut.lacking, 0);
      REQUIRE_EQ(judged.slowest, best.fastest->slowest);
      REQUIRE_EQ(judged.squares, best.fastest->squares);
      ++fit;
    } else {
      REQUIRE_EQ(cut.lacking, best.least_lacking);
      ++lacking;
    }
  }
  MESSAGE("fit ", fit, ", lack ", lacking, ", start fits ", start_fits);
  for (const int count : {fit, start_fits, lacking}) CHECK(count > 100);
}

TEST_CASE("with several stages on a device the cut fits where it says so, and lacks no more than the start") {
  int feasible = 0, found = 0, fastest = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    const char* const names[] = {"interleaved", "zb-v", "v-half", "chimera"};
    const int kind = dice.from(0, 3);
    RandomCut made;
    try {
      made = random_cut(dice, names[kind], kind == 3 ? 1 : 2);
    } catch (const InputError&) {
      continue;  // no such number of devices or microbatches
    }
    for (std::size_t s = 0; s < made.job.by_stage.size(); ++s) made.job.by_stage[s] = &made.kinds[0];  // not the copy's
    const BestCuts best = best_cuts(made.job, made.schedule, made.layers);
    const Judged start = judge(made.job, made.schedule, made.job.start);
    const LayerCut cut = memory_partition(made.job);
    REQUIRE_EQ(placed_layers_of(cut.layers), made.layers);
    const Judged judged = judge(made.job, made.schedule, cut.layers);
    REQUIRE_EQ(judged.lacking, cut.lacking);
    CHECK(cut.lacking <= start.lacking);
    if (!best.fastest || start.lacking == 0) continue;
    ++feasible;
    found += cut.lacking == 0 ? 1 : 0;
    fastest += cut.lacking == 0 && judged.slowest == best.fastest->slowest ? 1 : 0;
  }
  MESSAGE("some cut fits ", feasible, ", found ", found, ", as fast as the fastest ", fastest);
  CHECK(feasible > 50);
  CHECK(found * 10 >= feasible * 9);
}

TEST_CASE("under 1F1B the first device holds as many microbatches as there are stages, the last one") {
  ScheduleRequest request;
  request.devices = 4;
  request.microbatches = 16;
  const std::vector<DeviceHolds> holds = holds_of(build_schedule("1f1b", request));
  REQUIRE_EQ(holds.size(), 4);
  for (int d = 0; d < 4; ++d) {
    const DeviceHolds& device = holds[static_cast<std::size_t>(d)];
    REQUIRE_EQ(device.moments.size(), 1);
    CHECK(device.moments.front() == HeldTogether{{d, 4 - d, 0, 0, 1}});
  }
  Schedule offloading = build_schedule("1f1b", request);
  offloading.copies = {{Copy{}}, {}, {}, {}};
  CHECK(holds_of(offloading).empty());
}
