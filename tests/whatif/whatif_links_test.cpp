// A change of a link shows up in the idle causes of exactly the devices behind it.
//
// GPipe runs all forwards, then all backwards, so who is behind a link is plain. What travels back from device k + 1 to
// k holds up devices 0 to k, each by as much as the link takes longer, and nobody above. What travels forward from k to
// k + 1 holds up those above; those below wait until the gradients come back, for compute above the link.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
using Arguments = std::vector<std::string>;

// By device: how much more of that cause there is.
std::vector<std::int64_t> more_of(const Folder& folder, const std::string& cause, Arguments arguments) {
  arguments.insert(arguments.begin(), "whatif");
  arguments.insert(arguments.end(), {"--format", "json"});
  std::vector<std::int64_t> more;
  const json result = json::parse(folder.data(arguments));
  for (const json& device : result.at("difference").at("devices")) {
    more.push_back(device["idle_by_cause_ns"][cause].get<std::int64_t>());
  }
  return more;
}

std::string text_of(int number) { return std::to_string(number); }

const Arguments kGpipe{"--schedule", "gpipe", "-p", "6", "-m", "8", "--times", "f=1,b=2", "--comm", "0.1"};

Arguments with(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_CASE("a longer way back is waited for by the devices below it, and by no other") {
  const Folder folder;
  for (int k = 0; k < 5; ++k) {
    CAPTURE(k);
    const std::string link = text_of(k + 1) + ">" + text_of(k);
    const auto more = more_of(folder, "transfer_latency", with(kGpipe, {"--link", link + ":latency=x6"}));
    for (int d = 0; d < 6; ++d) {
      CAPTURE(d);
      CHECK(more[static_cast<std::size_t>(d)] == (d <= k ? 500'000 : 0));
    }
  }
}

TEST_CASE("a longer way forward is waited for by the devices above it, those below wait for what is late there") {
  const Folder folder;
  const Arguments change = with(kGpipe, {"--link", "2>3:latency=x6"});
  const auto latency = more_of(folder, "transfer_latency", change);
  const auto fill = more_of(folder, "fill", change);
  for (std::size_t d = 0; d < 6; ++d) {
    CAPTURE(d);
    CHECK(latency[d] == (d > 2 ? 500'000 : 0));
    CHECK(fill[d] == (d > 2 ? 0 : 500'000));
  }
}

TEST_CASE("a failed link's detour is waited for as latency by the devices below it") {
  const Folder folder;
  const auto more = more_of(folder, "transfer_latency", with(kGpipe, {"--fail", "link", "4>3"}));
  for (std::size_t d = 0; d < 6; ++d) CHECK(more[d] == (d <= 3 ? 100'000 : 0));
}

TEST_CASE("a link that no message takes changes nothing") {
  const Folder folder;
  for (const char* cause : {"transfer_latency", "fill", "drain", "dependency"}) {
    const auto more = more_of(folder, cause, with(kGpipe, {"--link", "0-5:latency=x100"}));
    for (const std::int64_t by : more) CHECK(by == 0);
  }
}

TEST_CASE("a slower link is waited for as bandwidth, not as latency") {
  const Folder folder;
  const std::string profile = std::string(DEBUBBLE_SOURCE_DIR) + "/traces/published/zb-a100-1.5b-m24.json";
  const Arguments flags{"--schedule", "gpipe",  "-p",   "8",           "-m",     "4",      "--profile",
                        profile,      "--comm", "10us", "--bandwidth", "25GB/s", "--link", "5>4:x0.5"};
  const auto bandwidth = more_of(folder, "transfer_bandwidth", flags);
  const auto latency = more_of(folder, "transfer_latency", flags);
  for (std::size_t d = 0; d < 8; ++d) {
    CAPTURE(d);
    CHECK((bandwidth[d] > 0) == (d <= 4));
    CHECK(latency[d] == 0);
  }
}

TEST_CASE("in a cluster the links of one device are waited for by those behind them") {
  const Folder folder;
  const std::string profile = std::string(DEBUBBLE_SOURCE_DIR) + "/traces/published/zb-a100-1.5b-m24.json";
  const Arguments flags{"--schedule", "gpipe", "-p",         "8",      "-m",     "4",
                        "--profile",  profile, "--topology", "ring:8", "--link", "5>4:x0.5"};
  const auto bandwidth = more_of(folder, "transfer_bandwidth", flags);
  for (std::size_t d = 0; d < 8; ++d) {
    CAPTURE(d);
    CHECK((bandwidth[d] > 0) == (d <= 4));
  }
}

TEST_CASE("a change of links says that collectives inside stages keep their times") {
  const Folder folder;
  const auto text = [&](const char* tensor, Arguments change) {
    Arguments flags{"whatif", "-p", "2", "--model", "tiny-gpt", "--topology", "dgx-h100:1", "--tp", tensor};
    flags.insert(flags.end(), change.begin(), change.end());
    return folder.data(flags);
  };
  const std::string note = "The collectives inside stages";
  CHECK(text("2", {"--link", "0-1:x0.5"}).find(note) != std::string::npos);
  CHECK(text("2", {"--bandwidth-scale", "x2"}).find(note) != std::string::npos);
  CHECK(text("2", {"--slow", "device=0:1.5"}).find(note) == std::string::npos);
  CHECK(text("1", {"--link", "0-1:x0.5"}).find(note) == std::string::npos);
}

TEST_CASE("all latencies at once are what --comm says") {
  const Folder folder;
  const auto step = [&](Arguments arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    return json::parse(folder.data(arguments));
  };
  const json twice = step(with({"whatif"}, with(kGpipe, {"--latency", "x2"})));
  const json none = step(with({"whatif"}, with(kGpipe, {"--latency", "x0"})));
  Arguments slow = kGpipe;
  slow.back() = "0.2";
  CHECK(twice["changed"]["makespan_ns"] == step(with({"simulate"}, slow))["makespan_ns"]);
  slow.back() = "0";
  CHECK(none["changed"]["makespan_ns"] == step(with({"simulate"}, slow))["makespan_ns"]);
}

}  // namespace
}  // namespace debubble::testing
