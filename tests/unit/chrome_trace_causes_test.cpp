// The tracks of a trace that explain: idle times by cause, and the critical path.
#include <nlohmann/json.hpp>

#include "tests/support/test.hpp"
#include "tests/unit/traced_run.hpp"

namespace debubble {
namespace {

using nlohmann::json;

TEST_CASE("slices of the critical path fill the step, and those of idle times the idle times by their causes") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CAPTURE(entry.name);
    const Run run = simulated(entry.name, 4, 8, P2p::kOverlapped, 700);
    std::map<std::string, std::int64_t> idle;
    std::map<std::string, std::int64_t> path;
    std::int64_t now = 0;
    const json trace = json::parse(trace_of(run));
    for (const json& event : trace["traceEvents"]) {
      if (event["ph"] != "X") continue;
      const std::int64_t duration = std::llround(event["dur"].get<double>() * 1000);
      if (event["cat"] == "idle") {
        CHECK(event["args"]["idle_ns"] == duration);
        std::int64_t most = 0;
        std::string cause;
        for (int i = 0; i < kIdleCauses; ++i) {
          const std::string name = to_string(static_cast<IdleCause>(i));
          const std::int64_t part = event["args"].value(name + "_ns", std::int64_t{0});
          idle[name] += part;
          if (part > most) cause = name;
          most = std::max(most, part);
        }
        std::replace(cause.begin(), cause.end(), '_', ' ');
        CHECK(event["name"] == cause);
        CHECK((event["args"].contains("waited_for") != (event["args"]["before"] == "the end of the step")));
      }
      if (event["cat"] == "critical path") {
        CHECK(std::llround(event["ts"].get<double>() * 1000) == now);
        CHECK(event["pid"] == 4);
        path[event["args"]["kind"]] += duration;
        now += duration;
      }
    }
    CHECK(now == run.timeline.makespan);
    const CriticalPath& sums = run.report.critical_path;
    CHECK(path["compute"] == sums.compute);
    CHECK(path["transfer"] == sums.transfer);
    CHECK(path["collective"] == sums.collective);
    CHECK(path["wait"] == sums.wait);
    for (int i = 0; i < kIdleCauses; ++i) {
      const auto cause = static_cast<IdleCause>(i);
      CHECK(idle[to_string(cause)] == idle_by(run.report, cause));
    }
  }
}

TEST_CASE("a trace of ops only has neither track, and is otherwise the same events") {
  const Run run = simulated("zb-h1", 4, 8, P2p::kOverlapped, 700);
  const std::string trace = trace_of(run, "", false);
  CHECK_FALSE(contains(trace, "critical path"));
  CHECK_FALSE(contains(trace, "\"idle\""));
  CHECK(problems_of(trace) == "");
  std::vector<std::string> names;
  std::vector<std::string> ops_only;
  const json whole = json::parse(trace_of(run, ""));
  for (const json& event : whole["traceEvents"]) {
    if (event["ph"] != "X" || event["cat"] == "idle" || event["cat"] == "critical path") continue;
    names.push_back(event["name"].get<std::string>() + event["ts"].dump());
  }
  const json rest = json::parse(trace);
  for (const json& event : rest["traceEvents"]) {
    if (event["ph"] == "X") ops_only.push_back(event["name"].get<std::string>() + event["ts"].dump());
  }
  CHECK(names == ops_only);
}

TEST_CASE("a measured thing on the critical path that began before its cause ended is shown from then on") {
  Run run = small_run();
  run.timeline.measured = true;
  run.timeline.transfers[1].begin = 4000;
  run.timeline.spans[1].begin = 5600;
  const std::string trace = trace_of(run);
  CHECK(problems_of(trace) == "");
  CHECK(contains(trace,
                 R"({"name":"PP:1SEND_B0","cat":"critical path","ph":"X","pid":2,"tid":201,"ts":4.500,"dur":1.000,)"));
  CHECK(contains(trace, R"({"name":"wait","cat":"critical path","ph":"X","pid":2,"tid":201,"ts":5.500,"dur":0.100,)"));
}

}  // namespace
}  // namespace debubble
