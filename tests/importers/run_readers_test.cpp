// Readers of measured pipeline runs: the reduced public recordings in traces/measured against sums that a script of its
// own added up, made-up runs whose every number is known, and files that are none.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/files/plain_text.hpp"
#include "formats/importers/runs/run_reader.hpp"
#include "schedules/catalog.hpp"
#include "studies/runs/imported_record.hpp"
#include "studies/runs/predict.hpp"
#include "studies/runs/recognise.hpp"
#include "tests/support/places.hpp"
#include "tests/unit/problems_of.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

std::string measured_file(const std::string& name) {
  return test::contents_of(source_directory() + "/traces/measured/" + name);
}

RunText text_of(const std::string& name) {
  constexpr std::size_t kMost = std::size_t{1} << 28;
  return {name, plain_text(measured_file(name), name, kMost)};
}

std::vector<RunText> files_of(const std::string& name) {
  if (!name.starts_with("primus")) return {text_of(name + ".json.gz")};
  std::vector<RunText> files{text_of(name + "/config.json")};
  for (int rank = 7; rank >= 0; --rank)
    files.push_back(text_of(name + "/pp_rank_" + std::to_string(rank) + ".json.gz"));
  return files;
}

ImportedRun read_run(std::vector<RunText> files, int replica = 0) {
  const RunReader* const reader = reader_of(files.front().text);
  REQUIRE(reader != nullptr);
  return reader->read(std::move(files), {replica});
}

RunRecord record_of(const std::string& name, int replica = 0) {
  return record_of_imported(read_run(files_of(name), replica), name, nullptr);
}

TEST_CASE("step times and bubbles of public runs are those that an independent script adds up") {
  const Json expected = Json::parse(measured_file("expected.json"));
  int steps = 0;
  for (const auto& run_of_file : expected.items()) {
    const std::string name = run_of_file.key();
    if (name.starts_with("bigscience")) continue;  // a log: tests/diff
    for (const auto& steps_of_replica : run_of_file.value().items()) {
      const std::string replica = steps_of_replica.key();
      const Json& iterations = steps_of_replica.value();
      CAPTURE(name);
      CAPTURE(replica);
      const RunRecord run = record_of(name, std::stoi(replica));
      REQUIRE(run.iterations.size() == iterations.size());
      for (std::size_t k = 0; k < iterations.size(); ++k) {
        const double step = static_cast<double>(run.iterations[k].timeline.makespan) / 1e6;
        CHECK(std::abs(step - iterations[k]["step_ms"].get<double>()) < 0.001);
        // Overlaps of up to a thousandth of an op are trimmed.
        CHECK(std::abs(report_of(run, k).bubble_ratio - iterations[k]["bubble"].get<double>()) < 0.0001);
        ++steps;
      }
    }
  }
  CHECK(steps == 2 * 5 + 4 * 3 + 2 * 5);
}

TEST_CASE("the schedule of every public run is recognised by its order") {
  for (const char* const name : {"straggler_st", "straggler_ar", "primus_pp8"}) {
    CHECK(record_of(name).schedule.name == "1f1b");
  }
  const RunRecord interleaved = record_of("primus_pp8_vpp2");
  CHECK(interleaved.schedule.name == "interleaved");
  CHECK(interleaved.schedule.params.empty());  // groups of p
  CHECK(interleaved.schedule.stages == 16);
}

TEST_CASE("the group of an interleaved schedule is read off its order") {
  for (const int group : {4, 5, 8, 12}) {
    CAPTURE(group);
    const Schedule built = build_schedule("interleaved", {4, 12, 2, {{"group", std::to_string(group)}}, nullptr});
    const Recognition found = recognise(built);
    REQUIRE(found.schedule.has_value());
    CHECK(found.schedule->name == "interleaved");
    CHECK(found.schedule->params.size() == (group == 4 ? 0 : 1));
    if (group != 4) CHECK(found.schedule->params.at("group") == std::to_string(group));
  }
}

TEST_CASE("the slow worker of a run is named, with its factor") {
  const ImportedRun run = read_run(files_of("straggler_ar"), 2);
  const auto named = [&](const std::string& text) {
    return std::any_of(run.notes.begin(), run.notes.end(),
                       [&](const std::string& note) { return note.starts_with(text); });
  };
  CHECK(named("rank 0 of replica 0 is 2.50 times slower than in the other replicas (F "));
  CHECK(named("rank 0 of replica 0 is 2.25 times slower than in the other replicas (B "));
  CHECK(std::count_if(run.notes.begin(), run.notes.end(),
                      [](const std::string& note) { return note.find("slower") != std::string::npos; }) == 2);
}

// Two ranks, two microbatches, one step in us: F 10 and B 20 on both, 1 us for each transfer.
struct MadeUp {
  Json events = Json::array();

  void name_threads(int replica = 0) {
    for (int rank = 0; rank < 2; ++rank) {
      for (const char* const stream : {"compute", "pp-comm"}) {
        const int thread = 10 * replica + 2 * rank + (stream[0] == 'c' ? 0 : 1);
        events.push_back({{"name", "thread_name"},
                          {"ph", "M"},
                          {"pid", replica},
                          {"tid", thread},
                          {"args", {{"name", "PP rank " + std::to_string(rank) + ", TP rank 0, " + stream}}}});
      }
    }
  }

  void add(const std::string& name, int rank, int place, double begin, double length, int step = 7, int replica = 0) {
    const bool computes = name.ends_with("compute");
    Json args = {
        {"step", step}, {"seq_id", place}, {"model_chunk", computes ? 0 : -1}, {"mb_id", computes ? place : -1}};
    events.push_back({{"name", name},
                      {"ph", "X"},
                      {"pid", replica},
                      {"tid", 10 * replica + 2 * rank + (computes ? 0 : 1)},
                      {"ts", begin},
                      {"dur", length},
                      {"args", args}});
  }

  // 0: F0 F1 . . B0 . B1;  1: . F0 B0 F1 B1
  void add_step(int step = 7, int replica = 0) {
    const double from = 1000.0 * step;
    for (int k = 0; k < 2; ++k) {
      add("forward-compute", 0, k, from + 10 * k, 10, step, replica);
      add("forward-send", 0, k, from + 10 * k + 10, 1.5, step, replica);
      add("forward-recv", 1, k, from + 30 * k + 1, 30 * k == 0 ? 10 : 2, step, replica);
      add("forward-compute", 1, k, from + 11 + 30 * k, 10, step, replica);
      add("backward-compute", 1, k, from + 21 + 30 * k, 20, step, replica);
      add("backward-send", 1, k, from + 41 + 30 * k, 1, step, replica);
      add("backward-recv", 0, k, from + 30 + 30 * k, 12, step, replica);
      add("backward-compute", 0, k, from + 42 + 30 * k, 20, step, replica);
    }
  }

  [[nodiscard]] std::vector<RunText> files() const { return {{"t.json", events.dump()}}; }
};

TEST_CASE("a made-up trace of spans: every op, and transfers from the later start of their two ends") {
  MadeUp made;
  made.add_step(7);
  made.add_step(9);
  made.name_threads();  // the names may come last
  made.events.push_back({{"name", "optimizer"}, {"ph", "X"}, {"pid", 0}, {"tid", 0}, {"ts", 1}, {"dur", 2}});
  const ImportedRun run = read_run(made.files());
  CHECK(run.devices == 2);
  REQUIRE(run.iterations.size() == 2);
  CHECK(run.iterations[0].name == "step 7");
  const Observation& seen = run.iterations[0].observation;
  CHECK(seen.ops.size() == 8);
  REQUIRE(seen.transfers.size() == 4);
  for (const ObservedTransfer& transfer : seen.transfers) {
    if (transfer.op.kind != OpKind::kForward || transfer.op.microbatch != 0) continue;
    CHECK(transfer.from_device == 0);
    CHECK(transfer.to_device == 1);
    CHECK(transfer.begin == 7'010'000);  // when it was sent; the receiver waited from 7,001 us on
    CHECK(transfer.end == 7'011'000);
  }
  CHECK(run.losses.empty());
  const RunRecord record = record_of_imported(run, "t.json", nullptr);
  CHECK(record.schedule.name == "1f1b");
  CHECK(record.iterations[1].timeline.makespan == 92'000);
}

TEST_CASE("steps that lack an op are left out and counted") {
  MadeUp made;
  made.name_threads();
  made.add_step(7);
  made.add_step(8);
  made.add("forward-compute", 0, 0, 9000, 10, 9);
  const ImportedRun run = read_run(made.files());
  CHECK(run.iterations.size() == 2);
  REQUIRE(run.losses.size() == 1);
  CHECK(run.losses[0].what == "iterations that are not whole");
  CHECK(run.losses[0].count == 1);
}

TEST_CASE("an order that no schedule has is told apart from the nearest") {
  MadeUp made;
  made.name_threads();
  made.add_step();
  for (Json& event : made.events) {  // rank 0 runs its microbatches the other way round
    if (event["ph"] == "X" && event["tid"] == 0 && event["name"] == "forward-compute") {
      event["args"]["mb_id"] = 1 - event["args"]["mb_id"].get<int>();
    }
  }
  const RunRecord record = record_of_imported(read_run(made.files()), "t.json", nullptr);
  CHECK(record.schedule.name == "of the trace");
  CHECK(record.origin.notes.front().find("no schedule of the catalog has this order of ops; against the nearest, ") ==
        0);
  CHECK(record.origin.notes.front().find(
            "device 0 runs 0F0 in place 1 of the predicted one, 0F1 of the measured one") != std::string::npos);
}

// "D005 t.json": code and place of the first problem; "" when there is none.
std::string refusal(const std::vector<RunText>& files, int replica = 0) {
  try {
    (void)record_of_imported(read_run(files, replica), files.front().file, nullptr);
  } catch (const InputError& error) {
    return error.diagnostics().front().code + " " + error.diagnostics().front().place;
  }
  return {};
}

TEST_CASE("traces of spans that cannot be read say what is wrong, and where") {
  MadeUp good;
  good.name_threads();
  good.add_step();
  CHECK(refusal(good.files(), 1).starts_with("C003 --replica"));
  const auto changed = [&](const char* key, const Json& value) {
    MadeUp made = good;
    for (Json& event : made.events) {
      if (event["ph"] == "X")
        (std::string(key) == "ts" || std::string(key) == "dur" ? event[key] : event["args"][key]) = value;
    }
    return refusal(made.files());
  };
  CHECK(changed("ts", "late").starts_with("P007 t.json#/4/ts"));
  CHECK(changed("dur", -1).starts_with("P004 t.json#/4/dur"));
  CHECK(changed("dur", 1e30).starts_with("P00"));
  CHECK(changed("mb_id", 1e12).starts_with("P004 t.json#/4/args/mb_id"));
  CHECK(changed("model_chunk", -3).starts_with("P004 t.json#/4/args/model_chunk"));
  CHECK(changed("seq_id", "x").starts_with("P004 t.json#/4/args/seq_id"));
  CHECK(changed("mb_id", 0).starts_with("V020"));  // every op twice
  MadeUp nameless;
  nameless.add_step();
  CHECK(refusal(nameless.files()).starts_with("D004 t.json"));
  MadeUp lone = good;
  std::erase_if(lone.events.get_ref<Json::array_t&>(),
                [](const Json& event) { return event["ph"] == "X" && event["tid"].get<int>() < 2; });
  CHECK(refusal(lone.files()).starts_with("D005 t.json"));
  const std::string text = good.files().front().text;
  CHECK(refusal({{"t.json", text.substr(0, text.size() / 2)}}).starts_with("P001 t.json"));
}

Json primus_iteration(double from, int count, double forward, double backward) {
  Json iteration = {{"total", 1.0}, {"memory", 1.0}};
  for (const char* const key : {"fwd_start", "fwd_end", "bwd_start", "bwd_end"}) iteration[key] = Json::array();
  for (int k = 0; k < count; ++k) {
    iteration["fwd_start"].push_back(from + k * (forward + backward));
    iteration["fwd_end"].push_back(from + k * (forward + backward) + forward);
    iteration["bwd_start"].push_back(from + k * (forward + backward) + forward);
    iteration["bwd_end"].push_back(from + (k + 1) * (forward + backward));
  }
  return iteration;
}

std::vector<RunText> primus_files(const Json& config, const std::vector<Json>& ranks) {
  std::vector<RunText> files;
  if (!config.is_null()) files.push_back({"config.json", config.dump()});
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    files.push_back({"run/pp_rank_" + std::to_string(r) + ".json", ranks[r].dump()});
  }
  return files;
}

TEST_CASE("files of Primus: times in ms, warm-up left out, files in any order, with and without config.json") {
  const Json rank = {{"1", primus_iteration(0, 2, 10, 20)},
                     {"2", primus_iteration(0, 2, 1, 2.5)},
                     {"3", primus_iteration(0, 2, 1, 2.5)}};
  const Json config = {{"pp_size", 1}, {"vp_size", 1}, {"num_mbs", 2}, {"train_iters", 3}};
  for (const Json& given : {config, Json()}) {
    const ImportedRun run = read_run(primus_files(given, {rank}));
    CHECK(run.devices == 1);
    REQUIRE(run.iterations.size() == 2);
    CHECK(run.iterations[0].name == "2");
    const ObservedOp& last = run.iterations[0].observation.ops.back();
    CHECK(last.op.kind == OpKind::kBackward);
    CHECK(last.op.microbatch == 1);
    CHECK(last.begin == 4'500'000);
    CHECK(last.end == 7'000'000);
    CHECK(run.notes.front() ==
          "1 iteration at the start, more than a quarter longer than the median, left out as warm-up");
    CHECK_FALSE(run.clocks.bounded);
  }
}

TEST_CASE("files of Primus that do not belong together say so") {
  const Json rank = {{"2", primus_iteration(0, 4, 1, 2)}};
  const auto config = [](int devices, int chunks, int microbatches) {
    return Json{{"pp_size", devices}, {"vp_size", chunks}, {"num_mbs", microbatches}};
  };
  CHECK(refusal(primus_files(config(2, 1, 4), {rank})).starts_with("D005 "));
  CHECK(refusal(primus_files(config(1, 1, 4), {rank, rank})).starts_with("D010 "));
  CHECK(refusal(primus_files(config(1, 1, 5), {rank})).starts_with("D010 run/pp_rank_0.json"));
  CHECK(refusal(primus_files(config(2, 4, 1), {rank, rank})).starts_with("D010 "));
  CHECK(refusal(primus_files(config(0, 1, 1), {rank})).starts_with("P004 config.json#/pp_size"));
  CHECK(refusal({{"config.json", config(1, 1, 4).dump()}}).starts_with("D005 "));
  CHECK(refusal({{"rank0.json", rank.dump()}}).starts_with("D005 rank0.json"));
  CHECK(refusal({{"pp_rank_0.json", rank.dump()}, {"b/pp_rank_0.json", rank.dump()}})
            .starts_with("D005 b/pp_rank_0.json"));
  CHECK(refusal(primus_files({}, {rank, Json{{"3", primus_iteration(0, 4, 1, 2)}}}))
            .starts_with("D006 run/pp_rank_0.json"));
  Json uneven = rank;
  uneven["2"]["bwd_end"].erase(0);
  CHECK(refusal(primus_files({}, {uneven})).starts_with("P004 run/pp_rank_0.json#/2"));
  Json wrong = rank;
  wrong["2"]["fwd_end"][1] = "soon";
  CHECK(refusal(primus_files({}, {wrong})).starts_with("P004 run/pp_rank_0.json#/2/fwd_end/1"));
  Json missing = rank;
  missing["2"].erase("bwd_start");
  CHECK(refusal(primus_files({}, {missing})).starts_with("P006 run/pp_rank_0.json#/2/bwd_start"));
  const std::string text = rank.dump();
  CHECK(refusal({{"pp_rank_0.json", text.substr(0, text.size() - 3)}}).starts_with("P001 pp_rank_0.json"));
}

}  // namespace
}  // namespace debubble::testing
