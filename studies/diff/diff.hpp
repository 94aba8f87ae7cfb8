// Diff: both sides of `debubble diff`, opened, matched and compared. Views and exporters only print it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/job/progress.hpp"
#include "sim/analysis/comparison.hpp"
#include "sim/core/run_record.hpp"
#include "studies/runs/levels.hpp"
#include "studies/runs/open_run.hpp"

namespace debubble {

struct DiffRequest {
  std::vector<std::string> files;
  std::optional<std::size_t> iteration;  // of the measured run, counted from 1; none: the one with the median step
  ScenarioFileReader read_scenario;
  RunReaderOptions reader;  // of a measured run that another tool recorded
};

// Where the measured run's memory comes from.
enum class MemorySource : std::uint8_t {
  kCounted,   // by the executor
  kModelled,  // the whole run is simulated
  kComputed,  // from the predicted costs and when ops ran: no measurement
};

// What the shown prediction knew of the measured run.
enum class PredictionBasis : std::uint8_t {
  kForecast,  // nothing: costs given or measured before it
  kMedians,   // the medians of all its steps, the compared one among them
  kOtherRun,  // it is no prediction but another measured run
};

// What one level of knowledge (studies/runs/levels.hpp) predicts for the compared iteration.
struct LevelPrediction {
  BubbleLevel level = BubbleLevel::kReplay;
  BubbleAndStep predicted;
};

struct Diff {
  RunRecord predicted;
  RunRecord measured;
  std::string predicted_name;  // a file, or what it was simulated from
  std::string measured_name;
  std::size_t predicted_iteration = 0;
  std::size_t iteration = 0;  // counted from 0
  bool iteration_given = false;
  Report predicted_report;
  std::vector<Report> measured_reports;  // by iteration
  Comparison comparison;
  PredictionBasis basis = PredictionBasis::kForecast;
  std::vector<LevelPrediction> levels;  // those that can be told; none where no time was measured

  [[nodiscard]] const Timeline& predicted_timeline() const {
    return predicted.iterations[predicted_iteration].timeline;
  }
  [[nodiscard]] const Timeline& measured_timeline() const { return measured.iterations[iteration].timeline; }
  [[nodiscard]] const Report& measured_report() const { return measured_reports[iteration]; }
  [[nodiscard]] MemorySource memory_source() const;      // of all that is held
  [[nodiscard]] MemorySource activation_source() const;  // of activations
  // Whether anything says what devices hold: PyTorch's traces alone do not.
  [[nodiscard]] bool knows_memory(Bytes Figure<Bytes>::*side) const;
  [[nodiscard]] BubbleAndStep measured_step() const { return debubble::measured_step(measured, iteration); }
  // Whether a link is slower than the others in most steps, by more than the clocks may differ.
  [[nodiscard]] bool is_slow(const LinkDurations& link) const;
  [[nodiscard]] std::vector<LinkDurations> slow_links() const;
  // Why the measured run could not differ by chance, as a sentence; "" when its times are measured.
  [[nodiscard]] std::string exactness() const;

 private:
  [[nodiscard]] MemorySource source_of(std::vector<Bytes> RunIteration::*peaks) const;
};

// The first file is the prediction when there are several, unless all are torch.profiler's traces: then they are the
// ranks of one measured run. Peaks of the reports are those that were counted, where they were.
// Without a prediction the measured run's own schedule, costs and links are simulated.
// Throws InputError: what open_run throws, D002 for sides that are no pair, D009 when the prediction deadlocks, D010
// for runs of different schedules, C003 for an iteration that is not there.
[[nodiscard]] Diff make_diff(const DiffRequest& request, Progress& progress);

}  // namespace debubble
