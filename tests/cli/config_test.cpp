// Scenario files say what flags say, and flags win; compare hands -v and --param to the schedules that know them.
#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

// What was run and what came out, without how it was asked for.
json result(const Folder& folder, const Words& arguments) {
  json run = folder.json(arguments);
  run.erase("command_line");
  if (run.contains("limit")) run["limit"]["more_microbatches"] = nullptr;  // simulated for one run only
  return run;
}

TEST_CASE_IN_FOLDER("a scenario file equals its flags") {
  folder.write("s.toml",
               "# what we run\n"
               "schedule = \"interleaved\"\n"
               "devices = 8\n"
               "microbatches = 32\n"
               "chunks = 4\n"
               "param = [\"group=16\", \"rounding=megatron\"]\n"
               "times = \"f=1,b=2.5\"\n"
               "comm = \"20us\"\n"
               "p2p = 'blocking'\n"
               "\n"
               "format = json\n");
  CHECK(result(folder, "simulate --config s.toml") ==
        result(folder,
               "simulate --schedule interleaved -p 8 -m 32 -v 4 --param group=16 --param rounding=megatron --times "
               "f=1,b=2.5 --comm 20us --p2p blocking --format json"));
}

TEST_CASE_IN_FOLDER("a flag wins over the scenario file, wherever it stands") {
  folder.write("s.toml", "devices = 8\nmicrobatches = 32\nformat = \"json\"\n");
  const json expected = result(folder, "simulate -p 2 -m 32 --format json");
  CHECK(result(folder, "simulate --config s.toml -p 2") == expected);
  CHECK(result(folder, "simulate -p 2 --config=s.toml") == expected);
  CHECK(result(folder, "simulate --devices=2 --config s.toml") == expected);
}

TEST_CASE_IN_FOLDER("a section belongs to its verb alone") {
  folder.write("s.toml", "devices = 2\n[simulate]\nschedule = \"zb-h1\"\n[compare]\nmicrobatches = 3\n");
  CHECK(result(folder, "simulate --config s.toml --format json") ==
        result(folder, "simulate -p 2 --schedule zb-h1 --format json"));
  CHECK(folder.data("compare --config s.toml") == folder.data("compare -p 2 -m 3"));
}

TEST_CASE_IN_FOLDER("a scenario file with a profile finds it from where the command runs") {
  folder.write("p.json", kProfile);
  folder.write("s.toml", "profile = \"p.json\"\npartition = \"1,1\"\ndevices = 2\n");
  CHECK(contains(folder.data("simulate --config s.toml --assumptions"), "layers in model / layers placed: 2 / 2"));
}

TEST_CASE_IN_FOLDER("compare hands -v and --param to the schedules that know them") {
  const json all = folder.json(
      "compare --schedules gpipe,1f1b,interleaved,chimera,zb-h1 -v 3 -m 12 --param group=6 --param pairs=2");
  REQUIRE(all["runs"].size() == 5);
  for (const json& run : all["runs"]) {
    const std::string name = run["schedule"]["name"];
    CAPTURE(name);
    CHECK(run["schedule"]["chunks"] == (name == "interleaved" ? 3 : 1));
    CHECK(run["schedule"]["params"].value("group", "") == (name == "interleaved" ? "6" : ""));
    CHECK(run["schedule"]["params"].value("pairs", "") == (name == "chimera" ? "2" : ""));
  }
}

TEST_CASE_IN_FOLDER("compare gives each schedule the numbers that simulate gives it") {
  const Words costs = "-p 4 -m 12 --comm 0.1 --format json";
  Words compare{"compare"};
  compare.insert(compare.end(), costs.begin(), costs.end());
  const json all = folder.json(compare);
  for (json run : all["runs"]) {
    Words simulate{"simulate", "--schedule", run["schedule"]["name"]};
    simulate.insert(simulate.end(), costs.begin(), costs.end());
    if (!run.contains("makespan_ns")) continue;  // listed with the reason why it does not run
    run.erase("command_line");
    run.erase("needs");  // compare's own
    CHECK(run == result(folder, simulate));
  }
}

TEST_CASE_IN_FOLDER("a table can be compared with the schedules of its size") {
  folder.write("t.csv", folder.data("export --to pytorch-csv --schedule zb-h1 -p 3 -m 5"));
  const json all = folder.json("compare --schedule t.csv,interleaved,zb-h1 -p 3 -m 5 -v 2 --param group=5");
  REQUIRE(all["runs"].size() == 3);
  CHECK(all["runs"][0]["makespan_ns"] == all["runs"][2]["makespan_ns"]);
  CHECK(all["runs"][1]["schedule"]["params"]["group"] == "5");
}

TEST_CASE_IN_FOLDER(
    "what the command line says replaces the file's list, and a parameter the file's of the same name") {
  folder.write("s.toml", "microbatches = 16\nparam = [\"group=8\"]\n[compare]\nschedule = [\"1f1b\", \"zb-h1\"]\n");
  const std::string one = folder.data("compare --config s.toml --schedule interleaved");
  CHECK(contains(one, "group=8"));
  CHECK_FALSE(contains(one, "zb-h1"));
  const std::string mine = folder.data("compare --config s.toml --schedule interleaved --param group=4");
  CHECK(contains(mine, "group=4"));
}

TEST_CASE_IN_FOLDER("a flag that may be given several times takes an array in a scenario file") {
  folder.write("s.toml",
               "slow = [\"device=1:1.5\", \"stage=2:1.25\"]\n"
               "[whatif]\nlink = [\"0-1:latency=50us\", \"2-3:latency=70us\"]\n");
  CHECK(result(folder, "simulate --config s.toml --format json") ==
        result(folder, "simulate --slow device=1:1.5 --slow stage=2:1.25 --format json"));
  CHECK(folder.data("whatif --config s.toml") ==
        folder.data("whatif --slow device=1:1.5 --slow stage=2:1.25 --link 0-1:latency=50us --link 2-3:latency=70us"));
}

}  // namespace
}  // namespace debubble::testing
