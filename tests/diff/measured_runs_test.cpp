// `debubble diff` and `debubble import --from run` on public runs of many GPUs (traces/measured), as people run them.
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

const std::string kMeasured = source_directory() + "/traces/measured/";

Json difference(const Folder& folder, Words files, const Words& more = {}) {
  Words arguments{"diff"};
  arguments.insert(arguments.end(), files.begin(), files.end());
  arguments.insert(arguments.end(), {"--format", "json"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return folder.json(arguments);
}

double number(const Json& figure, const char* key) { return figure[key].get<double>(); }

// What neither the ops' durations nor the transfers explain, as a share of the measured step.
double unexplained(const Json& diff) {
  double rest = 0;
  for (const char* const cause : {"order", "launch_gap", "unexplained"}) rest += number(diff["gap_by_cause_ns"], cause);
  return std::abs(rest) / number(diff["makespan_ns"], "measured");
}

TEST_CASE_IN_FOLDER("the bubble of a pipeline with a slow worker and of its replicas are predicted within a point") {
  const double measured[] = {0.4306, 0.1151, 0.1142, 0.1125};
  for (int replica = 0; replica < 4; ++replica) {
    const Json diff = difference(folder, {kMeasured + "straggler_ar_" + std::to_string(replica) + ".json.gz"});
    CAPTURE(replica);
    CHECK(std::abs(number(diff["bubble_ratio"], "measured") - measured[replica]) < 0.002);
    CHECK(std::abs(number(diff["bubble_ratio"], "gap")) < 0.005);
    CHECK(std::abs(number(diff["makespan_ns"], "gap")) < 0.02 * number(diff["makespan_ns"], "measured"));
    CHECK(unexplained(diff) < 0.001);
  }
  const Outcome outcome = folder.run({"diff", kMeasured + "straggler_ar_0.json.gz", "--width", "200"});
  CHECK(outcome.out.find("1f1b on 4 devices, 32 microbatches") == 0);
  CHECK(outcome.out.find("note   rank 0 of replica 0 is 2.50 times slower than in the other replicas (F ") !=
        std::string::npos);
}

TEST_CASE_IN_FOLDER("memory that nobody knows is no number, in any format") {
  const Words run{"diff", kMeasured + "straggler_ar_0.json.gz"};
  const Json diff = folder.json(run);
  REQUIRE(diff["devices"].size() == 4);
  for (const Json& device : diff["devices"]) {
    for (const char* const key : {"peak_memory_bytes", "peak_activation_bytes"}) {
      for (const auto& [side, value] : device[key].items()) CHECK(value.is_null());
    }
  }
  CHECK(contains(folder.data(joined(run, "--format csv")), "\npeak_memory,0,bytes,,,,,\n"));
  CHECK(contains(folder.data(run), "memory is not known of these runs"));
}

TEST_CASE_IN_FOLDER("the links of the slow worker are named, and nothing is where no transfer was timed") {
  const auto slow_links = [](const Json& diff) {
    Words slow;
    for (const Json& link : diff["links"]) {
      if (link["slow"].get<bool>()) slow.push_back(link["device"].dump() + " to " + link["to_device"].dump());
    }
    return slow;
  };
  const Json slow = difference(folder, {kMeasured + "straggler_ar_0.json.gz"});
  CHECK(slow_links(slow) == Words{"0 to 1", "1 to 0"});
  CHECK(slow["links"].size() == 6);
  const Json usual = difference(folder, {kMeasured + "straggler_ar_2.json.gz"});
  CHECK(slow_links(usual).empty());
  CHECK(difference(folder, {kMeasured + "primus_pp8.json.gz"})["links"].empty());
  const Outcome outcome = folder.run({"diff", kMeasured + "straggler_ar_0.json.gz", "--width", "200"});
  CHECK(contains(outcome.out,
                 "note   transfers from device 0 to 1 take 3.31 times as long as those of the other links "
                 "(3.713 ms against 1.122 ms), in 3 of 3 steps\n"));
}

TEST_CASE_IN_FOLDER("what the prediction knew is kept apart: this step, the other steps, or what was known before") {
  const std::string run = kMeasured + "straggler_st_0.json.gz";
  const auto levels = [](const Json& diff) {
    Words names;
    for (const Json& level : diff["levels"]) names.push_back(level["level"].get<std::string>());
    return names;
  };
  const Json own = difference(folder, {run});
  CHECK(own["prediction_level"] == "medians");
  CHECK(levels(own) == Words("replay medians"));
  CHECK(own["levels"][1]["from"] == "medians of the other 4 steps");
  for (const Json& level : own["levels"]) {
    CHECK(std::abs(number(level["bubble_ratio"], "gap")) < 0.01);
    CHECK(level["makespan_ns"]["measured"] == own["makespan_ns"]["measured"]);
  }
  // Only the medians of the other steps know nothing of this one.
  CHECK(own["levels"][1]["makespan_ns"]["predicted"] != own["makespan_ns"]["predicted"]);

  CHECK(folder.run({"import", "--from", "run", run, "--iterations", "2", "-o", "one.json"}).status == 0);
  CHECK(levels(difference(folder, {"one.json"})) == Words{"replay"});
  CHECK(difference(folder, "one.json one.json")["prediction_level"] == "other_run");
  CHECK(folder.run("simulate -p 4 -m 4 --times f=220,b=380 --save-run plan.json").status == 0);
  const Json forecast = difference(folder, {"plan.json", run});
  CHECK(forecast["prediction_level"] == "forecast");
  CHECK(levels(forecast) == Words("replay medians forecast"));
  CHECK(forecast["levels"][2]["makespan_ns"]["predicted"] == forecast["makespan_ns"]["predicted"]);
  CHECK(levels(difference(folder, {"plan.json"})).empty());  // nothing was measured
}

TEST_CASE_IN_FOLDER("begins and ends of each rank alone are explained to a hundredth of the step") {
  const Json plain = difference(folder, {kMeasured + "primus_pp8.json.gz"});
  CHECK(plain["schedule"]["name"] == "1f1b");
  CHECK(unexplained(plain) < 0.004);
  const Json interleaved = difference(folder, {kMeasured + "primus_pp8_vpp2.json.gz"});
  CHECK(interleaved["schedule"]["name"] == "interleaved");
  CHECK(interleaved["schedule"]["stages"] == 16);
  CHECK(unexplained(interleaved) < 0.008);
  CHECK(interleaved["clocks"]["residual_ns"].is_null());
}

TEST_CASE_IN_FOLDER("a run is imported with one command, and its file compares as the run itself") {
  const std::string ranks = kMeasured + "torch_cpu_named/rank";
  const Outcome outcome =
      folder.run({"import", "--from", "run", ranks + "0.json.gz", ranks + "1.json.gz", "-o", "run.json"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("note: the order of the ops is that of 1f1b\n") == 0);
  CHECK(contains(outcome.err, "1f1b on 2 devices, 4 microbatches: "));
  CHECK(contains(outcome.err, "\nnext: debubble diff run.json\n"));
  const auto check_same = [&](const Json& raw) {
    const Json file = difference(folder, {"run.json"});
    for (const char* const part :
         {"schedule", "makespan_ns", "bubble_ratio", "gap_parts", "levels", "links", "clocks", "losses"}) {
      CAPTURE(part);
      CHECK(raw[part] == file[part]);
    }
  };
  check_same(difference(folder, {ranks + "0.json.gz", ranks + "1.json.gz"}));
  // Neither transfers that were not timed nor clocks of which nothing is known are made up.
  const std::string untimed = kMeasured + "primus_pp8.json.gz";
  CHECK(folder.run({"import", "--from", "run", untimed, "-o", "run.json"}).status == 0);
  check_same(difference(folder, {untimed}));
}

TEST_CASE_IN_FOLDER("some iterations of a run are kept") {
  const std::string trace = kMeasured + "straggler_st_0.json.gz";
  CHECK(folder.run({"import", "--from", "run", trace, "--iterations", "1,3-4", "-o", "run.json"}).status == 0);
  const Json file = difference(folder, {"run.json"});
  CHECK(file["measured"]["iterations"] == 3);
  CHECK(std::abs(number(difference(folder, {"run.json"}, "--iteration 2")["makespan_ns"], "measured") - 2027894244.0) <
        1000);
}

}  // namespace
}  // namespace debubble::testing
