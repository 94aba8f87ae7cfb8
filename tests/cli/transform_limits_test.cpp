// Where transforms stop: sizes that would take minutes, formats and executors without words for them, and what a run
// says of memory and time that its plan or its step leaves out.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

const std::string kFilled = "fill-bubbles:curvature=1,inverse=1,precondition=2ms";

// The first finding of this code; "" where there is none.
std::string finding(const json& run, const std::string& code) {
  for (const json& found : run["findings"]) {
    if (found["code"] == code) return found["severity"].get<std::string>() + ": " + found["message"].get<std::string>();
  }
  return "";
}

TEST_CASE_IN_FOLDER("a step that preconditions says how much longer it takes") {
  const json filled = folder.json({"simulate", "-p", "4", "-m", "8", "--format", "json", "--transform", kFilled});
  CHECK(finding(filled, "S020") == "note: each step takes 2.000 ms more to precondition, not counted in the step time");
  const std::string table =
      folder.data({"compare", "--schedules", "1f1b,gpipe", "-p", "4", "-m", "8", "--transform", kFilled});
  CHECK(contains(table, "to precondition"));
}

TEST_CASE_IN_FOLDER("a transform that breaks a planned memory limit is warned of, one that keeps it is not") {
  const auto run = [&](const std::string& transform) {
    return folder.json({"simulate", "--schedule", "zb-auto", "-p", "4", "-m", "8", "--param", "memory_limit=4",
                        "--format", "json", "--transform", transform});
  };
  CHECK(finding(run("vocabulary-parallel"), "M030").starts_with("warning: above the memory_limit=4 that zb-auto was"));
  CHECK(finding(run("offload:share=0"), "M030").empty());
}

TEST_CASE_IN_FOLDER("a node list without words for late recomputation says so, and has them for an early one") {
  const Words base = "export --to zero-bubble-json -p 2 -m 2 --transform";
  Words late = base;
  late.emplace_back("recompute");
  Words early = base;
  early.emplace_back("recompute:when=early");
  CHECK(contains(folder.data(early), "\"R\""));
}

}  // namespace
}  // namespace debubble::testing
