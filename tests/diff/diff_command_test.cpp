// `debubble diff` as people run it.
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"
#include "tests/support/trace_promises.hpp"

using namespace debubble;
using namespace debubble::testing;
using nlohmann::json;

namespace {

// A folder with a plan, a run that keeps to it, and one whose device 2 is slow.
class Runs : public Folder {
 public:
  Runs() {
    write("plan.toml", "schedule = \"1f1b\"\ndevices = 4\nmicrobatches = 8\ncomm = \"0.1\"\n");
    (void)data("simulate --comm 0.1 --save-run same.json -o same.txt");
    (void)data("simulate --comm 0.1 --times f=1.2,b=2 --save-run slow.json -o slow.txt");
  }
};

json diff_of(const Folder& folder, Words arguments) {
  arguments.insert(arguments.begin(), "diff");
  arguments.insert(arguments.end(), {"--format", "json"});
  return folder.json(arguments);
}

// PyTorch's range of one op or transfer on a GPU, in us.
json op_event(const std::string& name, int begin, int length) {
  return {{"ph", "X"},    {"cat", "gpu_user_annotation"}, {"name", "PP:" + name}, {"pid", 1}, {"tid", 1}, {"ts", begin},
          {"dur", length}};
}

std::string trace_of_rank(int rank, const std::vector<json>& events) {
  return json{{"distributedInfo", {{"rank", rank}}}, {"traceEvents", events}}.dump();
}

}  // namespace

TEST_CASE_IN_FOLDER(
    "a trace and a run file of one simulation differ from its scenario in nothing, for every kind of transfer") {
  for (const char* p2p : {"overlapped", "blocking", "coupled"}) {
    for (const char* schedule : {"1f1b", "zb-h1", "chimera"}) {
      for (const char* comm : {"0", "0.25"}) {
        CAPTURE(p2p);
        CAPTURE(schedule);
        CAPTURE(comm);
        const std::string name(schedule);
        (void)folder.data({"simulate", "--schedule", schedule, "--p2p", p2p, "--comm", comm, "--trace", "t.json.gz",
                           "--save-run", "r.json", "-o", "out.txt"});
        folder.write("plan.toml", "schedule = \"" + name + "\"\np2p = \"" + p2p + "\"\ncomm = \"" + comm + "\"\n");
        for (const char* measured : {"t.json.gz", "r.json"}) {
          CAPTURE(measured);
          const json diff = diff_of(folder, {"plan.toml", measured});
          CHECK(diff["gap_parts"].empty());
          CHECK(diff["first_divergence"].is_null());
          CHECK_EQ(diff["makespan_ns"]["gap"], 0);
          CHECK_EQ(diff["transfers_matched"], diff["transfers"]);
          for (const json& device : diff["devices"]) {
            CHECK_EQ(device["peak_memory_bytes"]["gap"], 0);
            CHECK_EQ(device["peak_activation_bytes"]["gap"], 0);
          }
        }
        CHECK_EQ(diff_of(folder, {"t.json.gz"})["makespan_ns"]["gap"], 0);
      }
    }
  }
}

TEST_CASE("a slower run is explained by its ops, and the parts add up") {
  const Runs runs;
  const json diff = diff_of(runs, "plan.toml slow.json");
  CHECK_EQ(diff["makespan_ns"]["predicted"], 34'600'000);
  CHECK_EQ(diff["makespan_ns"]["gap"], 2'200'000);
  CHECK_EQ(diff["gap_by_cause_ns"]["op"], 2'200'000);
  std::int64_t sum = 0;
  for (const json& part : diff["gap_parts"]) sum += part["gap_ns"].get<std::int64_t>();
  CHECK_EQ(sum, 2'200'000);
  CHECK_EQ(diff["gap_parts"][0]["kind"], "F");
  CHECK_EQ(diff["first_divergence"]["op"], "0F0");
  const std::string text = runs.data("diff plan.toml slow.json");
  CHECK(contains(text, "+2.200 ms"));
  CHECK(contains(text, "F of stage 0 takes 1.200 ms on average, predicted 1.000 ms"));
  CHECK(contains(text, "next   debubble diff plan.toml slow.json --bundle diff.tar"));
  const std::string csv = runs.data("diff plan.toml slow.json --format csv");
  CHECK(contains(csv, "makespan,,ns,34600000,36800000,2200000,36800000,36800000\n"));
  CHECK(contains(csv, "gap by op F of stage 0,0,ns,8000000,9600000,600000,,\n"));
}

TEST_CASE_IN_FOLDER("a trace of a live run keeps the planned order and who ran it") {
  (void)folder.data("live -p 4 -m 8 --clock logical --fault swap=1F3 --trace t.json -o out.txt");
  const json diff = diff_of(folder, {"t.json"});
  CHECK_EQ(diff["measured"]["backend"], "cpu");
  CHECK_EQ(diff["measured"]["clock"], "logical");
  CHECK_EQ(diff["measured_times_are"], "computed");
  CHECK_EQ(diff["devices"][0]["measured_activation_is"], "counted");
  CHECK_EQ(diff["first_divergence"]["cause"], "order");
}

TEST_CASE("--tolerance makes a gap a finding") {
  const Runs runs;
  CHECK_EQ(runs.run("diff plan.toml slow.json --tolerance step=7%,bubble=1pp,memory=0%").status, 0);
  const Outcome beyond = runs.run("diff plan.toml slow.json --tolerance step=5%,bubble=0.1pp");
  CHECK_EQ(beyond.status, 1);
  CHECK(contains(beyond.err, "--tolerance: step: measured and predicted differ by 6.4 %, more than 5.0 %"));
  CHECK(contains(beyond.err, "--tolerance: bubble: measured and predicted differ by 0.2"));
  const std::string refused = runs.refusal("diff plan.toml slow.json --tolerance bubble=2%,stepp=1%,x,step=1%,step=2%");
  CHECK(contains(refused, "error[C012]"));
  CHECK(contains(refused, "did you mean step?"));
  CHECK(contains(refused, "error[C006]"));
  CHECK(contains(refused, "step is given twice"));
}

TEST_CASE("the merged trace keeps our promises and shows both runs side by side") {
  const Runs runs;
  (void)runs.data("diff plan.toml slow.json --trace both.json -o out.txt");
  const std::string text = runs.read("both.json");
  CHECK_EQ(broken_promises(text), Words{});
  CHECK(contains(text, "\"predicted device 0 (stage 0)\""));
  CHECK(contains(text, "\"measured device 3 (stage 3)\""));
  CHECK(contains(text, "\"ph\":\"M\",\"pid\":1003,\"args\":{\"sort_index\":7}"));
  CHECK(contains(runs.refusal("diff both.json"), "this is a merged trace of two runs"));
}

TEST_CASE("the bundle is a tar archive of two traces behind a manifest, and the same bytes every time") {
  const Runs runs;
  for (const char* name : {"a.tar", "b.tar"}) {
    (void)runs.data({"diff", "plan.toml", "slow.json", "--bundle", name, "-o", "out.txt"});
  }
  const std::string tar = runs.read("a.tar");
  CHECK_EQ(tar.size() % 512, 0);
  CHECK_EQ(tar.substr(0, 14), std::string("manifest.json\0", 14));
  CHECK(tar.substr(512).starts_with("{\"perfetto_manifest\": {\"version\": 1"));
  CHECK_EQ(tar.substr(257, 5), "ustar");
  CHECK(contains(tar, "predicted.json.gz"));
  CHECK(contains(tar, "measured.json.gz"));
}

TEST_CASE("sides that are no pair, and files that are no run") {
  const Runs runs;
  runs.write("empty.json", " \n");
  runs.write("other.json", "{\"a\": 1}");
  runs.write("stuck.toml", "schedule = \"zb-v\"\np2p = \"coupled\"\n");
  runs.write("bad.toml", "schedule = \"1f1b\"\ndevises = 4\n");
  CHECK(contains(runs.refusal("diff plan.toml"), "error[D002]: a scenario alone has nothing that was measured"));
  CHECK(contains(runs.refusal("diff plan.toml same.json slow.json"), "error[D002]"));
  CHECK(contains(runs.refusal("diff empty.json"), "error[P010]: the file is empty"));
  CHECK(contains(runs.refusal("diff other.json"), "error[P010]: not a run"));
  (void)runs.data("simulate -o /dev/null --trace whole.json");
  const std::string whole = runs.read("whole.json");
  runs.write("cut.json", whole.substr(0, whole.find("traceEvents")));
  CHECK(contains(runs.refusal("diff cut.json"), "error[P010]: this trace ends before its first event"));
  CHECK(contains(runs.refusal("diff nowhere.json"), "error[C005]"));
  CHECK(contains(runs.refusal("diff stuck.toml same.json"), "error[D009]"));
  CHECK(contains(runs.refusal("diff bad.toml same.json"), "bad.toml:2"));
  CHECK(contains(runs.refusal("diff same.json --iteration 2"), "error[C003]: there is no iteration 2"));
  CHECK(contains(runs.refusal("diff same.json --iteration x"), "error[C003]"));
  CHECK(contains(runs.refusal({"diff"}), "FILE"));
}

TEST_CASE("runs of different schedules: the first difference is named") {
  const Runs runs;
  (void)runs.data("simulate --schedule gpipe --save-run gpipe.json -o out.txt");
  (void)runs.data("simulate -m 4 --save-run short.json -o out.txt");
  CHECK(contains(runs.refusal("diff plan.toml gpipe.json"),
                 "device 0 runs 0B0 in place 5 of the predicted one, 0F4 of the measured one"));
  CHECK(
      contains(runs.refusal("diff plan.toml short.json"), "the predicted one has 8 microbatches, the measured one 4"));
}

TEST_CASE_IN_FOLDER("PyTorch's traces of two ranks join by their names, alone and with a prediction") {
  folder.write("r0.json", trace_of_rank(0, {op_event("0F0", 0, 1000), op_event("0SEND_F0", 1000, 10),
                                            op_event("0RECV_B0", 1010, 3010), op_event("0B0", 4020, 2000)}));
  folder.write("r1.json", trace_of_rank(1, {op_event("1RECV_F0", 0, 1010), op_event("1F0", 1010, 1000),
                                            op_event("1B0", 2010, 2000), op_event("1SEND_B0", 4010, 10)}));
  folder.write("plan.toml", "devices = 2\nmicrobatches = 1\ntimes = \"f=1,b=2\"\n");
  const json alone = diff_of(folder, "r1.json r0.json");
  CHECK(alone["predicted_from_measured"].get<bool>());
  CHECK_EQ(alone["ops_matched"], 4);
  CHECK_EQ(alone["makespan_ns"]["measured"], 6'020'000);
  CHECK_EQ(alone["makespan_ns"]["gap"], 0);
  CHECK_EQ(alone["clocks"]["method"], "send/recv pairs");
  const json planned = diff_of(folder, "plan.toml r0.json r1.json");
  CHECK_EQ(planned["makespan_ns"]["gap"], 20'000);
  CHECK_EQ(planned["gap_by_cause_ns"]["transfer"], 20'000);
  folder.write("plan.toml", "devices = 2\nmicrobatches = 2\n");
  CHECK(contains(folder.refusal("diff plan.toml r0.json r1.json"), "error[D010]"));
  CHECK(contains(folder.refusal("diff r0.json"), "error[D005]"));
  CHECK(contains(folder.refusal("diff r0.json r1.json --tolerance memory=5%"), "error[D013]"));
}

TEST_CASE_IN_FOLDER("of a run that took no time the bubble ratio is not a number: its cells are empty") {
  folder.write("r0.json", trace_of_rank(0, {op_event("0F0", 0, 0), op_event("0B0", 0, 0)}));
  folder.write("r1.json", trace_of_rank(1, {op_event("1F0", 0, 0), op_event("1B0", 0, 0)}));
  const std::string csv = folder.data("diff r0.json r1.json --format csv");
  CHECK(contains(csv, "makespan by replay,,ns,0,0,0,,\nbubble_ratio by replay,,,,,,,\n"));
  CHECK_FALSE(contains(csv, "nan"));
}

TEST_CASE_IN_FOLDER("transfers that no trace shows are not matched, and take as long as predicted") {
  // 0F0 takes 0.2 ms longer than planned; all that follows waits for it.
  folder.write("r0.json", trace_of_rank(0, {op_event("0F0", 0, 1200), op_event("0B0", 4400, 2000)}));
  folder.write("r1.json", trace_of_rank(1, {op_event("1F0", 1300, 1000), op_event("1B0", 2300, 2000)}));
  folder.write("plan.toml", "devices = 2\nmicrobatches = 1\ntimes = \"f=1,b=2\"\ncomm = \"0.1\"\n");
  const json diff = diff_of(folder, "plan.toml r0.json r1.json");
  CHECK_EQ(diff["transfers"], 2);
  CHECK_EQ(diff["transfers_matched"], 0);
  CHECK(diff["clocks"]["residual_ns"].is_null());
  CHECK_EQ(diff["clocks"]["method"], "not aligned");
  CHECK_EQ(diff["makespan_ns"]["gap"], 200'000);
  CHECK_EQ(diff["gap_by_cause_ns"]["op"], 200'000);
  REQUIRE_EQ(diff["gap_parts"].size(), 1);
  CHECK_EQ(diff["first_divergence"]["op"], "0F0");
  const std::string text = folder.data("diff plan.toml r0.json r1.json");
  CHECK(contains(text, "not aligned: how far the ranks' clocks differ is not known"));
  CHECK(contains(text, "transfers 0/2: those not seen are taken to be as predicted"));
}

TEST_CASE_IN_FOLDER("an executor's counted memory is compared, and where nobody counted there is nothing to judge") {
  (void)folder.data("live -p 2 -m 4 --clock logical --save-run r.json -o out.txt");
  json run = json::parse(folder.read("r.json"));
  json& memory = run["iterations"][0]["peak_memory_bytes"];
  const auto counted = memory[1].get<std::int64_t>();
  memory[1] = counted + 12345;
  folder.write("more.json", run.dump());
  const json more = diff_of(folder, "r.json more.json");
  CHECK_EQ(more["devices"][1]["measured_memory_is"], "counted");
  CHECK_EQ(more["devices"][1]["allocated_bytes"], counted + 12345);
  CHECK_EQ(more["devices"][1]["peak_memory_bytes"]["measured"], counted + 12345);
  CHECK_EQ(more["devices"][1]["peak_memory_bytes"]["gap"], 12345);
  CHECK_EQ(diff_of(folder, "more.json r.json")["devices"][1]["peak_memory_bytes"]["gap"], -12345);
  run["iterations"][0].erase("peak_memory_bytes");
  run["iterations"][0].erase("peak_activation_bytes");
  folder.write("nobody.json", run.dump());
  const json nobody = diff_of(folder, {"nobody.json"});
  CHECK_EQ(nobody["devices"][1]["measured_memory_is"], "computed");
  CHECK_EQ(nobody["devices"][1]["measured_activation_is"], "computed");
  CHECK(nobody["devices"][1]["allocated_bytes"].is_null());
  const std::string text = folder.data("diff nobody.json");
  CHECK(contains(text, "-: nobody counted that memory in the measured run"));
  CHECK_FALSE(contains(folder.data("diff r.json"), "nobody counted"));
  CHECK(contains(folder.refusal("diff nobody.json --tolerance memory=5%"), "error[D013]"));
  CHECK_EQ(folder.run("diff nobody.json --tolerance step=0%").status, 0);
}

TEST_CASE_IN_FOLDER("what live counts with a profile's bytes is what the simulator predicts, weights included") {
  (void)folder.data({"live", "--profile",
                     debubble::testing::source_directory() + "/traces/published/bert-base-p100.json", "-p", "2", "-m",
                     "4", "--clock", "logical", "--save-run", "r.json", "-o", "out.txt"});
  const json diff = diff_of(folder, "r.json --tolerance memory=0%");
  REQUIRE_EQ(diff["devices"].size(), 2);
  for (const json& device : diff["devices"]) {
    CHECK_EQ(device["measured_memory_is"], "counted");
    CHECK_GT(device["peak_memory_bytes"]["measured"], device["peak_activation_bytes"]["measured"]);
    CHECK_EQ(device["peak_memory_bytes"]["gap"], 0);
    CHECK_EQ(device["peak_activation_bytes"]["gap"], 0);
  }
}

TEST_CASE_IN_FOLDER("times that cannot be are refused in the name of the file they stand in, however it is spaced") {
  (void)folder.data("simulate -p 2 -m 2 --trace t.json -o out.txt");
  json trace = json::parse(folder.read("t.json"));
  folder.write("t.json", trace.dump());
  CHECK_EQ(diff_of(folder, {"t.json"})["makespan_ns"]["gap"], 0);
  for (json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["name"] == "PP:1F0") event["dur"] = 1'000'000;
  }
  folder.write("t.json", trace.dump());
  const std::string refused = folder.refusal("diff t.json");
  CHECK(contains(refused, "error[V023]: 1B0 begins on device 1"));
  CHECK(contains(refused, "--> t.json\n"));
  folder.write("r0.json", trace_of_rank(0, {op_event("0F0", 0, 1000), op_event("0B0", 500, 1000)}));
  folder.write("r1.json", trace_of_rank(1, {op_event("1F0", 1300, 1000), op_event("1B0", 2300, 2000)}));
  const std::string ranks = folder.refusal("diff r1.json r0.json");
  CHECK(contains(ranks, "error[V023]: 0B0 begins on device 0"));
  CHECK(contains(ranks, "--> r1.json and 1 more file\n"));
}

TEST_CASE_IN_FOLDER("the first divergence is the earlier of a swap and a lateness") {
  const auto first = [&](const char* slow, const char* swap) {
    (void)folder.data({"live", "-p", "4", "-m", "8", "--clock", "logical", "--fault", slow, "--fault", swap,
                       "--save-run", "r.json", "-o", "out.txt"});
    return diff_of(folder, {"r.json"})["first_divergence"];
  };
  const json late = first("slow=0:2", "swap=1F6");
  CHECK_EQ(late["cause"], "op");
  CHECK_EQ(late["op"], "0F0");
  const json swapped = first("slow=3:2", "swap=0F1");
  CHECK_EQ(swapped["cause"], "order");
  CHECK_EQ(swapped["device"], 0);
  CHECK_EQ(swapped["expected_op"], "0F1");
}

TEST_CASE("--tolerance judges medians, so one iteration far off is no finding and three of five are") {
  const Runs runs;
  const json same = json::parse(runs.read("same.json"));
  const json slow = json::parse(runs.read("slow.json"))["iterations"][0];
  const auto iterations = [&](int first_slow, int last_slow) {
    json run = same;
    for (int i = 1; i < 5; ++i) run["iterations"].push_back(same["iterations"][0]);
    for (int i = first_slow; i <= last_slow; ++i) run["iterations"][static_cast<std::size_t>(i)] = slow;
    return run.dump();
  };
  const Words judged = "diff plan.toml five.json --iteration 3 --tolerance step=1%,bubble=0.1pp";
  runs.write("five.json", iterations(2, 2));
  CHECK_EQ(diff_of(runs, "plan.toml five.json --iteration 3")["makespan_ns"]["gap"], 2'200'000);
  CHECK_EQ(runs.run(judged).status, 0);
  runs.write("five.json", iterations(1, 3));
  const Outcome beyond = runs.run(judged);
  CHECK_EQ(beyond.status, 1);
  CHECK(contains(beyond.err, "step: the median of 5 iterations and predicted differ by 6.4 %"));
}
