// Inputs that other simulators answer with wrong numbers, silence or a crash, and what this command answers. Where it
// refuses, tests of bad input hold the exact words; here is what must come out instead.
#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

json simulate(const Folder& folder, Words arguments) {
  arguments.insert(arguments.begin(), "simulate");
  arguments.insert(arguments.end(), {"--format", "json"});
  return folder.json(arguments);
}

TEST_CASE_IN_FOLDER("a whole backward includes the weight gradient: 33 ms, not 22") {
  CHECK(simulate(folder, "-p 4 -m 8 --times f=1,i=1,w=1")["makespan_ns"] == 33'000'000);
  CHECK(simulate(folder, "-p 4 -m 8 --times f=1,b=2")["makespan_ns"] == 33'000'000);
}

TEST_CASE_IN_FOLDER("fewer microbatches than devices are simulated, and rightly") {
  // (p - 1 + m) x (F + B), with no more than m activations anywhere.
  const json run = simulate(folder, "-p 8 -m 3");
  CHECK(run["makespan_ns"] == 30'000'000);
  CHECK(run["devices"][0]["peak_activation_shares"] == 3);
  for (const char* name : {"gpipe", "chimera", "zb-h1", "interleaved"}) {
    CAPTURE(name);
    const json other = simulate(folder, {"--schedule", name, "-p", "8", "-m", "3"});
    CHECK(other["ideal_ns"] == 9'000'000);
    CHECK(other["bubble_ratio"].get<double>() > 0);
    CHECK(other["bubble_ratio"].get<double>() < 1);
  }
}

TEST_CASE_IN_FOLDER("microbatches that the devices do not divide keep the order whole") {
  const std::string table = folder.data("export --to pytorch-csv -p 4 -m 6");
  const std::string last_row = table.substr(table.rfind('\n', table.size() - 2) + 1);
  CHECK(last_row == "3F0,3B0,3F1,3B1,3F2,3B2,3F3,3B3,3F4,3B4,3F5,3B5\n");
  CHECK(simulate(folder, "-p 4 -m 6")["makespan_ns"] == 27'000'000);
}

TEST_CASE_IN_FOLDER("a deadlock is reported, with an exit status other than 0") {
  const Outcome found = folder.run("simulate --schedule zb-v --p2p coupled");
  CHECK(found.status == 1);
  CHECK(contains(found.out, "deadlock"));
}

TEST_CASE_IN_FOLDER("groups that cannot progress are refused and do not run for ever") {
  Surroundings soon;
  soon.limit = std::chrono::milliseconds(20'000);
  for (const char* p : {"4", "8"}) {
    CHECK(folder.refusal({"simulate", "--schedule", "interleaved", "-p", p, "--param", "group=2"}, soon)
              .find("error[S016]") == 0);
    CHECK_FALSE(folder.data({"simulate", "--schedule", "interleaved", "-p", p}, soon).empty());
  }
}

TEST_CASE_IN_FOLDER("with unequal stages every bubble stays between 0 and 1") {
  folder.write("p.json", replaced(replaced(kProfile, "\"median_ns\": 1000", "\"median_ns\": 3000"),
                                  "\"median_ns\": 2000", "\"median_ns\": 6000"));
  const json run = simulate(folder, "--profile p.json -p 2 -m 8");
  // Stage 0 takes 9 us per microbatch and never waits: stage 1 needs only 3 and answers in time.
  CHECK(run["makespan_ns"] == 72'000);
  CHECK(run["bubble_ratio"].get<double>() == doctest::Approx(1 - (72.0 + 24.0) / (2 * 72.0)));
  for (const json& device : run["devices"]) {
    CHECK(device["bubble_ratio"].get<double>() >= 0);
    CHECK(device["bubble_ratio"].get<double>() <= 1);
  }
}

TEST_CASE_IN_FOLDER("a weight gradient waits for no message") {
  folder.write("t.csv", "0F0,0I0,0W0\n1F0,1I0,1W0\n");
  // F, hop, F, I, hop, I, W: W of stage 0 begins as its I ends, and W of stage 1 as its own.
  const json run = simulate(folder, "--schedule t.csv --times f=1,i=1,w=1 --comm 0.25");
  CHECK(run["makespan_ns"] == 5'500'000);
  CHECK(run["p2p_messages"] == 2);
}

TEST_CASE_IN_FOLDER("latency costs time: 24 ms without it is more with it") {
  const json fast = simulate(folder, "--comm 0");
  const json slow = simulate(folder, "--comm 3");
  CHECK(slow["makespan_ns"].get<std::int64_t>() > fast["makespan_ns"].get<std::int64_t>() + 6 * 3'000'000 - 1);
  CHECK(slow["devices"][0]["idle_by_cause_ns"]["transfer_latency"].get<std::int64_t>() > 0);
}

TEST_CASE_IN_FOLDER("layers that the stages do not divide are placed, each once") {
  folder.write("p.json", replaced(kProfile, "\"name\": \"a\"", "\"name\": \"a.0\", \"count\": 4"));
  const json run = simulate(folder, "--profile p.json -p 3");
  bool said = false;
  for (const json& assumption : run["assumptions"]) {
    if (assumption["what"] != "layers in model / layers placed") continue;
    said = true;
    CHECK(assumption["value"] == "5 / 5");
  }
  CHECK(said);
}

TEST_CASE_IN_FOLDER("an input gradient is compute in the trace, with its own duration") {
  const json trace =
      json::parse(folder.data("export --to chrome-trace --schedule zb-h1 --times f=1,i=2,w=3 -p 2 -m 2"));
  int found = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event.value("ph", "") != "X" || event["cat"] == "critical path" ||
        event["name"].get<std::string>().find("I") == std::string::npos)
      continue;
    if (event["name"].get<std::string>().find("PP:") != 0) continue;
    ++found;
    CHECK(event["dur"].get<double>() == 2000);
    CHECK(event["cat"].get<std::string>().find("comm") == std::string::npos);
  }
  CHECK(found == 4);
}

}  // namespace
}  // namespace debubble::testing
