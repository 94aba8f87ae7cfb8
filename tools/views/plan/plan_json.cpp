#include <fmt/format.h>

#include <algorithm>

#include "formats/json/json.hpp"
#include "sim/core/at.hpp"
#include "studies/plan/rank_orders.hpp"
#include "tools/views/plan/front_view.hpp"
#include "tools/views/plan/plan_view.hpp"

namespace debubble {
namespace {

constexpr int kPlanVersion = 1;

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// As --partition takes it.
std::string partition_word(const Plan& plan, const PlanChoice& choice) {
  const std::string& word = choice.partition.empty() ? plan.asked.request.job.partition : choice.partition;
  return word.empty() ? "auto" : word;
}

Json choice_json(const Plan& plan, const PlanChoice& choice) {
  Json params = Json::array();
  for (const std::string& param : choice.params) params.push_back(param);
  return {{"tp", choice.tensor},
          {"cp", choice.context},
          {"ep", choice.expert},
          {"pp", choice.pipeline},
          {"dp", choice.data},
          {"zero", choice.zero},
          {"sequence_parallel", choice.sequence},
          {"microbatch", choice.microbatch},
          {"microbatches", choice.microbatches},
          {"recompute", kRecomputeWords[choice.recompute]},
          {"recompute_stages", choice.recompute_stages},
          {"recompute_blocks", blocks_word(choice)},
          {"schedule", choice.schedule},
          {"chunks", choice.chunks},
          {"params", params},
          {"rank_order", choice.rank_order.empty() ? kUsualRankOrder : choice.rank_order},
          {"partition", partition_word(plan, choice)},
          {"text", to_string(choice)}};
}

Json run_json(const Plan& plan, const PlannedRun& run) {
  return {{"choice", choice_json(plan, run.choice)},
          {"makespan_ns", run.step},
          {"bound_ns", run.bound},
          {"bubble_ratio", run.bubble_ratio},
          {"peak_memory_bytes", run.peak},
          {"memory_spare_bytes", or_null(run.spare)},
          {"spare_memory_bytes", or_null(run.spare)},
          {"tight", run.is_tight()},
          {"throughput_samples_per_s", or_null(run.samples_per_second)},
          {"throughput_tokens_per_s", or_null(run.tokens_per_second)},
          {"mfu", or_null(run.mfu)},
          {"cost", or_null(cost_of(plan, run))},
          {"command", command_of(run.choice, plan.asked.request.job)}};
}

// What the text lists.
Json rows_json(const Plan& plan) {
  Json rows = Json::array();
  for (const PlanRow& row : plan.rows) {
    Json told = nullptr;
    if (row.needed) told = !row.is_close_to(plan.rows.front().run);
    rows.push_back({{"run", run_json(plan, row.run)},
                    {"difference_needed", or_null(row.needed)},
                    {"told_apart", told},
                    {"unrecorded", row.unrecorded.empty() ? Json(nullptr) : Json(row.unrecorded)}});
  }
  return rows;
}

Json passed_over_json(const Plan& plan) {
  Json runs = Json::array();
  for (const PassedOver& one : plan.passed_over) runs.push_back({{"run", run_json(plan, one.run)}, {"why", one.why}});
  return runs;
}

Json search_json(const SearchResult& search) {
  Json illegal = Json::array();
  for (const auto& [code, count] : search.illegal_by_code) {
    illegal.push_back({{"code", code}, {"count", count}, {"message", search.illegal_messages.at(code)}});
  }
  return {{"space", search.space},
          {"simulated", search.simulated},
          {"excluded_by_time", search.excluded_by_time},
          {"excluded_by_memory", search.excluded_by_memory},
          {"illegal", search.illegal},
          {"illegal_by_code", illegal},
          {"out_of_memory", search.out_of_memory},
          {"deadlocked", search.deadlocked},
          {"remaining_gap", search.remaining_gap},
          {"interrupted", search.interrupted}};
}

Json front_json(const Plan& plan) {
  if (!plan.front) return nullptr;
  const PlanFront& front = *plan.front;
  Json points = Json::array();
  for (std::size_t k = 0; k < front.points.size(); ++k) {
    const PlannedRun& point = front.points[k];
    Json changes = Json::array();
    if (k > 0) {
      for (const std::string& one : changed_words(front.points[k - 1].choice, point.choice)) changes.push_back(one);
    }
    points.push_back({{"run", run_json(plan, point)}, {"proven", front.proven(point)}, {"changes", changes}});
  }
  return {{"points", points},
          {"gap", front.gap},
          {"simulated", front.simulated},
          {"proven_to_ns", or_null(front.proven_to)},
          {"certainty", front_certainty(front)}};
}

Json limit_json(const Plan& plan) {
  if (!plan.limit) return nullptr;
  const PlanLimit& limit = *plan.limit;
  const auto& free = limit.without_memory_limit;
  return {{"compute", limit.compute},
          {"inside_collectives", limit.inside_collectives},
          {"communication", limit.communication},
          {"waiting", limit.waiting},
          {"without_memory_limit", free ? run_json(plan, *free) : Json(nullptr)},
          {"most_gain", or_null(limit.most_gain)}};
}

Json shortage_json(const Plan& plan) {
  const std::optional<Shortage>& shortage = plan.shortage.shortage;
  if (!shortage) return nullptr;
  Json categories = Json::object();
  for (int k = 0; k < kMemoryCategories; ++k) {
    categories[to_string(static_cast<MemoryCategory>(k))] = at(shortage->by_category, k);
  }
  return {{"choice", choice_json(plan, shortage->run.choice)},
          {"device", shortage->device},
          {"capacity_bytes", shortage->capacity},
          {"margin_bytes", shortage->margin},
          {"reserved_bytes", shortage->reserved},
          {"missing_bytes", shortage->missing()},
          {"peak_memory_bytes", shortage->run.peak},
          {"peak_by_category_bytes", categories}};
}

Json changes_json(const Plan& plan) {
  Json changes = Json::array();
  for (const PlanChange& one : plan.shortage.changes) {
    changes.push_back(
        {{"what", one.what}, {"command", one.command}, {"gpus", one.gpus}, {"run", run_json(plan, one.run)}});
  }
  return changes;
}

Json nearest_json(const Plan& plan) {
  const std::optional<NearMiss>& nearest = plan.search.nearest;
  if (!nearest) return nullptr;
  return {{"choice", choice_json(plan, nearest->choice)},
          {"missing_bytes", nearest->missing},
          {"simulated", nearest->simulated}};
}

Json problem_of(const Evaluation& found) {
  if (has_step(found)) return nullptr;
  if (found.kind == Evaluation::Kind::kDeadlock) return "deadlock";
  return found.code.empty() ? found.message : found.code + ": " + found.message;
}

Json outcome_json(const Evaluation& found) {
  return {{"step_ns", has_step(found) ? Json(found.run.step) : Json(nullptr)},
          {"peak_memory_bytes", has_step(found) ? Json(found.run.peak) : Json(nullptr)},
          {"missing_bytes", found.missing},
          {"problem", problem_of(found)}};
}

Json own_changes_json(const Plan& plan) {
  Json changes = Json::array();
  for (const OwnChange& one : plan.own_changes) {
    changes.push_back(
        {{"words", one.words}, {"alone", outcome_json(one.alone)}, {"together", outcome_json(one.together)}});
  }
  return changes;
}

Json own_run_json(const Plan& plan) {
  if (!plan.own) return nullptr;
  const OwnRun& own = *plan.asked.own;
  const Evaluation& found = plan.own->found;
  return {{"name", own.name},
          {"choice", choice_json(plan, own.choice)},
          {"run", has_step(found) ? run_json(plan, found.run) : Json(nullptr)},
          {"problem", problem_of(found)},
          {"missing_bytes", found.missing},
          {"changes", own_changes_json(plan)},
          {"faster_plans", plan.own->faster},
          {"measured_ns", own.measured > 0 ? Json(own.measured) : Json(nullptr)},
          {"notes", own.notes}};
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

}  // namespace

std::string plan_json(const Plan& plan, std::size_t top, const ToolFacts& tool) {
  Json json = json_head(kPlanVersion, tool);
  json["gpus"] = plan.asked.request.gpus;
  json["global_batch"] = plan.asked.request.global_batch;
  json["objective"] = plan.asked.options.objective == PlanObjective::kMemory ? "memory" : "step";
  json["certainty"] = certainty_words(plan);
  json["search"] = search_json(plan.search);
  json["runs"] = Json::array();
  for (std::size_t k = 0; k < std::min(top, plan.search.runs.size()); ++k) {
    json["runs"].push_back(run_json(plan, plan.search.runs[k]));
  }
  json["rows"] = rows_json(plan);
  json["passed_over"] = passed_over_json(plan);
  json["margin"] = plan.asked.request.margin;
  json["kernels_measured"] = plan.kernels_measured;
  const bool ranged = plan.best && plan.best->result.report.step_range;
  json["step_range"] = ranged ? step_range_json(*plan.best->result.report.step_range) : Json(nullptr);
  json["alternatives"] = Json::array();
  for (const Alternative& one : plan.alternatives) {
    json["alternatives"].push_back({{"what", one.what}, {"run", one.run ? run_json(plan, *one.run) : Json(nullptr)}});
  }
  json["frameworks"] = Json::array();
  for (const Paste& one : plan.frameworks) {
    Json environment = Json::object();
    for (const auto& [name, value] : one.environment) environment[name] = value;
    const bool runs = one.refusal.empty();
    std::string note = one.refusal;
    for (const std::string& more : runs ? one.notes : std::vector<std::string>{})
      note += (note.empty() ? "" : "; ") + more;
    json["frameworks"].push_back({{"framework", one.framework},
                                  {"text", runs ? one.text(' ', one.framework == "torchtitan") : ""},
                                  {"note", note},
                                  {"environment", environment},
                                  {"remove", runs ? one.removed() : std::vector<std::string>{}},
                                  {"of_own_best", one.of_own_best}});
  }
  json["nearest"] = nearest_json(plan);
  json["enough_gpus"] = or_null(plan.shortage.enough_gpus);
  json["shortage"] = shortage_json(plan);
  json["changes"] = changes_json(plan);
  json["limit"] = limit_json(plan);
  json["front"] = front_json(plan);
  json["own_run"] = own_run_json(plan);
  json["restrictions"] = Json::array();
  for (const std::string& one : plan.restrictions) json["restrictions"].push_back(one);
  std::vector<Assumption> assumptions = plan.asked.assumptions;
  if (plan.best) {
    const auto& own = plan.best->result.report.assumptions;
    assumptions.insert(assumptions.end(), own.begin(), own.end());
  }
  json["assumptions"] = assumptions_json(assumptions);
  return json.text(2) + "\n";
}

std::string plan_cells_json(const PlanCells& cells) {
  Json json{{"dimensions", Json::array()}, {"pairs", Json::array()}};
  for (const CellDimension& one : cells.dimensions) {
    json["dimensions"].push_back({{"name", one.name}, {"values", one.values}});
  }
  for (const CellPair& pair : cells.pairs) {
    Json counts = Json::array();
    for (const PlanCellCount& one : pair.cells) {
      counts.push_back(Json(std::vector<std::int64_t>{one.fits, one.illegal, one.too_large, one.open}));
    }
    json["pairs"].push_back({{"across", pair.across}, {"down", pair.down}, {"counts", std::move(counts)}});
  }
  return json.text(-1) + "\n";
}

std::string plan_csv_head() {
  return "rank,makespan_ns,bubble_ratio,peak_memory_bytes,spare_memory_bytes,throughput_tokens_per_s,mfu,cost,tp,cp,ep,"
         "pp,dp,zero,sequence_parallel,microbatch,microbatches,recompute,schedule,chunks";
}

// As --fix takes it.
std::string recompute_word(const PlanChoice& choice) {
  const std::string blocks = blocks_word(choice);
  return kRecomputeWords[choice.recompute] + (blocks.empty() ? "" : ":" + blocks);
}

std::string plan_csv_line(const Plan& plan, const PlannedRun& run, std::size_t rank) {
  const PlanChoice& c = run.choice;
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", rank, run.step, run.bubble_ratio,
                     run.peak, run.spare ? std::to_string(*run.spare) : "", number(run.tokens_per_second),
                     number(run.mfu), number(cost_of(plan, run)), c.tensor, c.context, c.expert, c.pipeline, c.data,
                     c.zero, c.sequence ? 1 : 0, c.microbatch, c.microbatches, recompute_word(c), c.schedule, c.chunks);
}

std::string plan_csv(const Plan& plan, std::size_t top) {
  std::string csv = plan_csv_head() + "\n";
  for (std::size_t k = 0; k < std::min(top, plan.search.runs.size()); ++k) {
    csv += plan_csv_line(plan, plan.search.runs[k], k + 1) + "\n";
  }
  return csv;
}

}  // namespace debubble
