// `debubble accuracy --bubbles`: predicted against measured bubbles of public runs, as people run it.
#include "formats/run/run_file.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

const std::string kBubblesRoot = source_directory();
const std::string kRuns = kBubblesRoot + "/traces/measured/runs.json";

Json judged(const Folder& folder, const std::string& list = kRuns) {
  return folder.json({"accuracy", "--bubbles", "--records", list, "--format", "json"});
}

Json bubble_source(const Json& json, const std::string& name) {
  for (const Json& source : json["sources"]) {
    if (source["source"] == name) return source;
  }
  FAIL("no source " << name);
  return {};
}

TEST_CASE("bubbles: every level keeps what was reached") {
  const Json json = judged(Folder());
  const Json& replay = json["summary"]["replay"];
  CHECK(replay["runs"] == 8);
  CHECK(replay["bubble_mean_absolute_error"].get<double>() < 0.0020);
  CHECK(std::abs(replay["bubble_worst"].get<double>()) < 0.0053);  // primus-pp8-vpp2; all others within 0.0021
  CHECK(std::abs(replay["step_worst"].get<double>()) < 0.0100);
  const Json& medians = json["summary"]["medians"];
  CHECK(medians["runs"] == 8);
  CHECK(medians["bubble_mean_absolute_error"].get<double>() < 0.0035);
  CHECK(medians["step_mean_absolute_error"].get<double>() < 0.0070);
  const Json& timers = json["summary"]["timers"];
  CHECK(timers["runs"] == 4);
  CHECK(std::abs(timers["bubble_worst"].get<double>()) <
        0.1300);  // 256 microbatches over a network that is not modelled
  CHECK(timers["bubble_mean_absolute_error"].get<double>() < 0.0390);
  CHECK(timers["step_mean_absolute_error"].get<double>() < 0.0760);
  const Json& forecast = json["summary"]["forecast"];
  CHECK(forecast["runs"] == 23);
  CHECK(forecast["bubble_runs"] == 8);
  CHECK(forecast["bubble_mean_absolute_error"].get<double>() < 0.0070);
  const Json vocabulary = bubble_source(json, "vocabulary-parallelism")["summary"]["forecast"];
  CHECK(vocabulary["runs"] == 8);
  CHECK(vocabulary["step_mean_absolute_error"].get<double>() < 0.0100);
}

TEST_CASE(
    "bubbles: Sailor's steps are forecast within 5 % in the mean, and so is the half that is blind to the constant") {
  const Json sailor = bubble_source(judged(Folder()), "sailor");
  const Json& all = sailor["summary"]["forecast"];
  CHECK(all["runs"] == 15);
  CHECK(all["bubble_runs"] == 0);
  CHECK(all["step_mean_absolute_error"].get<double>() < 0.0460);
  CHECK(sailor["calibrated_on"].size() == 8);
  CHECK(sailor["summary_calibrated_on"]["forecast"]["runs"] == 8);
  const Json& others = sailor["summary_others"]["forecast"];
  CHECK(others["runs"] == 7);
  CHECK(others["step_mean_absolute_error"].get<double>() < 0.0390);
  CHECK(sailor["summary"]["replay"]["runs"] == 0);
  CHECK(sailor["summary"]["medians"]["runs"] == 0);
}

TEST_CASE_IN_FOLDER("bubbles: Sailor's pipelines end when an independent simulation of fused exchanges says") {
  const Json list = Json::parse(contents_of(kRuns));
  const Json expected = Json::parse(contents_of(kBubblesRoot + "/traces/measured/sailor_opt350/expected.json"));
  std::size_t compared = 0;
  for (const Json& run : list["runs"]) {
    if (run["source"] != "sailor") continue;
    CAPTURE(run["id"].get<std::string>());
    Words arguments = "simulate --network uncontended --format json";
    for (const auto& flag : run["scenario"].items()) {
      const std::string value =
          flag.value().is_string() ? flag.value().get<std::string>() : std::to_string(flag.value().get<int>());
      const bool file = flag.key() == "profile";
      arguments.push_back("--" + flag.key() + "=" + (file ? kBubblesRoot + "/traces/measured/" : "") + value);
    }
    const Json& truth = expected[run["id"].get<std::string>()];
    const Json report = folder.json(arguments);
    const auto end = report["step"]["pipeline_end_ns"].get<double>();
    CHECK(std::abs(end - 1e6 * truth["pipeline_ms"].get<double>()) < 1000);  // transfers are rounded up to nanoseconds
    CHECK(std::abs(run["step_ns"].get<double>() - 1e6 * truth["step_ms"].get<double>()) < 1);
    ++compared;
  }
  CHECK(compared == 15);
  CHECK(expected.size() == 15);
}

TEST_CASE_IN_FOLDER("bubbles: a run with a scenario is what simulate makes of it, and has no bubble to compare") {
  folder.write("runs.json", R"({"schema": "debubble.measured/1",
    "sources": [{"name": "s", "title": "t", "where": "w", "licence": "l", "calibrated": "the rate",
                 "calibrated_on": ["b"]}],
    "runs": [{"id": "a", "source": "s", "step_ns": 40000000,
              "scenario": {"devices": 4, "microbatches": 8, "times": "f=1,b=2", "step": "optimizer=1"}},
             {"id": "b", "source": "s", "step_ns": 34000000,
              "scenario": {"schedule": "gpipe", "devices": 4, "microbatches": 8, "times": "f=1,b=2"}}]})");
  const Json json = judged(folder, "runs.json");
  const Json& run = json["runs"][0];
  CHECK(run["schedule"] == "1f1b");
  CHECK(run["predicted"]["forecast"]["step_ns"] == 34000000.0);
  CHECK(std::abs(run["predicted"]["forecast"]["step_error"].get<double>() + 0.15) < 1e-12);
  CHECK(run["bubble_ratio"].is_null());
  CHECK(run["predicted"]["forecast"]["bubble_error"].is_null());
  CHECK(std::abs(run["ideal_bubble_ratio"].get<double>() - 3.0 / 11) < 1e-12);
  const Json source = bubble_source(json, "s");
  CHECK(source["summary_calibrated_on"]["forecast"]["step_worst_run"] == "b");
  CHECK(source["summary_others"]["forecast"]["step_worst_run"] == "a");
  const std::string text = folder.data("accuracy --bubbles --records runs.json");
  for (const char* const part :
       {"not measured", "step -15.00 %", "calibrated: the rate", "calibrated on: forecast of 1"}) {
    CHECK(contains(text, part));
  }
}

TEST_CASE("bubbles: measured and ideal ones are those of independent sums and of the closed form") {
  const Json json = judged(Folder());
  const Json expected = Json::parse(contents_of(kBubblesRoot + "/traces/measured/expected.json"));
  int compared = 0;
  for (const Json& run : json["runs"]) {
    const std::string id = run["id"];
    CAPTURE(id);
    const double p = run["devices"];
    const double m = run["microbatches"];
    const double v = run["schedule"] == "interleaved" ? 2 : 1;
    const bool flush_of_1f1b =
        run["schedule"] == "1f1b" || run["schedule"] == "interleaved" || run["schedule"] == "gpipe";
    if (flush_of_1f1b) CHECK(std::abs(run["ideal_bubble_ratio"].get<double>() - (p - 1) / (m * v + p - 1)) < 1e-9);
    std::string name = id;
    std::string replica = "0";
    if (id.starts_with("straggler")) {
      replica = id.substr(id.size() - 1);
      name = id.substr(0, id.size() - 2);
    }
    for (char& c : name) c = c == '-' ? '_' : c;
    if (!expected.contains(name)) continue;
    double bubble = 0;
    const Json& steps = expected[name][replica];
    for (const Json& step : steps) bubble += step["bubble"].get<double>() / static_cast<double>(steps.size());
    CHECK(std::abs(run["bubble_ratio"].get<double>() - bubble) < 0.0001);
    CHECK(run["steps"] == steps.size());
    ++compared;
  }
  CHECK(compared == 12);
}

TEST_CASE("bubbles: text names every run, in 80 columns") {
  const std::string text = Folder().data({"accuracy", "--bubbles", "--records", kRuns, "--width", "80"});
  for (const char* const part : {"straggler-ar-0", "primus-pp8-vpp2", "vocabulary-base-v256k-s4k", "bigscience-p64",
                                 "replay of 8 runs: ", "medians of 8 runs: ", "timers of 4 runs: ",
                                 "forecast of 8 runs: ", "forecast of 23 runs: ", "sailor-n16-d4"}) {
    CHECK(contains(text, part));
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
  }
}

TEST_CASE_IN_FOLDER("bubbles: runs on parts of an H100 are forecast with what ops take beside as many as work") {
  const Json source = bubble_source(judged(Folder()), "h100-parts");
  const Json& forecast = source["summary"]["forecast"];
  CHECK(forecast["runs"] == 11);
  CHECK(forecast["step_mean_absolute_error"].get<double>() < 0.0225);
  CHECK(std::abs(forecast["step_worst"].get<double>()) < 0.0510);
  CHECK(forecast["bubble_mean_absolute_error"].get<double>() < 0.0095);
  // With all at work throughout, the same run is off by far more.
  RunRecord run = read_run_file(kBubblesRoot + "/traces/measured/h100/gpipe-p8-m16.json.gz");
  const auto gap = [&] {
    std::string text;
    write_run_file(run, [&text](std::string_view piece) { text += piece; });
    folder.write("run.json", text);
    const Json step = folder.json("diff run.json")["makespan_ns"];
    return step["predicted"].get<double>() / step["measured"].get<double>() - 1;
  };
  CHECK(std::abs(gap()) < 0.02);
  run.costs.at_work.clear();
  CHECK(gap() > 0.15);
}

TEST_CASE_IN_FOLDER("bubbles: stage times that were measured apart give the schedule's own arithmetic") {
  folder.write("runs.json", R"({"schema": "debubble.measured/1",
    "sources": [{"name": "s", "title": "t", "where": "w", "licence": "l"}],
    "runs": [{"id": "even", "source": "s", "schedule": "1f1b", "microbatches": 6,
              "forward_ns": [1000, 1000], "backward_ns": [2000, 2000], "step_ns": 21500}]})");
  const Json run = judged(folder, "runs.json")["runs"][0];
  CHECK(run["predicted"]["forecast"]["step_ns"] == 21000.0);
  CHECK(std::abs(run["bubble_ratio"].get<double>() - (1 - 36000.0 / 43000)) < 1e-12);
  CHECK(std::abs(run["predicted"]["forecast"]["step_error"].get<double>() - (21000.0 / 21500 - 1)) < 1e-12);
  CHECK(run["predicted"]["replay"].is_null());
}

TEST_CASE_IN_FOLDER("bubbles: of a training log every stage is taken to be as the last one's timers say") {
  std::string log =
      "--- arguments ---\n num_layers .. 4\n hidden_size .. 64\n num_attention_heads .. 4\n seq_length .. 32\n"
      " pipeline_model_parallel_size .. 2\n micro_batch_size .. 1\n global_batch_size .. 3\n world_size .. 2\n"
      "--- end of arguments ---\n";
  for (int k = 1; k <= 3; ++k) {
    log += " iteration " + std::to_string(k) +
           "/ 9 | elapsed time per iteration (ms): 15.0 | global batch size: 3 |\n" +
           "time (ms) | forward-compute: 3.0 | backward-compute: 6.0 | optimizer: 2.0\n";
  }
  folder.write("train.log", log);
  folder.write("runs.json", R"({"schema": "debubble.measured/1",
    "sources": [{"name": "s", "title": "t", "where": "w", "licence": "l"}],
    "runs": [{"id": "log", "source": "s", "log": "train.log"}]})");
  const Json run = judged(folder, "runs.json")["runs"][0];
  CHECK(run["steps"] == 2);
  CHECK(run["step_ns"] == 13e6);
  CHECK(std::abs(run["bubble_ratio"].get<double>() - 4.0 / 13) < 1e-12);
  CHECK(run["predicted"]["timers"]["step_ns"] == 12e6);  // (3 + 1) microbatches of 3 ms
  CHECK(run["predicted"]["timers"]["bubble_ratio"] == 0.25);
  folder.write("train.log", log.substr(0, log.find("time (ms)")));
  const std::string refusal = folder.refusal("accuracy --bubbles --records runs.json");
  CHECK(refusal.find("error[P016]: iteration 1 has no timers of the last rank\n  --> train.log\n") == 0);
}

}  // namespace
}  // namespace debubble::testing
