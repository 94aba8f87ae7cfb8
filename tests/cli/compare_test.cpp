// compare on equal terms: every schedule ranked, under a memory limit, with equal stages or equal memory.
#include "schedules/catalog.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
json runs_of(const Words& arguments) {
  Folder folder;
  Words all = "compare --format json";
  all.insert(all.end(), arguments.begin(), arguments.end());
  return folder.json(all)["runs"];
}

std::map<std::string, json> by_name(const json& runs) {
  std::map<std::string, json> result;
  for (const json& run : runs) result[run["schedule"]["name"].get<std::string>()] = run;
  return result;
}

bool over_limit(const json& run) {
  return std::any_of(run["findings"].begin(), run["findings"].end(),
                     [](const json& finding) { return finding["code"] == "X020"; });
}

std::int64_t peak(const json& run) {
  std::int64_t most = 0;
  for (const json& device : run["devices"]) most = std::max(most, device["peak_memory_bytes"].get<std::int64_t>());
  return most;
}

}  // namespace

TEST_CASE("compare --schedules all has a row or a reason for every schedule, fastest first") {
  const json runs = runs_of("--schedules all -p 8 -m 32 --times f=1,i=1,w=1");
  CHECK(runs.size() == schedule_catalog().size());
  std::int64_t last = 0;
  bool refused = false;
  for (const json& run : runs) {
    CAPTURE(run["schedule"]["name"]);
    if (run.contains("makespan_ns")) {
      CHECK_FALSE(refused);  // what did not run comes last
      CHECK(run["makespan_ns"].get<std::int64_t>() >= last);
      last = run["makespan_ns"].get<std::int64_t>();
      CHECK(run["needs"].contains("frameworks"));
    } else {
      refused = true;
      REQUIRE_FALSE(run["findings"].empty());
      CHECK(run["findings"][0]["message"].get<std::string>().size() > 10);
    }
  }
}

TEST_CASE("what a schedule needs is marked") {
  auto runs = by_name(runs_of("-p 8 -m 32"));
  CHECK(runs["chimera"]["needs"]["more_weights"] == true);
  CHECK(runs["chimera"]["needs"]["even_devices"] == true);
  CHECK(runs["zb-h1"]["needs"]["split_backward"] == true);
  CHECK(runs["1f1b"]["needs"]["split_backward"] == false);
  CHECK(runs["pipedream"]["needs"]["asynchronous"] == true);
  CHECK(runs["pipedream"]["needs"]["more_weights"] == true);
  CHECK(runs["gpipe"]["needs"]["asynchronous"] == false);
  CHECK(runs["seq1f1b"]["needs"]["slices"] == true);
  CHECK(runs["bpipe"]["needs"]["moves_activations"] == true);
  CHECK(runs["1f1b"]["needs"]["frameworks"].get<std::string>().find("Megatron") != std::string::npos);
}

TEST_CASE(
    "a memory limit puts what does not fit behind what does, and hands itself to the schedules that plan with it") {
  const json runs = runs_of("--schedules gpipe,1f1b,zb-auto -p 4 -m 8 --memory-limit 4");
  REQUIRE(runs.size() == 3);
  CHECK(runs[2]["schedule"]["name"] == "gpipe");
  CHECK(over_limit(runs[2]));
  CHECK(runs[0]["schedule"]["name"] == "zb-auto");
  CHECK(runs[0]["schedule"]["params"]["memory_limit"].is_string());
  CHECK_FALSE(over_limit(runs[0]));
  CHECK(peak(runs[0]) <= 4 * 1024 * 1024);
  // One byte less than 1f1b's four activations, and it does not fit either.
  auto tight = by_name(runs_of("--schedules 1f1b,naive -p 4 -m 8 --memory-limit 4194303B"));
  CHECK(over_limit(tight["1f1b"]));
  CHECK_FALSE(over_limit(tight["naive"]));
}

TEST_CASE("equal memory: what needs more than 1f1b runs smaller microbatches until it fits") {
  auto runs = by_name(runs_of("--equal memory --schedules 1f1b,zb-h2,gpipe -p 4 -m 8"));
  CHECK(runs["1f1b"]["schedule"]["microbatches"] == 8);
  CHECK(runs["zb-h2"]["schedule"]["microbatches"] == 16);  // 7 activations, halved: 3.5
  CHECK(peak(runs["zb-h2"]) == 7 * 1024 * 1024 / 2);
  CHECK(runs["zb-h2"]["ideal_ns"] == runs["1f1b"]["ideal_ns"]);  // the same work
  CHECK(over_limit(runs["gpipe"]));                              // holds the whole batch, however it is cut
}

TEST_CASE_IN_FOLDER(
    "equal memory: smaller microbatches of a model, or of profiles of several sizes, take what they take") {
  const std::string v100 = debubble::testing::source_directory() + "/traces/published/gpt-1.3b-v100";
  for (const auto& job : {Words("--model gpt-1.3b --memory off"), Words{"--profile", v100, "--memory", "off"}}) {
    CAPTURE(job);
    auto runs = by_name(runs_of(joined("--equal memory --schedules 1f1b,zb-h2 -p 4 -m 8 --microbatch-size 4", job)));
    const nlohmann::json& run = runs["zb-h2"];
    const auto microbatches = run["schedule"]["microbatches"].get<int>();
    REQUIRE(microbatches > 8);
    CHECK(peak(run) <= peak(runs["1f1b"]));
    const auto asked =
        folder.json(joined({"simulate", "--schedule", "zb-h2", "-p", "4", "-m", std::to_string(microbatches),
                            "--microbatch-size", std::to_string(4 * 8 / microbatches), "--format", "json"},
                           job));
    CHECK(run["makespan_ns"] == asked["makespan_ns"]);
    CHECK(peak(run) == peak(asked));
    CHECK(contains(run["assumptions"].dump(), std::to_string(4 * 8 / microbatches) + " sample"));
  }
}

TEST_CASE("equal stages: several stages per device take fewer devices") {
  auto runs = by_name(runs_of("--equal stages --schedules 1f1b,interleaved,zb-v -p 8 -m 16"));
  CHECK(runs["1f1b"]["schedule"]["devices"] == 8);
  for (const char* name : {"interleaved", "zb-v"}) {
    CAPTURE(name);
    CHECK(runs[name]["schedule"]["devices"] == 4);
    CHECK(runs[name]["schedule"]["stages"] == 8);
    // The stages are the same, so half the devices have twice the work each.
    CHECK(runs[name]["ideal_ns"].get<std::int64_t>() == 2 * runs["1f1b"]["ideal_ns"].get<std::int64_t>());
  }
  Folder folder;
  CHECK(folder.run("compare --equal stages --schedules interleaved -p 5").status == 2);
}

TEST_CASE_IN_FOLDER("the end has what all schedules assume, and with --assumptions whose the rest is") {
  const auto assumed = [&](const std::string& schedules, bool all) {
    Words words{"compare", "--schedules", schedules, "--times", "f=1,i=1.1,w=0.9"};
    if (all) words.emplace_back("--assumptions");
    const std::string text = folder.data(words);
    return text.substr(text.find("\nassumed") + 1);
  };
  CHECK(assumed("1f1b,gpipe,zb-h1", false) ==
        "assumed (--assumptions shows all 7)\n"
        "  default  devices 4; microbatches 8; activation 1 MiB per device share and\n"
        "           microbatch; hop latency 0 ns; link bandwidth unlimited; transfers\n"
        "           overlapped with compute\n");
  const std::string whose = assumed("1f1b,gpipe,zb-h1", true);
  CHECK(contains(whose,
                 "  given    forward: 1 ms per device share\n"
                 "  only zb-h1: input gradient 1.1 ms per device share (given); weight gradient\n"
                 "    900 us per device share (given); held from I to W 100.0 % of an activation\n"
                 "    (default)\n"
                 "  the others: backward 2 ms per device share (given)\n"));
  const std::string three = assumed("1f1b,gpipe,dapple,bpipe,zb-h1", true);
  CHECK(contains(three, "  only bpipe: copy of an activation"));
  CHECK(contains(three, "  the others: backward 2 ms"));
  const std::string same = assumed("1f1b,gpipe", true);
  CHECK(contains(same, "backward: 2 ms per device share\n"));
  CHECK_FALSE(contains(same, "only"));
  CHECK_FALSE(contains(same, "the others"));
}

TEST_CASE_IN_FOLDER("all schedules take at most 40 lines, and --details shows the rest") {
  const std::vector<Words> jobs{
      {"-p", "4", "-m", "8"},
      {"-p", "8", "-m", "24", "--profile", source_directory() + "/traces/published/zb-a100-1.5b-m24.json"},
      {"--model", "gpt-1.3b", "--hardware", "a100-80", "-p", "8", "-m", "8", "--topology", "dgx-a100:8"},
      {"--model", "llama3-70b", "--hardware", "h100", "-p", "8", "-m", "8", "--topology", "dgx-h100:8"},
      {"-p", "8", "-m", "16", "--memory-limit", "4"},
      {"-p", "3", "-m", "10", "--p2p", "coupled"}};
  for (const Words& job : jobs) {
    std::string said;
    for (const std::string& word : job) said += word + " ";
    CAPTURE(said);
    Words words = "compare --schedules all --width 80";
    words.insert(words.end(), job.begin(), job.end());
    const std::string text = folder.run(words).out;
    CHECK(std::count(text.begin(), text.end(), '\n') <= 40);
    CHECK(contains(text, "more   --details shows "));
    CHECK(text.find("\nbest ") < text.find("bubble/"));
    words.emplace_back("--details");
    const std::string whole = folder.run(words).out;
    CHECK(std::count(whole.begin(), whole.end(), '\n') > 40);
    for (const ScheduleEntry& entry : schedule_catalog()) {
      CAPTURE(entry.name);
      CHECK(whole.find(entry.name.substr(0, 13)) != std::string::npos);
    }
  }
}

TEST_CASE_IN_FOLDER("where nothing fits, one summary has the nearest remedies, and the status is 1") {
  const Words job = "compare --schedules all --model llama3-70b --hardware h100 -p 8 -m 8";
  const auto none = folder.run(joined(job, "--topology dgx-h100:8"));
  CHECK(none.status == 1);
  CHECK(contains(none.out, "best   none fits; nearest: "));
  CHECK(contains(none.out, "\nfits   with --"));
  CHECK_FALSE(contains(none.out, "out of memory"));
  const auto runs = nlohmann::json::parse(folder.run(joined(job, "--topology dgx-h100:8 --format json")).out);
  const auto told = [](const nlohmann::json& run) {
    return run.contains("memory_fit") && !run["memory_fit"]["remedies"].empty();
  };
  CHECK(std::count_if(runs["runs"].begin(), runs["runs"].end(), told) == 1);
  CHECK(folder.run(joined(job, "--topology dgx-h100:8 --tp 8")).status == 0);  // some fit
  CHECK(folder.run("compare --schedules all --memory-limit 0.1").status == 1);
  CHECK(folder.run("compare --schedules all --memory-limit 3").status == 0);
}

TEST_CASE_IN_FOLDER("a schedule that cannot run is a row with its reason, by name and among all, in every format") {
  const auto reasons = [&](const Words& flags) {
    std::map<std::string, std::string> found;
    const nlohmann::json all = folder.json(joined("compare", flags));
    for (const nlohmann::json& run : all["runs"]) {
      const bool ran = run.contains("makespan_ns");
      found[run["schedule"]["name"]] = ran ? "" : run["findings"][0]["code"].get<std::string>();
    }
    return found;
  };
  CHECK(reasons("--schedules 1f1b,dualpipe -p 3") ==
        std::map<std::string, std::string>{{"1f1b", ""}, {"dualpipe", "S011"}});
  CHECK(reasons("--schedules 1f1b,pipedream --step reduce=2")["pipedream"] == "C001");
  const Words split = "--model gpt2-small --model-size layers=8 -p 2 -m 4 --dp 2";
  const auto all = reasons(joined(split, "--overlap-grad-reduce"));
  CHECK(all.at("1f1b").empty());
  CHECK(all.at("pipedream") == "C004");
  // Blocks alone are shared evenly, so that no number of stages counts embedding and head.
  const auto even = reasons(joined(split, "--partition even"));
  CHECK(even.at("interleaved").empty());
  CHECK(folder.json(joined("simulate --schedule interleaved --partition even", split))["schedule"]["stages"] == 4);
  const std::string text = folder.data("compare --schedules 1f1b,dualpipe -p 3");
  CHECK(contains(text, "\nnot run\n  dualpipe  dualpipe needs an even number of devices; got 3"));
  CHECK(contains(folder.data("compare --schedules 1f1b,dualpipe -p 3 --format csv"), "\ndualpipe,,3,0,8"));
  CHECK(folder.run("compare --schedules 1f1b,dualpipe -p 3 --html page.html").status == 0);
  CHECK(contains(folder.read("page.html"), "dualpipe needs an even number of devices"));
  const Outcome none = folder.run("compare --schedules bitpipe,dualpipe -p 3");
  CHECK(none.status == 2);
  CHECK(contains(none.err, "bitpipe needs"));
  CHECK(contains(none.err, "dualpipe needs"));
  CHECK(folder.run("compare --schedules 1f1b,zb-h9 -p 3").status == 2);
  folder.write("bad.csv", "0F0,\n");
  CHECK(folder.run("compare --schedules 1f1b,bad.csv").status == 2);
}

TEST_CASE_IN_FOLDER("a limit in device shares holds as many of any number of chunks") {
  for (const char* const chunks : {"2", "3", "6", "7"}) {  // a seventh of a share is no whole number of bytes
    CAPTURE(chunks);
    const Words job = joined("compare --schedules breadth-first -m 4 -v", {chunks});
    CHECK(folder.run(joined(job, "--memory-limit 4")).status == 0);
    CHECK(folder.run(joined(job, "--memory-limit 3.999")).status == 1);
  }
}

TEST_CASE("explain tells of a schedule, draws it and measures it against 1f1b") {
  Folder folder;
  const std::string text = folder.data("explain schedule zb-h1 -p 4 -m 8");
  for (const char* part : {"needs", "splits the backward", "source", "d0 F0F1F2F3......I0W0F4I1W1", "18.2 % less",
                           "debubble compare --schedules all -p 4 -m 8"}) {
    CAPTURE(part);
    CHECK(contains(text, part));
  }
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CAPTURE(entry.name);
    CHECK(folder.data({"explain", "schedule", entry.name}).find(entry.citation.substr(0, 12)) != std::string::npos);
  }
}

TEST_CASE_IN_FOLDER("an asynchronous schedule is the best of its like only, and named where it is faster") {
  const Words job = "compare -p 4 -m 16 --times f=1,b=2 --comm 0.4 --schedules";
  const std::string both = folder.data(joined(job, {"1f1b,naive,pipelined-backprop"}));
  CHECK(contains(both, "best   1f1b: step "));
  CHECK(contains(both, "\nfaster pipelined-backprop takes "));
  CHECK(contains(both, "asynchronous"));
  CHECK(contains(both, "* 1f1b "));
  const std::string only_other = folder.data(joined(job, {"1f1b,pipelined-backprop"}));
  CHECK(contains(only_other, "best   1f1b: of these the only one without gradients of older"));
  const std::string alone = folder.data(joined(job, {"pipedream,pipelined-backprop"}));
  CHECK(contains(alone, "best   pipelined-backprop: step "));
  CHECK_FALSE(contains(alone, "\nfaster "));
  // Slower than the best: nothing to say.
  CHECK_FALSE(contains(folder.data(joined(job, {"1f1b,pipedream"})), "\nfaster "));
}

TEST_CASE_IN_FOLDER("a comparison of one schedule says so, and how to have more") {
  CHECK(contains(folder.data("compare -p 4 --schedules 1f1b"),
                 "\nbest   1f1b, the only one named; --schedules all compares every schedule\n"));
  CHECK(contains(folder.data("compare -p 4 --runs-in deepspeed"),
                 "\nbest   1f1b, the only one of these that DeepSpeed runs\n"));
  CHECK_FALSE(contains(folder.data("compare -p 4 --schedules 1f1b,gpipe"), "the only one"));
}

}  // namespace debubble::testing
