#include "formats/exporters/chrome_trace.hpp"

#include <ctime>
#include <nlohmann/json.hpp>

#include "schedules/catalog.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/engine/simulate.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/test.hpp"
#include "tests/unit/traced_run.hpp"

namespace debubble {
namespace {

using nlohmann::json;

TEST_CASE("a small run is written as these events, to the byte") {
  const std::vector<std::string> expected = {
      R"({"name":"process_name","ph":"M","pid":2,"args":{"name":"critical path"}})",
      R"({"name":"process_sort_index","ph":"M","pid":2,"args":{"sort_index":-1}})",
      R"({"name":"thread_name","ph":"M","pid":2,"tid":201,"args":{"name":"critical path"}})",
      R"({"name":"thread_sort_index","ph":"M","pid":2,"tid":201,"args":{"sort_index":201}})",
      R"x({"name":"process_name","ph":"M","pid":0,"args":{"name":"device 0 (stage 0)"}})x",
      R"({"name":"process_sort_index","ph":"M","pid":0,"args":{"sort_index":0}})",
      R"({"name":"thread_name","ph":"M","pid":0,"tid":1,"args":{"name":"compute"}})",
      R"({"name":"thread_sort_index","ph":"M","pid":0,"tid":1,"args":{"sort_index":1}})",
      R"({"name":"thread_name","ph":"M","pid":0,"tid":2,"args":{"name":"idle"}})",
      R"({"name":"thread_sort_index","ph":"M","pid":0,"tid":2,"args":{"sort_index":2}})",
      R"({"name":"thread_name","ph":"M","pid":0,"tid":3,"args":{"name":"send"}})",
      R"({"name":"thread_sort_index","ph":"M","pid":0,"tid":3,"args":{"sort_index":3}})",
      R"({"name":"thread_name","ph":"M","pid":0,"tid":4,"args":{"name":"recv"}})",
      R"({"name":"thread_sort_index","ph":"M","pid":0,"tid":4,"args":{"sort_index":4}})",
      R"x({"name":"process_name","ph":"M","pid":1,"args":{"name":"device 1 (stage 1)"}})x",
      R"({"name":"process_sort_index","ph":"M","pid":1,"args":{"sort_index":1}})",
      R"({"name":"thread_name","ph":"M","pid":1,"tid":101,"args":{"name":"compute"}})",
      R"({"name":"thread_sort_index","ph":"M","pid":1,"tid":101,"args":{"sort_index":101}})",
      R"({"name":"thread_name","ph":"M","pid":1,"tid":102,"args":{"name":"idle"}})",
      R"({"name":"thread_sort_index","ph":"M","pid":1,"tid":102,"args":{"sort_index":102}})",
      R"({"name":"thread_name","ph":"M","pid":1,"tid":103,"args":{"name":"send"}})",
      R"({"name":"thread_sort_index","ph":"M","pid":1,"tid":103,"args":{"sort_index":103}})",
      R"({"name":"thread_name","ph":"M","pid":1,"tid":104,"args":{"name":"recv"}})",
      R"({"name":"thread_sort_index","ph":"M","pid":1,"tid":104,"args":{"sort_index":104}})",
      R"({"name":"fill","cat":"idle","ph":"X","pid":1,"tid":102,"ts":0.000,"dur":1.500,"args":{"before":"PP:1F0","waited_for":"PP:0SEND_F0 from device 0","idle_ns":1500,"fill_ns":1001,"transfer_latency_ns":400,"transfer_bandwidth_ns":99,"source":"modelled"}})",
      R"({"name":"PP:0F0","cat":"compute","ph":"X","pid":0,"tid":1,"ts":0.000,"dur":1.001,"args":{"stage":0,"microbatch":0,"kind":"forward","ready_us":0.000,"waited_for":"start","wait_ns":0,"source":"modelled"}})",
      R"({"name":"PP:0F0","cat":"critical path","ph":"X","pid":2,"tid":201,"ts":0.000,"dur":1.001,"args":{"kind":"compute","device":0,"source":"modelled"}})",
      R"({"name":"activation","cat":"transfer","ph":"s","pid":0,"tid":1,"ts":0.500,"id":1})",
      R"({"name":"fill","cat":"idle","ph":"X","pid":0,"tid":2,"ts":1.001,"dur":4.499,"args":{"before":"PP:0B0","waited_for":"PP:1SEND_B0 from device 1","idle_ns":4499,"fill_ns":3000,"transfer_latency_ns":400,"transfer_bandwidth_ns":1099,"source":"modelled"}})",
      R"({"name":"PP:0SEND_F0","cat":"transfer","ph":"X","pid":0,"tid":3,"ts":1.001,"dur":0.499,"args":{"stage":0,"microbatch":0,"kind":"forward","bytes":4096,"from_device":0,"to_device":1,"latency_us":0.400,"ready_us":1.001,"waited_for":"PP:0F0 on device 0","wait_ns":0,"source":"modelled"}})",
      R"({"name":"PP:1RECV_F0","cat":"transfer","ph":"X","pid":1,"tid":104,"ts":1.001,"dur":0.499,"args":{"stage":1,"microbatch":0,"kind":"forward","bytes":4096,"from_device":0,"to_device":1,"latency_us":0.400,"ready_us":1.001,"waited_for":"PP:0F0 on device 0","wait_ns":0,"source":"modelled"}})",
      R"({"name":"PP:0SEND_F0","cat":"critical path","ph":"X","pid":2,"tid":201,"ts":1.001,"dur":0.499,"args":{"kind":"transfer","from_device":0,"to_device":1,"latency_ns":400,"source":"modelled"}})",
      R"({"name":"PP:1F0","cat":"compute","ph":"X","pid":1,"tid":101,"ts":1.500,"dur":1.000,"args":{"stage":1,"microbatch":0,"kind":"forward","ready_us":1.500,"waited_for":"PP:0SEND_F0 from device 0","wait_ns":1500,"source":"modelled"}})",
      R"({"name":"PP:1F0","cat":"critical path","ph":"X","pid":2,"tid":201,"ts":1.500,"dur":1.000,"args":{"kind":"compute","device":1,"source":"modelled"}})",
      R"({"name":"activation","cat":"transfer","ph":"f","pid":1,"tid":101,"ts":1.500,"id":1,"bp":"e"})",
      R"({"name":"PP:1B0","cat":"compute","ph":"X","pid":1,"tid":101,"ts":2.500,"dur":2.000,"args":{"stage":1,"microbatch":0,"kind":"backward","ready_us":2.500,"waited_for":"PP:1F0 on device 1","wait_ns":0,"source":"modelled"}})",
      R"({"name":"PP:1B0","cat":"critical path","ph":"X","pid":2,"tid":201,"ts":2.500,"dur":2.000,"args":{"kind":"compute","device":1,"source":"modelled"}})",
      R"({"name":"gradient","cat":"transfer","ph":"s","pid":1,"tid":101,"ts":3.500,"id":2})",
      R"({"name":"drain","cat":"idle","ph":"X","pid":1,"tid":102,"ts":4.500,"dur":3.000,"args":{"before":"the end of the step","idle_ns":3000,"drain_ns":3000,"source":"modelled"}})",
      R"({"name":"PP:1SEND_B0","cat":"transfer","ph":"X","pid":1,"tid":103,"ts":4.500,"dur":1.000,"args":{"stage":1,"microbatch":0,"kind":"backward","bytes":4096,"from_device":1,"to_device":0,"latency_us":0.000,"ready_us":4.500,"waited_for":"PP:1B0 on device 1","wait_ns":0,"source":"modelled"}})",
      R"({"name":"PP:0RECV_B0","cat":"transfer","ph":"X","pid":0,"tid":4,"ts":4.500,"dur":1.000,"args":{"stage":0,"microbatch":0,"kind":"backward","bytes":4096,"from_device":1,"to_device":0,"latency_us":0.000,"ready_us":4.500,"waited_for":"PP:1B0 on device 1","wait_ns":0,"source":"modelled"}})",
      R"({"name":"PP:1SEND_B0","cat":"critical path","ph":"X","pid":2,"tid":201,"ts":4.500,"dur":1.000,"args":{"kind":"transfer","from_device":1,"to_device":0,"latency_ns":0,"source":"modelled"}})",
      R"({"name":"PP:0B0","cat":"compute","ph":"X","pid":0,"tid":1,"ts":5.500,"dur":2.000,"args":{"stage":0,"microbatch":0,"kind":"backward","ready_us":5.500,"waited_for":"PP:1SEND_B0 from device 1","wait_ns":4499,"source":"modelled"}})",
      R"({"name":"PP:0B0","cat":"critical path","ph":"X","pid":2,"tid":201,"ts":5.500,"dur":2.000,"args":{"kind":"compute","device":0,"source":"modelled"}})",
      R"({"name":"gradient","cat":"transfer","ph":"f","pid":0,"tid":1,"ts":5.500,"id":2,"bp":"e"})",
  };
  const std::string trace = trace_of(small_run());
  CHECK(event_lines(trace) == expected);
  CHECK(problems_of(trace) == "");
}

TEST_CASE("the run's facts stand in metadata and otherData alike") {
  const json trace = json::parse(trace_of(small_run(), "debubble simulate --schedule \"1f1b\" \xff"));
  const json& facts = trace["metadata"];
  CHECK(facts == trace["otherData"]);
  CHECK(facts["tool"] == "debubble");
  CHECK(facts["version"] == "0.1.0");
  CHECK(facts["command_line"] == "debubble simulate --schedule \"1f1b\" \xef\xbf\xbd");
  CHECK(facts["schedule"] == "1f1b");
  CHECK(facts["devices"] == 2);
  CHECK(facts["makespan_ns"] == 7500);
  CHECK(facts["bubble_ratio"] == 0.6);
  CHECK(facts["source"] == "modelled");
  CHECK(facts["assumption forward time"] == "1 us (given)");
}

TEST_CASE("traces of every schedule keep the rules, however transfers go") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    for (const P2p p2p : testing::kEveryP2p) {
      // The fused exchanges of an eager 1F1B runtime do not fit every order: then there is no run to write.
      const Schedule schedule =
          build_schedule(entry.name, {.devices = 4, .microbatches = 8, .chunks = 0, .params = {}});
      if (p2p != P2p::kOverlapped && !schedule.copies.empty()) {  // copies have lanes of their own only beside compute
        CHECK_THROWS_WITH_AS((void)lower(schedule, p2p), doctest::Contains("X012"), InputError);
        continue;
      }
      const bool meets = p2p == P2p::kCoupled || p2p == P2p::kRendezvous;
      if (meets && std::holds_alternative<Deadlock>(lower(schedule, p2p))) continue;
      for (const Nanoseconds latency : {0, 1, 700, 40'000}) {
        CAPTURE(entry.name);
        CAPTURE(static_cast<int>(p2p));
        CAPTURE(latency);
        CHECK(problems_of(trace_of(simulated(entry.name, 4, 8, p2p, latency))) == "");
      }
    }
  }
}

TEST_CASE("every span is a slice and every transfer between devices an arrow") {
  const Run run = simulated("1f1b", 4, 8, P2p::kOverlapped, 500);
  std::map<std::string, int> phases;
  std::map<std::string, int> categories;
  const json trace = json::parse(trace_of(run));
  for (const json& event : trace["traceEvents"]) {
    ++phases[event["ph"]];
    if (event["ph"] == "X") ++categories[event["cat"]];
  }
  CHECK(categories["compute"] == 4 * 8 * 2);
  CHECK(categories["transfer"] == 3 * 8 * 2 * 2);
  CHECK(phases["s"] == 3 * 8 * 2);
  CHECK(phases["f"] == 3 * 8 * 2);
}

TEST_CASE("transfers that take no time are arrows without slices") {
  Run run = small_run();
  for (Transfer& transfer : run.timeline.transfers) transfer.end = transfer.begin;
  const std::string trace = trace_of(run);
  CHECK_FALSE(contains(trace, "SEND_F0\",\"cat\""));
  CHECK(contains(trace, "\"ph\":\"s\""));
  CHECK_FALSE(contains(trace, "\"name\":\"send\""));
  CHECK(problems_of(trace) == "");
}

TEST_CASE("ops that take no time carry no arrow, and one nanosecond is enough for one") {
  for (const Nanoseconds duration : {0, 1}) {
    Run run = small_run();
    run.timeline.spans[0].end = run.timeline.spans[0].begin + duration;
    const std::string trace = trace_of(run);
    CHECK((contains(trace, "\"activation\"")) == (duration > 0));
    CHECK(problems_of(trace) == "");
  }
}

TEST_CASE("transfers that overlap in time get lanes of their own, by first fit") {
  Run run = small_run();
  run.timeline.transfers.clear();
  const auto add = [&](Nanoseconds begin, Nanoseconds end) {
    run.timeline.transfers.push_back({Op{}, 0, 2, 0, 1, begin, end, 0, 0, 1, {}});
  };
  add(10, 20);
  add(0, 15);  // not in order of begin
  add(15, 30);
  add(20, 25);
  add(16, 17);
  std::map<std::string, std::int64_t> lane_at;
  std::set<std::string> names;
  const json trace = json::parse(trace_of(run));
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "PP:0SEND_F0" && event["cat"] == "transfer") lane_at[event["ts"].dump()] = event["tid"];
    if (event["name"] == "thread_name" && event["pid"] == 0) names.insert(event["args"]["name"]);
  }
  CHECK(names == std::set<std::string>{"compute", "idle", "send", "send 2", "send 3"});
  CHECK(lane_at ==
        std::map<std::string, std::int64_t>{{"0.0", 3}, {"0.01", 4}, {"0.015", 3}, {"0.016", 5}, {"0.02", 4}});
}

TEST_CASE("with more than 99 lanes on a device thread ids stay unique") {
  Run run = small_run();
  run.timeline.transfers.assign(150, {Op{}, 0, 2, 0, 1, 1001, 1500, 0, 0, 1, {}});
  const std::string trace = trace_of(run);
  CHECK(contains(trace, "\"tid\":1001,"));
  CHECK(contains(trace, "\"name\":\"recv 150\""));
  CHECK(problems_of(trace) == "");
}

TEST_CASE("an overlapped pair is one slice with both ops in its name and its args") {
  Run run = small_run();
  run.timeline.set_partner(3, Op{OpKind::kInputGrad, false, 1, 7});
  run.timeline.spans[3].op = Op{OpKind::kForward, true, 1, 12};
  const std::string trace = trace_of(run);
  CHECK(contains(trace, R"({"name":"PP:(1F12;1I7)OVERLAP_F_B","cat":"compute")"));
  CHECK(contains(trace,
                 R"("args":{"stage":1,"microbatch":12,"kind":"forward","partner_stage":1,"partner_microbatch":7,)"
                 R"("partner_kind":"input gradient",)"));
  CHECK(problems_of(trace) == "");
}

TEST_CASE("a late recomputation and its backward do not overlap, and their slice does not say so") {
  Run run = small_run();
  run.timeline.spans[3].op = Op{OpKind::kRecompute, true, 1, 0};
  run.timeline.set_partner(3, Op{OpKind::kBackward, false, 1, 0});
  CHECK(contains(trace_of(run), R"({"name":"PP:1R0;1B0","cat":"compute")"));
}

TEST_CASE("where microbatches are cut into slices, args name the microbatch and its slice") {
  Run run = small_run();
  run.schedule.pieces = 4;
  run.schedule.sliced = true;
  run.timeline.spans[0].op.microbatch = 31;
  CHECK(contains(trace_of(run), R"({"stage":0,"microbatch":7,"kind":"forward","piece":31,"slice":3,)"));
}

TEST_CASE("copies say which way they go, and their lane where to") {
  Run run = small_run();
  CopySpan copy;
  copy.op = {OpKind::kForward, false, 0, 0};
  copy.begin = 1001;
  copy.end = 1500;
  run.timeline.copies = {copy};
  std::string trace = trace_of(run);
  CHECK(contains(trace, "\"name\":\"copy to host\""));
  CHECK(contains(trace, "\"kind\":\"copy out\""));
  CHECK(problems_of(trace) == "");
  run.timeline.copies[0].way = Copy::Way::kBack;
  run.timeline.copies[0].peer = 1;
  trace = trace_of(run);
  CHECK(contains(trace, "\"name\":\"copy to partner\""));
  CHECK(contains(trace, "\"kind\":\"copy back\""));
}

TEST_CASE("the process name lists the stages of all replicas") {
  CHECK(contains(trace_of(simulated("chimera", 4, 4, P2p::kOverlapped, 0)), "device 1 (stages 1, 2)"));
  CHECK(contains(trace_of(simulated("interleaved", 4, 4, P2p::kOverlapped, 0)), "device 3 (stages 3, 7)"));
}

TEST_CASE("memory is counted in MiB, total and by category, without categories that stay empty") {
  Run run = small_run();
  MemoryPoint point;
  point.bytes[static_cast<std::size_t>(MemoryCategory::kWeights)] = 2 * kMebibyte;
  run.memory = {{point}, {}};
  point.at = 1000;
  run.memory[0].push_back(point);  // nothing changes: no event
  point.at = 2500;
  point.bytes[static_cast<std::size_t>(MemoryCategory::kActivations)] = kMebibyte / 2;
  run.memory[0].push_back(point);
  const std::string trace = trace_of(run);
  std::vector<std::string> counters;
  for (const std::string& line : event_lines(trace)) {
    if (contains(line, "\"ph\":\"C\"")) counters.push_back(line);
  }
  CHECK(
      counters ==
      std::vector<std::string>{
          R"({"name":"memory","ph":"C","pid":0,"ts":0.000,"args":{"total MiB":2}})",
          R"({"name":"memory by category","ph":"C","pid":0,"ts":0.000,"args":{"weights MiB":2,"activations MiB":0}})",
          R"({"name":"memory","ph":"C","pid":0,"ts":2.500,"args":{"total MiB":2.5}})",
          R"({"name":"memory by category","ph":"C","pid":0,"ts":2.500,"args":{"weights MiB":2,"activations MiB":0.5}})"});
  CHECK(problems_of(trace) == "");
}

TEST_CASE("a measured timeline says that it is measured") {
  Run run = small_run();
  run.timeline.measured = true;
  const std::string trace = trace_of(run);
  CHECK_FALSE(contains(trace, "modelled"));
  CHECK(contains(trace, "\"source\":\"measured\"}}"));
}

TEST_CASE("a large trace is streamed, at about a million events per second") {
  const Run run = simulated("1f1b", 32, 2048, P2p::kOverlapped, 500);
  std::size_t bytes = 0;
  std::size_t events = 0;
  std::size_t largest = 0;
  const std::clock_t begin = std::clock();
  write_chrome_trace(run.timeline, run.schedule, run.report, run.memory, {}, [&](std::string_view piece) {
    bytes += piece.size();
    largest = std::max(largest, piece.size());
    for (const char c : piece) events += c == '\n';
  });
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  MESSAGE(events << " events, " << bytes << " bytes, " << static_cast<double>(events) / seconds
                 << " per s of CPU time");
  CHECK(largest < 100'000);
  CHECK(events > 800'000);
  CHECK(seconds < 60);  // sanitizers and debug builds included; the figure above is what counts
}

// The tracks of a trace that explain: idle times by cause, and the critical path.

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
