// `debubble diff`: its merged trace, and runs whose files are edited. diff_command.transcript is about the rest.
#include "tests/support/command.hpp"
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

json diff_of(const Folder& folder, const Words& arguments) { return folder.json(joined("diff", arguments)); }

}  // namespace

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
