// Plans against published layouts: what `debubble plan` finds for the jobs of the records that say how they were split
// over the GPUs, and what these layouts take in the same model.
//
// Records of one source with the same model, GPUs and batch are one job, and their layouts compete. A job keeps all
// flags of its records but those of the layout. Nothing is fitted, on either side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/job/progress.hpp"
#include "studies/accuracy/results_file.hpp"
#include "studies/plan/evaluation.hpp"

namespace debubble {

struct PublishedLayout {
  const ResultRecord* record = nullptr;
  double measured = 0;  // seconds of one step
  PlanChoice choice;
  bool own_cut = false;           // of the layers, given with the record
  std::optional<PlannedRun> run;  // simulated with all of the record's flags
  std::string refused;            // why it could not be; else empty
  // The best with its recomputation, ZeRO stage and sequence parallelism, by a schedule that Megatron-LM runs.
  std::optional<PlannedRun> alike;

  [[nodiscard]] bool fits() const { return run && (!run->spare || *run->spare >= 0); }
};

struct PublishedJob {
  std::string model;
  int gpus = 0;
  std::int64_t global_batch = 0;
  std::int64_t sequence = 0;
  std::vector<PublishedLayout> layouts;  // that took least time first
  // The best of the space and of the layouts that fit; nothing: nothing fits.
  std::optional<PlannedRun> plan;
  const ResultRecord* plan_record = nullptr;  // where that is a published layout
  std::int64_t space = 0;
  std::int64_t simulated = 0;
  double remaining_gap = 0;        // by how much anything else in the space could be faster, at most
  std::vector<std::string> notes;  // what they may know that the plan does not, as sentences
};

struct PlannedSource {
  const ResultSource* source = nullptr;
  std::optional<double> error;  // mean absolute error of its predicted step times, without any constant
  std::vector<PublishedJob> jobs;
};

// Of the sources with such records, in the file's order; `only` empty: all. `gap` as in SearchOptions. The results must
// outlive what is returned. Throws what read_plan and plan_space throw.
[[nodiscard]] std::vector<PlannedSource> plan_published(const ResultsFile& results, const std::string& only, double gap,
                                                        Progress& progress);

}  // namespace debubble
