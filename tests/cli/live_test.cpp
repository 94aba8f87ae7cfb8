// `debubble live` on the cpu backend: exact on the logical clock, honest about what it measured, and clear where it got
// stuck.
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"
#include "tests/support/trace_promises.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;
// The report without what a run cannot know and what differs by name.
Json comparable(const std::string& text) {
  Json report = Json::parse(text);
  report.erase("command_line");
  report.erase("steady_period_ns");
  if (report.contains("limit")) report["limit"].erase("more_microbatches");  // only a simulation has them tried
  if (report.contains("stream")) report["stream"].erase("period_per_microbatch_ns");  // likewise of one iteration alone
  return report;
}

void check_equal_to_simulation(const Folder& folder, const Words& scenario) {
  std::string line;
  for (const std::string& word : scenario) line += word + " ";
  CAPTURE(line);
  const Words json = joined(scenario, "--format json");
  const std::string live = folder.data(joined("live --clock logical", json));
  REQUIRE(Json::parse(live)["steady_period_ns"].is_null());
  REQUIRE(comparable(live) == comparable(folder.data(joined({"simulate"}, json))));
}

// What the schedule itself does not take, simulate refuses too; what no executor does is E040 (tests/live says of
// which).
void check_equal_or_refused(const Folder& folder, const Words& scenario) {
  const Outcome live = folder.run(joined("live --clock logical", scenario));
  if (live.status != 2) return check_equal_to_simulation(folder, scenario);
  if (contains(live.err, "error[E040]")) {
    CHECK((scenario[1] == "bpipe" || scenario[1] == "pipeoffload" || scenario[1] == "pipelined-backprop"));
  } else {
    CHECK(folder.run(joined({"simulate"}, scenario)).err == live.err);
  }
}

TEST_CASE_IN_FOLDER("every catalog row runs live on the logical clock and equals the simulation in every number") {
  const Json list = folder.json("list schedules");
  REQUIRE(list["schedules"].size() >= 5);
  for (const Json& schedule : list["schedules"]) {
    const std::string name = schedule["name"];
    check_equal_or_refused(folder, {"--schedule", name});
    check_equal_or_refused(folder,
                           {"--schedule", name, "-p", "2", "-m", "6", "--comm", "0.3", "--times", "f=1,i=1.5,w=0.7"});
    check_equal_or_refused(folder, {"--schedule", name, "-m", "4", "--comm", "0.25", "--p2p", "blocking"});
  }
  check_equal_to_simulation(folder, "--p2p coupled --comm 0.5");
  check_equal_to_simulation(folder, "-p 1 -m 3");
  check_equal_to_simulation(folder, "--schedule chimera --param mode=halving -m 8");
}

TEST_CASE_IN_FOLDER("a table and a profile run live as they are simulated") {
  CHECK(folder.run("export --to pytorch-csv --schedule zb-h1 -o table.csv").status == 0);
  check_equal_to_simulation(folder, "--schedule table.csv --comm 0.1");
  const std::string profile = debubble::testing::source_directory() + "/traces/published/bert-large-p100.json";
  check_equal_to_simulation(folder, {"--profile", profile, "-m", "6", "--bandwidth", "12GB/s"});
}

TEST_CASE_IN_FOLDER("live needs no flag at all and says what to do next") {
  const std::string text = folder.data("live --clock logical");
  CHECK(text.find("1f1b on 4 devices: 4 stages, 8 microbatches\n") == 0);
  CHECK(contains(text, "step time      33.00 ms"));
  CHECK(contains(text, "cpu, logical clock with the given costs"));
  CHECK(contains(text, "step     33.00 ms, 1 iteration\nbubble   27.3 %\n"));
  CHECK(contains(text, "note     work of an op: matmuls of 8 x 8 by 8 x 8 floats"));
  CHECK(contains(text, "48 crossed devices, each with the right checksum chain"));
  CHECK(contains(text, "next     add --save-run run.json, then: debubble diff run.json"));
  CHECK(folder.run({"live"}).out.find("1f1b on 4 devices: 4 stages, 8 microbatches\n") == 0);
}

TEST_CASE_IN_FOLDER("the clock that the number of cores chooses is stated with its reason") {
  const std::string text = folder.data("live --schedule gpipe -p 400 -m 1 --width 300");
  CHECK(contains(text, "not enough for 400 devices"));
  CHECK(contains(text, "cpu, logical clock"));
}

TEST_CASE_IN_FOLDER("the wall clock is refused where there are too few cores: status 3") {
  const Outcome outcome = folder.run("live --schedule gpipe -p 400 -m 1 --clock wall");
  CHECK(outcome.status == 3);
  CHECK(outcome.err.find("error[U050]: the wall clock needs 401 cores") == 0);
  CHECK(outcome.out.empty());
}

TEST_CASE_IN_FOLDER("CPU time as cost makes a measured run of several iterations") {
  const std::string text =
      folder.data("live -p 2 -m 2 --times f=0.2,b=0.4 --costs cpu-time --repetitions 3 --save-run run.json");
  CHECK(contains(text, "logical clock with the CPU time that each op took"));
  CHECK(contains(text, "the median of 3 iterations"));
  CHECK(contains(text, "next     debubble diff run.json"));
  const Json run = Json::parse(folder.read("run.json"));
  CHECK(run["format"] == "debubble.run/1");
  CHECK(run["measured"] == true);
  CHECK(run["iterations"].size() == 3);
  CHECK(run["origin"]["backend"] == "cpu");
  CHECK(run["origin"]["clock"] == "logical");
}

TEST_CASE_IN_FOLDER("an exact run and its simulation save the same times") {
  (void)folder.data("simulate --schedule zb-h1 --comm 0.1 --save-run s.json.gz");
  (void)folder.data("simulate --schedule zb-h1 --comm 0.1 --save-run s.json");
  (void)folder.data(
      "live --clock logical --schedule zb-h1 --comm 0.1 --save-run l.json --trace t.json --export-schedule t.csv");
  CHECK(folder.files() == "l.json s.json s.json.gz t.csv t.json");
  const Json simulated = Json::parse(folder.read("s.json"));
  const Json live = Json::parse(folder.read("l.json"));
  for (const char* key : {"begin_ns", "end_ns", "transfers"}) {
    CHECK(live["iterations"][0][key] == simulated["iterations"][0][key]);
  }
  for (const char* key : {"schedule", "costs", "links", "assumptions", "measured"}) CHECK(live[key] == simulated[key]);
  CHECK(simulated["origin"]["clock"] == "simulated");
  CHECK(live["tensors_checked"] == 48);
  CHECK(folder.read("t.csv") == folder.data("export --to pytorch-csv --schedule zb-h1"));
  CHECK(broken_promises(folder.read("t.json")).empty());
}

TEST_CASE_IN_FOLDER(
    "a lost message is a finding with every device's position, in each format, and leaves no run behind") {
  const Words lost = "live --clock logical --fault drop=1F3 --save-run run.json --trace t.json";
  const Outcome text = folder.run(lost);
  CHECK(text.status == 1);
  CHECK(text.err.empty());
  CHECK(contains(text.out, "stuck: a message was lost\n  d0 is at "));
  CHECK(text.out.find("d2 is at 2F3 (position ") != std::string::npos);
  for (const char* device : {"\n  d1 ", "\n  d3 "}) CHECK(contains(text.out, device));
  const Outcome json = folder.run(joined(lost, "--format json"));
  CHECK(json.status == 1);
  CHECK(json.err.find("error[E030]: a message was lost: d0 is at ") == 0);
  const Json report = Json::parse(json.out);
  CHECK_FALSE(report.contains("makespan_ns"));
  CHECK(report["findings"][0]["code"] == "E030");
  CHECK(report["schedule"]["name"] == "1f1b");
  CHECK(folder.run(joined(lost, "--format csv")).status == 1);
  CHECK(folder.files().empty());
}

TEST_CASE_IN_FOLDER("a schedule that deadlocks gets stuck at the same places as in the simulation") {
  const Outcome outcome = folder.run("live --clock logical --schedule zb-v --p2p coupled");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "stuck: deadlock\n"));
  CHECK(contains(outcome.out, "d0 is at 7F0"));
}

TEST_CASE_IN_FOLDER("changed bytes are found at the op that got them") {
  const Outcome outcome = folder.run("live --clock logical --fault corrupt=2B1 --format json");
  CHECK(outcome.status == 1);
  CHECK(outcome.err.find("error[E031]: ") == 0);
  CHECK(contains(outcome.err, "1B1"));
  CHECK(Json::parse(outcome.out)["findings"][0]["code"] == "E031");
}

TEST_CASE_IN_FOLDER("a slow device lengthens the step, and --fail-if notices") {
  const Outcome outcome = folder.run("live --clock logical --fault slow=2:1.5 --fail-if step>34ms");
  CHECK(outcome.status == 1);
  CHECK(outcome.err.find("debubble: --fail-if: step > 34ms: it is ") == 0);
  CHECK(folder.run("live --clock logical --fail-if step>33ms").status == 0);
}

TEST_CASE_IN_FOLDER("a scenario file serves live as it serves simulate") {
  folder.write("s.toml", "devices = 2\nmicrobatches = 3\n[live]\nclock = \"logical\"\nfault = [\"slow=0:2\"]\n");
  CHECK(folder.data("live --config s.toml").find("1f1b on 2 devices: 2 stages, 3 microbatches\n") == 0);
}

TEST_CASE_IN_FOLDER("without a GPU the cuda backend ends with status 3 and says what is missing") {
  Surroundings hidden;
  hidden.environment = {"CUDA_VISIBLE_DEVICES="};
  const Outcome outcome = folder.run("live --backend cuda --model gpt-1.3b --save-run r.json", hidden);
  CHECK(outcome.status == 3);
  CHECK(outcome.err.find("error[U0") == 0);
  CHECK(contains(outcome.err, "  = help: "));
  CHECK(folder.files().empty());
}

TEST_CASE_IN_FOLDER("the mpi backend says how it is started, or that MPI is missing") {
  const Outcome outcome = folder.run("live --backend mpi --clock logical");
  const bool has_mpi = outcome.status == 2;
  CHECK(outcome.status == (has_mpi ? 2 : 3));
  CHECK(outcome.err.find(has_mpi ? "error[E010]" : "error[U052]") == 0);
  CHECK(outcome.out.empty());
}

TEST_CASE_IN_FOLDER("doctor says what live would find on this machine") {
  const Json doctor = folder.json("doctor");
  std::string found;
  for (const Json& check : doctor["checks"]) {
    const std::string what = check["what"];
    if (what == "processors" || what == "OpenBLAS" || what == "MPI") found += what + " ";
    if (what == "processors") CHECK(check["detail"].get<std::string>().find(" usable (") != std::string::npos);
  }
  CHECK(found == "processors OpenBLAS MPI ");
}

TEST_CASE_IN_FOLDER("a rank other than 0 gives rank 0 the word, and names itself where it has to speak") {
  const std::string complaint = R"(error[C002]: "logicl" is not one of: logical, wall
  --> --clock
  = help: did you mean logical?
)";
  const std::string as_rank_1 = R"(rank 1: error[C002]: "logicl" is not one of: logical, wall
rank 1:   --> --clock
rank 1:   = help: did you mean logical?
)";
  const Words wrong = "live --backend mpi --clock logicl";
  Surroundings ranked;
  ranked.environment = {"OMPI_COMM_WORLD_RANK=0"};
  CHECK(folder.refusal(wrong, ranked) == complaint);
  ranked.environment = {"OMPI_COMM_WORLD_RANK=1"};
  CHECK(folder.refusal(wrong, ranked) == as_rank_1);
}

}  // namespace
}  // namespace debubble::testing
