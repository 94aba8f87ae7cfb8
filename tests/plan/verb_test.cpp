// `debubble plan` as people run it.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

const Words kSmall = "plan --model gpt2-large --gpus 8 --global-batch 32";

Words small_with(Words more) {
  Words all = kSmall;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_CASE_IN_FOLDER(
    "a model and a number of GPUs are enough for an answer that says what it assumed and how sure it is") {
  const Outcome outcome = folder.run("plan --model gpt2-small --gpus 2 --width 300");
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("plan for gpt2-small on 2 GPUs, 4096 samples per step\n") == 0);
  for (const char* const part : {"\nbest       ", "\ncertainty  ", "\nsearched   ", "topology dgx-h100:1 (default)",
                                 "samples of one step", "4 Mi tokens", "\nnext       debubble simulate "}) {
    CHECK(contains(outcome.out, part));
  }
}

TEST_CASE_IN_FOLDER("the command of a plan simulates to the step and the memory that the plan says") {
  const Json plan = folder.json(small_with("--format json --top 3"));
  CHECK(plan["schema_version"] == 1);
  CHECK(plan["runs"].size() == 3);
  for (const Json& run : plan["runs"]) {
    const auto command = run["command"].get<std::string>();
    REQUIRE(command.starts_with("debubble simulate "));
    Words words;
    for (std::size_t begin = 9; begin < command.size();) {  // no word of these is quoted
      const std::size_t end = std::min(command.find(' ', begin), command.size());
      words.push_back(command.substr(begin, end - begin));
      begin = end + 1;
    }
    words.insert(words.end(), {"--format", "json"});
    const Json simulated = folder.json(words);
    CHECK(simulated["makespan_ns"] == run["makespan_ns"]);
    CHECK(run["bound_ns"].get<std::int64_t>() <= run["makespan_ns"].get<std::int64_t>());
  }
  const Json& search = plan["search"];
  CHECK(search["space"].get<int>() == search["simulated"].get<int>() + search["illegal"].get<int>() +
                                          search["excluded_by_time"].get<int>() +
                                          search["excluded_by_memory"].get<int>());
  CHECK(search["remaining_gap"].get<double>() <= 0.01);
}

TEST_CASE_IN_FOLDER("the answer is the same on any number of threads") {
  const std::string one = folder.data(small_with("--format csv --top 50 --threads 1"));
  CHECK(one == folder.data(small_with("--format csv --top 50 --threads 2")));
  CHECK(one == folder.data(small_with("--format csv --top 50 --threads 5")));
  CHECK(std::count(one.begin(), one.end(), '\n') > 1);
}

TEST_CASE_IN_FOLDER("what is fixed, by --fix, --only or the flag's own name, is kept") {
  const auto runs = [&](const Words& flags) {
    return folder.json(small_with([&] {
      Words all = flags;
      all.insert(all.end(), {"--format", "json", "--top", "100"});
      return all;
    }()))["runs"];
  };
  for (const Json& run : runs("--fix tp=2,pp=4 --only schedule=1f1b,zb-h1,microbatch=1,2")) {
    CHECK(run["choice"]["tp"] == 2);
    CHECK(run["choice"]["pp"] == 4);
    CHECK(run["choice"]["dp"] == 1);
    CHECK(run["choice"]["microbatch"].get<int>() <= 2);
    const auto schedule = run["choice"]["schedule"].get<std::string>();
    CHECK((schedule == "1f1b" || schedule == "zb-h1"));
  }
  CHECK(runs("--tp 2 -p 4 --gap 0") == runs("--fix tp=2,pp=4 --gap 0"));
  for (const Json& run : runs("--runs-in deepspeed -p 2")) {
    CHECK(run["choice"]["schedule"] == "1f1b");
  }
}

TEST_CASE_IN_FOLDER("parameters of schedules are named like the schedule itself, and the command repeats them") {
  const auto runs = [&](Words flags) {
    flags.insert(flags.end(), {"--fix", "pp=4,tp=1,cp=1,microbatch=1,recompute=none", "--gap", "0", "--format", "json",
                               "--top", "1"});
    return folder.json(small_with(flags));
  };
  const Json plan = runs("--only schedule=zb-auto,memory_limit=1.5p");
  CHECK(plan["runs"][0]["choice"]["params"] == Json::parse(R"(["memory_limit=1.5p"])"));
  CHECK(contains(plan["runs"][0]["command"], " --param memory_limit=1.5p"));
  CHECK(runs("--only schedule=zb-auto --param memory_limit=1.5p")["runs"] == plan["runs"]);
  CHECK(runs("--only schedule=zb-auto")["search"]["space"] == 3 * plan["search"]["space"].get<int>());
  const Json offloaded = runs("--only schedule=pipeoffload --memory 30GiB");
  CHECK(contains(offloaded["runs"][0]["command"], " --param offload_chunks="));
}

TEST_CASE_IN_FOLDER("cuts of the layers are in the space when they are named, and the command repeats them") {
  const auto runs = [&](Words flags) {
    flags.insert(flags.end(), {"--fix", "pp=4,tp=2,recompute=none", "--only", "schedule=1f1b", "--gap", "0", "--format",
                               "json", "--top", "100"});
    return folder.json(small_with(flags));
  };
  const Json even = runs("--partition even");
  CHECK(even["runs"][0]["choice"]["partition"] == "even");
  CHECK(contains(even["runs"][0]["command"], " --partition even "));
  const Json both = runs("--only partition=auto,even");
  CHECK(both["search"]["space"] == 2 * even["search"]["space"].get<int>());
  CHECK(both["runs"][0]["makespan_ns"] <= even["runs"][0]["makespan_ns"]);
}

TEST_CASE_IN_FOLDER("the best are cut for slow links, too, where links may differ, and what is faster so comes first") {
  const auto plan = [&](Words more) {
    Words command =
        "plan --model gpt-1.3b --gpus 32 --global-batch 128 --fix pp=16 --only schedule=gpipe,1f1b --format json --top "
        "100";
    command.insert(command.end(), more.begin(), more.end());
    return folder.json(command);
  };
  const Json cut = plan("--topology dgx-a100:4 --p2p blocking");
  const Json& best = cut["runs"][0];
  CHECK(contains(best["choice"]["text"], "partition auto"));
  CHECK(contains(best["command"], " --partition auto "));
  CHECK(best["bound_ns"] <= best["makespan_ns"]);
  CHECK(best["bound_ns"] > 0);
  // Its own balanced cut is there as well, and slower; the simulation of its command says the same.
  std::string balanced = best["command"];
  balanced.erase(balanced.find(" --partition auto"), std::string(" --partition auto").size());
  const auto& runs = cut["runs"];
  CHECK(std::any_of(runs.begin(), runs.end(), [&](const Json& run) {
    return run["command"] == balanced && run["makespan_ns"] > best["makespan_ns"];
  }));
  CHECK(contains(cut["restrictions"].back(), "were also cut for each device's own links"));
  // One that is typed as balanced is cut again, too; for the least memory there is nothing to gain.
  CHECK(plan("--topology dgx-a100:4 --p2p blocking --partition auto")["runs"] == cut["runs"]);
  const Json least = plan("--topology dgx-a100:4 --p2p blocking --objective memory");
  for (const Json& run : least["runs"]) CHECK_FALSE(contains(run["choice"]["text"], "partition auto"));
  CHECK_FALSE(contains(least["restrictions"].back(), "were also cut"));
}

TEST_CASE_IN_FOLDER(
    "where the balanced cut does not fit, the fastest cut that fits is tried, and the command repeats it") {
  const auto plan = [&](Words flags) {
    flags.insert(flags.begin(), {"plan", "--model", "gpt-6.7b", "--hardware", "a100-80", "--gpus", "8",
                                 "--global-batch", "64", "--memory", "24GiB", "--only", "schedule=1f1b", "--fix",
                                 "tp=2,pp=4,microbatch=2", "--format", "json"});
    return folder.json(flags);
  };
  const Json open = plan({});
  const Json& best = open["runs"][0];
  const auto cut = best["choice"]["partition"].get<std::string>();  // what leaves the margin free, as layers
  CHECK(std::count(cut.begin(), cut.end(), ',') == 3);
  CHECK(contains(best["command"], " --partition " + cut + " "));
  CHECK(best["spare_memory_bytes"].get<double>() >= 0.05 * 24 * 1024 * 1024 * 1024 - 1);
  const Json full = plan("--margin 0");
  CHECK(full["runs"][0]["choice"]["partition"] == "memory");
  CHECK(contains(full["runs"][0]["command"], " --partition memory "));
  CHECK(full["runs"][0]["makespan_ns"] <= best["makespan_ns"]);
  CHECK(contains(open["frameworks"][0]["text"], "--pipeline-model-parallel-layout 'Et*7|"));
  CHECK(contains(open.dump(), "the fastest cut that fits (partition memory)"));
  const Json balanced = plan("--partition auto");
  CHECK(best["makespan_ns"] < balanced["runs"][0]["makespan_ns"]);
  CHECK(balanced["runs"][0]["choice"]["recompute"] != "none");
  const Json alone = plan("--partition memory");
  CHECK(alone["runs"][0]["makespan_ns"] == best["makespan_ns"]);
}

TEST_CASE_IN_FOLDER("the first stages alone recompute where that is what fits, and the command says so") {
  const Json plan = folder.json(
      "plan --model gpt-6.7b --hardware a100-80 --gpus 8 --global-batch 64 --memory 24GiB --only "
      "schedule=1f1b,recompute=none,full,full:0-1 --fix tp=2,pp=4,microbatch=2,partition=auto --format json --top 1");
  const Json& best = plan["runs"][0];
  CHECK(best["choice"]["recompute_stages"] == "0-1");
  CHECK(contains(best["choice"]["text"], "full recomputation on stages 0-1"));
  CHECK(contains(best["command"], " --recompute full --recompute-stages 0-1"));
  CHECK_FALSE(contains(plan["frameworks"][0]["text"], "tp-comm"));
  CHECK(plan["frameworks"][0]["of_own_best"] == true);  // Megatron-LM recomputes alike on all stages
}

TEST_CASE_IN_FOLDER("as few blocks of each stage recompute as fit, and the command and the paste say how many") {
  const Words job =
      "plan --model gpt-6.7b --hardware a100-80 --gpus 8 --global-batch 64 --memory 24GiB --runs-in megatron --only "
      "schedule=1f1b,interleaved --fix tp=2,pp=4,microbatch=2,partition=even --format json";
  const Json best = folder.json(job)["runs"][0];
  CHECK(best["choice"]["recompute"] == "full");
  CHECK(best["choice"]["recompute_blocks"] == "first:2");
  CHECK(contains(best["choice"]["text"], "full recomputation of the first 2 blocks of each stage"));
  const std::string command = best["command"];
  CHECK(contains(command, " --recompute full --recompute-blocks first:2 "));
  const auto simulated = [&](std::string words) {
    return folder.json(words.substr(words.find("simulate")) + " --format json");
  };
  CHECK(simulated(command)["makespan_ns"] == best["makespan_ns"]);
  std::string fewer = command;
  fewer.replace(fewer.find("first:2"), 7, "first:1");
  CHECK(simulated(fewer)["memory_fit"]["spare_bytes"].get<double>() < 0.05 * 24 * 1024 * 1024 * 1024);
  const Json plan = folder.json(job);
  CHECK(contains(plan["frameworks"][0]["text"],
                 "--recompute-granularity full --recompute-method block --recompute-num-layers 2 "));
  CHECK(contains(folder.run(joined(Words(job), "--format csv --top 1")).out, ",full:first:2,1f1b,"));
  const auto with = [&](const char* more) { return folder.json(joined(Words(job), more)); };
  CHECK(with("--recompute full --recompute-blocks first:2")["runs"][0]["makespan_ns"] == best["makespan_ns"]);
  for (const char* const named : {"--only recompute=none,full:first", "--only recompute=full:first:2"}) {
    CHECK(with(named)["runs"][0]["choice"] == best["choice"]);
  }
  for (const char* const other : {"--only recompute=none,full", "--objective memory"}) {
    CHECK(with(other)["runs"][0]["choice"]["recompute_blocks"] == "");
  }
}

TEST_CASE_IN_FOLDER("what runs in a framework comes with what to paste there") {
  const Json plan =
      folder.json(small_with("--tp 2 -p 2 --schedules 1f1b --zero 1 --recompute full --tensor-overlap userbuffers-ag"));
  const Json& megatron = plan["frameworks"][0];
  CHECK(megatron["framework"] == "Megatron-LM");
  const auto text = megatron["text"].get<std::string>();
  for (const char* const part :
       {"--tensor-model-parallel-size 2 ", "--pipeline-model-parallel-size 2 ", "--global-batch-size 32",
        "--sequence-parallel ", "--tp-comm-overlap --disable-tp-comm-overlap-rs", "--use-distributed-optimizer",
        "--recompute-granularity full"}) {
    CHECK(contains(text, part));
  }
  CHECK(plan["frameworks"][1]["text"] == "");
  CHECK(contains(plan["frameworks"][1]["note"], "refuses this: --zero 1: data ranks shard weights"));
  const Json sharded =
      folder.json(small_with("--model-size tied_embedding=no --tp 2 -p 2 --schedules 1f1b --zero 3 --recompute full"));
  CHECK(contains(sharded["frameworks"][1]["text"], "--parallelism.pipeline_parallel_schedule 1F1B"));
  const Json deepspeed = Json::parse(plan["frameworks"][2]["text"].get<std::string>());
  CHECK(deepspeed["train_batch_size"] == 32);
  CHECK(deepspeed["zero_optimization"]["stage"] == 1);
}

TEST_CASE_IN_FOLDER("where nothing fits, the answer names what is short and on how many GPUs it would fit") {
  const Outcome outcome = folder.run("plan --model gpt-6.7b --gpus 1 --memory 60GiB --global-batch 8 --width 200");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "best       none fits the memory\n"));
  CHECK(contains(outcome.out, "nearest    "));
  CHECK(contains(outcome.out, " per GPU\n"));
  CHECK(contains(outcome.out, "\nshort      memory of d0: the allocator takes "));
  CHECK(contains(outcome.out, "\nfits       on 2 GPUs: "));
}

TEST_CASE_IN_FOLDER("where nothing is legal, the answer says why") {
  const Outcome outcome =
      folder.run("plan --model gpt2-small --gpus 16 --topology dgx-h100:1 --global-batch 16 --width 200");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "best       there is none: nothing in the space is a legal run\n           B0"));
}

TEST_CASE_IN_FOLDER("a budget ends the search, and the answer says what is left") {
  const Outcome outcome = folder.run(small_with("--budget 0s"));
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "none was found in the time that --budget gave"));
}

TEST_CASE_IN_FOLDER(
    "with a budget, the GPUs that would be enough are those that are enough without one, or are not told") {
  const Words job = "plan --model gpt-6.7b --gpus 1 --memory 30GiB --global-batch 64 --format json --threads 1";
  const Json whole = Json::parse(folder.run(job).out);
  REQUIRE(whole["enough_gpus"].is_number());
  for (const char* const budget : {"0.001", "0.01", "0.02", "0.05", "0.1", "0.3"}) {
    CAPTURE(budget);
    Words shorter = job;
    shorter.insert(shorter.end(), {"--budget", budget});
    const Json plan = Json::parse(folder.run(shorter).out);
    CHECK((plan["enough_gpus"].is_null() || plan["enough_gpus"] == whole["enough_gpus"]));
  }
}

TEST_CASE_IN_FOLDER("what was not simulated is said to be excluded only by the bound that excluded it") {
  const auto searched = [&](const Words& flags) {
    Words all = small_with(flags);
    all.insert(all.end(), {"--width", "300"});
    const std::string out = folder.run(all).out;
    const std::size_t begin = std::min(out.find("searched "), out.size());
    return out.substr(begin, out.find('\n', begin) - begin);
  };
  CHECK(contains(searched({}), "excluded by a bound of their step time"));
  const std::string memory = searched("--objective memory");
  CHECK_FALSE(contains(memory, "step time"));
  CHECK(contains(memory, "excluded by a bound of their memory as no better"));
  const std::string cut = searched("--budget 0s");
  CHECK_FALSE(contains(cut, "step time"));
  CHECK(contains(cut, "not reached in the time"));
}

TEST_CASE_IN_FOLDER("a framework that does not run the best plan is told the best that it runs") {
  const Json plan = folder.json(small_with("-p 4"));
  const auto alternative = [&](const std::string& what) {
    for (const Json& one : plan["alternatives"]) {
      if (one["what"] == what) return one["run"];
    }
    return Json();
  };
  const Json megatron = alternative("runs in Megatron-LM today");
  REQUIRE(plan["runs"][0]["command"] != megatron["command"]);
  CHECK(plan["frameworks"][0]["of_own_best"] == true);
  const std::string microbatch = std::to_string(megatron["choice"]["microbatch"].get<int>());
  CHECK(contains(plan["frameworks"][0]["text"], "--micro-batch-size " + microbatch + " "));
}

TEST_CASE_IN_FOLDER("DeepSpeed is offered nothing to paste for context ranks, which it does not run") {
  const Json plan = folder.json(small_with("--cp 2 -p 2 --schedules 1f1b --zero 1"));
  const Json& deepspeed = plan["frameworks"][2];
  CHECK(deepspeed["framework"] == "DeepSpeed");
  CHECK(deepspeed["text"] == "");
  CHECK(contains(deepspeed["note"], "context ranks"));
  for (const Json& one : plan["alternatives"]) {
    if (one["what"] == "runs in DeepSpeed today") CHECK(one["run"].is_null());
  }
}

}  // namespace
}  // namespace debubble::testing
