#include "schedules/transforms/recompute.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "schedules/common/list_timing.hpp"
#include "schedules/common/memory_limit.hpp"
#include "schedules/transforms/mario.hpp"
#include "schedules/transforms/request.hpp"
#include "schedules/transforms/rows.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble {

namespace {

struct Options {
  std::vector<std::pair<std::string, std::string>> used;  // for the signature
  std::vector<bool> stages;
  bool early = false;
  bool mario = false;
  int window = 0;  // 0: as many as a stage has in flight
  int stored = 0;
  int last = 0;  // microbatches of a stage that keep everything
};

Options read_options(const Schedule& schedule, const TransformParams& params) {
  Options options;
  const std::string mode = params.choice("mode", "full|selective");
  options.mario = params.flag("mario", false);
  const std::string when = params.choice("when", options.mario ? "early|late" : "late|early");
  if (options.mario && when == "late") {
    params.refuse("S075", "when", "Mario's second pass begins every recomputation early",
                  "leave when= out of --transform recompute");
  }
  if (mode == "selective" && !(params.given("time") && params.given("keep"))) {
    params.refuse("S075", "", "what a selective recomputation repeats and keeps depends on the model",
                  "write both as shares, like --transform recompute:mode=selective,time=0.1,keep=0.4");
  }
  if (params.given("memory_limit") && !options.mario) {
    params.refuse("S075", "memory_limit", "only Mario's fourth pass plans for a memory limit",
                  "write --transform recompute:mario=true,memory_limit=" + params.text("memory_limit"));
  }
  (void)params.share("time", 0);
  (void)params.share("keep", 0);
  options.early = when == "early";
  options.stages = params.selection("stages", schedule.stages);
  options.window = params.whole("window", 0, 1);
  options.stored = params.whole("stored", 0, 0);
  options.last = params.whole("stored_last", 0, 0);
  options.used = {{"mode", mode}, {"when", when}};
  for (const char* key : {"time", "keep", "stages", "window", "stored", "stored_last", "mario", "memory_limit"}) {
    if (params.given(key)) options.used.emplace_back(key, params.text(key));
  }
  return options;
}

// Which pieces each stage recomputes.
class RecomputeChoice {
 public:
  RecomputeChoice(const Schedule& schedule, const Options& options) : schedule_(schedule), options_(options) {}

  // For the ops of one device.
  void read_row(const std::vector<Op>& row) {
    std::map<std::pair<int, int>, Flight> flights;  // by replica and stage
    for (const Op& op : row) {
      if (op.kind != OpKind::kForward && !makes_input_gradient(op.kind)) continue;
      Flight& flight = flights[{schedule_.replica_of[to_index(op.microbatch)], op.stage}];
      if (makes_input_gradient(op.kind)) {
        --flight.now;
        continue;
      }
      flight.order.push_back(op.microbatch);
      flight.most = std::max(flight.most, ++flight.now);
    }
    for (const auto& [place, flight] : flights) choose(place.second, flight);
  }

  [[nodiscard]] bool has(const Op& op) const { return chosen_.contains({op.stage, op.microbatch}); }

 private:
  struct Flight {
    std::vector<std::int32_t> order;  // pieces as they run forward
    int now = 0;
    int most = 0;
  };

  void choose(int stage, const Flight& flight) {
    if (!options_.stages[to_index(stage)]) return;
    const int pieces = std::max(schedule_.pieces, 1);
    const int window = options_.window > 0 ? options_.window : std::max(1, (flight.most + pieces - 1) / pieces);
    std::map<int, int> rank;  // of a microbatch among the stage's
    for (const std::int32_t piece : flight.order) rank.emplace(piece / pieces, static_cast<int>(rank.size()));
    const int end = static_cast<int>(rank.size()) - options_.last;
    for (const std::int32_t piece : flight.order) {
      const int place = rank.at(piece / pieces);
      if (place < end && place % window >= options_.stored) chosen_.emplace(std::pair{stage, piece}, true);
    }
  }

  const Schedule& schedule_;
  const Options& options_;
  std::map<std::pair<std::int32_t, std::int32_t>, bool> chosen_;
};

void insert_recomputes(Schedule& schedule, const Options& options, const TransformParams& params) {
  RecomputeChoice choice(schedule, options);
  for (const auto& row : schedule.rows) choice.read_row(row);
  for (auto& row : schedule.rows) {
    std::vector<Op> result;
    for (std::size_t at = 0; at < row.size(); ++at) {
      // What a pair recomputes runs before the pair: a cell holds two ops at most.
      const bool in_pair = row[at].paired_with_next || ends_pair(row, at);
      for (std::size_t member = at; !ends_pair(row, at) && member <= at + (row[at].paired_with_next ? 1 : 0);
           ++member) {
        const Op& op = row[member];
        if (!makes_input_gradient(op.kind) || !choice.has(op)) continue;
        if (in_pair && !options.early) {
          params.refuse("M007", "when",
                        to_string(op) + " is a member of a pair, and late recomputation would make it three",
                        "use when=early");
        }
        result.push_back({OpKind::kRecompute, !options.early, op.stage, op.microbatch});
      }
      result.push_back(row[at]);
    }
    row = std::move(result);
  }
}

// The costs that Mario plans with: the given ones, with what this transform says about time and memory.
PlanningCosts mario_costs(const Schedule& schedule, const TransformRequest& request, const TransformParams& params) {
  PlanningCosts costs = request.costs != nullptr ? *request.costs : unit_costs(schedule);
  const auto scaled = [](std::int64_t value, double share) {
    return static_cast<std::int64_t>(std::llround(static_cast<double>(value) * share));
  };
  for (StageCost& stage : costs.costs.stages) {
    if (params.given("time")) stage.recompute = scaled(stage.forward, params.share("time", 1));
    if (params.given("keep")) stage.checkpoint = scaled(stage.activation, params.share("keep", 0));
  }
  return costs;
}

// By device. A given limit that does not hold what is there before the fourth pass is refused.
std::vector<Bytes> mario_limits(const Schedule& before, const std::vector<Bytes>& needed, const PlanningCosts& costs,
                                const TransformParams& params) {
  if (!params.given("memory_limit")) {
    std::vector<Bytes> limits = row_peaks(before, costs.costs);
    for (std::size_t d = 0; d < limits.size(); ++d) limits[d] = std::max(limits[d], needed[d]);
    return limits;
  }
  ScheduleRequest request;
  request.devices = before.devices;
  request.params = {{"memory_limit", params.text("memory_limit")}};
  try {
    const MemoryLimit limit = memory_limit_of(request, costs, "");
    for (std::size_t d = 0; d < needed.size(); ++d) {
      if (needed[d] > limit.activations[d])
        refuse_memory_limit("recompute with mario", limit, costs, needed, "--transform recompute:mario=true,");
    }
    return limit.activations;
  } catch (const InputError& error) {
    const Diagnostic& found = error.diagnostics().front();
    params.refuse(found.code, "memory_limit", found.message, found.help);
  }
}

Schedule recompute(const Schedule& before, const TransformRequest& request) {
  const TransformParams params(request, "recompute");
  const Options options = read_options(before, params);
  if (has_kind(before, OpKind::kRecompute)) {
    params.refuse("M008", "", before.name + " recomputes already", "name all stages at once: stages=0+2-3");
  }
  if (!before.copies.empty()) {
    params.refuse("M007", "", before.name + " moves activations away that a recomputation would not have kept",
                  "use one or the other");
  }
  if (before.pairs_run_side_by_side && !options.early) {
    params.refuse("M007", "when", "pairs of " + before.name + " run side by side, and R must end before its backward",
                  "use when=early");
  }
  Schedule schedule = before;
  insert_recomputes(schedule, options, params);
  if (!has_kind(schedule, OpKind::kRecompute)) {
    params.refuse("M014", "", "no microbatch of any stage would be recomputed",
                  "use a smaller stored= or stored_last=, or leave it out");
  }
  if (options.mario) {
    const PlanningCosts costs = mario_costs(before, request, params);
    drop_needless_recomputes(schedule);
    const std::vector<Bytes> limits = mario_limits(before, row_peaks(schedule, costs.costs), costs, params);
    advance_forwards(schedule, costs, limits);
  }
  sign(schedule, "recompute", options.used);
  return schedule;
}

}  // namespace

const TransformEntry& recompute_entry() {
  static const TransformEntry entry{
      .name = "recompute",
      .summary = "keep only what a stage needs to run a microbatch's forward again before its backward",
      .citation =
          "Chen et al., arXiv 1604.06174; early: GPipe, arXiv 1811.06965; window: Megatron-LM; "
          "mario: Liu et al., PPoPP 2025, DOI 10.1145/3710848.3710878",
      .certainty = Certainty::kDerived,
      .certainty_note =
          "early and late against closed forms for GPipe, 1F1B, Chimera and interleaved; Mario's passes "
          "after its abstract: the authors' order of moves is not known",
      .constraints =
          "refuses schedules that recompute already or move activations away, and when=late for backwards in pairs",
      .params =
          {{"mode", "full|selective", "full", "all of the stage again, or a part of it: then time and keep are needed"},
           {"when", "late|early", "late (early with mario)", "after the gradient has come, or while waiting for it"},
           {"time", "0..1", "1", "time of the recomputation as a share of the forward's; --times r= gives it in ms"},
           {"keep", "0..1", "0, or with a profile the stage's input",
            "share of the activation that is kept until then"},
           {"stages", "numbers and ranges: 0+2-3", "all", "stages that recompute"},
           {"stored", "0..", "0", "microbatches of each window that keep everything"},
           {"stored_last", "0..", "0",
            "last microbatches of a step that keep everything (torchgpipe's except_last: 1)"},
           {"window", "1..", "microbatches that a stage has in flight",
            "microbatches i with i mod window >= stored recompute"},
           {"mario", "true|false", "false", "Mario's passes: early, none where F meets its own B, forwards earlier"},
           {"memory_limit", "activations, or a size", "each device's peak without recomputation",
            "how far mario may fill the memory with forwards"}},
      .advice =
          "Takes the activations of almost all microbatches in flight out of memory for about a third more time; "
          "use it where nothing else fits. Early costs one more activation than late and saves what waits.",
      .apply = recompute,
      .uses_costs = true};
  return entry;
}

}  // namespace debubble
