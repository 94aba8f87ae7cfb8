// LogDiff: what a training log of Megatron-LM measured, beside what its own arguments predict.
//
// The log's block of arguments becomes a scenario as `debubble import --from megatron` makes it, with the training step
// (gradients, optimizer), and is simulated; the log's iterations, timers and memory are the measurement. There are no
// begins and ends of ops in a log, so that no gap is explained op by op as Diff does; Megatron's timers give the
// bubble.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/megatron/log_bubble.hpp"
#include "scenario/job/progress.hpp"
#include "sim/analysis/comparison.hpp"
#include "sim/analysis/report.hpp"
#include "studies/diff/tolerance.hpp"
#include "studies/runs/open_run.hpp"

namespace debubble {

struct LogDiffRequest {
  std::string log;
  std::string hardware;  // "": what the log's nvidia-smi names
  std::string scenario;  // a file that takes the place of the log's arguments; "": none
  ScenarioFileReader read_scenario;
};

// An argument that matters and is not in the log, and what was taken for it.
struct AssumedArgument {
  std::string name;   // "--sequence-parallel"
  std::string taken;  // "off"
};

// One of Megatron's timers, per iteration: of one pipeline rank, or the least or most over all ranks.
struct TimerFigure {
  enum class Of : std::uint8_t { kDevice, kLeastRank, kMostRank };
  std::string name;  // "forward-compute", "backward-compute"
  Of of = Of::kDevice;
  int device = 0;  // kDevice
  Figure<Nanoseconds> time;
};

// Of the device whose forwards and backwards were timed: the share of the iteration in which it ran neither.
struct IdleFigure {
  int device = 0;
  Figure<double> share;
};

// Of a rank's time in the pipeline, which is the longest forward-backward of all ranks, what it spent otherwise than on
// forwards and backwards: by Megatron-LM's timers, and as predicted from the ops. Medians over the lines.
struct DeviceBubble {
  int device = 0;
  Figure<double> share;
  // What of it the log says: waiting for activations and sending them, for gradients, for both at once, and at the end
  // for the others. Shares, too; what is left was waited for in none of the timed transfers.
  double forward = 0, backward = 0, both = 0, end = 0;
};

// Of all ranks together; where only the least and the most rank were logged, `measured` has bounds.
struct PipelineBubble {
  double predicted = 0;
  BubbleBounds measured;
  std::optional<Figure<double>> figure;  // where every rank was logged
};

// PyTorch's torch.cuda.max_memory_allocated; the prediction is of the allocator, too.
struct StageMemoryFigure {
  int device = 0;
  int ranks = 0;  // that say it; 0: none, and `most` means nothing
  Bytes predicted = 0;
  Bytes most = 0;
};

// The most of all devices; of the measured ones those that the log names.
struct PeakMemory {
  Bytes predicted = 0;
  std::optional<Bytes> measured;
};

struct LogDiff {
  std::string log_name;
  std::string predicted_name;    // the scenario file; "": the log's own arguments
  std::string hardware;          // "v100"; "" where the scenario file says it
  bool hardware_in_log = false;  // else it was given
  Report predicted;              // with the training step
  std::size_t lines = 0;         // of iterations, that are compared; 0: none is in the log
  std::size_t left_out = 0;      // warm-up, another batch, or the optimizer was skipped
  std::int64_t last_iteration = 0;
  Nanoseconds first = 0;                    // of the first iteration alone; 0: no line is of it alone
  std::optional<Figure<Nanoseconds>> step;  // none: the log has no line of an iteration
  std::optional<Figure<double>> samples_per_second;
  std::optional<Figure<double>> tokens_per_second;
  std::vector<TimerFigure> timers;
  std::vector<IdleFigure> idle;
  std::optional<PipelineBubble> bubble;   // none: the log lacks a timer or a rank
  std::vector<DeviceBubble> bubbles;      // by device, where every rank was logged
  std::vector<StageMemoryFigure> memory;  // by device
  std::vector<AssumedArgument> assumed;
  std::vector<std::string> notes;

  [[nodiscard]] PeakMemory peak_memory() const;
  [[nodiscard]] bool has_memory() const { return peak_memory().measured.has_value(); }
};

// Throws InputError: P010 for a text without a whole block of arguments, F001 where they do not say how large the model
// is, P016 for a log with neither iterations nor memory or of one pipeline rank, P012 for one that contradicts itself,
// C004 without hardware, D009 and D010 as make_diff does, and whatever is wrong with the scenario.
[[nodiscard]] LogDiff make_log_diff(const LogDiffRequest& request, Progress& progress);

// Throws InputError D013 when something is to be judged that the log did not measure.
void require_judgeable(const Tolerance& tolerance, const LogDiff& diff);
// The medians, and the most of each stage's ranks, that differ by more.
[[nodiscard]] std::vector<Excess> exceeded(const Tolerance& tolerance, const LogDiff& diff);

}  // namespace debubble
