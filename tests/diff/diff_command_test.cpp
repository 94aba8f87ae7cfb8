// `debubble diff` as people run it.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/command.hpp"
#include "tests/support/trace_lint.hpp"

using namespace debubble::testing;
using nlohmann::json;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A folder with a plan, a run that keeps to it, and one whose device 2 is slow.
class Runs : public Folder {
 public:
  Runs() {
    write("plan.toml", "schedule = \"1f1b\"\ndevices = 4\nmicrobatches = 8\ncomm = \"0.1\"\n");
    (void)data({"simulate", "--comm", "0.1", "--save-run", "same.json", "-o", "same.txt"});
    (void)data({"simulate", "--comm", "0.1", "--times", "f=1.2,b=2", "--save-run", "slow.json", "-o", "slow.txt"});
  }
};

json diff_of(const Folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "diff");
  arguments.insert(arguments.end(), {"--format", "json"});
  return json::parse(folder.data(arguments));
}

}  // namespace

TEST_CASE("a trace and a run file of one simulation differ from its scenario in nothing, for every kind of transfer") {
  const Folder folder;
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
  const json diff = diff_of(runs, {"plan.toml", "slow.json"});
  CHECK_EQ(diff["makespan_ns"]["predicted"], 34'600'000);
  CHECK_EQ(diff["makespan_ns"]["gap"], 2'200'000);
  CHECK_EQ(diff["gap_by_cause_ns"]["op"], 2'200'000);
  std::int64_t sum = 0;
  for (const json& part : diff["gap_parts"]) sum += part["gap_ns"].get<std::int64_t>();
  CHECK_EQ(sum, 2'200'000);
  CHECK_EQ(diff["gap_parts"][0]["kind"], "F");
  CHECK_EQ(diff["first_divergence"]["op"], "0F0");
  const std::string text = runs.data({"diff", "plan.toml", "slow.json"});
  CHECK(contains(text, "+2.200 ms"));
  CHECK(contains(text, "F of stage 0 takes 1.200 ms on average, predicted 1.000 ms"));
  CHECK(contains(text, "next   debubble diff plan.toml slow.json --bundle diff.tar"));
  const std::string csv = runs.data({"diff", "plan.toml", "slow.json", "--format", "csv"});
  CHECK(contains(csv, "makespan,,ns,34600000,36800000,2200000,36800000,36800000\n"));
  CHECK(contains(csv, "gap by op F of stage 0,0,ns,8000000,9600000,600000,,\n"));
}

TEST_CASE("a trace of a live run keeps the planned order and who ran it") {
  const Folder folder;
  (void)folder.data({"live", "-p", "4", "-m", "8", "--clock", "logical", "--fault", "swap=1F3", "--trace", "t.json",
                     "-o", "out.txt"});
  const json diff = diff_of(folder, {"t.json"});
  CHECK_EQ(diff["measured"]["backend"], "cpu");
  CHECK_EQ(diff["measured"]["clock"], "logical");
  CHECK_EQ(diff["measured_times_are"], "computed");
  CHECK_EQ(diff["devices"][0]["measured_activation_is"], "counted");
  CHECK_EQ(diff["first_divergence"]["cause"], "order");
}

TEST_CASE("--tolerance makes a gap a finding") {
  const Runs runs;
  CHECK_EQ(runs.run({"diff", "plan.toml", "slow.json", "--tolerance", "step=7%,bubble=1pp,memory=0%"}).status, 0);
  const Outcome beyond = runs.run({"diff", "plan.toml", "slow.json", "--tolerance", "step=5%,bubble=0.1pp"});
  CHECK_EQ(beyond.status, 1);
  CHECK(contains(beyond.err, "--tolerance: step: measured and predicted differ by 6.4 %, more than 5.0 %"));
  CHECK(contains(beyond.err, "--tolerance: bubble: measured and predicted differ by 0.2"));
  const std::string refused =
      runs.refusal({"diff", "plan.toml", "slow.json", "--tolerance", "bubble=2%,stepp=1%,x,step=1%,step=2%"});
  CHECK(contains(refused, "error[C096]"));
  CHECK(contains(refused, "did you mean step?"));
  CHECK(contains(refused, "error[C094]"));
  CHECK(contains(refused, "step is given twice"));
}

TEST_CASE("the merged trace passes the lint and shows both runs side by side") {
  const Runs runs;
  (void)runs.data({"diff", "plan.toml", "slow.json", "--trace", "both.json", "-o", "out.txt"});
  const std::string text = runs.read("both.json");
  CHECK_EQ(lint_trace(text), std::vector<std::string>{});
  CHECK(contains(text, "\"predicted device 0 (stage 0)\""));
  CHECK(contains(text, "\"measured device 3 (stage 3)\""));
  CHECK(contains(text, "\"ph\":\"M\",\"pid\":1003,\"args\":{\"sort_index\":7}"));
  CHECK(contains(runs.refusal({"diff", "both.json"}), "this is a merged trace of two runs"));
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
  runs.write("stuck.toml", "schedule = \"interleaved\"\np2p = \"coupled\"\n");
  runs.write("bad.toml", "schedule = \"1f1b\"\ndevises = 4\n");
  CHECK(contains(runs.refusal({"diff", "plan.toml"}), "error[D002]: a scenario alone has nothing that was measured"));
  CHECK(contains(runs.refusal({"diff", "plan.toml", "same.json", "slow.json"}), "error[D002]"));
  CHECK(contains(runs.refusal({"diff", "empty.json"}), "error[D001]: the file is empty"));
  CHECK(contains(runs.refusal({"diff", "other.json"}), "error[D001]: not a run"));
  CHECK(contains(runs.refusal({"diff", "nowhere.json"}), "error[C005]"));
  CHECK(contains(runs.refusal({"diff", "stuck.toml", "same.json"}), "error[D009]"));
  CHECK(contains(runs.refusal({"diff", "bad.toml", "same.json"}), "bad.toml:2"));
  CHECK(contains(runs.refusal({"diff", "same.json", "--iteration", "2"}), "error[C093]: there is no iteration 2"));
  CHECK(contains(runs.refusal({"diff", "same.json", "--iteration", "x"}), "error[C093]"));
  CHECK(contains(runs.refusal({"diff"}), "FILE"));
}

TEST_CASE("runs of different schedules: the first difference is named") {
  const Runs runs;
  (void)runs.data({"simulate", "--schedule", "gpipe", "--save-run", "gpipe.json", "-o", "out.txt"});
  (void)runs.data({"simulate", "-m", "4", "--save-run", "short.json", "-o", "out.txt"});
  CHECK(contains(runs.refusal({"diff", "plan.toml", "gpipe.json"}),
                 "device 0 runs 0B0 in place 5 of the predicted one, 0F4 of the measured one"));
  CHECK(contains(runs.refusal({"diff", "plan.toml", "short.json"}),
                 "the predicted one has 8 microbatches, the measured one 4"));
}

TEST_CASE("PyTorch's traces of two ranks join by their names, alone and with a prediction") {
  const Folder folder;
  const auto event = [](const std::string& name, int begin, int length) {
    return "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"" + name +
           "\",\"pid\":1,\"tid\":1,\"ts\":" + std::to_string(begin) + ",\"dur\":" + std::to_string(length) + "}";
  };
  const auto trace = [](int rank, const std::string& events) {
    return "{\"distributedInfo\": {\"rank\": " + std::to_string(rank) + "}, \"traceEvents\": [" + events + "]}";
  };
  folder.write("r0.json", trace(0, event("PP:0F0", 0, 1000) + "," + event("PP:0SEND_F0", 1000, 10) + "," +
                                       event("PP:0RECV_B0", 1010, 3010) + "," + event("PP:0B0", 4020, 2000)));
  folder.write("r1.json", trace(1, event("PP:1RECV_F0", 0, 1010) + "," + event("PP:1F0", 1010, 1000) + "," +
                                       event("PP:1B0", 2010, 2000) + "," + event("PP:1SEND_B0", 4010, 10)));
  folder.write("plan.toml", "devices = 2\nmicrobatches = 1\ntimes = \"f=1,b=2\"\n");
  const json alone = diff_of(folder, {"r1.json", "r0.json"});
  CHECK(alone["predicted_from_measured"].get<bool>());
  CHECK_EQ(alone["ops_matched"], 4);
  CHECK_EQ(alone["makespan_ns"]["measured"], 6'020'000);
  CHECK_EQ(alone["makespan_ns"]["gap"], 0);
  CHECK_EQ(alone["clocks"]["method"], "send/recv pairs");
  const json planned = diff_of(folder, {"plan.toml", "r0.json", "r1.json"});
  CHECK_EQ(planned["makespan_ns"]["gap"], 20'000);
  CHECK_EQ(planned["gap_by_cause_ns"]["transfer"], 20'000);
  folder.write("plan.toml", "devices = 2\nmicrobatches = 2\n");
  CHECK(contains(folder.refusal({"diff", "plan.toml", "r0.json", "r1.json"}), "error[D008]"));
  CHECK(contains(folder.refusal({"diff", "r0.json"}), "error[D012]"));
  CHECK(contains(folder.refusal({"diff", "r0.json", "r1.json", "--tolerance", "memory=5%"}), "error[D013]"));
}
