// What a plan chooses among, as people name it: each error at its flag, schedules by any of their names, asynchronous
// ones by themselves.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

std::vector<std::string> planned_with(const std::vector<std::string>& more) {
  std::vector<std::string> all{"plan", "--model", "gpt2-large", "--gpus", "8", "--global-batch", "32"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool has_part(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an error is placed at the flag that named the value") {
  const Folder folder;
  const auto placed = [&](const std::vector<std::string>& flags, const std::string& place, const std::string& help) {
    const std::string text = folder.refusal(planned_with(flags));
    CAPTURE(text);
    CHECK(has_part(text, "\n  --> " + place + "\n  = help: " + help + "\n"));
  };
  placed({"--only", "schedule=WRONG"}, "--only schedule", "see `debubble list schedules`");
  placed({"--fix", "schedule=1f1c"}, "--fix schedule", "did you mean 1f1b?");
  placed({"--schedules", "1f1c"}, "--schedules", "did you mean 1f1b?");
  placed({"--only", "tp=x"}, "--only tp", "write it like --only tp=2");
  placed({"--fix", "tp=x"}, "--fix tp", "write it like --fix tp=2");
  placed({"--zero", "7"}, "--zero", "write --zero 1");
  placed({"--only", "zero=7"}, "--only zero", "write --only zero=1");
  placed({"--recompute", "foo"}, "--recompute", "write --recompute none");
  placed({"--only", "recompute=foo"}, "--only recompute", "write --only recompute=none");
  placed({"--recompute", "full", "--recompute-stages", "x"}, "--recompute-stages",
         "write it like --recompute-stages 0-2,5");
  placed({"--only", "rank-order=foo"}, "--only rank-order", "write it like --only rank-order=tp-cp-dp-pp");
  placed({"--only", "sequence-parallel=yes"}, "--only sequence-parallel", "they are on, off");
  placed({"--only", "tpp=2"}, "--only tpp", "did you mean tp?");
}

TEST_CASE("schedules are named as their frameworks call them") {
  const Folder folder;
  const auto best = [&](const char* name) {
    const Json plan = Json::parse(folder.data(planned_with(
        {"--fix", "pp=4,tp=1,cp=1", "--only", std::string("schedule=") + name, "--format", "json", "--top", "1"})));
    return plan["runs"];
  };
  CHECK(best("Interleaved1F1B") == best("interleaved"));
}

TEST_CASE("what is asynchronous is planned by itself, and left out beside others") {
  const Folder folder;
  const auto plan = [&](const char* schedules) {
    return Json::parse(folder.data(planned_with(
        {"--fix", "pp=4,dp=2,tp=1,cp=1,zero=0", "--only", std::string("schedule=") + schedules, "--format", "json"})));
  };
  const Json both = plan("pipelined-backprop,1f1b");
  CHECK(both["runs"] == plan("1f1b")["runs"]);
  CHECK(has_part(both["restrictions"][0].get<std::string>(), "pipelined-backprop left out: asynchronous"));
  const Json alone = plan("pipelined-backprop");
  CHECK(alone["runs"][0]["choice"]["schedule"] == "pipelined-backprop");
  for (const Json& one : alone["restrictions"]) CHECK_FALSE(has_part(one.get<std::string>(), "asynchronous"));
}

}  // namespace debubble::testing
