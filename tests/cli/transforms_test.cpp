// --transform through the real command: in simulate, compare, scenario files and traces, with its costs and refusals.
#include "schedules/transforms/catalog.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

json simulated(Words arguments) {
  const Folder folder;
  arguments.insert(arguments.begin(), {"simulate", "--format", "json"});
  return folder.json(arguments);
}

double milliseconds(const json& run) { return run["makespan_ns"].get<double>() / 1e6; }

std::string assumed(const json& run, const std::string& what) {
  for (const json& assumption : run["assumptions"]) {
    if (assumption["what"] == what) {
      return assumption["value"].get<std::string>() + " (" + assumption["source"].get<std::string>() + ")";
    }
  }
  return "";
}

TEST_CASE("transforms are applied in order and show in name and params") {
  const json run = simulated("-p 4 -m 8 --transform split-backward:when=idle --transform recompute:when=early");
  CHECK(run["schedule"]["name"] == "1f1b + split-backward + recompute");
  CHECK(run["schedule"]["params"]["split-backward.when"] == "idle");
  CHECK(run["schedule"]["params"]["recompute.when"] == "early");
  CHECK(milliseconds(simulated("-p 4 -m 8 --transform split-backward")) == 30);
}

TEST_CASE("recomputation costs what --times or its shares say, and the assumptions say which") {
  const Words base = "-p 4 -m 8 --times f=1,b=2 --transform";
  const auto with = [&](const std::string& transform, const std::string& times = "f=1,b=2") {
    Words arguments = base;
    arguments[5] = times;
    arguments.push_back(transform);
    return simulated(arguments);
  };
  const json late = with("recompute");
  CHECK(milliseconds(late) == 44);
  CHECK(assumed(late, "recomputation") == "as long as the forward (default)");
  CHECK(assumed(late, "kept until recomputed") == "nothing of an activation (default)");
  CHECK(late["devices"][0]["peak_activation_shares"] == 1);
  CHECK(milliseconds(with("recompute:when=early")) == 41);
  CHECK(milliseconds(with("recompute", "f=1,b=2,r=0.5")) == 38.5);
  const json selective = with("recompute:mode=selective,time=0.5,keep=0.25");
  CHECK(milliseconds(selective) == 38.5);
  CHECK(assumed(selective, "recomputation") == "50.0 % of the forward (given)");
  // Four checkpoints of a quarter and one whole activation.
  CHECK(selective["devices"][0]["peak_activation_shares"] == 2);
}

TEST_CASE("with a profile a recomputed stage keeps its input") {
  const std::string profile = debubble::testing::source_directory() + "/traces/published/zb-a100-1.5b-m24.json";
  const json plain = simulated({"-p", "8", "-m", "24", "--profile", profile});
  const json run = simulated({"-p", "8", "-m", "24", "--profile", profile, "--transform", "recompute"});
  CHECK(assumed(run, "kept until recomputed") == "the stage's input (of stage 0: as much as its output) (default)");
  CHECK(run["makespan_ns"] > plain["makespan_ns"]);
  CHECK(run["devices"][0]["peak_activation_bytes"] < plain["devices"][0]["peak_activation_bytes"]);
}

TEST_CASE("a sharded output layer has default times, given times, and one from the profile's head only") {
  const json by_default = simulated("-p 4 -m 8 --times f=1,b=2 --transform vocabulary-parallel");
  CHECK(assumed(by_default, "vocabulary pass S") ==
        "375 us per device: the output layer is one device share (default)");
  const json given = simulated("-p 4 -m 8 --times f=1,b=2,s=0.25,t=0.25 --transform vocabulary-parallel:barriers=2");
  CHECK(assumed(given, "vocabulary pass S") == "250 us per device (given)");
  CHECK(given["devices"][0]["peak_activation_shares"] == 6);
  CHECK(milliseconds(given) == 37);  // m(f + b + s + t) + (p - 1)(f + b)
}

TEST_CASE("a cost-aware order is planned before a model's output layer is cut over the devices") {
  for (const std::string schedule : {"dapple", "zb-auto", "zb-v-auto"}) {
    CAPTURE(schedule);
    const json run = simulated({"--schedule", schedule, "-p", "2", "-m", "8", "--model", "gpt-1.3b", "--hardware",
                                "h100", "--transform", "vocabulary-parallel"});
    CHECK(run["makespan_ns"] > 0);
  }
}

TEST_CASE_IN_FOLDER("extra work fills the bubbles: report, text and lanes of the trace") {
  const Words work =
      "-p 4 -m 4 --times f=16.1004,b=26.9529 --transform "
      "fill-bubbles:curvature=43.4995,inverse=126.7009,precondition=14.734";
  const json extra = simulated(work)["extra_work"];
  CHECK(extra["refresh_iterations_at_least"] == 3);
  CHECK(extra["refresh_iterations"] >= 3);
  CHECK(extra["utilisation_after"] > extra["utilisation_before"]);
  CHECK(extra["devices"][0]["work_over_bubble"].get<double>() == doctest::Approx(2.33).epsilon(0.003));
  Words arguments = "simulate --trace t.json";
  arguments.insert(arguments.end(), work.begin(), work.end());
  CHECK(contains(folder.data(arguments), "extra work"));
  std::set<std::string> lanes;
  std::size_t slices = 0;
  const json trace = json::parse(folder.read("t.json"));
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") lanes.insert(event["args"]["name"].get<std::string>());
    slices += event.value("cat", "") == "extra work" ? 1U : 0U;
  }
  const std::string steps = std::to_string(extra["refresh_iterations"].get<int>());
  CHECK(lanes.contains("extra work, step 1 of " + steps));
  CHECK(lanes.contains("extra work, step " + steps + " of " + steps));
  CHECK(slices == extra["items"]);
}

TEST_CASE_IN_FOLDER("scenario files and compare take transforms") {
  folder.write("s.toml", "devices = 4\nmicrobatches = 8\ntransform = [\"split-backward:when=idle\", \"recompute\"]\n");
  const json run = folder.json("simulate --config s.toml");
  CHECK(run["schedule"]["name"] == "1f1b + split-backward + recompute");
  const json runs = folder.json("compare --schedules gpipe,1f1b --transform recompute")["runs"];
  for (const json& each : runs) CHECK(each["schedule"]["name"].get<std::string>().ends_with(" + recompute"));
}

TEST_CASE_IN_FOLDER("an exported table takes transforms too") {
  (void)folder.run("export --to pytorch-csv --schedule 1f1b -p 4 -m 8 -o s.csv");
  const json run = folder.json("simulate --schedule s.csv --transform split-backward");
  CHECK(milliseconds(run) == 30);
}

TEST_CASE_IN_FOLDER("the list of transforms holds what the catalog says") {
  const std::string text = folder.data("list transforms");
  const json list = folder.json("list transforms")["transforms"];
  REQUIRE(list.size() == transform_catalog().size());
  for (std::size_t k = 0; k < list.size(); ++k) {
    const TransformEntry& entry = transform_catalog()[k];
    CHECK(list[k]["name"] == entry.name);
    CHECK(list[k]["certainty"] == to_string(entry.certainty));
    CHECK(list[k]["params"].size() == entry.params.size());
    CHECK(!entry.certainty_note.empty());
    CHECK(!entry.citation.empty());
    CHECK(!entry.advice.empty());
    CHECK(contains(text, entry.name));
  }
}

}  // namespace
}  // namespace debubble::testing
