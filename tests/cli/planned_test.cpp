// Schedules whose order depends on the costs, through the real command: times, profiles, links and limits reach them,
// and every verb plans alike.
#include "tests/support/command.hpp"

#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

const std::string kLarge = (debubble::testing::source_directory() + "/traces/published/") + "zb-a100-28.3b-m96.json";

Words toy(const std::string& verb, const std::string& limit) {
  return {verb, "--schedule", "zb-auto", "--param", "memory_limit=" + limit, "--times", "f=10,i=11,w=7", "--comm", "2"};
}

json run_json(const Folder& folder, Words arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  return folder.json(arguments);
}

TEST_CASE_IN_FOLDER("zb-auto is planned for the given times, hop and limit") {
  const json roomy = run_json(folder, toy("simulate", "2p"));
  CHECK(roomy["span_ns"] == 250'000'000);
  CHECK(roomy["schedule"]["params"]["memory_limit"] == "2p");
  CHECK(run_json(folder, toy("simulate", "1p"))["span_ns"] == 290'000'000);
  Words free_hops = toy("simulate", "1p");
  free_hops.resize(free_hops.size() - 2);
  CHECK(run_json(folder, free_hops)["span_ns"] == 266'000'000);  // zb-h1's 8(10+11+7) + 3(10+11-7)
}

TEST_CASE_IN_FOLDER("what is assumed is said once") {
  const json run = run_json(folder, toy("simulate", "2p"));
  std::set<std::string> seen;
  for (const json& assumption : run["assumptions"]) CHECK(seen.insert(assumption["what"]).second);
  CHECK(seen.contains("hop latency"));
  CHECK(seen.contains("forward"));
}

TEST_CASE_IN_FOLDER("simulate, compare, live and both exports plan the same order") {
  Words simulate = toy("simulate", "2p");
  simulate.insert(simulate.end(), {"--export-schedule", "simulated.csv"});
  (void)folder.data(simulate);
  Words live = toy("live", "2p");
  live.insert(live.end(), {"--clock", "logical", "--export-schedule", "live.csv"});
  (void)folder.data(live);
  Words exported = toy("export", "2p");
  exported.insert(exported.end(), {"--to", "pytorch-csv", "-o", "exported.csv"});
  CHECK(folder.run(exported).status == 0);  // it may tell on stderr who reads the table
  CHECK(folder.read("exported.csv") == folder.read("simulated.csv"));
  CHECK(folder.read("live.csv") == folder.read("simulated.csv"));
  CHECK(folder.read("exported.csv").starts_with("0F0,0F1,0F2,0F3,0F4,0F5,0F6,0F7,0I0,0W0,"));
  const json compared = run_json(folder, toy("compare", "2p"));
  CHECK(compared["runs"][0]["span_ns"] == 250'000'000);
  const json replayed = run_json(folder, "simulate --schedule exported.csv --times f=10,i=11,w=7 --comm 2");
  CHECK(replayed["span_ns"] == 250'000'000);
}

TEST_CASE_IN_FOLDER("a profile's times, hops and sizes are planned with, and a size holds all memory of a device") {
  const Words command{"simulate", "--schedule",         "zb-auto",   "-p",  "32", "-m", "96",
                      "--param",  "memory_limit=76GiB", "--profile", kLarge};
  const json run = run_json(folder, command);
  constexpr std::int64_t kLimit = std::int64_t{76} << 30;
  for (const json& device : run["devices"]) CHECK(device["peak_memory_bytes"] <= kLimit);
  Words counted = command;
  counted[8] = "memory_limit=1p";
  CHECK(run_json(folder, counted)["span_ns"] == 3'171'569'000);  // the paper's ZB-1p
  counted[8] = "memory_limit=2p";
  CHECK(run_json(folder, counted)["span_ns"] == 2'731'004'000);  // and ZB-2p
}

TEST_CASE_IN_FOLDER("a tight size holds received tensors too") {
  const Words command{"simulate", "--schedule", "zb-auto", "-p", "32", "-m", "96", "--param", "", "--profile", kLarge};
  for (const int mebibytes : {20'000, 24'000, 30'000, 40'000}) {
    Words sized = command;
    sized[8] = "memory_limit=" + std::to_string(mebibytes) + "MiB";
    const json run = run_json(folder, sized);
    for (const json& device : run["devices"]) {
      CHECK(device["peak_memory_bytes"] <= std::int64_t{mebibytes} << 20);
    }
    CHECK(run["findings"].empty());
  }
}

TEST_CASE_IN_FOLDER("zb-v-auto and per-device limits") {
  const json run = run_json(folder, "simulate --schedule zb-v-auto --times f=10,i=10,w=10 --comm 1 --w-share 0.5");
  CHECK(run["span_ns"] == 254'000'000);
  CHECK(run["schedule"]["chunks"] == 2);
  const json limited = run_json(folder, "simulate --schedule zb-auto --param memory_limit=4,3,2,1");
  const std::vector<double> limits{4, 3, 2, 1};
  for (std::size_t d = 0; d < 4; ++d) CHECK(limited["devices"][d]["peak_activation_shares"] <= limits[d]);
}

TEST_CASE_IN_FOLDER("zb-h2 needs 2p - 1 microbatches, zb-v two stages per device") {
  CHECK(run_json(folder, "simulate --schedule zb-h2 -m 7")["findings"][0]["code"] == "S020");
  CHECK(run_json(folder, "simulate --schedule zb-v --times f=2,i=2,w=2")["span_ns"] == 48'000'000);
}

}  // namespace
}  // namespace debubble::testing
