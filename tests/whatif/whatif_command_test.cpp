// `debubble whatif` as people run it: what changed and by how much, in every format; seeds; sensitivity; exit statuses.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

json answer(const Folder& folder, Words arguments) {
  arguments.insert(arguments.begin(), "whatif");
  arguments.insert(arguments.end(), {"--format", "json"});
  return folder.json(arguments);
}

json simulated(const Folder& folder, Words arguments) {
  arguments.insert(arguments.begin(), "simulate");
  arguments.insert(arguments.end(), {"--format", "json"});
  return folder.json(arguments);
}

Words lines_of(const std::string& text) {
  Words lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Idle times and busy times of a run are its step, on every device.
void check_sums(const json& report) {
  for (const json& device : report["devices"]) {
    std::int64_t causes = 0;
    for (const auto& [cause, time] : device["idle_by_cause_ns"].items()) causes += time.get<std::int64_t>();
    CHECK(causes == device["idle_ns"].get<std::int64_t>());
    CHECK(causes + device["busy_ns"].get<std::int64_t>() == report["makespan_ns"].get<std::int64_t>());
  }
}

TEST_CASE_IN_FOLDER("where a slow device stands decides what it costs") {
  // 1F1B, F = 1, B = 2, p = 4, m = 8: 11.4 % as rank 0, 18.2 % as the last rank.
  const json first = answer(folder, "--slow device=0:1.25");
  const json last = answer(folder, "--slow device=3:1.25");
  CHECK(first["base"]["makespan_ns"] == 33'000'000);
  CHECK(first["changed"]["makespan_ns"] == 36'750'000);
  CHECK(last["changed"]["makespan_ns"] == 39'000'000);
  CHECK(first["difference"]["makespan_ratio"].get<double>() == doctest::Approx(0.1136).epsilon(0.001));
  CHECK(last["difference"]["makespan_ratio"].get<double>() == doctest::Approx(0.1818).epsilon(0.001));
  CHECK(last["changes"] == json{"device 3 takes 1.25 times as long"});
  check_sums(last["base"]);
  check_sums(last["changed"]);
}

TEST_CASE_IN_FOLDER("the time that others wait for a slow device is called by its name") {
  const json changes = answer(folder, "--slow device=3:1.25")["difference"]["devices"];
  for (std::size_t d = 0; d < 3; ++d) {
    CAPTURE(d);
    CHECK(changes[d]["busy_ns"] == 0);
    CHECK(changes[d]["idle_by_cause_ns"]["straggler"].get<std::int64_t>() > 0);
  }
  // It works itself, and waits for nobody more than before.
  CHECK(changes[3]["busy_ns"] == 6'000'000);
  CHECK(changes[3]["idle_by_cause_ns"]["straggler"] == 0);
}

TEST_CASE_IN_FOLDER("the changed run is what simulate makes of the same flags") {
  for (const Words& flags : std::vector<Words>{{"--slow", "stage=1:1.5", "--slow", "device=0:2"},
                                               {"--slow", "devices=1,2,1,1"},
                                               {"--jitter", "lognormal:0.1", "--seed", "5"},
                                               {"--factors", "zipf:1.2"},
                                               {"--factors", "experts:8:0.5", "--schedule", "zb-h1"}}) {
    CAPTURE(flags[1]);
    const json both = answer(folder, flags);
    json alone = simulated(folder, flags);
    CHECK(both["changed"]["makespan_ns"] == alone["makespan_ns"]);
    CHECK(both["changed"]["devices"] == alone["devices"]);
    CHECK(both["base"]["makespan_ns"] != both["changed"]["makespan_ns"]);
    check_sums(alone);
  }
}

TEST_CASE_IN_FOLDER("several changes are shown together and one by one") {
  const json result = answer(folder, "--slow device=3:1.25 --overlap off --comm 0.1");
  REQUIRE(result["alone"].size() == 2);
  CHECK(result["alone"][0]["change"] == "device 3 takes 1.25 times as long");
  CHECK(result["alone"][1]["makespan_ns"] == simulated(folder, "--comm 0.1 --p2p blocking")["makespan_ns"]);
  CHECK(result["changed"]["makespan_ns"] ==
        simulated(folder, "--comm 0.1 --p2p blocking --slow device=3:1.25")["makespan_ns"]);
}

TEST_CASE_IN_FOLDER("the base varies too where it is asked to") {
  const json result = answer(folder, "--slow device=3:1.25 --base varied --comm 0.1 --latency x2");
  CHECK(result["base"]["makespan_ns"] == simulated(folder, "--slow device=3:1.25 --comm 0.1")["makespan_ns"]);
  CHECK(result["changed"]["makespan_ns"] == simulated(folder, "--slow device=3:1.25 --comm 0.2")["makespan_ns"]);
}

TEST_CASE_IN_FOLDER("seeds: each is a run of its own, on any number of threads the same") {
  const Words flags = "--jitter lognormal:0.1 --factors lognormal:0.2 --seed 3 --seeds 25";
  json one = answer(folder, flags);
  const json seeds = one["seeds"];
  REQUIRE(seeds["makespan_ns"].size() == 25);
  for (const int k : {0, 7, 24}) {
    const json run =
        simulated(folder, {"--jitter", "lognormal:0.1", "--factors", "lognormal:0.2", "--seed", std::to_string(3 + k)});
    CHECK(seeds["makespan_ns"][static_cast<std::size_t>(k)] == run["makespan_ns"]);
  }
  CHECK(seeds["makespan_ns"][0] == one["changed"]["makespan_ns"]);
  CHECK(seeds["least_ns"] <= seeds["p50_ns"]);
  CHECK(seeds["p50_ns"] <= seeds["p95_ns"]);
  CHECK(seeds["p95_ns"] <= seeds["p99_ns"]);
  CHECK(seeds["p99_ns"] <= seeds["most_ns"]);
  one.erase("command_line");
  for (const char* threads : {"1", "2", "13"}) {
    Words more = flags;
    more.insert(more.end(), {"--threads", threads});
    json other = answer(folder, more);
    other.erase("command_line");
    CHECK(other == one);
  }
}

TEST_CASE_IN_FOLDER("derivatives tell what a small change does") {
  const Words scenario = "--schedule 1f1b -p 4 -m 8 --times f=1,b=2.5 --comm 0.3";
  Words flags = scenario;
  flags.emplace_back("--sensitivity");
  const json result = answer(folder, flags);
  CHECK_FALSE(result.contains("changed"));
  const json& sensitivity = result["sensitivity"];
  CHECK(sensitivity["method"] == "critical paths");
  CHECK(sensitivity["makespan_ns"] == result["base"]["makespan_ns"]);
  int links = 0;
  for (const json& derivative : sensitivity["derivatives"]) {
    const std::string cost = derivative["cost"];
    CAPTURE(cost);
    if (!cost.starts_with("link ")) continue;
    ++links;
    const std::string link = cost.substr(5, cost.find(' ', 5) - 5);
    Words change = scenario;
    change.insert(change.end(), {"--link", link + ":latency=300001ns"});
    CHECK(answer(folder, change)["difference"]["makespan_ns"].get<double>() == derivative["growing"].get<double>());
    change.back() = link + ":latency=299999ns";
    CHECK(-answer(folder, change)["difference"]["makespan_ns"].get<double>() == derivative["shrinking"].get<double>());
  }
  CHECK(links == 6);
  CHECK(result["candidates"].size() >= 8);
}

TEST_CASE_IN_FOLDER("a big cluster's links are as many costs as they have parts in the run") {
  const Outcome outcome = folder.run(
      "whatif -p 8 -m 8 --model llama3-70b --topology dgx-h100:64 --tp 8 --dp 8 --zero 1 --sensitivity --format json");
  CHECK(outcome.status == 0);
  for (const std::string& line : lines_of(outcome.err))
    CHECK(line.starts_with("debubble: "));  // progress, if it is slow
  const json result = json::parse(outcome.out);
  const json& derivatives = result["sensitivity"]["derivatives"];
  CHECK(derivatives.size() < 120);  // of 9,216 links
  std::size_t stages = 0;
  for (const json& derivative : derivatives) {
    const std::string cost = derivative["cost"];
    CAPTURE(cost);
    if (cost.starts_with("stage ")) ++stages;
    CHECK(derivative.contains("links") == !cost.starts_with("stage "));
    if (cost != "nic0-63>rail0-7 bytes") continue;
    CHECK(derivative["links"].size() == 64);
    CHECK(derivative["links"][63] == "nic63>rail7");
    CHECK(derivative["growing_bytes"] > 0);
  }
  CHECK(stages == 16);
}

TEST_CASE_IN_FOLDER("a threshold fires on the changed run") {
  const Words flags{"whatif", "--slow", "device=3:1.25", "--fail-if", "makespan > 38ms"};
  const Outcome fired = folder.run(flags);
  CHECK(fired.status == 1);
  CHECK(contains(fired.err, "makespan > 38ms: it is 39.00 ms"));
  CHECK(folder.run({"whatif", "--slow", "device=3:1.25", "--fail-if", "makespan > 39ms"}).status == 0);
}

TEST_CASE_IN_FOLDER("a change that deadlocks is a finding") {
  const Outcome outcome = folder.run("whatif --schedule zb-v --p2p coupled --slow device=0:2 --format json");
  CHECK(outcome.status == 1);
  CHECK(json::parse(outcome.out)["base"]["findings"][0]["code"] == "X010");
}

TEST_CASE_IN_FOLDER("a CSV has as many fields in each line as in its header") {
  const std::string table =
      folder.data("whatif --slow device=3:1.25 --jitter lognormal:0.1 --seeds 5 --comm 0.1 --sensitivity --format csv");
  std::set<std::ptrdiff_t> commas;
  std::set<std::string> parts;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin);
    const std::string line = table.substr(begin, end - begin);
    bool inside = false;  // quotes
    std::ptrdiff_t count = 0;
    for (const char c : line) {
      inside = inside != (c == '"');
      if (c == ',' && !inside) ++count;
    }
    commas.insert(count);
    parts.insert(line.substr(0, line.find(',')));
    begin = end + 1;
  }
  CHECK(commas.size() == 1);
  CHECK(parts == std::set<std::string>{"part", "base", "changed", "alone", "seed", "derivative", "candidate"});
}

TEST_CASE_IN_FOLDER("the text fits into 80 columns and into 60") {
  for (const char* width : {"80", "60"}) {
    const std::string text =
        folder.data({"whatif", "-p", "20", "-m", "8", "--slow", "devices=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2",
                     "--factors", "lognormal:0.3", "--jitter", "lognormal:0.1", "--seeds", "9", "--comm", "0.1",
                     "--sensitivity", "--width", width});
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      CAPTURE(text.substr(begin, end - begin));
      CHECK(end - begin <= static_cast<std::size_t>(std::stoi(width)));
      begin = end + 1;
    }
  }
}

TEST_CASE_IN_FOLDER("compare takes the same variations") {
  const json runs = folder.json("compare --schedules 1f1b,gpipe --slow device=3:1.25")["runs"];
  CHECK(runs[0]["makespan_ns"] == 39'000'000);
  CHECK(runs[1]["makespan_ns"] == 39'000'000);
}

TEST_CASE_IN_FOLDER("factors come from files") {
  folder.write("lengths.csv", "microbatch,tokens\n0,1000\n1,3000\n2,1000\n3,3000\n");
  const json run = simulated(folder, "-p 1 -m 4 --factors lengths.csv");
  CHECK(run["makespan_ns"] == 12'000'000);  // the same work
  const json two = simulated(folder, "-p 2 -m 4 --factors lengths.csv");
  CHECK(two["makespan_ns"] > simulated(folder, "-p 2 -m 4")["makespan_ns"]);
}

}  // namespace
TEST_CASE_IN_FOLDER("whatif --to: the same run with any other flags, alone and with other changes") {
  const Words model = "--model gpt-1.3b -p 4 -m 8";
  const auto with_model = [&](const Words& more) {
    Words all = model;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const json full = answer(folder, with_model({"--to", "--recompute full --tp 2"}));
  CHECK(full["base"]["makespan_ns"] == simulated(folder, model)["makespan_ns"]);
  CHECK(full["changed"]["makespan_ns"] == simulated(folder, with_model("--recompute full --tp 2"))["makespan_ns"]);
  CHECK(full["changes"] == json({"--recompute full --tp 2"}));
  // Schedule and sizes are flags like others.
  const json other = answer(folder, with_model({"--to", "--schedule 'zb-h1' -m 16"}));
  CHECK(other["changed"]["schedule"]["name"] == "zb-h1");
  CHECK(other["changed"]["schedule"]["microbatches"] == 16);
  CHECK(answer(folder, with_model({"--to", "-p 8"}))["changed"]["schedule"]["devices"] == 8);
  // With another change, each is told alone.
  const json both = answer(folder, {"-p", "4", "-m", "8", "--slow", "device=1:1.5", "--to", "--schedule zb-h1"});
  CHECK(both["changed"]["makespan_ns"] ==
        simulated(folder, "-p 4 -m 8 --slow device=1:1.5 --schedule zb-h1")["makespan_ns"]);
  CHECK(both["base"]["makespan_ns"] == simulated(folder, "-p 4 -m 8")["makespan_ns"]);
  CHECK(both["alone"].size() == 2);
  CHECK(answer(folder, {"-p", "4", "-m", "8", "--to", "--slow device=1:1.5"})["changed"]["makespan_ns"] ==
        simulated(folder, "-p 4 -m 8 --slow device=1:1.5")["makespan_ns"]);
  // The same flags again: said, not shown twice.
  CHECK(contains(folder.data({"whatif", "-p", "4", "-m", "8", "--to", "-m 8"}), "Nothing changes"));
  folder.write("b.toml", "schedule = \"gpipe\"\ndevices = 4\n");
  CHECK(answer(folder, "--to b.toml")["changed"]["schedule"]["name"] == "gpipe");
}

}  // namespace debubble::testing
