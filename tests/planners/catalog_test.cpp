// The catalog of planners: every row says what it must, is asked by its name, and answers every job that is for it.
#include "studies/planners/catalog.hpp"
#include "tests/planners/jobs.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

TEST_CASE("every row of the catalog of planners is whole") {
  std::set<std::string> names;
  for (const PlannerEntry& entry : planner_catalog()) {
    CAPTURE(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK((find_planner(entry.name) == &entry));
    for (const std::string& text : {entry.summary, entry.objective, entry.cost_model, entry.assumes, entry.published,
                                    entry.certainty_note, entry.advice, entry.citation}) {
      CHECK(!text.empty());
    }
    CHECK((entry.decide != nullptr));
  }
  CHECK((find_planner("debubbles") == nullptr));
}

TEST_CASE("every planner answers random jobs within them, alike each time, or refuses with a code of its own") {
  Draws draws(1);
  std::map<std::string, int> answered;
  for (int run = 0; run < 60; ++run) {
    const int machines = draws.whole(1, 2);
    const int per_machine = draws.whole(1, 3);
    PlannerJob job = random_chain(draws, draws.whole(1, 9), machines * per_machine);
    job.levels = {{per_machine, 20'000'000'000}, {machines, 1'000'000'000}};
    for (const PlannerEntry& entry : planner_catalog()) {
      for (const bool as_published : {false, true}) {
        CAPTURE(run);
        CAPTURE(entry.name);
        try {
          const PlannerDecision decision = decide(entry.name, job, as_published);
          ++answered[entry.name];
          CHECK(decision.planner == entry.name);
          CHECK(decision.as_published == as_published);
          CHECK(!decision.unit.empty());
          CHECK(decision.predicted > 0);
          if (decision.stages.empty()) continue;
          const std::vector<int> sizes = decided_partition(decision, job);
          CHECK(std::accumulate(sizes.begin(), sizes.end(), 0) == job.layer_count());
          std::set<int> devices;
          for (const PlannerStage& stage : decision.stages) {
            CHECK(stage.replicas >= 1);
            CHECK(stage.devices.size() == static_cast<std::size_t>(stage.replicas));
            for (const int device : stage.devices) {
              CHECK((device >= 0 && device < job.device_count()));
              CHECK(devices.insert(device).second);
            }
          }
          CHECK(decide(entry.name, job, as_published).stages == decision.stages);
        } catch (const InputError& error) {
          CHECK(error.diagnostics().front().code.front() == 'Z');
        }
      }
    }
  }
  for (const PlannerEntry& entry : planner_catalog()) {
    if (entry.name == "autoddl") continue;  // it needs products
    CAPTURE(entry.name);
    CHECK(answered[entry.name] > 5);
  }
}

TEST_CASE("planners are asked by name and parameters") {
  const PlannerSpec spec = parse_planner("pipedream:straight=yes,communication=no", true);
  CHECK(spec.entry->name == "pipedream");
  CHECK(spec.request.as_published);
  CHECK(spec.request.params.at("straight") == "yes");
  const auto said = [](std::string_view text) { return problems_of([&] { static_cast<void>(parse_planner(text)); }); };
  CHECK(said("pipdream") ==
        "error[C003]: there is no planner \"pipdream\"\n  --> --planner\n  = help: did you mean pipedream?\n");
  CHECK(said("even:stage=2") ==
        "error[C017]: even has no parameter \"stage\"\n  --> --planner\n  = help: it has: stages\n");
  CHECK(said("even:stages") ==
        "error[C006]: \"stages\" does not have the form KEY=VALUE\n  --> --planner\n  = help: write it like "
        "even:stages=...\n");
  CHECK(said("even:stages=2,stages=3").starts_with("error[C007]"));
  Draws draws(2);
  const PlannerJob job = random_chain(draws, 6, 4);
  const auto refused = [&](std::string_view text) {
    return problems_of([&] { static_cast<void>(decide(text, job)); });
  };
  CHECK(refused("even:stages=many") ==
        "error[C011]: \"many\" is not a number\n  --> --planner stages\n  = help: write stages=4\n");
  CHECK(refused("even:stages=9").starts_with("error[C012]: 9 is not within 1 and 4"));
  CHECK(refused("pipedream:straight=perhaps").starts_with("error[C002]: \"perhaps\" is not one of: yes, no"));
}

TEST_CASE("a job that no planner can be asked about names all that is wrong") {
  PlannerJob job = equal_devices(4, 1'000'000'000);
  job.levels = {{3, 1'000'000'000}};
  job.microbatches = 0;
  CHECK(problems_of([&] { check_planner_job(job); }) ==
        "error[Z001]: the job has no layers\n  --> planner\n  = help: give a model or a profile with layers\n"
        "error[Z001]: a step needs at least 1 microbatch; got 0\n  --> planner\n  = help: use 1 or more\n"
        "error[Z001]: the levels of the topology do not make up 4 devices\n  --> planner\n"
        "  = help: the members of all levels multiply to the number of devices; bandwidths are above 0\n");
}

TEST_CASE("bandwidth of a pair is that of the slowest level between them") {
  PlannerJob job = equal_devices(8, 1);
  job.levels = {{2, 300}, {2, 50}, {2, 7}};
  CHECK(pair_bandwidth(job, 0, 1) == 300);
  CHECK(pair_bandwidth(job, 1, 2) == 50);
  CHECK(pair_bandwidth(job, 3, 4) == 7);
  CHECK(machine_of(job, 5) == 4);
}

}  // namespace
}  // namespace debubble::testing
