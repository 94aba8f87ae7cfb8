// `debubble sweep` as people run it: rows in order, the numbers of simulate, failures as rows, any number of threads.
#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
std::vector<json> rows_in(const std::string& text) {
  std::vector<json> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line));
  return rows;
}

std::vector<json> rows(const Folder& folder, const Words& flags) {
  return rows_in(folder.data(joined("sweep --format json", flags)));
}

// What a row and a report both say is the same.
void check_like_simulate(const json& row, const json& run) {
  for (const char* key : {"makespan_ns", "span_ns", "ideal_ns", "bubble_ratio", "bubble_over_ideal",
                          "span_bubble_ratio", "throughput_samples_per_s", "throughput_tokens_per_s", "mfu"}) {
    CAPTURE(key);
    CHECK(row[key] == run[key]);
  }
  json most = run["devices"][0];
  for (const json& device : run["devices"]) {
    if (device["peak_memory_bytes"] > most["peak_memory_bytes"]) most = device;
  }
  CHECK(row["peak_memory_bytes"] == most["peak_memory_bytes"]);
  CHECK(row["peak_memory_device"] == most["device"]);
  CHECK(row["limit"] == run["limit"]["what"]);
  CHECK(row["schedule"] == run["schedule"]["name"]);
  CHECK(row["microbatches"] == run["schedule"]["microbatches"]);
}

TEST_CASE_IN_FOLDER("every row has the numbers of simulate with its flags, in the order of the help") {
  const std::vector<json> found = rows(folder, "--comm 0:0.2:+0.2 --schedule 1f1b,zb-h1 -m 8:16:*2 -p 4");
  REQUIRE(found.size() == 8);
  std::size_t k = 0;
  for (const char* schedule : {"1f1b", "zb-h1"}) {
    for (const char* microbatches : {"8", "16"}) {
      for (const char* comm : {"0", "0.2"}) {
        const json& row = found[k];
        CHECK(row["row"] == k);
        CHECK(row["status"] == 0);
        CHECK(row["flags"] == json{{"schedule", schedule}, {"microbatches", std::stoi(microbatches)}, {"comm", comm}});
        check_like_simulate(row, folder.json({"simulate", "--schedule", schedule, "-m", microbatches, "--comm", comm,
                                              "-p", "4", "--format", "json"}));
        ++k;
      }
    }
  }
}

TEST_CASE_IN_FOLDER("models, clusters and memory limits are swept, too") {
  const Words fixed = "--model tiny-gpt -p 2 -m 4 --topology dgx-h100:1 --memory 1GiB";
  const std::vector<json> found = rows(folder, joined(fixed, "--tp 1,2 --dp 1,2 --recompute none,full"));
  REQUIRE(found.size() == 8);
  for (const json& row : found) {
    const Words flags{"--tp",        row["flags"]["tp"].dump(), "--dp",     row["flags"]["dp"].dump(),
                      "--recompute", row["flags"]["recompute"], "--format", "json"};
    const json run = folder.json(joined(joined({"simulate"}, fixed), flags));
    check_like_simulate(row, run);
    CHECK(row["memory_capacity_bytes"] == run["memory_fit"]["capacity_bytes"]);
    CHECK(row["memory_spare_bytes"] == run["memory_fit"]["spare_bytes"]);
    CHECK(row["ranks"] == run["cluster"]["ranks"]);
  }
}

TEST_CASE_IN_FOLDER("the bytes are the same on any number of threads") {
  const Words sweep = "sweep --schedule 1f1b,zb-h1,chimera,interleaved -p 2:8:+1 -m 4:32:*2";
  for (const char* format : {"csv", "json", "text"}) {
    const Words flags = joined(sweep, {"--format", format, "--threads"});
    const std::string one = folder.run(joined(flags, {"1"})).out;
    CHECK(one.size() > 1000);
    for (const char* threads : {"2", "3", "16"}) CHECK(folder.run(joined(flags, {threads})).out == one);
  }
}

TEST_CASE_IN_FOLDER("what does not run is a row with its code and reason") {
  const std::vector<json> found =
      rows(folder, "--schedule 1f1b,chimera,zb-v -p 3,4 --p2p overlapped,coupled --memory 3MiB --allocator exact");
  REQUIRE(found.size() == 12);
  int refused = 0;
  int deadlocks = 0;
  int out_of_memory = 0;
  for (const json& row : found) {
    CAPTURE(row.dump());
    const bool ran = row["status"] == 0;
    CHECK(row["code"].is_null() == ran);
    CHECK(row["reason"].is_null() == ran);
    refused += row["status"] == 2 ? 1 : 0;
    deadlocks += row["code"] == "X010" ? 1 : 0;
    out_of_memory += row["code"] == "F040" ? 1 : 0;
    CHECK(row["makespan_ns"].is_null() == (row["status"] == 2 || row["code"] == "X010"));
    if (row["code"] == "F040") CHECK(row["memory_spare_bytes"] < 0);
  }
  CHECK(refused == 2);
  CHECK(deadlocks > 0);
  CHECK(out_of_memory > 0);
}

TEST_CASE_IN_FOLDER("the same reason and code as simulate gives") {
  const Outcome outcome = folder.run("sweep --schedule chimera -p 3,5 --format json");
  CHECK(outcome.status == 2);  // all were refused
  const std::vector<json> found = rows_in(outcome.out);
  REQUIRE(found.size() == 2);
  const std::string said = folder.refusal("simulate --schedule chimera -p 3");
  CHECK(said.find("error[" + found[0]["code"].get<std::string>() + "]") == 0);
  const std::string reason = found[0]["reason"];
  CHECK(contains(said, reason.substr(reason.find(": ") + 2)));
  CHECK(folder.run("sweep --p2p coupled --schedule zb-v -m 8,16").status == 1);
  CHECK(folder.run("sweep -p 3,4 --schedule chimera").status == 0);
}

TEST_CASE_IN_FOLDER("CSV says what JSON says") {
  const Words flags{"--schedule", "1f1b,chimera", "-p", "3,4", "--times", "f=1,b=2; f=1,b=3"};
  const std::string csv = folder.data(joined("sweep --format csv", flags));
  std::istringstream lines(csv);
  std::string line;
  REQUIRE(std::getline(lines, line));
  CHECK(line.starts_with("row,sweep,status,code,--schedule,--devices,--times,schedule,devices,stages,"));
  for (const json& row : rows(folder, flags)) {
    REQUIRE(std::getline(lines, line));
    const std::string times = row["flags"]["times"];
    CHECK(line.starts_with(row["row"].dump() + "," + row["sweep"].get<std::string>() + "," + row["status"].dump() +
                           "," + (row["code"].is_null() ? "" : row["code"].get<std::string>()) + "," +
                           row["flags"]["schedule"].get<std::string>() + "," + row["flags"]["devices"].dump() + ",\"" +
                           times + "\","));
    if (!row["makespan_ns"].is_null()) CHECK(contains(line, "," + row["makespan_ns"].dump() + ","));
  }
  CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE_IN_FOLDER("text shows the best and counts the rest") {
  const std::string text = folder.data("sweep --schedule gpipe,1f1b,zb-h1,chimera -p 3,4 --top 2");
  CHECK(contains(text, "8 rows: 7 ran, 1 refused"));
  CHECK(contains(text, "best by throughput"));
  const std::size_t best = text.find("chimera");
  CHECK(best != std::string::npos);
  CHECK(contains(text, "did not run"));
  const std::string leanest = folder.data("sweep --schedule gpipe,1f1b -m 8,16 --best memory --top 1");
  CHECK(contains(leanest, "  2  1f1b"));
}

TEST_CASE_IN_FOLDER("a scenario file may have lists, and the command line replaces them") {
  folder.write("s.toml", "schedule = [\"1f1b\", \"zb-h1\"]\nmicrobatches = \"8:16:*2\"\ndevices = [2, 4]\n");
  CHECK(rows(folder, "--config s.toml") == rows(folder, "--schedule 1f1b,zb-h1 -m 8,16 -p 2 -p 4"));
  CHECK(rows(folder, "--config s.toml -p 8").empty() == false);
}

TEST_CASE_IN_FOLDER("a switch needs no value, and may have several") {
  const Words model = "--model tiny-gpt -p 2 -m 2";
  CHECK(rows(folder, joined(model, {"--dropout"})).size() == 1);
  CHECK(rows(folder, joined(model, "--dropout --loss fused")).size() == 1);
  const std::vector<json> both = rows(folder, joined(model, "--dropout off,on"));
  REQUIRE(both.size() == 2);
  CHECK(both[0]["flags"]["dropout"] == false);
  CHECK(both[1]["flags"]["dropout"] == true);
  CHECK(both[0]["peak_memory_bytes"] < both[1]["peak_memory_bytes"]);
}

TEST_CASE_IN_FOLDER("files take part by name") {
  folder.write("a.json", kProfile);
  folder.write("b.json", replaced(kProfile, "\"median_ns\": 1000", "\"median_ns\": 3000"));
  const std::vector<json> found = rows(folder, "--profile a.json,b.json -p 1,2");
  REQUIRE(found.size() == 4);
  CHECK(found[0]["flags"]["profile"] == "a.json");
  CHECK(found[0]["makespan_ns"] < found[1]["makespan_ns"]);
}

}  // namespace
TEST_CASE_IN_FOLDER("asynchronous rows come behind the others, and the best of them is told where it is better") {
  const Words job = "sweep -p 4 -m 16 --times f=1,b=2 --comm 0.4 --schedule";
  for (const char* top : {"1", "5"}) {
    const std::string text = folder.data(joined(job, {"pipelined-backprop,1f1b", "--top", top}));
    CAPTURE(text);
    CHECK(contains(text, "\n  1  1f1b "));
    CHECK(text.find("row 0 (--schedule pipelined-backprop) is better by throughput (step ") != std::string::npos);
    const std::size_t other = text.find("\n  0  pipelined-backprop ");
    CHECK((top[0] == '1' ? other == std::string::npos : other > text.find("\n  1  1f1b ")));
  }
  const std::string alone = folder.data(joined(job, {"pipelined-backprop,pipedream"}));
  CHECK_FALSE(contains(alone, "is better by"));
  CHECK_FALSE(contains(folder.data(joined(job, {"1f1b,pipedream"})), "is better by"));
}

}  // namespace debubble::testing
