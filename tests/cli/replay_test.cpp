// Traces of every schedule and transfer keep the readers' rules.
#include <filesystem>

#include "tests/support/command.hpp"
#include "tests/support/places.hpp"
#include "tests/support/trace_promises.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
// Every schedule of the catalog, and every parameter that changes the order.
const std::vector<Words> kSchedules{
    {"--schedule", "gpipe"},
    {"--schedule", "gpipe", "--param", "backward=ascending"},
    {"--schedule", "1f1b"},
    {"--schedule", "1f1b", "-m", "2"},
    {"--schedule", "interleaved"},
    {"--schedule", "interleaved", "-v", "3", "-m", "12", "--param", "group=6"},
    {"--schedule", "interleaved", "-m", "10", "--param", "rounding=pytorch"},
    {"--schedule", "chimera"},
    {"--schedule", "chimera", "-m", "7"},
    {"--schedule", "chimera", "-p", "8", "-m", "16", "--param", "pairs=2"},
    {"--schedule", "chimera", "-p", "8", "--param", "pairs=4"},
    {"--schedule", "chimera", "-p", "8", "-m", "16", "--param", "mode=doubling"},
    {"--schedule", "chimera", "-p", "8", "-m", "16", "--param", "mode=doubling", "--param", "fused=true"},
    {"--schedule", "zb-h1"},
};

std::string shown(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

TEST_CASE_IN_FOLDER("a trace keeps the readers' rules for every schedule and transfer") {
  for (const Words& schedule : kSchedules) {
    for (const std::string p2p : {"overlapped", "blocking", "coupled"}) {
      CAPTURE(shown(schedule));
      CAPTURE(p2p);
      const Outcome outcome =
          folder.run(joined({"simulate", "--p2p", p2p, "--comm", "0.3", "--trace", "t.json"}, schedule));
      if (outcome.status == 1) {  // coupled transfers deadlock with some orders, and then there is no trace
        CHECK(p2p == "coupled");
        CHECK(folder.files().empty());
        continue;
      }
      REQUIRE(outcome.status == 0);
      CHECK(broken_promises(folder.read("t.json")).empty());
      std::filesystem::remove(folder.path("t.json"));
    }
  }
}

TEST_CASE_IN_FOLDER("a compressed trace is the same trace") {
  CHECK_FALSE(folder.data("simulate --schedule zb-h1 --trace t.json.gz").empty());
  const std::string plain = folder.data("export --to chrome-trace --schedule zb-h1 --comm 0");
  const std::string unpacked = read_plain_or_gzip(folder.path("t.json.gz"));
  CHECK(broken_promises(unpacked).empty());
  CHECK(json::parse(unpacked)["traceEvents"] == json::parse(plain)["traceEvents"]);
  CHECK(folder.read("t.json.gz").size() < unpacked.size() / 4);
}

TEST_CASE_IN_FOLDER("--trace-ops-only leaves the tracks of causes out, and wants a trace") {
  const std::string whole = folder.data("export --to chrome-trace");
  const std::string ops = folder.data("export --to chrome-trace --trace-ops-only");
  for (const char* track : {"\"cat\":\"idle\"", "\"cat\":\"critical path\""}) {
    CHECK(contains(whole, track));
    CHECK_FALSE(contains(ops, track));
  }
  CHECK(broken_promises(ops).empty());
  CHECK_FALSE(folder.data("simulate --trace t.json --trace-ops-only").empty());
  CHECK(json::parse(folder.read("t.json"))["traceEvents"] == json::parse(ops)["traceEvents"]);
}

TEST_CASE_IN_FOLDER("a trace of a profiled run keeps the readers' rules") {
  const std::string profile = debubble::testing::source_directory() + "/traces/published/zb-a100-1.5b-m24.json";
  const std::string trace =
      folder.data({"export", "--to", "chrome-trace", "--profile", profile, "--schedule", "zb-h1", "-p", "8"});
  CHECK(broken_promises(trace).empty());
}

}  // namespace
}  // namespace debubble::testing
