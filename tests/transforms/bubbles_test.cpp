// fill_bubbles: PipeFisher's model for BERT-Large through the real simulation, and its rules on many schedules.
#include "schedules/catalog.hpp"
#include "sim/analysis/fill_bubbles.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"
#include "tests/transforms/transformed.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// One BERT-Large block, P100, microbatch 32.
constexpr Nanoseconds kForward = 16'100'400;
constexpr Nanoseconds kBackward = 26'952'900;
const ExtraWork kBertLarge{43'499'500, 126'700'900, 0, 14'734'000, 1};

EngineRun run_bert(const Schedule& schedule) {
  StageCost stage;
  stage.forward = kForward;
  stage.backward = kBackward;
  StageCosts costs;
  costs.stages.assign(static_cast<std::size_t>(schedule.stages), stage);
  return run_engine(schedule, costs, {});
}

double milliseconds(Nanoseconds time) { return static_cast<double>(time) / 1e6; }

using Kind = PlacedWork::Kind;

bool is_curvature(Kind kind) { return kind == Kind::kCurvatureA || kind == Kind::kCurvatureB; }
bool is_sync(Kind kind) { return kind == Kind::kSyncA || kind == Kind::kSyncB; }
bool is_first(Kind kind) { return kind == Kind::kCurvatureA || kind == Kind::kSyncA || kind == Kind::kInverseA; }

// When an item ends, counted over all iterations.
Nanoseconds end_of(const PlacedWork& item, const Timeline& timeline) {
  return item.iteration * timeline.makespan + item.end;
}

void check_slots(const Timeline& timeline, const FilledBubbles& filled) {
  for (const PlacedWork& item : filled.items) {
    CHECK(item.begin < item.end);
    CHECK(item.end <= timeline.makespan);
    const auto device = static_cast<std::size_t>(item.device);
    for (auto k = timeline.device_begin[device]; k < timeline.device_begin[device + 1]; ++k) {
      const Span& span = timeline.spans[static_cast<std::size_t>(k)];
      if (span.begin == span.end) continue;
      CHECK((item.end <= span.begin || item.begin >= span.end));
    }
  }
  for (std::size_t k = 1; k < filled.items.size(); ++k) {
    const PlacedWork& one = filled.items[k - 1];
    const PlacedWork& next = filled.items[k];
    if (std::tie(one.iteration, one.device) == std::tie(next.iteration, next.device)) CHECK(one.end <= next.begin);
  }
}

void check_rules(const Timeline& timeline, const FilledBubbles& filled) {
  std::map<std::tuple<int, int, int, bool>, Nanoseconds> ran;  // by device, stage, piece, forward: its end
  for (const Span& span : timeline.spans) {
    const Op* const partner = timeline.partner(span);
    for (int member = 0; member < (partner != nullptr ? 2 : 1); ++member) {
      const Op& op = member == 0 ? span.op : *partner;
      if (is_pipelined(op.kind)) ran[{span.device, op.stage, op.microbatch, op.kind == OpKind::kForward}] = span.end;
    }
  }
  std::map<std::pair<int, bool>, Nanoseconds> curvature;
  std::map<std::pair<int, bool>, Nanoseconds> sync;
  for (const PlacedWork& item : filled.items) {
    const std::pair<int, bool> factor{item.stage, is_first(item.kind)};
    if (is_curvature(item.kind)) curvature[factor] = std::max(curvature[factor], end_of(item, timeline));
    if (is_sync(item.kind)) sync[factor] = std::max(sync[factor], end_of(item, timeline));
  }
  for (const PlacedWork& item : filled.items) {
    const Nanoseconds begin = end_of(item, timeline) - (item.end - item.begin);
    const std::pair<int, bool> factor{item.stage, is_first(item.kind)};
    if (is_curvature(item.kind)) {
      CHECK(begin >= ran.at({item.device, item.stage, item.microbatch, is_first(item.kind)}));
    } else {
      CHECK(begin >= curvature[factor]);
      if (!is_sync(item.kind)) CHECK(begin >= sync[factor]);
    }
  }
}

void check_filled(const Schedule& schedule, const StageCosts& costs, const ExtraWork& work) {
  const EngineRun run = run_engine(schedule, costs, {});
  if (run.deadlock || run.timeline.makespan == 0) return;
  const FilledBubbles filled = fill_bubbles(run.timeline, schedule, work);
  check_slots(run.timeline, filled);
  check_rules(run.timeline, filled);
  CHECK(filled.utilisation_after >= filled.utilisation_before);
  CHECK(filled.utilisation_after <= 1);
  Nanoseconds placed = 0;
  for (const PlacedWork& item : filled.items) placed += item.end - item.begin;
  Nanoseconds wanted = 0;
  Nanoseconds outside = 0;
  for (const DeviceWork& device : filled.devices) {
    wanted += device.work;
    outside += device.outside;
  }
  CHECK(placed + outside == wanted);
  if (filled.least && outside == 0) CHECK(filled.iterations >= *filled.least);
}

}  // namespace

TEST_CASE("PipeFisher's model of BERT-Large by simulation") {
  struct Row {
    const char* schedule;
    int devices;
    double pipe, bubble, ratio, work_over_bubble;
  };
  for (const Row& row :
       {Row{"gpipe", 4, 301.37, 129.16, 0.4286, 2.33}, Row{"1f1b", 4, 301.37, 129.16, 0.4286, 2.33},
        Row{"gpipe", 8, 645.80, 301.37, 0.4667, 1.58}, Row{"1f1b", 8, 645.80, 301.37, 0.4667, 1.58},
        Row{"1f1b", 16, 1334.65, 645.80, 0.4839, 1.27}, Row{"chimera", 4, 226.12, 53.91, 0.2384, 5.58},
        Row{"chimera", 8, 506.14, 161.72, 0.3195, 2.94}, Row{"chimera", 16, 1066.19, 377.34, 0.3539, 2.18}}) {
    CAPTURE(row.schedule);
    CAPTURE(row.devices);
    const Schedule schedule = build(row.schedule, row.devices, row.devices);
    const EngineRun run = run_bert(schedule);
    const FilledBubbles filled = fill_bubbles(run.timeline, schedule, kBertLarge);
    CHECK(milliseconds(run.timeline.makespan) == doctest::Approx(row.pipe).epsilon(0.00005));
    CHECK(1 - filled.utilisation_before == doctest::Approx(row.ratio).epsilon(0.0002));
    for (const DeviceWork& device : filled.devices) {
      CHECK(milliseconds(device.bubble) == doctest::Approx(row.bubble).epsilon(0.0001));
      CHECK(device.work_over_bubble() == doctest::Approx(row.work_over_bubble).epsilon(0.003));
    }
    CHECK(filled.least == static_cast<int>(row.work_over_bubble) + 1);
  }
}

TEST_CASE("an item longer than every bubble runs after an iteration, and is counted apart") {
  const Schedule schedule = build("gpipe", 2, 2);  // device 1 waits 1 at the start, 2 at the end
  const ExtraWork work{0, 8 * kNanosecondsPerMillisecond, 0, 0, 1};
  const EngineRun run = run_engine(schedule, unit_costs(schedule).costs, {});
  const FilledBubbles whole = fill_bubbles(run.timeline, schedule, work);
  CHECK(whole.items.empty());
  for (const DeviceWork& device : whole.devices) CHECK(device.outside == 8 * kNanosecondsPerMillisecond);
  ExtraWork cut = work;
  cut.parts = 8;
  const FilledBubbles parts = fill_bubbles(run.timeline, schedule, cut);
  CHECK(parts.items.size() == 32);
  for (const DeviceWork& device : parts.devices) CHECK(device.outside == 0);
}

TEST_CASE("both holders of a stage run its collective at the same time") {
  const Schedule schedule = build("chimera", 4, 4);
  const EngineRun run = run_engine(schedule, unit_costs(schedule).costs, {});
  const Nanoseconds ms = kNanosecondsPerMillisecond;
  const FilledBubbles filled = fill_bubbles(run.timeline, schedule, {ms / 2, ms, ms / 4, 0, 1});
  std::map<std::tuple<int, bool>, std::vector<Nanoseconds>> begins;
  for (const PlacedWork& item : filled.items) {
    if (is_sync(item.kind))
      begins[{item.stage, is_first(item.kind)}].push_back(item.iteration * 1'000'000'000 + item.begin);
  }
  CHECK(begins.size() == 8);
  for (const auto& [factor, times] : begins) {
    REQUIRE(times.size() == 2);
    CHECK(times[0] == times[1]);
  }
}

TEST_CASE("the rules hold on every row of the catalog and on random schedules") {
  const Nanoseconds ms = kNanosecondsPerMillisecond;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    std::size_t number = 0;
    for (const Schedule& schedule : schedules_of(entry)) {
      if (number++ % 23 != 0 || schedule.total_ops() > 600 || schedule.asynchrony) continue;
      const std::string name = describe(schedule);
      CAPTURE(name);
      check_filled(schedule, unit_costs(schedule).costs, {ms / 3, 2 * ms, number % 2 == 0 ? ms / 4 : 0, 0, 2});
    }
  }
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    check_filled(schedule, random_costs(schedule.stages, dice),
                 {dice.from(0, 4), dice.from(0, 9), dice.from(0, 4), 0, dice.from(1, 2)});
  }
}
