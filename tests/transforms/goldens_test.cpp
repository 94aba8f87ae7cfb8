// Published and calculated numbers of 2BP, recomputation and Mario, through the engine.
#include "schedules/transforms/mario.hpp"
#include "tests/support/test.hpp"
#include "tests/transforms/transformed.hpp"

using namespace debubble;
using namespace debubble::testing;

TEST_CASE("2BP at the end shortens GPipe and 1F1B by the weight gradients on the way back") {
  CHECK(makespan(build("gpipe", 4, 4)) == 21);
  for (const char* name : {"gpipe", "1f1b"}) {
    CHECK(makespan(transformed("split-backward", build(name, 4, 4))) == 18);
    CHECK(makespan(transformed("split-backward", build(name, 4, 8))) == 30);
  }
}

TEST_CASE("2BP with all weight gradients last holds what they need until then") {
  for (const int m : {4, 8, 16}) {
    const Schedule schedule = transformed("split-backward", build("1f1b", 4, m));
    StageCosts costs = unit_costs(schedule).costs;
    CHECK(peaks(schedule, costs)[0] == m);
    for (StageCost& stage : costs.stages) stage.weight_grad_held = stage.activation / 2;
    CHECK(peaks(schedule, costs)[0] == 4 + (m - 4) / 2.0);
    for (const int most : {0, 1, 3, 9}) {
      const Schedule limited = transformed("split-backward", build("1f1b", 4, m), {{"deferred", std::to_string(most)}});
      CHECK(peaks(limited, costs)[0] == 4 + std::min(most, m - 4) / 2.0);
    }
  }
}

TEST_CASE("the rows of 2BP") {
  const Schedule schedule = build("1f1b", 2, 3);
  CHECK(row_text(transformed("split-backward", schedule).rows[0]) == "0F0 0F1 0I0 0F2 0I1 0I2 0W0 0W1 0W2");
  // Device 0 waits for 1I1 and for 1I2; in both gaps a weight gradient fits.
  CHECK(row_text(transformed("split-backward", schedule, {{"when", "idle"}}).rows[0]) ==
        "0F0 0F1 0I0 0F2 0I1 0W0 0I2 0W1 0W2");
  const auto deferred = [&](const char* most) {
    return row_text(transformed("split-backward", schedule, {{"deferred", most}}).rows[0]);
  };
  CHECK(deferred("0") == "0F0 0F1 0I0 0W0 0F2 0I1 0W1 0I2 0W2");
  CHECK(deferred("1") == "0F0 0F1 0I0 0F2 0I1 0W0 0I2 0W1 0W2");
  CHECK(deferred("2") == "0F0 0F1 0I0 0F2 0I1 0I2 0W0 0W1 0W2");
}

// Copies wait for ops by their places in the row, which weight gradients move.
TEST_CASE("2BP in idle slots delays nothing where activations are copied away and back") {
  const Schedule before = build("bpipe", 4, 12);
  REQUIRE_FALSE(before.copies.empty());
  PlanningCosts costs = unit_costs(before);
  for (StageCost& stage : costs.costs.stages) stage.copy = kNanosecondsPerMillisecond;
  for (const char* most : {"0", "1", "3"}) {
    const Schedule end = transformed("split-backward", before, {{"deferred", most}}, &costs);
    const Schedule idle = transformed("split-backward", before, {{"deferred", most}, {"when", "idle"}}, &costs);
    CHECK(time_rows(idle, costs).makespan <= time_rows(end, costs).makespan);
    for (std::size_t d = 0; d < before.copies.size(); ++d) {
      for (std::size_t k = 0; k < before.copies[d].size(); ++k) {
        if (before.copies[d][k].after < 0) continue;
        const Op& waited = before.rows[d][static_cast<std::size_t>(before.copies[d][k].after)];
        const Op& now = idle.rows[d][static_cast<std::size_t>(idle.copies[d][k].after)];
        CHECK(now.stage == waited.stage);
        CHECK(now.microbatch == waited.microbatch);
        CHECK((now.kind == OpKind::kForward) == (waited.kind == OpKind::kForward));
        CHECK(now.kind != OpKind::kWeightGrad);
      }
    }
  }
}

TEST_CASE("late recomputation adds to every backward, early only to those that nobody waits for") {
  for (const char* name : {"gpipe", "1f1b"}) {
    for (const int p : {1, 2, 4, 8}) {
      for (const int m : {1, 3, 8, 32}) {
        const Schedule schedule = build(name, p, m);
        CHECK(makespan(transformed("recompute", schedule)) == (m + p - 1) * 4);
        CHECK(makespan(transformed("recompute", schedule, {{"when", "early"}})) == (m + p - 1) * 3 + m);
      }
    }
  }
}

TEST_CASE("Mario's table: no checkpoint, late, early, early without it on the last stage") {
  struct Row {
    int devices, microbatches;
    double none, late, early, dropped;
  };
  for (const Row& row : {Row{4, 8, 33, 44, 41, 39}, Row{8, 32, 117, 156, 149, 147}}) {
    const Schedule schedule = build("1f1b", row.devices, row.microbatches);
    CHECK(makespan(schedule) == row.none);
    CHECK(makespan(transformed("recompute", schedule)) == row.late);
    Schedule early = transformed("recompute", schedule, {{"when", "early"}});
    CHECK(makespan(early) == row.early);
    drop_needless_recomputes(early);
    CHECK(makespan(early) == row.dropped);
    CHECK(makespan(transformed("recompute", schedule, {{"mario", "true"}})) <= row.dropped);
  }
  CHECK(makespan(transformed("recompute", build("chimera", 4, 8))) == 42);
  CHECK(makespan(transformed("recompute", build("chimera", 4, 8), {{"when", "early"}})) == 38);
  CHECK(makespan(transformed("recompute", build("chimera", 8, 32))) == 182);
  CHECK(makespan(transformed("recompute", build("chimera", 8, 32), {{"when", "early"}})) == 158);
  CHECK(makespan(transformed("recompute", build("interleaved", 4, 8, 2))) == 38);
  CHECK(makespan(transformed("recompute", build("interleaved", 4, 8, 2), {{"when", "early"}})) == 36.5);
}

TEST_CASE("a device that recomputes holds the inputs of what is in flight and one whole activation") {
  const Schedule schedule = transformed("recompute", build("1f1b", 4, 8));
  StageCosts costs = unit_costs(schedule).costs;
  CHECK(peaks(schedule, costs) == std::vector<double>{1, 1, 1, 1});
  for (StageCost& stage : costs.stages) stage.checkpoint = stage.activation / 4;
  CHECK(peaks(schedule, costs) == std::vector<double>{2, 1.75, 1.5, 1.25});
}

TEST_CASE("the rows of recomputation, and Megatron's window") {
  const Schedule schedule = build("1f1b", 2, 3);
  CHECK(row_text(transformed("recompute", schedule).rows[0]) == "0F0 0F1 (0R0;0B0) 0F2 (0R1;0B1) (0R2;0B2)");
  CHECK(row_text(transformed("recompute", schedule, {{"when", "early"}}).rows[0]) ==
        "0F0 0F1 0R0 0B0 0F2 0R1 0B1 0R2 0B2");
  CHECK(row_text(transformed("recompute", schedule, {{"stages", "1"}}).rows[0]) == "0F0 0F1 0B0 0F2 0B1 0B2");
  // Device 0 has two microbatches in flight: of each two the first keeps everything.
  CHECK(row_text(transformed("recompute", schedule, {{"stored", "1"}}).rows[0]) == "0F0 0F1 0B0 0F2 (0R1;0B1) 0B2");
  CHECK(row_text(transformed("recompute", schedule, {{"stored", "1"}, {"window", "3"}}).rows[0]) ==
        "0F0 0F1 0B0 0F2 (0R1;0B1) (0R2;0B2)");
}

TEST_CASE("names and params keep the schedule's and the transforms'") {
  const Schedule split = transformed("split-backward", build("interleaved", 4, 8, 2), {{"when", "idle"}});
  const Schedule both = transformed("recompute", split, {{"when", "early"}});
  CHECK(both.name == "interleaved + split-backward + recompute");
  const std::map<std::string, std::string> params(both.params.begin(), both.params.end());
  CHECK(params.at("split-backward.when") == "idle");
  CHECK(params.at("recompute.when") == "early");
  CHECK(params.at("recompute.mode") == "full");
}
