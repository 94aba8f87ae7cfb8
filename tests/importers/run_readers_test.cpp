// Measured pipeline runs: the run files in traces/measured against sums that a script of its own added up, and the
// names of schedules by the order of the ops.
#include <nlohmann/json.hpp>

#include "formats/importers/imported_run.hpp"
#include "formats/run/run_file.hpp"
#include "schedules/catalog.hpp"
#include "studies/runs/imported_record.hpp"
#include "studies/runs/predict.hpp"
#include "studies/runs/recognise.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

std::string measured_path(const std::string& name) { return source_directory() + "/traces/measured/" + name; }

TEST_CASE("step times and bubbles of public runs are those that an independent script adds up") {
  const Json expected = Json::parse(contents_of(measured_path("expected.json")));
  int steps = 0;
  for (const auto& run_of_file : expected.items()) {
    const std::string name = run_of_file.key();
    if (name.starts_with("bigscience")) continue;  // a log: tests/diff
    for (const auto& steps_of_replica : run_of_file.value().items()) {
      const std::string replica = steps_of_replica.key();
      const Json& iterations = steps_of_replica.value();
      CAPTURE(name);
      CAPTURE(replica);
      const std::string file = name.starts_with("straggler") ? name + "_" + replica : name;
      const RunRecord run = read_run_file(measured_path(file + ".json.gz"));
      REQUIRE(run.iterations.size() == iterations.size());
      for (std::size_t k = 0; k < iterations.size(); ++k) {
        const double step = static_cast<double>(run.iterations[k].timeline.makespan) / 1e6;
        CHECK(std::abs(step - iterations[k]["step_ms"].get<double>()) < 0.001);
        // Overlaps of up to a thousandth of an op are trimmed.
        CHECK(std::abs(report_of(run, k).bubble_ratio - iterations[k]["bubble"].get<double>()) < 0.0001);
        ++steps;
      }
    }
  }
  CHECK(steps == 2 * 5 + 4 * 3 + 2 * 5);
}

TEST_CASE("the schedule of every public run is recognised by its order") {
  for (const char* const name : {"straggler_st_0", "straggler_st_1", "straggler_ar_0", "straggler_ar_1",
                                 "straggler_ar_2", "straggler_ar_3", "primus_pp8", "primus_pp8_vpp2"}) {
    CAPTURE(name);
    const Schedule schedule = read_run_file(measured_path(std::string(name) + ".json.gz")).schedule;
    const Recognition found = recognise(schedule);
    REQUIRE(found.schedule.has_value());
    CHECK(found.schedule->name == schedule.name);
    CHECK(found.schedule->params.empty());  // interleaved: groups of p
    CHECK(schedule.stages == (schedule.name == "interleaved" ? 16 : schedule.devices));
  }
}

TEST_CASE("the group of an interleaved schedule is read off its order") {
  for (const int group : {4, 5, 8, 12}) {
    CAPTURE(group);
    const Schedule built = build_schedule("interleaved", {4, 12, 2, {{"group", std::to_string(group)}}, nullptr});
    const Recognition found = recognise(built);
    REQUIRE(found.schedule.has_value());
    CHECK(found.schedule->name == "interleaved");
    CHECK(found.schedule->params.size() == (group == 4 ? 0 : 1));
    if (group != 4) CHECK(found.schedule->params.at("group") == std::to_string(group));
  }
}

TEST_CASE("an order that no schedule has is told apart from the nearest") {
  ImportedRun run;
  run.devices = 2;
  Observation& seen = run.iterations.emplace_back().observation;
  // 0: F1 F0 . . B0 . B1, which is 1F1B's but for the order of the first two;  1: . F0 B0 F1 B1
  const auto add = [&seen](OpKind kind, std::int32_t device, std::int32_t microbatch, Nanoseconds begin) {
    const Nanoseconds length = kind == OpKind::kForward ? 10 : 20;
    seen.ops.push_back(
        {{.kind = kind, .stage = device, .microbatch = microbatch}, {}, false, device, begin, begin + length});
  };
  for (const std::int32_t k : {0, 1}) {
    add(OpKind::kForward, 0, 1 - k, 10 * k);
    add(OpKind::kForward, 1, k, 20 + 30 * k);
    add(OpKind::kBackward, 1, k, 30 + 30 * k);
    add(OpKind::kBackward, 0, k, 50 + 30 * k);
  }
  std::sort(seen.ops.begin(), seen.ops.end(), [](const ObservedOp& a, const ObservedOp& b) {
    return std::tie(a.device, a.begin) < std::tie(b.device, b.begin);
  });
  const RunRecord record = record_of_imported(run, "t.json", nullptr);
  CHECK(record.schedule.name == "of the trace");
  CHECK(record.origin.notes.front().find("no schedule of the catalog has this order of ops; against the nearest, ") ==
        0);
  CHECK(contains(record.origin.notes.front(),
                 "device 0 runs 0F0 in place 1 of the predicted one, 0F1 of the measured one"));
}

}  // namespace
}  // namespace debubble::testing
