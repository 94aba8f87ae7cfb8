// optimal through the real command: its note in text and JSON, its parameters, the table it exports, and its limits.
#include "tests/support/command.hpp"

#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

const std::string kUnequal = debubble::testing::source_directory() + "/traces/published/zb-a100-1.5b-m24.json";

json optimal_json(const Folder& folder, Words more) {
  Words arguments = "simulate --schedule optimal --format json";
  arguments.insert(arguments.end(), more.begin(), more.end());
  return folder.json(arguments);
}

std::string note_of(const json& run) {
  for (const json& finding : run["findings"]) {
    if (finding["code"] == "S020") return finding["message"];
  }
  return "";
}

TEST_CASE_IN_FOLDER("optimal with equal stages and 1f1b's memory is zb-h1, and says that nothing can be gained") {
  const json run = optimal_json(folder, "-p 4 -m 8");
  CHECK(run["makespan_ns"] == 27'000'000);
  CHECK(
      note_of(run) ==
      "planned step 27.000 ms; no order of these stages within this memory takes less: device 0 cannot do more before "
      "its first gradient arrives; the best row to start from is zb-h1 with 27.000 ms; 0 nodes");
}

TEST_CASE_IN_FOLDER("optimal with little memory is shorter than zb-auto, and proven") {
  const json run = optimal_json(folder, "--param memory_limit=3");
  CHECK(run["makespan_ns"] == 31'000'000);
  CHECK(run["schedule"]["params"]["memory_limit"] == "3");
  CHECK(run["schedule"]["params"]["budget"] == "100k");
  const std::string note = note_of(run);
  CHECK(note.starts_with("planned step 31.000 ms; no order of these stages within this memory takes less"));
  CHECK(contains(note, "the best row to start from is zb-auto with 37.000 ms"));
  for (const json& device : run["devices"]) CHECK(device["peak_activation_shares"] <= 3);
}

TEST_CASE_IN_FOLDER("optimal gives the reason of the bound that holds for every placement") {
  const auto with = [&](const char* placement) {
    return note_of(optimal_json(
        folder, {"-p", "3", "-m", "4", "-v", "2", "--comm", "0.3", "--times", "f=1,b=1.2,i=1,w=1", "--param",
                 "memory_limit=2", "--param", "budget=0", "--param", std::string("placement=") + placement}));
  };
  const auto bound_in = [](const std::string& note) {
    const std::size_t begin = note.find(": no order of these stages within this memory takes less than ");
    return note.substr(begin, note.find("; the best row") - begin);
  };
  const std::string both = bound_in(with("auto"));
  CHECK(both == bound_in(with("loop")));  // the smaller of the two, though the best order is a zigzag's
  CHECK(both != bound_in(with("zigzag")));
}

TEST_CASE_IN_FOLDER("optimal: one budget, one order, and without any it is the best row's") {
  const Words limited{"-p", "8", "-m", "24", "--profile", kUnequal, "--param", "memory_limit=6"};
  const auto with = [&](const char* budget) {
    Words arguments = limited;
    arguments.insert(arguments.end(), {"--param", std::string("budget=") + budget});
    return optimal_json(folder, arguments);
  };
  const json few = with("5k");
  CHECK(few == with("5k"));
  const json none = with("0");
  CHECK(none["makespan_ns"] == 2'687'835'000);  // dapple's order with split backwards
  CHECK(few["makespan_ns"] < none["makespan_ns"]);
  const json timed = with("50ms");
  CHECK(timed["makespan_ns"] <= none["makespan_ns"]);
  CHECK(note_of(timed).ends_with("; a budget in seconds: another machine may find another order"));
}

TEST_CASE_IN_FOLDER("optimal exports a table that runs alike") {
  const json run = optimal_json(folder, "--param memory_limit=3 --export-schedule order.csv");
  const json replayed = folder.json("simulate --schedule order.csv");
  CHECK(replayed["makespan_ns"] == run["makespan_ns"]);
  CHECK(folder.read("order.csv").starts_with("0F0,0F1,0F2,0I0,0W0,"));
}

TEST_CASE_IN_FOLDER("optimal: two stages per device, spans, whole backwards, sizes") {
  const json two = optimal_json(folder, "-v 2");
  CHECK(two["makespan_ns"] == 25'500'000);
  CHECK(two["schedule"]["params"]["placement"] == "loop");  // as good as the zigzag, and tried first
  const json zigzag = optimal_json(folder, "-v 2 --param placement=zigzag");
  CHECK(zigzag["schedule"]["params"]["placement"] == "zigzag");
  CHECK(zigzag["makespan_ns"] == 25'500'000);
  const json span = optimal_json(folder, "--param goal=span --param memory_limit=2p");
  CHECK(span["span_ns"] == 24'000'000);
  CHECK(span["schedule"]["params"]["goal"] == "span");
  const json whole = optimal_json(folder, "--param backward=whole");
  CHECK(whole["makespan_ns"] == 33'000'000);
  const json faster = optimal_json(folder, "--times f=1,b=1,i=1,w=1");
  CHECK(faster["schedule"]["params"]["backward"] == "whole");
  const json sized = optimal_json(
      folder, {"-p", "8", "-m", "24", "--profile", kUnequal, "--param", "memory_limit=30GiB", "--param", "budget=1k"});
  for (const json& device : sized["devices"]) CHECK(device["peak_memory_bytes"] <= std::int64_t{30} << 30);
}

TEST_CASE_IN_FOLDER("optimal: a MILP solver, where there is one, finds the same step and plans copies to the host") {
  Surroundings nowhere;
  nowhere.environment = {"DEBUBBLE_CBC_PLUGIN=/nowhere/libdebubble_cbc.so"};
  const Outcome missing = folder.run("simulate --schedule optimal --param memory_limit=3 --param solver=cbc", nowhere);
  CHECK(missing.status == 3);
  CHECK(missing.out.empty());
  CHECK(contains(missing.err,
                 "error[U064]: this debubble has no solver for MILPs: there is no "
                 "/nowhere/libdebubble_cbc.so\n  = help: install debubble-cbc, a package of the release (a build of "
                 "your own: apt-get install coinor-libcbc-dev, and build again)"));
  const Words small = "simulate --schedule optimal -p 2 -m 3 --comm 6 --format json --param backward=whole --param";
  const auto with = [&](Words more) {
    Words arguments = small;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return folder.run(arguments);
  };
  const Outcome solved = with("memory_limit=2,3 --param solver=cbc");
  if (solved.status == 3) {
    MESSAGE("SKIPPED: built without CBC");
    return;
  }
  const json found = json::parse(solved.out);
  const json searched = json::parse(with({"memory_limit=2,3"}).out);
  CHECK(found["makespan_ns"] == searched["makespan_ns"]);
  CHECK(found["schedule"]["params"]["solver"] == "cbc");
  const json copied = json::parse(with("memory_limit=2,3 --param solver=cbc --param offload=yes").out);
  CHECK(copied["makespan_ns"] < searched["makespan_ns"]);
  CHECK(copied["makespan_ns"] == 24'000'000);
  CHECK(searched["makespan_ns"] == 36'000'000);
  CHECK(copied["devices"][0]["peak_activation_shares"] <= 2);
  CHECK(copied["devices"][0]["peak_host_bytes"] > 0);
  CHECK(contains(note_of(copied), "no order of these stages within this memory takes less"));
  // A time that is over at once leaves the best row.
  const json late = json::parse(with("memory_limit=2,3 --param solver=cbc --param offload=yes --param budget=0s").out);
  CHECK(late["makespan_ns"].get<std::int64_t>() >= 24'000'000);
}

TEST_CASE_IN_FOLDER("optimal: activations go to the host and come back, without a solver") {
  const Words small = "-p 2 -m 3 --comm 6 --param backward=whole --param memory_limit=2,3";
  const auto with = [&](Words more) {
    Words arguments = small;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const json without = optimal_json(folder, small);
  const json copied = optimal_json(folder, with("--param offload=yes"));
  CHECK(without["makespan_ns"] == 36'000'000);
  CHECK(copied["makespan_ns"] == 24'000'000);
  CHECK(copied["schedule"]["params"]["offload"] == "yes");
  CHECK(copied["devices"][0]["peak_activation_shares"] <= 2);
  CHECK(copied["devices"][0]["peak_host_bytes"] > 0);
  CHECK(
      note_of(copied).starts_with("planned step 24.000 ms with 3 activations copied to the host and back; no order "
                                  "of these stages, with copies to the host or without, within this memory takes "
                                  "less: device 1 has no time to spare after its first input"));
  CHECK(optimal_json(folder, with("--param offload=yes"))["devices"] == copied["devices"]);
  // Where memory is not short, nothing leaves; where copies take too long, the order is the one without them.
  const json ample = optimal_json(folder, "-p 4 -m 8 --param offload=yes");
  CHECK(ample["makespan_ns"] == 27'000'000);
  CHECK_FALSE(ample["devices"][0].contains("peak_host_bytes"));
  CHECK(note_of(ample).starts_with("planned step 27.000 ms with nothing copied to the host; no order"));
  const auto measured = [&](Words more) {
    Words arguments{"-p",      "8",        "-m", "24", "--profile", kUnequal, "--param", "memory_limit=0.5p",
                    "--param", "budget=5k"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return optimal_json(folder, arguments);
  };
  const json plain = measured({});
  const json slow = measured("--param offload=yes --host-bandwidth 0.1GB/s");
  CHECK(slow["makespan_ns"] == plain["makespan_ns"]);
  const json fast = measured("--param offload=yes --host-bandwidth 450GB/s");
  CHECK(fast["makespan_ns"] < plain["makespan_ns"]);
  for (const json& device : fast["devices"]) CHECK(device["peak_activation_shares"] <= 4.001);
}

TEST_CASE_IN_FOLDER("optimal with copies fits where no order without them does") {
  const Words tight = "simulate --schedule optimal -p 2 -v 2 -m 3 --w-share 0.5 --param memory_limit=0.75";
  const json run = optimal_json(folder, "-p 2 -v 2 -m 3 --w-share 0.5 --param memory_limit=0.75 --param offload=yes");
  CHECK(run["makespan_ns"] == 12'500'000);
  for (const json& device : run["devices"]) CHECK(device["peak_activation_shares"] <= 0.75);
  CHECK(note_of(run).starts_with("planned step 12.500 ms with 9 activations copied to the host and back; no order"));
  Words hopeless = tight;
  hopeless.back() = "memory_limit=0.25";
  hopeless.insert(hopeless.end(), {"--param", "offload=yes"});
  CHECK(folder.refusal(hopeless).starts_with("error[S042]"));
}

}  // namespace
}  // namespace debubble::testing
