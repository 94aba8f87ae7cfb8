// Schedules out as PyTorch's table and in again; traces of every schedule and transfer keep the readers' rules.
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

// A run's numbers, without what names the schedule.
json replay_numbers(const std::string& text) {
  json run = json::parse(text);
  for (const char* key : {"command_line", "schedule", "assumptions", "findings", "limit"}) run.erase(key);
  return run;
}

TEST_CASE_IN_FOLDER("a schedule written as a table and read back gives the same numbers") {
  const Words costs = "--times f=1,i=1.25,w=0.75 --comm 0.125 --format json";
  for (const Words& schedule : kSchedules) {
    CAPTURE(shown(schedule));
    const std::string direct = folder.data(joined(joined("simulate --export-schedule s.csv", schedule), costs));
    const std::string replayed = folder.data(joined("simulate --schedule s.csv", costs));
    CHECK(replay_numbers(direct) == replay_numbers(replayed));
  }
}

TEST_CASE_IN_FOLDER("a table read and written again is the same table") {
  for (const Words& schedule : kSchedules) {
    CAPTURE(shown(schedule));
    const std::string table = folder.data(joined("export --to pytorch-csv", schedule));
    folder.write("s.csv", table);
    CHECK(folder.data("export --to pytorch-csv --schedule s.csv") == table);
    CHECK(folder.data("simulate --schedule s.csv --export-schedule again.csv").size() > 100);
    CHECK(folder.read("again.csv") == table);
  }
}

TEST_CASE_IN_FOLDER("simulate and export write the same table") {
  CHECK(folder.data("export --to pytorch-csv -p 2 -m 2") == "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  CHECK_FALSE(folder.data("simulate -p 2 -m 2 --export-schedule s.csv").empty());
  CHECK(folder.read("s.csv") == "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
}

TEST_CASE_IN_FOLDER("halves are numbered as microbatches of half the time, and both verbs say so") {
  const Words halving = "--schedule chimera --param mode=halving";
  const std::string note =
      "debubble: note: this schedule cuts each microbatch into 2 pieces, which the table numbers as 16 microbatches; "
      "divide the times by 2 to replay it\n";
  const Outcome direct = folder.run(joined("simulate --format json --export-schedule s.csv", halving));
  CHECK(direct.status == 0);
  CHECK(direct.err == note);
  const Outcome exported = folder.run(joined("export --to pytorch-csv", halving));
  CHECK(exported.err == note);
  CHECK(exported.out == folder.read("s.csv"));
  const json whole = json::parse(direct.out);
  const json halves = folder.json("simulate --schedule s.csv --times f=0.5,b=1");
  for (const char* key : {"makespan_ns", "ideal_ns", "bubble_ratio", "span_ns"}) CHECK(whole[key] == halves[key]);
  CHECK(whole["schedule"]["microbatches"] == 8);
  CHECK(halves["schedule"]["microbatches"] == 16);
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
