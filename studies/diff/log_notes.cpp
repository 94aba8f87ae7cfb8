#include <algorithm>
#include <string>
#include <utility>

#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "studies/diff/log_parts.hpp"

namespace debubble {
namespace {

// What was lost of timers and memory, by how much.
void add_timer_notes(const LoggedRun& run, LogDiff& diff) {
  const auto& lines = run.measured.intervals;
  const auto timed = std::count_if(lines.begin(), lines.end(), [](const auto& line) { return !line.timers.empty(); });
  if (timed > 0 && static_cast<std::size_t>(timed) < lines.size()) {
    diff.notes.push_back(counted(lines.size() - static_cast<std::size_t>(timed), "line") +
                         " of iterations without timers, of " + std::to_string(lines.size()) +
                         ": those are of the others");
  }
  if (run.measured.timers_lost) {
    diff.notes.emplace_back("timers of the second line left out: those of the first iteration cannot be taken out");
  }
  if (run.log.torn_rows > 0) {
    diff.notes.push_back(counted(run.log.torn_rows, "row") + " of timers left out: other lines tore them");
  }
  if (run.log.other_tables > 0) {
    diff.notes.push_back(counted(run.log.other_tables, "table") +
                         " of timers left out: no line of an iteration is theirs");
  }
  const bool saved =
      std::any_of(run.log.memory.begin(), run.log.memory.end(), [](const auto& one) { return one.saved; });
  if (saved) diff.notes.emplace_back("memory after a checkpoint was saved is left out: its peak is not training's");
}

}  // namespace

void add_log_notes(const LoggedRun& run, LogDiff& diff) {
  const auto note = [&](std::string text) { diff.notes.push_back(std::move(text)); };
  const auto has = [&](const char* word) {
    return std::find(run.log.words.begin(), run.log.words.end(), word) != run.log.words.end();
  };
  if (run.log.blocks > 1) {
    note("the log has " + std::to_string(run.log.blocks) + " starts of the job: the last counts");
  }
  const MeasuredIterations& measured = run.measured;
  if (measured.only_first) {
    note(measured.first > 0 ? "the only line of iterations is that of the first, which warms up"
                            : "there is one line of iterations only, and they warm up");
  } else if (measured.taken_out) {
    note("the first iteration warms up (" + format_duration(measured.first) +
         "): it is taken out of the second line, which holds it again");
  } else if (run.log.intervals.size() > 1) {
    note("the first line of iterations is left out: they warm up");
  }
  if (measured.smaller > 0) {
    note(counted(measured.smaller, "line") + " of iterations left out: another global batch than " +
         std::to_string(run.global_batch));
  }
  if (measured.skipping > 0) {
    note(counted(measured.skipping, "line") + " left out: iterations skipped the optimizer");
  }
  add_timer_notes(run, diff);
  if (run.log.cut) note("the log ends within a line of an iteration, which is left out");
  if (has("--fp16") && !has("--accumulate-allreduce-grads-in-fp32") && diff.predicted_name.empty()) {
    note(
        "gradients are fp16 while microbatches run and are copied to fp32 for the optimizer; the prediction keeps them "
        "in fp32 all along");
  }
  const std::optional<MemoryFit>& fit = diff.predicted.memory_fit;
  if (fit && fit->spare < 0) note("predicted to run out of memory, and yet it ran");
  if (!diff.predicted.step) note("the prediction has no training step: write step = \"on\" to add the optimizer");
  if (!diff.predicted.cluster || diff.predicted.cluster->topology == "ideal") {
    note(
        "the network between pipeline ranks is not in the log: each is joined to the next as GPUs in one machine are. "
        "To change that: write the scenario with debubble import --from megatron, add topology and step = \"on\" to "
        "it, and compare: debubble diff SCENARIO --log LOG");
  }
}

}  // namespace debubble
