// Where transforms stop: sizes that would take minutes, formats and executors without words for them, and what a run
// says of memory and time that its plan or its step leaves out.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
using Arguments = std::vector<std::string>;

const std::string kFilled = "fill-bubbles:curvature=1,inverse=1,precondition=2ms";

// The first finding of this code; "" where there is none.
std::string finding(const json& run, const std::string& code) {
  for (const json& found : run["findings"]) {
    if (found["code"] == code) return found["severity"].get<std::string>() + ": " + found["message"].get<std::string>();
  }
  return "";
}

bool refused_as(const std::string& text, const std::string& code) {
  return text.find("[" + code + "]") != std::string::npos;
}

TEST_CASE("more slices, waves or layers than can be worked through are refused at once") {
  const Folder folder;
  const auto refusal = [&](const Arguments& more) {
    Arguments arguments{"simulate", "-p", "4", "-m", "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return folder.refusal(arguments);
  };
  for (const char* schedule : {"terapipe", "seq1f1b"}) {
    CHECK(refused_as(refusal({"--schedule", schedule, "--param", "slices=1000000"}), "S063"));
  }
  CHECK(refused_as(refusal({"--schedule", "hanayo", "--param", "waves=1000000"}), "S015"));
  const std::string layers = refusal({"--transform", "fill-bubbles:curvature=1,layers=1000000"});
  CHECK(refused_as(layers, "S063"));
  // 2 x 4 stages x 8 microbatches, a million pieces.
  CHECK(layers.find("layers=15625 at most") != std::string::npos);
}

TEST_CASE("filled bubbles are for the simulation alone") {
  const Folder folder;
  const std::string live = folder.refusal({"live", "-p", "2", "-m", "2", "--transform", kFilled});
  CHECK(refused_as(live, "C087"));
  CHECK(live.find("no executor runs the work") != std::string::npos);
  for (const char* format : {"schedule-json", "pytorch-csv", "pytorch-comms", "zero-bubble-json"}) {
    INFO(format);
    CHECK(refused_as(folder.refusal({"export", "--to", format, "-p", "2", "-m", "2", "--transform", kFilled}), "C087"));
  }
  for (const char* flag : {"--export-schedule", "--save-run"}) {
    INFO(flag);
    const std::string text =
        folder.refusal({"simulate", "-p", "2", "-m", "2", "--transform", kFilled, flag, folder.path("out.csv")});
    CHECK(refused_as(text, "C087"));
  }
}

TEST_CASE("a step that preconditions says how much longer it takes") {
  const Folder folder;
  const json filled =
      json::parse(folder.data({"simulate", "-p", "4", "-m", "8", "--format", "json", "--transform", kFilled}));
  CHECK(finding(filled, "S020") == "note: each step takes 2.000 ms more to precondition, not counted in the step time");
  const std::string table =
      folder.data({"compare", "--schedules", "1f1b,gpipe", "-p", "4", "-m", "8", "--transform", kFilled});
  CHECK(table.find("to precondition") != std::string::npos);
}

TEST_CASE("a transform that breaks a planned memory limit is warned of, one that keeps it is not") {
  const Folder folder;
  const auto run = [&](const std::string& transform) {
    return json::parse(folder.data({"simulate", "--schedule", "zb-auto", "-p", "4", "-m", "8", "--param",
                                    "memory_limit=4", "--format", "json", "--transform", transform}));
  };
  CHECK(finding(run("vocabulary-parallel"), "M030").starts_with("warning: above the memory_limit=4 that zb-auto was"));
  CHECK(finding(run("offload:share=0"), "M030").empty());
}

TEST_CASE("a node list without words for late recomputation says so, and has them for an early one") {
  const Folder folder;
  const Arguments base{"export", "--to", "zero-bubble-json", "-p", "2", "-m", "2", "--transform"};
  Arguments late = base;
  late.emplace_back("recompute");
  CHECK(folder.refusal(late).find("it recomputes late") != std::string::npos);
  Arguments early = base;
  early.emplace_back("recompute:when=early");
  CHECK(folder.data(early).find("\"R\"") != std::string::npos);
}

TEST_CASE("a limit that is a number is not called something else") {
  const Folder folder;
  const auto refusal = [&](const std::string& limit) {
    return folder.refusal({"simulate", "--schedule", "zb-auto", "--param", "memory_limit=" + limit});
  };
  CHECK(refusal("1e18").find("is a number, but too large") != std::string::npos);
  CHECK(refusal("10000000000000000000000").find("is a number, but too large") != std::string::npos);
  CHECK(refusal("much").find("is not a memory limit") != std::string::npos);
}

}  // namespace
}  // namespace debubble::testing
