// A change of a link shows up in the idle causes of exactly the devices behind it.
//
// GPipe runs all forwards, then all backwards, so who is behind a link is plain. What travels back from device k + 1 to
// k holds up devices 0 to k, each by as much as the link takes longer, and nobody above. What travels forward from k to
// k + 1 holds up those above; those below wait until the gradients come back, for compute above the link.
#include "tests/support/command.hpp"

#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

// By device: how much more of that cause there is.
std::vector<std::int64_t> more_of(const Folder& folder, const std::string& cause, Words arguments) {
  arguments.insert(arguments.begin(), "whatif");
  arguments.insert(arguments.end(), {"--format", "json"});
  std::vector<std::int64_t> more;
  const json result = folder.json(arguments);
  for (const json& device : result.at("difference").at("devices")) {
    more.push_back(device["idle_by_cause_ns"][cause].get<std::int64_t>());
  }
  return more;
}

std::string text_of(int number) { return std::to_string(number); }

const Words kGpipe = "--schedule gpipe -p 6 -m 8 --times f=1,b=2 --comm 0.1";

TEST_CASE_IN_FOLDER("a longer way back is waited for by the devices below it, and by no other") {
  for (int k = 0; k < 5; ++k) {
    CAPTURE(k);
    const std::string link = text_of(k + 1) + ">" + text_of(k);
    const auto more = more_of(folder, "transfer_latency", joined(kGpipe, {"--link", link + ":latency=x6"}));
    for (int d = 0; d < 6; ++d) {
      CAPTURE(d);
      CHECK(more[static_cast<std::size_t>(d)] == (d <= k ? 500'000 : 0));
    }
  }
}

TEST_CASE_IN_FOLDER(
    "a longer way forward is waited for by the devices above it, those below wait for what is late there") {
  const Words change = joined(kGpipe, "--link 2>3:latency=x6");
  const auto latency = more_of(folder, "transfer_latency", change);
  const auto fill = more_of(folder, "fill", change);
  for (std::size_t d = 0; d < 6; ++d) {
    CAPTURE(d);
    CHECK(latency[d] == (d > 2 ? 500'000 : 0));
    CHECK(fill[d] == (d > 2 ? 0 : 500'000));
  }
}

TEST_CASE_IN_FOLDER("a failed link's detour is waited for as latency by the devices below it") {
  const auto more = more_of(folder, "transfer_latency", joined(kGpipe, "--fail link 4>3"));
  for (std::size_t d = 0; d < 6; ++d) CHECK(more[d] == (d <= 3 ? 100'000 : 0));
}

TEST_CASE_IN_FOLDER("a link that no message takes changes nothing") {
  for (const char* cause : {"transfer_latency", "fill", "drain", "dependency"}) {
    const auto more = more_of(folder, cause, joined(kGpipe, "--link 0-5:latency=x100"));
    for (const std::int64_t by : more) CHECK(by == 0);
  }
}

TEST_CASE_IN_FOLDER("a slower link is waited for as bandwidth, not as latency") {
  const std::string profile = debubble::testing::source_directory() + "/traces/published/zb-a100-1.5b-m24.json";
  const Words flags{"--schedule", "gpipe",  "-p",   "8",           "-m",     "4",      "--profile",
                    profile,      "--comm", "10us", "--bandwidth", "25GB/s", "--link", "5>4:x0.5"};
  const auto bandwidth = more_of(folder, "transfer_bandwidth", flags);
  const auto latency = more_of(folder, "transfer_latency", flags);
  for (std::size_t d = 0; d < 8; ++d) {
    CAPTURE(d);
    CHECK((bandwidth[d] > 0) == (d <= 4));
    CHECK(latency[d] == 0);
  }
}

TEST_CASE_IN_FOLDER("in a cluster the links of one device are waited for by those behind them") {
  const std::string profile = debubble::testing::source_directory() + "/traces/published/zb-a100-1.5b-m24.json";
  const Words flags{"--schedule", "gpipe", "-p",         "8",      "-m",     "4",
                    "--profile",  profile, "--topology", "ring:8", "--link", "5>4:x0.5"};
  const auto bandwidth = more_of(folder, "transfer_bandwidth", flags);
  for (std::size_t d = 0; d < 8; ++d) {
    CAPTURE(d);
    CHECK((bandwidth[d] > 0) == (d <= 4));
  }
}

TEST_CASE_IN_FOLDER("collectives inside modelled stages follow their links, partition and schedule stay") {
  const auto result = [&](const std::string& verb, const std::string& topology, const Words& more) {
    Words flags{verb,     "-p",   "2", "-m",          "4",     "--model",  "llama3-8b", "--topology",
                topology, "--tp", "2", "--partition", "16,18", "--format", "json"};
    return folder.json(joined(flags, more));
  };
  // The same as a cluster with such rates from the beginning. Rates that are given stand for themselves: messages are
  // not those that were measured on the preset's.
  const json all = result("whatif", "dgx-h100:1,bandwidth=370.8GB/s", "--bandwidth-scale x0.5");
  const json slow = result("simulate", "dgx-h100:1,bandwidth=185.4GB/s,nic=24GB/s,pcie=25GB/s", {});
  CHECK(all["changed"]["makespan_ns"] == slow["makespan_ns"]);
  CHECK(all["changed"]["inside_collectives_ns"] == slow["inside_collectives_ns"]);
  CHECK(all["changed"]["inside_collectives_ns"] > all["base"]["inside_collectives_ns"]);
  // GPUs 0 and 1 are the ranks of stage 0: nobody else's collectives take their links.
  const json devices = result("whatif", "dgx-h100:1", "--link 0-1:x0.25")["difference"]["devices"];
  CHECK(devices[0]["busy_ns"].get<std::int64_t>() > 0);
  CHECK(devices[1]["busy_ns"].get<std::int64_t>() == 0);
  // What ZeRO does inside ops follows, too.
  const json sharded = result("whatif", "dgx-h100:1", "--dp 2 --zero 3 --link 4-6:x0.25");
  CHECK(sharded["difference"]["devices"][1]["busy_ns"].get<std::int64_t>() > 0);
}

TEST_CASE_IN_FOLDER("the all-gather behind transfers of shares is no latency of links, but follows them") {
  const auto step = [&](const Words& start, const std::string& topology, const Words& more) {
    Words flags = joined(start, "-p 2 -m 4 --model llama3-8b --tp 8 --scatter-gather");
    flags = joined(flags, {"--partition", "16,18", "--format", "json", "--topology", topology});
    return folder.json(joined(flags, more));
  };
  const std::string wires = "dgx-h100:2,bandwidth=100GB/s,nic=20GB/s,pcie=20GB/s,latency=1us,nic-latency=1us,";
  const std::string far = "dgx-h100:2,bandwidth=100GB/s,nic=20GB/s,pcie=20GB/s,latency=10us,nic-latency=10us,";
  const std::string wide = "dgx-h100:2,bandwidth=200GB/s,nic=40GB/s,pcie=40GB/s,latency=1us,nic-latency=1us,";
  for (const char* network : {"fluid", "fifo"}) {
    const Words on{"--network", network, "--calibrate", "network=0.7"};
    const auto changed = [&](const char* flag, const char* factor) {
      return step({"whatif"}, wires + "pcie-latency=1us", joined(on, {flag, factor}))["changed"]["makespan_ns"];
    };
    const auto built = [&](const std::string& topology) { return step({"simulate"}, topology, on)["makespan_ns"]; };
    CHECK(changed("--latency", "x10") == built(far + "pcie-latency=10us"));
    CHECK(changed("--bandwidth-scale", "x2") == built(wide + "pcie-latency=1us"));
  }
}

TEST_CASE_IN_FOLDER("links of the planned cut are those of the base, whatever the change does to the layers' times") {
  const auto partition = [](const json& run) {
    for (const json& one : run["assumptions"]) {
      if (one["what"] == "partition") return one["value"].get<std::string>();
    }
    return std::string();
  };
  const json both = folder.json("whatif -p 4 -m 4 --model llama3-8b --topology dgx-h100:1 --tp 2 --link 0-1:x0.05");
  CHECK(partition(both["base"]) == partition(both["changed"]));
  CHECK(both["difference"]["devices"][0]["busy_ns"].get<std::int64_t>() > 0);
  CHECK(both["difference"]["devices"][3]["busy_ns"].get<std::int64_t>() == 0);
}

TEST_CASE_IN_FOLDER("collectives that cannot follow their links say so") {
  const std::string profile = debubble::testing::source_directory() + "/traces/published/zb-a100-1.5b-m24.json";
  const auto text = [&](const Words& flags) { return folder.data(joined("whatif -p 2", flags)); };
  const std::string note = "The collectives inside stages";
  const Words modelled{"--model", "tiny-gpt"};
  const Words measured{"--profile", profile};
  const Words cluster = "--topology dgx-h100:1 --link 0-2:x0.5";
  const auto noted = [&](const Words& costs, const Words& more) { return contains(text(joined(costs, more)), note); };
  CHECK_FALSE(noted(modelled, joined(cluster, "--tp 2")));
  CHECK(noted(measured, joined(cluster, "--tp 2")));
  CHECK_FALSE(noted(measured, joined(cluster, "--tp 1")));
  CHECK_FALSE(noted(measured, "--topology dgx-h100:1 --tp 2 --slow device=0:1.5"));
  CHECK(noted(modelled, "--tp 2 --link 0-1:x0.5"));  // ideal links, one of them
  CHECK_FALSE(noted(modelled, "--tp 2 --bandwidth-scale x2"));
}

TEST_CASE_IN_FOLDER("all ideal links concern the collectives inside modelled stages") {
  const json result = folder.json("whatif -p 2 --model llama3-8b --tp 8 --bandwidth-scale x0.5");
  CHECK(result["changed"]["inside_collectives_ns"].get<double>() >
        1.2 * result["base"]["inside_collectives_ns"].get<double>());
}

TEST_CASE_IN_FOLDER("a change without an effect says so, and why, in place of tables") {
  const auto text = [&](const Words& flags) { return folder.data(joined("whatif -p 6 -m 8", flags)); };
  const auto says = [&](const std::string& all, const std::string& part) {
    // Lines are wrapped.
    std::string flat = all;
    for (char& c : flat) c = c == '\n' ? ' ' : c;
    CAPTURE(all);
    CHECK(contains(flat, part));
    CHECK_FALSE(contains(flat, "idle, all devices"));
  };
  const std::string same = "Nothing changes: the step stays 39.00 ms";
  const std::string failed = text("--fail link 2-3");
  says(failed, same);
  says(failed, "Why: transfers take no time on ideal links without --comm and --bandwidth");
  says(folder.data("whatif -p 1 --overlap off"), "Why: nothing travels between devices");
  says(text("--comm 0.1 --link 0-5:latency=x9"), "Why: no transfer of this schedule takes link 0-5");
  says(text("--topology dgx-h100:1 --link 6-7:x0.5"),
       "Why: nothing in this run takes link 6-7: no transfer, no collective");
  const json result = json::parse(text("--fail link 2-3 --format json"));
  CHECK(result["no_effect"].size() == 1);
  CHECK(result["difference"]["makespan_ns"] == 0);
  // A change that only moves waits has its tables.
  const std::string moved = text("--comm 0.1 --link 1>0:latency=x2");
  CHECK(contains(moved, "idle, all devices"));
  CHECK_FALSE(contains(moved, "Nothing changes"));
}

TEST_CASE_IN_FOLDER("all latencies at once are what --comm says") {
  const auto step = [&](Words arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    return folder.json(arguments);
  };
  const json twice = step(joined({"whatif"}, joined(kGpipe, "--latency x2")));
  const json none = step(joined({"whatif"}, joined(kGpipe, "--latency x0")));
  Words slow = kGpipe;
  slow.back() = "0.2";
  CHECK(twice["changed"]["makespan_ns"] == step(joined({"simulate"}, slow))["makespan_ns"]);
  slow.back() = "0";
  CHECK(none["changed"]["makespan_ns"] == step(joined({"simulate"}, slow))["makespan_ns"]);
}

}  // namespace
}  // namespace debubble::testing
