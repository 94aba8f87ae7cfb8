// The space of `debubble plan`: all the ways to run a job on a number of GPUs that the request leaves open.
//
//     base      ranks in each dimension, microbatch, recomputation, sequence parallelism: what the layers' costs follow
//               from
//     variant   schedule with its stages per device and parameters, ZeRO stage: what a base can be run with
//
// What the space leaves out is stated (PlanSpace::restrictions), so that "optimal in this space" has a meaning.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/frameworks/run_rules.hpp"
#include "studies/plan/choice.hpp"
#include "studies/plan/variants.hpp"

namespace debubble {

inline constexpr int kMostGpus = 1 << 20;

struct PlanRequest {
  ScenarioFlags job;  // model or profile, hardware, cluster; what a choice decides is not set here
  int gpus = 0;
  std::int64_t global_batch = 0;  // samples of one step
  // "tp": {"4", "8"}. A key that is absent is open; there are "tp", "cp", "ep", "pp", "dp", "zero", "microbatch",
  // "recompute", "sequence-parallel", "schedule", "chunks", "rank-order",
  // "partition", and the parameters of schedules ("memory_limit").
  std::map<std::string, std::vector<std::string>> allowed;
  std::map<std::string, std::string> places;  // what named each of them: "--only schedule", "--tp"
  std::string runs_in;                        // a framework's name; empty: any, or none
  double margin = 0;                          // share of a device's memory that stays free, or a run is tight
  std::shared_ptr<const RunRules> rules;      // its own, where there is one
  FrameworkJob framework_job;                 // for the rules of others
  int machine = 8;                            // GPUs of a machine, the most tensor ranks
  int alike = 0;           // GPUs of a machine where machines are alike; 0: unknown (rank_orders.hpp)
  int layers = 0;          // of the model, embedding and head among them
  std::int64_t heads = 0;  // 0: unknown (a measured profile): tp, cp and ep are 1
  std::int64_t experts = 0;
  std::int64_t sequence = 0;
  std::int64_t microbatch = 0;  // of a measured profile, which has this size only; 0: open
};

// Where an error about a key of `allowed` is, and a value of it as it is written there: "--fix tp=2", "--tp 2".
[[nodiscard]] std::string place_of(const PlanRequest& request, const std::string& key);
[[nodiscard]] std::string written_as(const PlanRequest& request, const std::string& key, const std::string& value);

struct PlanSpace {
  std::vector<PlanChoice> bases;  // schedule, chunks and zero are open in each
  std::vector<PlanVariant> variants;
  // Choices whose balanced cut does not fit are tried once more with --partition memory (PlanEvaluations).
  bool memory_cuts = false;
  // Choices that recompute nothing and do not fit are tried once more with the fewest of the first blocks of each stage
  // recomputed that fit (PlanEvaluations).
  bool fewest_blocks = false;
  std::vector<int> zeros;                 // of bases with dp > 1 or cp > 1; the others have 0 alone
  std::vector<std::string> restrictions;  // what was left out, as sentences

  [[nodiscard]] const std::vector<PlanVariant>& variants_of(const PlanChoice& base) const;
  [[nodiscard]] std::vector<int> zeros_of(const PlanChoice& base) const;
};

// Throws InputError C002, C003 and S001 for keys and values that are none, B050 where nothing is left.
[[nodiscard]] PlanSpace plan_space(const PlanRequest& request);

}  // namespace debubble
