// `debubble explain`, as people run it: a step, an op, an error code, a schedule.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
json explained(const Folder& folder, const std::string& topic, const Words& flags) {
  return folder.json(joined({"explain", topic, "--format", "json"}, flags));
}

std::int64_t sum_of(const json& list, const char* key) {
  std::int64_t sum = 0;
  for (const json& item : list) sum += item[key].get<std::int64_t>();
  return sum;
}

const std::vector<Words> kScenarios{
    {"-p", "4", "-m", "8"},
    {"-p", "4", "-m", "8", "--times", "f=1,b=2", "--comm", "0.1"},
    {"--schedule", "interleaved", "-p", "4", "-m", "8", "--comm", "0.1", "--p2p", "blocking"},
    {"--schedule", "zb-v", "-p", "4", "-m", "8", "--step", "reduce=2,optimizer=0.5", "--dp", "2"},
    {"-p", "4", "-m", "8", "--slow", "device=2:1.5", "--step", "reduce=2,optimizer=0.5", "--dp", "2"},
    {"--schedule", "chimera", "-p", "4", "-m", "8", "--jitter", "lognormal:0.1"}};

TEST_CASE_IN_FOLDER("explain step says once that the work is uneven") {
  const auto lines_with = [&](const Words& flags, const std::string& part) {
    std::istringstream lines(folder.data(joined("explain step", flags)));
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += contains(line, part) ? 1 : 0;
    return count;
  };
  const Words limits = "-m 32 --slow device=0:3";
  CHECK(lines_with(limits, "device d0: it is busy 100.0 % of the step, d1 only 33.3 %") == 1);
  CHECK(lines_with(limits, "uneven work") == 0);
  CHECK(lines_with("--slow device=2:1.5", "uneven work: device 2") == 1);  // where something else limits more
}

TEST_CASE_IN_FOLDER("an explanation and a trace call an op the same") {
  const Words recomputed = "--transform recompute -p 2 -m 2";
  CHECK(contains(folder.data(joined("explain 0R0", recomputed)), "the recompute of microbatch 0 on stage 0"));
  CHECK(contains(folder.data(joined("export --to chrome-trace", recomputed)), "\"recompute\""));
}

TEST_CASE_IN_FOLDER("explain step: the shares of the critical path are the step, and its stretches are in order") {
  for (const Words& flags : kScenarios) {
    CAPTURE(flags);
    const json step = explained(folder, "step", flags);
    CHECK(sum_of(step["critical_path_shares"], "time_ns") == step["makespan_ns"]);
    std::int64_t at = 0;
    for (const json& stretch : step["critical_path"]) {
      CHECK(stretch["begin_ns"] >= at);
      CHECK(stretch["end_ns"] >= stretch["begin_ns"]);
      at = stretch["end_ns"];
    }
    CHECK(at == step["makespan_ns"]);
  }
}

// `debubble simulate ...` as words, without the program's name; only for commands without quotes.
Words words_of(const std::string& command) {
  std::istringstream text(command);
  Words words;
  for (std::string word; text >> word;) words.push_back(word);
  words.erase(words.begin());
  return words;
}

TEST_CASE_IN_FOLDER("explain step: a change with a command takes what the command says it takes") {
  int commands = 0;
  for (const Words& flags : kScenarios) {
    CAPTURE(flags);
    const json step = explained(folder, "step", flags);
    const double own = step["makespan_ns"].get<double>() / step["microbatches"].get<double>();
    double best = 1;
    for (const json& change : step["changes"]) {
      CAPTURE(change.dump());
      const double gain = change["gain_ratio"].get<double>();
      CHECK(gain >= 0.001);
      CHECK(gain ==
            doctest::Approx(1 - change["makespan_ns"].get<double>() / change["microbatches"].get<double>() / own));
      if (change["what"] != "every op 10 % faster") {
        CHECK(gain <= best);
        best = gain;
      }
      if (change["command"].is_null()) continue;
      ++commands;
      const json run = folder.json(joined(words_of(change["command"]), "--format json"));
      CHECK(run["makespan_ns"] == change["makespan_ns"]);
    }
  }
  CHECK(commands >= 6);
}

TEST_CASE_IN_FOLDER("explain step: a straggler, an uneven stage and transfers that hold compute are found") {
  const auto has = [](const json& step, const std::string& what) {
    return std::any_of(step["changes"].begin(), step["changes"].end(),
                       [&](const json& change) { return change["what"].get<std::string>().find(what) == 0; });
  };
  const json slow = explained(folder, "step", "-p 4 -m 8 --slow device=2:1.5");
  CHECK(has(slow, "no stragglers"));
  // 1F1B's step is (m + p - 1)(F + B) without the straggler.
  for (const json& change : slow["changes"]) {
    if (change["what"].get<std::string>().find("no stragglers") == 0) CHECK(change["makespan_ns"] == 33'000'000);
  }
  const json blocking = explained(folder, "step", "-p 4 -m 8 --comm 0.5 --p2p blocking");
  CHECK(has(blocking, "transfers overlapped with compute"));
  const json step = explained(folder, "step", "-p 4 -m 8 --step reduce=2,optimizer=0.5 --dp 2");
  CHECK(has(step, "the step's collectives in half the time"));
  CHECK(has(step, "the optimizer in half the time"));
}

TEST_CASE_IN_FOLDER("explain step: faster links are those of whatif, collectives on them included") {
  const Words model = "--model gpt-1.3b --tp 2 --dp 2 -p 4 -m 8 --memory off";
  const auto check = [&](const Words& flags, const Words& changes, const std::string& what) {
    CAPTURE(flags);
    const json faster = folder.json(joined(joined("whatif", changes), flags));
    const json step = explained(folder, "step", flags);
    const auto found = std::find_if(step["changes"].begin(), step["changes"].end(),
                                    [&](const json& change) { return change["what"] == what; });
    REQUIRE(found != step["changes"].end());
    CHECK((*found)["makespan_ns"] == faster["changed"]["makespan_ns"]);
  };
  const Words both = "--bandwidth-scale x2 --latency x0.5";
  check(joined(model, "--topology dgx-a100:2"), both, "links of twice the bandwidth and half the latency");
  check(model, both, "links of twice the bandwidth and half the latency");
  check("-p 4 --comm 0.5", "--latency x0.5", "links of half the latency");
}

TEST_CASE_IN_FOLDER("explain op: the causes are the wait, and the chain covers it") {
  for (const Words& flags : kScenarios) {
    CAPTURE(flags);
    for (const char* name : {"0F0", "3F0", "2F5", "0B0", "3B7", "1B3"}) {
      if (flags[1] == "zb-v" && name[1] == 'B') continue;
      CAPTURE(name);
      const json op = explained(folder, name, flags)["op"];
      std::int64_t causes = 0;
      for (const auto& [cause, time] : op["waited_by_cause_ns"].items()) causes += time.get<std::int64_t>();
      CHECK(causes == op["waited_ns"]);
      std::int64_t covered = 0;
      std::int64_t at = op["begin_ns"];
      for (const json& thing : op["waited_for"]) {
        CHECK(thing["waited_to_ns"] == at);
        at = thing["waited_from_ns"];
        covered += thing["waited_to_ns"].get<std::int64_t>() - at;
      }
      CHECK(covered == op["waited_ns"]);
    }
  }
}

TEST_CASE_IN_FOLDER("explain op: where it began at once, that is said, and what it waited for stands in words") {
  const Words flags = "-p 4 -m 8 --times f=1,b=2 --comm 0.1";
  const auto says = [&](const char* op, const char* words) {
    std::string text = folder.data(joined({"explain", op}, flags));
    std::replace(text.begin(), text.end(), '\n', ' ');
    const auto both_blank = [](char a, char b) { return a == ' ' && b == ' '; };
    text.erase(std::unique(text.begin(), text.end(), both_blank), text.end());
    return contains(text, words);
  };
  CHECK(says("0F0", "It began at time 0 and waited for nothing."));
  CHECK(says("0F1", "Nothing was lost before it: device 0 worked until then, on 0F0."));
  CHECK(
      says("3F0", "Before it device 3 was idle for 3.300 ms, since time 0: fill 3.000 ms, transfer latency 300.0 us."));
  CHECK(says("3F0", "the transfer of 2F0 from device 2 to device 3 (100.0 us latency)"));
  CHECK(says("3F0", "It lies on the critical path"));
}

TEST_CASE_IN_FOLDER("explain: codes, schedules without a word before them, and what nobody knows") {
  CHECK(folder.data("explain X010") ==
        "X010  the simulation\n      a finding: the schedule deadlocks (status 1)\n"
        "      what to do: change the order of the ops that the message names, or the\n      kind of transfer\n");
  CHECK(folder.data("explain zb-h1") == folder.data("explain schedule zb-h1"));
}

TEST_CASE_IN_FOLDER("run files: what they cannot hold is refused, and a trace of it is for looking at") {
  const Words step = "simulate -p 2 -m 4 --dp 2 --step reduce=2,optimizer=0.5";
  static_cast<void>(folder.data(joined(step, "--trace step.json")));
  CHECK(folder.run("diff step.json").err.find("error[T054]: the run cannot be read back") == 0);
  CHECK(folder.files() == "step.json");
}

TEST_CASE_IN_FOLDER("a faster step that does not fit either is not passed off as a way out") {
  const Words small = "explain step -p 4 -m 8 --times f=1,b=2 --memory 1MiB";
  const std::string text = folder.data(small);
  CHECK(contains(text, "memory: device 0 lacks"));
  CHECK(contains(text, "1. "));
  CHECK(contains(text, "out of memory as before"));
  CHECK_FALSE(contains(folder.data("explain step -p 4 -m 8 --times f=1,b=2"), "out of memory"));
}

TEST_CASE_IN_FOLDER("--fail-if knows the step's parts") {
  const Words step = "simulate -p 2 -m 4 --dp 2 --step reduce=2,optimizer=0.5";
  CHECK(folder.run(joined(step, "--fail-if step.gradient_reduce>1.9ms")).status == 1);
  CHECK(folder.run(joined(step, "--fail-if step.gradient_reduce.exposed>2.1ms")).status == 0);
  CHECK(folder.run(joined(step, "--fail-if idle_by_cause.collective<1ms")).status == 0);
}

}  // namespace
TEST_CASE_IN_FOLDER("a slow stage gets fewer layers: proposed by explain step, cut by --partition auto") {
  const Words slow = "--model gpt-1.3b -p 4 -m 8 --slow stage=1:1.5";
  const auto simulated = [&](const Words& more) { return folder.json(joined(joined("simulate", slow), more)); };
  const auto layers = [](const json& run) {
    for (const json& one : run["assumptions"]) {
      if (one["what"] == "partition") return one["value"].get<std::string>();
    }
    return std::string();
  };
  const json before = simulated({});
  const json cured = simulated("--partition auto");
  CHECK(cured["makespan_ns"].get<double>() < 0.95 * before["makespan_ns"].get<double>());
  CHECK(contains(layers(cured), " (auto, for each device's speed)"));
  bool proposed = false;
  const json story = explained(folder, "step", slow);
  for (const json& change : story["changes"]) {
    if (change["what"].get<std::string>().find("layers moved from slow to fast stages") == std::string::npos) continue;
    proposed = true;
    CHECK(change["makespan_ns"] == cured["makespan_ns"]);
    CHECK(change["command"].get<std::string>().find("--partition auto") != std::string::npos);
  }
  CHECK(proposed);
  // All alike: the usual cut, and nothing to propose.
  const Words alike = "--model gpt-1.3b -p 4 -m 8";
  const Words words = joined("simulate --format json", alike);
  CHECK(layers(folder.json(words)) == layers(folder.json(joined(words, "--partition auto"))));
  const json usual = explained(folder, "step", alike);
  for (const json& change : usual["changes"]) {
    CHECK(change["what"].get<std::string>().find("layers moved") == std::string::npos);
  }
}

TEST_CASE_IN_FOLDER("explain step names the best schedule, and the best that each framework runs") {
  const json story = explained(folder, "step", "--model gpt-1.3b -p 4 -m 8");
  bool interleaved = false;
  for (const json& change : story["changes"]) {
    const bool by_megatron =
        std::find(change["runs_in"].begin(), change["runs_in"].end(), "Megatron-LM") != change["runs_in"].end();
    if (by_megatron)
      interleaved = interleaved || change["what"].get<std::string>().starts_with("schedule interleaved v=");
  }
  CHECK(interleaved);
}

}  // namespace debubble::testing
