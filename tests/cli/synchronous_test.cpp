// The fixed orders without a split backward through the real command: makespans as the papers' formulas have them, and
// refusals with the exact words.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

struct Case {
  Words schedule;   // --schedule and what goes with it; 4 devices, 8 microbatches, f=1 b=2
  double makespan;  // ms
  double peak;      // of device 0, in activations of one device share
  int copies;       // of the model
};

const std::vector<Case> kCases{
    {{"naive"}, 96, 1, 1},
    {{"dapple"}, 33, 4, 1},
    {{"dapple", "--param", "policy=b"}, 33, 7, 1},
    {{"dapple", "--param", "policy=b", "--param", "memory_limit=4"}, 43, 4, 1},
    {{"dapple", "--param", "memory_limit=2"}, 69, 2, 1},
    {{"breadth-first"}, 28.5, 8, 1},
    {{"breadth-first", "-v", "4"}, 26.25, 8, 1},
    {{"depth-first"}, 28.5, 5.5, 1},
    {{"gems"}, 75, 1, 2},
    {{"hanayo"}, 33, 2.5, 1},
    {{"hanayo", "--param", "waves=2"}, 28.5, 3.25, 1},
    {{"hanayo", "-v", "4"}, 28.5, 3.25, 1},
    {{"bitpipe"}, 27, 3.5, 2},
};

TEST_CASE_IN_FOLDER("simulate: the fixed orders take as long and hold as much as their papers say") {
  for (const Case& row : kCases) {
    Words arguments = "simulate --times f=1,b=2 --format json --schedule";
    arguments.insert(arguments.end(), row.schedule.begin(), row.schedule.end());
    CAPTURE(row.schedule.front());
    CAPTURE(row.schedule.back());
    const json run = folder.json(arguments);
    CHECK(run["schedule"]["name"] == row.schedule.front());
    CHECK(run["schedule"]["devices"] == 4);
    CHECK(run["schedule"]["replicas"] == row.copies);
    CHECK(run["makespan_ns"].get<double>() == row.makespan * 1e6);
    CHECK(run["devices"][0]["peak_activation_shares"].get<double>() == doctest::Approx(row.peak));
  }
}

TEST_CASE_IN_FOLDER("simulate: what was asked for is told again") {
  const json hanayo = folder.json("simulate --schedule hanayo -v 6");
  CHECK(hanayo["schedule"]["params"]["waves"] == "3");
  CHECK(hanayo["schedule"]["stages"] == 24);
  const json capped = folder.json("simulate --schedule dapple --param memory_limit=0.5p");
  CHECK(capped["schedule"]["params"]["memory_limit"] == "0.5p");
  CHECK(capped["devices"][0]["peak_activation_shares"].get<double>() == doctest::Approx(2));
}

TEST_CASE_IN_FOLDER("dapple with less memory on a device before starts no more forwards than that one") {
  const auto step = [&](const char* limits, const char* policy) {
    const json run =
        folder.json({"simulate", "--schedule", "dapple", "-p", "4", "-m", "8", "--format", "json", "--param",
                     std::string("memory_limit=") + limits, "--param", std::string("policy=") + policy});
    return run["makespan_ns"].get<double>() / 1e6;
  };
  for (const char* const policy : {"a", "b"}) {
    CHECK(step("2,4,4,4", policy) == step("2", policy));  // both deadlocked before they were held to that
    CHECK(step("8,1,8,8", policy) == step("8,1,1,1", policy));
  }
  CHECK(step("2,4,4,4", "a") == 69);
}

}  // namespace
}  // namespace debubble::testing
