// Runs of traces/measured, as simulate and diff predict them.
#include "formats/run/run_file.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

const std::string kMeasured = source_directory() + "/traces/measured/";

TEST_CASE_IN_FOLDER("Sailor's pipelines end when an independent simulation of fused exchanges says") {
  const Json list = Json::parse(contents_of(kMeasured + "runs.json"));
  const Json expected = Json::parse(contents_of(kMeasured + "sailor_opt350/expected.json"));
  std::size_t compared = 0;
  for (const Json& run : list["runs"]) {
    if (run["source"] != "sailor") continue;
    CAPTURE(run["id"].get<std::string>());
    Words arguments = "simulate --network uncontended --format json";
    for (const auto& flag : run["scenario"].items()) {
      const std::string value =
          flag.value().is_string() ? flag.value().get<std::string>() : std::to_string(flag.value().get<int>());
      const bool file = flag.key() == "profile";
      arguments.push_back("--" + flag.key() + "=" + (file ? kMeasured : "") + value);
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

TEST_CASE_IN_FOLDER("a run on parts of an H100 is forecast with what ops take beside as many as work") {
  RunRecord run = read_run_file(kMeasured + "h100/gpipe-p8-m16.json.gz");
  const auto gap = [&] {
    std::string text;
    write_run_file(run, [&text](std::string_view piece) { text += piece; });
    folder.write("run.json", text);
    const Json step = folder.json("diff run.json")["makespan_ns"];
    return step["predicted"].get<double>() / step["measured"].get<double>() - 1;
  };
  CHECK(std::abs(gap()) < 0.02);
  run.costs.at_work.clear();  // as with all at work throughout
  CHECK(gap() > 0.15);
}

}  // namespace
}  // namespace debubble::testing
