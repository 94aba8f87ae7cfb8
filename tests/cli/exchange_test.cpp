// Schedules out to other people's formats and in again, through the command itself.
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
// A run's numbers, without what names the schedule.
json numbers(const std::string& text) {
  json run = json::parse(text);
  for (const char* key : {"command_line", "schedule", "assumptions", "findings", "limit"}) run.erase(key);
  return run;
}

const Words kCosts = "--times f=1,i=1.25,w=0.75 --comm 0.125 --format json";

TEST_CASE_IN_FOLDER("what is exported replays to the nanosecond, in every format that can say it") {
  const std::vector<Words> schedules{{"--schedule", "1f1b"},
                                     {"--schedule", "interleaved", "-p", "2", "-m", "4"},
                                     {"--schedule", "zb-h1", "-p", "3", "-m", "5"}};
  for (const Words& schedule : schedules) {
    const json direct = numbers(folder.data(joined(joined({"simulate"}, schedule), kCosts)));
    for (const std::string to : {"pytorch-csv", "pytorch-comms", "zero-bubble-json", "schedule-json"}) {
      CAPTURE(schedule[1]);
      CAPTURE(to);
      const std::string file = to.ends_with("json") ? "s.json" : "s.csv";
      folder.write(file, folder.data(joined({"export", "--to", to}, schedule)));
      // A table with communication posts its receives where PyTorch does.
      const bool late = to == "pytorch-comms";
      const Words again = joined({"simulate", "--schedule", file}, kCosts);
      CHECK(numbers(folder.data(again)) ==
            (late ? numbers(folder.data(joined(joined({"simulate", "--p2p", "late"}, schedule), kCosts))) : direct));
    }
  }
}

TEST_CASE_IN_FOLDER("tables with communication are of the release that --torch names, the newest by itself") {
  const std::string older = folder.data("export --to pytorch-comms -p 2 -m 2 --torch 2.13");
  CHECK(older ==
        "0UNSHARD,0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1,0REDUCE_GRAD,0RESHARD\n"
        "1UNSHARD,1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1,1REDUCE_GRAD,1RESHARD\n");
  const std::string newest = folder.data("export --to pytorch-comms -p 2 -m 2");
  CHECK(newest ==
        "0UNSHARD,0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0WAIT_SEND_F0,0RECV_B1,0B1,0WAIT_SEND_F1,0REDUCE_GRAD,"
        "0WAIT_REDUCE_GRAD,0RESHARD\n"
        "1UNSHARD,1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1,1REDUCE_GRAD,1WAIT_REDUCE_GRAD,1RESHARD,"
        "1WAIT_SEND_B0,1WAIT_SEND_B1\n");
  CHECK(folder.data("export --to pytorch-comms -p 2 -m 2 --torch 2.15") == newest);
  folder.write("older.csv", older);
  folder.write("newest.csv", newest);
  for (const char* file : {"older.csv", "newest.csv"}) {
    CHECK(numbers(folder.data(Words{"simulate", "--schedule", file, "--format", "json"})) ==
          numbers(folder.data("simulate -p 2 -m 2 --format json")));
  }
  CHECK(folder.refusal("export --to pytorch-csv --torch 2.13").find("error[C004]") == 0);
}

TEST_CASE_IN_FOLDER("a compressed schedule file is the same schedule") {
  CHECK(folder.data("export --to schedule-json -o s.json.gz").empty());
  CHECK(folder.data("export --to schedule-json --schedule s.json.gz") == folder.data("export --to schedule-json"));
}

TEST_CASE_IN_FOLDER("our own file keeps what a table cannot say, and a table is refused for it") {
  const Words halves = "--schedule chimera --param mode=halving";
  folder.write("s.json", folder.data(joined("export --to schedule-json", halves)));
  CHECK(numbers(folder.data("simulate --schedule s.json --format json")) ==
        numbers(folder.data(joined("simulate --format json", halves))));
}

TEST_CASE_IN_FOLDER("a sliced schedule is no table, but a node list") {
  folder.write("s.json", R"({"format": "debubble.schedule/1", "schedule": {"name": "slices", "devices": 1, "stages": 1,
    "chunks": 1, "microbatches": 1, "pieces": 2, "sliced": true, "placement": [[0]], "rows": ["0F0,0F1,0B1,0B0"]}})");
  folder.write("n.json", folder.data("export --to zero-bubble-json --schedule s.json"));
  CHECK(numbers(folder.data("simulate --schedule n.json --format json")) ==
        numbers(folder.data("simulate --schedule s.json --format json")));
}

TEST_CASE_IN_FOLDER("a table with communication of its own is read for its compute, and a note says so") {
  folder.write("c.csv",
               "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
               "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n");
  CHECK(folder.data("export --to pytorch-csv --schedule c.csv") == "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  const json run = folder.json("simulate --schedule c.csv");
  REQUIRE(run["findings"].size() == 1);
  CHECK(run["findings"][0]["message"].get<std::string>().find("row 2, cell 3 has 1B0") != std::string::npos);
}

TEST_CASE_IN_FOLDER("Megatron's layout goes in and comes out") {
  const std::string profile = debubble::testing::source_directory() + "/traces/published/zb-a100-1.5b-m24.json";
  const Words run{"--profile", profile, "-p", "8", "-m", "24"};
  const std::string layout = folder.data(joined("export --to megatron-layout", run));
  REQUIRE(layout.ends_with("L\n"));
  const std::string text = layout.substr(0, layout.size() - 1);
  const Words flags = joined("simulate --format json", run);
  CHECK(numbers(folder.data(joined(flags, {"--partition", text}))) == numbers(folder.data(flags)));
  CHECK(folder.refusal(joined("export --to megatron-layout --schedule chimera", run)).find("error[T054]") == 0);
}

}  // namespace
}  // namespace debubble::testing
