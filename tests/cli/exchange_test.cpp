// Schedules out to other people's formats and in again, through the command itself.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// A run's numbers, without what names the schedule.
json numbers(const std::string& text) {
  json run = json::parse(text);
  for (const char* key : {"command_line", "schedule", "assumptions", "findings", "limit"}) run.erase(key);
  return run;
}

const Words kCosts{"--times", "f=1,i=1.25,w=0.75", "--comm", "0.125", "--format", "json"};

TEST_CASE("what is exported replays to the nanosecond, in every format that can say it") {
  const Folder folder;
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
      CHECK(numbers(folder.data(joined({"simulate", "--schedule", file}, kCosts))) == direct);
    }
  }
}

TEST_CASE("a compressed schedule file is the same schedule") {
  const Folder folder;
  CHECK(folder.data({"export", "--to", "schedule-json", "-o", "s.json.gz"}).empty());
  CHECK(folder.data({"export", "--to", "schedule-json", "--schedule", "s.json.gz"}) ==
        folder.data({"export", "--to", "schedule-json"}));
}

TEST_CASE("our own file keeps what a table cannot say, and a table is refused for it") {
  const Folder folder;
  const Words halves{"--schedule", "chimera", "--param", "mode=halving"};
  folder.write("s.json", folder.data(joined({"export", "--to", "schedule-json"}, halves)));
  CHECK(numbers(folder.data({"simulate", "--schedule", "s.json", "--format", "json"})) ==
        numbers(folder.data(joined({"simulate", "--format", "json"}, halves))));
  CHECK(folder.refusal(joined({"export", "--to", "zero-bubble-json"}, halves)) ==
        R"(error[T054]: zero-bubble-json has no words for chimera: it has several replicas of each stage
  --> --to
  = help: debubble export --to schedule-json keeps all of it, for debubble to read
)");
  CHECK(
      folder.refusal(joined({"export", "--to", "pytorch-comms"}, halves)).find("error[T054]: stage 0 is on devices") ==
      0);
}

TEST_CASE("a sliced schedule is no table, but a node list") {
  const Folder folder;
  folder.write("s.json", R"({"format": "debubble.schedule/1", "schedule": {"name": "slices", "devices": 1, "stages": 1,
    "chunks": 1, "microbatches": 1, "pieces": 2, "sliced": true, "placement": [[0]], "rows": ["0F0,0F1,0B1,0B0"]}})");
  CHECK(folder.refusal({"export", "--to", "pytorch-csv", "--schedule", "s.json"}) ==
        R"(error[T054]: pytorch-csv has no words for slices: it cuts microbatches into slices that depend on each other
  --> --to
  = help: debubble export --to schedule-json keeps all of it, for debubble to read
)");
  CHECK(folder.refusal({"simulate", "--schedule", "s.json", "--export-schedule", "t.csv"}).find("error[T054]") == 0);
  folder.write("n.json", folder.data({"export", "--to", "zero-bubble-json", "--schedule", "s.json"}));
  CHECK(numbers(folder.data({"simulate", "--schedule", "n.json", "--format", "json"})) ==
        numbers(folder.data({"simulate", "--schedule", "s.json", "--format", "json"})));
}

TEST_CASE("a table in a file comes with what torchtitan must be told") {
  const Folder folder;
  const auto told = [&](const Words& words) {
    const Outcome outcome = folder.run(joined({"export", "--to", "pytorch-csv", "-o", "s.csv"}, words));
    CHECK(outcome.status == 0);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  CHECK(told({}) ==
        "torchtitan: pipeline_parallel_schedule_csv = \"s.csv\" with pipeline_parallel_schedule = \"1F1B\" (one stage "
        "per rank)\n");
  CHECK(told({"--schedule", "interleaved", "-p", "2", "-m", "4"}) ==
        "torchtitan: pipeline_parallel_schedule_csv = \"s.csv\" with pipeline_parallel_schedule = \"Interleaved1F1B\" "
        "(stage s on rank s mod 2)\n");
  CHECK(told({"--schedule", "interleaved", "-p", "2", "-m", "4", "-v", "3"}).find("layers_per_stage asks for 3") !=
        std::string::npos);
  CHECK(told({"--schedule", "chimera"}) ==
        "torchtitan cannot run this table: a stage is on several devices, and PyTorch keeps each on one rank\n");
  folder.write("v.csv", "0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n");
  const std::string v = told({"--schedule", "v.csv"});
  CHECK(v.find("pipeline_parallel_schedule = \"ZBVZeroBubble\"") != std::string::npos);
  CHECK(v.find("PipelineScheduleMulti, would put the stages elsewhere") != std::string::npos);
  folder.write("w.csv", "0F0,1F0,1B0,0B0\n2F0,3F0,3B0,2B0\n");
  CHECK(told({"--schedule", "w.csv"}).find("torchtitan cannot run this table: it places") == 0);
}

TEST_CASE("a table with communication of its own is read for its compute, and a note says so") {
  const Folder folder;
  folder.write("c.csv",
               "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
               "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n");
  CHECK(folder.data({"export", "--to", "pytorch-csv", "--schedule", "c.csv"}) == "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  const json run = json::parse(folder.data({"simulate", "--schedule", "c.csv", "--format", "json"}));
  REQUIRE(run["findings"].size() == 1);
  CHECK(run["findings"][0]["message"].get<std::string>().find("row 2, cell 3 has 1B0") != std::string::npos);
}

TEST_CASE("a faulty table or file is refused like a compiler does") {
  const Folder folder;
  folder.write("c.csv", "0F0,0SEND_F0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n");
  CHECK(folder.refusal({"simulate", "--schedule", "c.csv"}) ==
        R"(error[T045]: 0RECV_B0 is missing, and 1SEND_B0 is for it
  --> c.csv:1
  = help: a hand-over between devices needs both
)");
  folder.write("n.json", R"([[{"type": "POST_VALIDATION", "stage": 0, "microbatch": 0}]])");
  CHECK(folder.refusal({"simulate", "--schedule", "n.json"})
            .find("error[J021]: POST_VALIDATION is not a compute node\n"
                  "  --> n.json#/0/0/type") == 0);
}

TEST_CASE("Megatron's layout goes in and comes out") {
  const Folder folder;
  const std::string profile = debubble::testing::source_directory() + "/traces/published/zb-a100-1.5b-m24.json";
  const Words run{"--profile", profile, "-p", "8", "-m", "24"};
  const std::string layout = folder.data(joined({"export", "--to", "megatron-layout"}, run));
  REQUIRE(layout.ends_with("L\n"));
  const std::string text = layout.substr(0, layout.size() - 1);
  const Words flags = joined({"simulate", "--format", "json"}, run);
  CHECK(numbers(folder.data(joined(flags, {"--partition", text}))) == numbers(folder.data(flags)));
  CHECK(folder.refusal(joined({"simulate", "--partition", "Etx|L"}, run)).find("--partition, column 3") !=
        std::string::npos);
  CHECK(folder.refusal({"export", "--to", "megatron-layout"}).find("error[C004]") == 0);
  CHECK(
      folder.refusal(joined({"export", "--to", "megatron-layout", "--schedule", "chimera"}, run)).find("error[T054]") ==
      0);
}

}  // namespace
}  // namespace debubble::testing
