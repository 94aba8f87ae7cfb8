// --profile with several sizes of one model: a folder, several files, a size in between, on every verb that takes one.
#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
// kProfile, which is of 2 x 128, at twice the microbatch: its layers take 1.7 and 1.8 times as long.
std::string at_four() {
  std::string text = replaced(kProfile, "\"microbatch_size\": 2", "\"microbatch_size\": 4");
  for (int layer = 0; layer < 2; ++layer) {
    text = replaced(replaced(text, "\"median_ns\": 1000", "\"median_ns\": 1700"), "\"median_ns\": 2000",
                    "\"median_ns\": 3600");
    text = replaced(replaced(text, "\"activation_bytes\": 10,", "\"activation_bytes\": 20,"), "\"output_bytes\": 5,",
                    "\"output_bytes\": 10,");
  }
  return text;
}

void write_sizes(const Folder& folder) {
  folder.write("two.json", kProfile);
  folder.write("four.json", at_four());
}

json report(const Folder& folder, Words arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  json run = folder.json(arguments);
  run.erase("command_line");
  return run;
}

json assumption(const json& run, const std::string& what) {
  for (const json& one : run.at("assumptions")) {
    if (one.at("what") == what) return one;
  }
  return {};
}

const Words kBoth = "--profile two.json --profile four.json";

TEST_CASE_IN_FOLDER("a size between two profiles is interpolated, and the report says so") {
  write_sizes(folder);
  const Words three = joined(joined({"simulate"}, kBoth), "--microbatch-size 3 -p 1 -m 1");
  const json run = report(folder, three);
  const auto forward = std::llround(1000 * std::pow(1.5, std::log2(1.7)));
  const auto backward = std::llround(2000 * std::pow(1.5, std::log2(1.8)));
  CHECK(run.at("makespan_ns") == 2 * (forward + backward));
  CHECK(assumption(run, "layer times") ==
        json::parse(R"({"what": "layer times", "value": "tiny, interpolated from microbatch 2 and 4, by the achieved )"
                    R"(rate", "source": "modelled"})"));
  CHECK(assumption(run, "layer sizes").at("value") ==
        "tiny, interpolated from microbatch 2 and 4, polynomials through the measured sizes");
  CHECK(assumption(run, "microbatch") ==
        json::parse(R"({"what": "microbatch", "value": "3 samples", "source": "given"})"));
  CHECK(run.at("devices").at(0).at("peak_by_category_bytes").at("activations") == 30);
  const double seconds = run.at("makespan_ns").get<double>() / 1e9;
  CHECK(run.at("throughput_samples_per_s").get<double>() == doctest::Approx(3 / seconds));
  CHECK(contains(folder.data(three), "modelled"));
}

TEST_CASE_IN_FOLDER("a folder of profiles is the same as its files") {
  write_sizes(folder);
  folder.write("notes.txt", "not a profile");
  const Words size = "--microbatch-size 3 -p 2 -m 4";
  CHECK(report(folder, joined(joined({"simulate"}, kBoth), size)) ==
        report(folder, joined("simulate --profile .", size)));
}

TEST_CASE_IN_FOLDER("a measured size among several profiles is that profile, untouched") {
  write_sizes(folder);
  json alone = report(folder, "simulate --profile four.json -p 2 -m 4");
  json chosen = report(folder, "simulate --profile . --microbatch-size 4 -p 2 -m 4");
  CHECK(assumption(chosen, "layer times") == assumption(alone, "layer times"));
  json& list = chosen.at("assumptions");
  for (auto one = list.begin(); one != list.end(); ++one) {
    if (one->at("what") != "microbatch") continue;
    list.erase(one);
    break;
  }
  CHECK(chosen == alone);
  // The one file with its own size asked for is the same again.
  CHECK(report(folder, "simulate --profile four.json --microbatch-size 4 -p 2 -m 4").at("makespan_ns") ==
        alone.at("makespan_ns"));
}

TEST_CASE_IN_FOLDER("beyond the measured sizes is told apart from between them") {
  write_sizes(folder);
  const json run = report(folder, "simulate --profile . --microbatch-size 8 -p 1 -m 1");
  CHECK(assumption(run, "layer times").at("value") ==
        "tiny, extrapolated from microbatch 2 and 4, by the achieved rate");
  CHECK(run.at("makespan_ns") == 2 * 2 * (1700 + 3600));  // at the rate of the largest
}

TEST_CASE_IN_FOLDER("both dimensions together, from a grid of profiles") {
  write_sizes(folder);
  folder.write("long-two.json", replaced(kProfile, "\"sequence_length\": 128", "\"sequence_length\": 512"));
  folder.write("long-four.json", replaced(at_four(), "\"sequence_length\": 128", "\"sequence_length\": 512"));
  const json run = report(folder, "simulate --profile . --microbatch-size 3 --sequence 256 -p 1 -m 1");
  CHECK(assumption(run, "layer times").at("value") ==
        "tiny, interpolated from 2 x 128, 4 x 128, 2 x 512 and 4 x 512, by the achieved rate");
  CHECK(assumption(run, "sample") == json::parse(R"({"what": "sample", "value": "256 tokens", "source": "given"})"));
  // Longer samples take no longer here: times and sizes are those of 3 x 128.
  CHECK(run.at("makespan_ns") ==
        report(folder, "simulate --profile two.json --profile four.json --microbatch-size 3 -p 1 -m 1")
            .at("makespan_ns"));
}

TEST_CASE_IN_FOLDER("every verb that takes a profile takes a folder and a size") {
  write_sizes(folder);
  const Words size = "--profile . --microbatch-size 3 -p 2 -m 4";
  const json alone = report(folder, joined({"simulate"}, size));
  const json table = folder.json(joined("compare --schedules 1f1b,gpipe", size));
  CHECK(table.at("runs").at(0).at("makespan_ns") == alone.at("makespan_ns"));
  CHECK(contains(folder.data(joined("whatif --slow device=1:1.5", size)), "step"));
  CHECK(contains(folder.data(joined("explain step", size)), "step"));
  const Outcome exported = folder.run(joined("export --to schedule-json --schedule 1f1b", size));
  CHECK(exported.status == 0);
}

TEST_CASE_IN_FOLDER("live takes the size of a profile with its own two flags") {
  write_sizes(folder);
  const Words live = "live --profile . --clock logical -p 2 -m 4 --format json";
  const json run = folder.json(joined(live, "--microbatch 3"));
  const json simulated = report(folder, "simulate --profile . --microbatch-size 3 -p 2 -m 4");
  CHECK(run.at("makespan_ns") == simulated.at("makespan_ns"));
  CHECK(folder.refusal(joined(live, "--microbatch 0")) ==
        "error[L025]: from 1 to 2147483647 samples are possible; got 0\n"
        "  --> --microbatch\n"
        "  = help: measured: 2 and 4\n");
}

TEST_CASE_IN_FOLDER("scenario files and suites name several profiles in a list") {
  write_sizes(folder);
  folder.write("s.toml",
               "profile = [\"two.json\", \"four.json\"]\nmicrobatch-size = 3\ndevices = 2\nmicrobatches = 4\n"
               "format = \"json\"\n");
  const json by_flags = report(folder, "simulate --profile . --microbatch-size 3 -p 2 -m 4");
  CHECK(folder.json("simulate --config s.toml").at("makespan_ns") == by_flags.at("makespan_ns"));

  // A flag replaces the file's list.
  CHECK(folder.json("simulate --config s.toml --profile .").at("makespan_ns") == by_flags.at("makespan_ns"));

  const Folder suite;
  suite.write("two.json", kProfile);
  suite.write("four.json", at_four());
  suite.write("s.suite.json", R"({"schema": "debubble.suite/1", "name": "s", "scenarios": [
    {"name": "a", "scenario": {"profile": ["two.json", "four.json"], "microbatch-size": 3, "devices": 2}}]})");
  CHECK(suite.run("check --accept s.suite.json").status == 0);
  CHECK(suite.run("check s.suite.json").status == 0);
  CHECK(contains(suite.read("s.suite.baseline.json"), "interpolated from microbatch 2 and 4"));
}

}  // namespace
}  // namespace debubble::testing
