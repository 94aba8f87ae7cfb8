// Which of a plan's runs is the best, and which are listed: all of them are the same training step, leave memory free,
// and are told apart from each other or said not to be.
#include <fstream>

#include "studies/plan/choice.hpp"
#include "studies/plan/rows.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

const Words kJob = "plan --model gpt2-xl --hardware a100-80 --gpus 8 --global-batch 16 --fix cp=1 --format json";

Words job_with(const Words& more) { return joined(kJob, more); }

PlanChoice pipeline_of(const std::string& schedule, int zero = 0) {
  PlanChoice choice;
  choice.pipeline = 4;
  choice.schedule = schedule;
  choice.zero = zero;
  return choice;
}

PlannedRun run_of(PlanChoice choice, Nanoseconds step, Bytes peak) {
  PlannedRun run;
  run.choice = std::move(choice);
  run.step = step;
  run.peak = peak;
  return run;
}

TEST_CASE("every choice is the same training step, whatever else is asked for") {
  ScenarioFlags job;
  const PlanChoice alone = pipeline_of("1f1b");
  CHECK(flags_of(alone, job).step.step == "on");
  PlanChoice replicas = alone;
  replicas.data = 2;
  CHECK(flags_of(replicas, job).step.step.empty());  // on, as ever
  replicas = alone;
  replicas.context = 2;
  CHECK(flags_of(replicas, job).step.step.empty());
  PlanChoice streams = alone;
  streams.schedule = "pipedream";
  CHECK(flags_of(streams, job).step.step.empty());
  for (const char* const typed : {"off", "on", "reduce=2,optimizer=0.5"}) {
    job.step.step = typed;
    CHECK(flags_of(alone, job).step.step == typed);
  }
}

TEST_CASE("a flag of the step is left out where a ZeRO stage has no use for it, and nowhere else") {
  const auto idle_with = [](int zero, auto set) {
    StepFlags step;
    set(step);
    return leave_out_idle(zero, step);
  };
  for (int zero = 0; zero <= 3; ++zero) {
    CAPTURE(zero);
    CHECK(idle_with(zero, [](StepFlags& step) { step.norm = "none"; }).empty());
    CHECK(idle_with(zero, [](StepFlags& step) { step.gather = "before-forward"; }).empty() == (zero > 0));
    CHECK(idle_with(zero, [](StepFlags& step) { step.keep_whole = true; }).empty() == (zero > 1));
    CHECK(idle_with(zero, [](StepFlags& step) { step.overlap_reduce = true; }).empty() == (zero < 2));
    CHECK(idle_with(zero, [](StepFlags& step) { step.keep_whole = step.overlap_reduce = true; }).empty() == (zero > 1));
    StepFlags buckets;
    buckets.overlap_gather = true;
    buckets.bucket_size = "1000";
    CHECK(leave_out_idle(zero, buckets).empty() == (zero == 1 || zero == 2));
    CHECK(buckets.bucket_size.empty() == !buckets.overlap_gather);
  }
}

TEST_CASE_IN_FOLDER("flags that shape the step make nothing illegal, and each command simulates to its plan") {
  const Json plain = folder.json(job_with("--gap 0"));
  for (const Words& flags : {Words("--norm none"), Words("--overlap-grad-reduce"), Words("--gather before-forward"),
                             Words("--keep-whole")}) {
    CAPTURE(flags.front());
    const Json shaped = folder.json(job_with(flags));
    CHECK(shaped["search"]["illegal"] == plain["search"]["illegal"]);
    CHECK(shaped["search"]["illegal_by_code"] == plain["search"]["illegal_by_code"]);
  }
  int alone = 0;
  for (const Words& part : {Words("--fix dp=1"), Words("--fix pp=2"), Words("--fix pp=8")}) {
    const Json plan = folder.json(job_with(part));
    for (const Json& row : plan["rows"]) {
      const auto command = row["run"]["command"].get<std::string>();
      const bool has_step = contains(command, " --step on");
      CHECK(has_step == (row["run"]["choice"]["dp"] == 1));
      alone += has_step ? 1 : 0;
      const Json simulated = folder.json(Words(command.substr(sizeof("debubble")) + " --format json"));
      CHECK(simulated["makespan_ns"] == row["run"]["makespan_ns"]);
    }
  }
  CHECK(alone > 3);
}

TEST_CASE_IN_FOLDER("what leaves too little memory free is named with what it leaves, and is never the best") {
  const Json wide = folder.json(job_with("--margin 0 --memory off"));
  const auto most = wide["runs"][0]["peak_memory_bytes"].get<std::int64_t>();
  int tight = 0;
  for (int k = 0; k < 6; ++k) {
    const std::int64_t memory = most + most / 100 * k;
    const Words size("--memory " + std::to_string(memory >> 20) + "MiB");
    const Json free = folder.json(job_with(joined(size, "--margin 0")));
    const Json plan = folder.json(job_with(size));
    CHECK(plan["margin"] == 0.05);
    const Json& best = plan["runs"][0];
    const auto least = static_cast<double>(memory >> 20 << 20) * 0.05 - 1;
    for (const Json& run : plan["runs"]) {
      CHECK(run["tight"] == false);
      CHECK(run["spare_memory_bytes"].get<double>() >= least);
    }
    for (const Json& one : free["passed_over"]) CHECK(one["run"]["tight"] == false);
    CHECK(free["runs"][0]["makespan_ns"] <= best["makespan_ns"]);
    for (const Json& one : plan["passed_over"]) {
      if (one["run"]["tight"] == false) continue;
      CHECK(one["run"]["makespan_ns"] < best["makespan_ns"]);
      CHECK(one["run"]["spare_memory_bytes"].get<double>() < least + 1);
      CHECK(contains(one["why"], "tight: "));
      CHECK(contains(one["why"], "; --margin 0 ranks it"));
      ++tight;
    }
  }
  CHECK(tight > 1);
  const Json given = folder.json(job_with("--allocator-reserve 0.02"));
  CHECK(given["margin"] == 0);
}

TEST_CASE_IN_FOLDER("where all that fits is tight, nothing is the best, and --margin 0 is the first way out") {
  const Outcome outcome = folder.run(
      "plan --model gpt2-xl --gpus 1 --global-batch 4 --memory 28700MiB --fix recompute=full,microbatch=1 --width 200");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "best       none leaves 5.0 % of the memory free\n"));
  CHECK(contains(outcome.out, " less than are to stay free\n"));
  CHECK(contains(outcome.out, "\nfits       with --margin 0: "));
}

TEST_CASE("runs are listed that differ in ranks or ZeRO stage, take a tenth less memory, or are simpler") {
  const PlanChoice plain = pipeline_of("1f1b");
  PlanChoice chunked = plain;
  chunked.schedule = "interleaved";
  chunked.chunks = 4;
  PlanChoice other = chunked;
  other.chunks = 5;
  PlanChoice sharded = chunked;
  sharded.zero = 1;
  const std::vector<PlannedRun> runs{run_of(chunked, 100, 1000), run_of(other, 101, 1000), run_of(other, 102, 901),
                                     run_of(other, 103, 899),    run_of(plain, 104, 1000), run_of(sharded, 105, 1000),
                                     run_of(sharded, 106, 950)};
  std::vector<Nanoseconds> steps;
  for (const PlannedRun& run : runs_to_list(runs, 9)) steps.push_back(run.step);
  CHECK(steps == std::vector<Nanoseconds>{100, 103, 104, 105});
  CHECK(runs_to_list(runs, 2).size() == 2);
  CHECK(runs_to_list({}, 5).empty());
}

TEST_CASE("a run is close to the best where it is slower, or faster, by no more than it takes to tell them apart") {
  const PlannedRun best = run_of({}, 1000, 1);
  const auto close = [&](Nanoseconds step, std::optional<double> needed) {
    return PlanRow{run_of({}, step, 1), needed, ""}.is_close_to(best);
  };
  CHECK(close(1049, 0.05));
  CHECK_FALSE(close(1051, 0.05));
  CHECK(close(953, 0.05));
  CHECK_FALSE(close(952, 0.05));
  CHECK_FALSE(close(1000, std::nullopt));
}

TEST_CASE("what no record has is what none of the published results has") {
  const Json results = Json::parse(std::ifstream(source_directory() + "/traces/published/results.json"));
  int pipelines = 0;
  for (const Json& record : results["records"]) {
    const Json& flags = record["flags"];
    PlanChoice choice;
    choice.pipeline = flags.value("devices", 4);
    choice.schedule = flags.value("schedule", "1f1b");
    choice.zero = flags.value("zero", 0);
    CAPTURE(record["id"].get<std::string>());
    CHECK(unrecorded_part(choice).empty());
    pipelines += choice.pipeline > 1 ? 1 : 0;
  }
  CHECK(pipelines > 100);
  CHECK(unrecorded_part(pipeline_of("1f1b", 3)) == "ZeRO-3 with a pipeline");
  CHECK(unrecorded_part(pipeline_of("zb-v")) == "zb-v");
  PlanChoice replicas = pipeline_of("1f1b", 3);
  replicas.pipeline = 1;
  CHECK(unrecorded_part(replicas).empty());
}

TEST_CASE_IN_FOLDER("a run of a kind that no record is of is not the best where one of a known kind is as good") {
  const auto plan = [&](const Words& flags) {
    return folder.json(joined("plan --model gpt-6.7b --gpus 8 --global-batch 32 --fix cp=1,pp=4", flags));
  };
  const Json open = plan("--format json");
  const Json& best = open["rows"][0];
  CHECK(best["unrecorded"].is_null());
  REQUIRE(open["passed_over"].size() > 0);
  const Json& faster = open["passed_over"][0];
  CHECK(faster["run"]["makespan_ns"] < best["run"]["makespan_ns"]);
  CHECK(contains(faster["why"], "no measured run has "));
  CHECK(contains(open["certainty"], "the fastest"));
  CHECK(open["runs"][1] == faster["run"]);
  for (const Json& row : open["rows"]) CHECK(row["difference_needed"].is_null() == (row == best));
  const Json alone = plan("--schedules zb-v");
  CHECK(alone["rows"][0]["unrecorded"] == "zb-v");
  CHECK(alone["passed_over"].size() == 0);
}

}  // namespace
}  // namespace debubble::testing
