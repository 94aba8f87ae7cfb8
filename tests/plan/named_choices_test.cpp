// What a plan chooses among, as people name it: each error at its flag, schedules by any of their names, asynchronous
// ones by themselves.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

Words planned_with(const Words& more) {
  Words all = "plan --model gpt2-large --gpus 8 --global-batch 32";
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE_IN_FOLDER("schedules are named as their frameworks call them") {
  const auto best = [&](const char* name) {
    const Json plan = folder.json(planned_with(
        {"--fix", "pp=4,tp=1,cp=1", "--only", std::string("schedule=") + name, "--format", "json", "--top", "1"}));
    return plan["runs"];
  };
  CHECK(best("Interleaved1F1B") == best("interleaved"));
}

TEST_CASE_IN_FOLDER("what is asynchronous is planned by itself, and left out beside others") {
  const auto plan = [&](const char* schedules) {
    return folder.json(planned_with(
        {"--fix", "pp=4,dp=2,tp=1,cp=1,zero=0", "--only", std::string("schedule=") + schedules, "--format", "json"}));
  };
  const Json both = plan("pipelined-backprop,1f1b");
  CHECK(both["runs"] == plan("1f1b")["runs"]);
  CHECK(contains(both["restrictions"][0].get<std::string>(), "pipelined-backprop left out: asynchronous"));
  const Json alone = plan("pipelined-backprop");
  CHECK(alone["runs"][0]["choice"]["schedule"] == "pipelined-backprop");
  for (const Json& one : alone["restrictions"]) CHECK_FALSE(contains(one.get<std::string>(), "asynchronous"));
}

}  // namespace debubble::testing
