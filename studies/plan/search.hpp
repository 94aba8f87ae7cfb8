// The search of `debubble plan`: every way to run the job that could be the best is simulated by the engine; what is
// not was excluded by a lower bound of its step time or of its memory (studies/plan/bounds.hpp).
//
//     bases, by the mean compute of a device  ->  variants, by step_bound  ->  simulated, in batches of a fixed size
//
// Best bound first, so that the search ends when nothing left can be shorter than the best by more than the gap that
// was asked for. The result is the same on any number of threads; with a time budget it depends on the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenario/job/progress.hpp"
#include "studies/plan/evaluation.hpp"
#include "studies/plan/front.hpp"
#include "studies/plan/space.hpp"

namespace debubble {

// Times the best step: no plan that is slower is worth a line, whatever else it has.
inline constexpr double kWorthALine = 1.1;

enum class PlanObjective : std::uint8_t { kStep, kMemory };

struct SearchOptions {
  PlanObjective objective = PlanObjective::kStep;
  double gap = 0.01;             // it ends when nothing left can be better by a larger share
  std::optional<double> budget;  // seconds
  int threads = 0;               // 0: as many as there are cores
  bool nearest = true;           // where none fits, SearchResult::nearest is among all that was simulated
};

// A choice that does not fit, and what it lacks.
struct NearMiss {
  PlanChoice choice;
  Bytes missing = 0;
  bool simulated = false;  // else by the bound
};

struct SearchResult {
  std::vector<PlannedRun> runs;     // that fit, best first
  std::vector<PlannedRun> tight;    // that fit with less to spare than is to stay free, best first
  std::optional<NearMiss> nearest;  // where none fits
  std::int64_t space = 0;
  std::int64_t illegal = 0;  // refused: no such run exists
  std::map<std::string, std::int64_t> illegal_by_code;
  std::map<std::string, std::string> illegal_messages;  // one by code
  std::int64_t excluded_by_time = 0;
  std::int64_t excluded_by_memory = 0;
  std::int64_t simulated = 0;
  std::int64_t out_of_memory = 0;  // of those simulated
  std::int64_t deadlocked = 0;
  double remaining_gap = 0;  // by how much something that was not simulated could be better, as a share
  bool interrupted = false;  // by the budget
};

class PlanEvaluations;
struct PlanCells;  // studies/plan/cells.hpp
class PlanRanks;   // studies/plan/over_mpi.hpp

// What was computed is kept, so that searches of parts of one space cost little.
class PlanSearch {
 public:
  // `ranks`: other processes that evaluate, too; or null.
  PlanSearch(const PlanRequest& request, PlanSpace space, PlanRanks* ranks = nullptr);
  ~PlanSearch();
  PlanSearch(const PlanSearch&) = delete;
  PlanSearch& operator=(const PlanSearch&) = delete;

  [[nodiscard]] const PlanSpace& space() const;
  // What is known of the bases of a search that differs in its memory alone.
  void take_bases(const PlanSearch& other);
  // Of the variants that `keep` says yes to; it is asked by several threads at once. Then the counts are of what was
  // looked at.
  [[nodiscard]] SearchResult run(const SearchOptions& options, Progress& progress,
                                 const std::function<bool(const PlanChoice&)>& keep = nullptr);
  // Of time against memory (front.hpp), whatever the objective.
  [[nodiscard]] PlanFront front(const SearchOptions& options, Progress& progress);
  // Of all that was looked at so far.
  [[nodiscard]] PlanCells cells() const;

 private:
  std::unique_ptr<PlanEvaluations> evaluations_;
};

}  // namespace debubble
