// Compare table: several schedules for one job, one row each, and which is best for a stated reason.
//
//     compare on 4 devices: 8 microbatches
//     best   zb-h1 takes 18.2 % less time than 1f1b (bubble 11.1 % of the step against 27.3 %) at the same peak
//            memory; splits the backward
//
//                  step           bubble/  bubble/  peak      weight   p2p
//       schedule     ms    speed     step    ideal   MiB  on  copies  msgs  needs  notes
//     * zb-h1     27.00  100.0 %   11.1 %   12.5 %  4.00  d0       1    48  s
//       seq1f1b   28.00   96.4 %   14.3 %   16.7 %  2.00  d0       1    96  q      a
//       1f1b      33.00   81.8 %   27.3 %   37.5 %  4.00  d0       1    48  -
//     needs  s splits the backward
//     a      what cutting costs (kernels, attention) is not charged
//
// speed: microbatches per second, relative to the best (above 100 % for what is asynchronous and faster). bubble/step
// is bubble_ratio, bubble/ideal bubble_over_ideal. MFU and spare (of the devices' memory; below 0: it lacks so much)
// are shown where they are known. "!" before a name: it does not fit. "~": a modelled run that cannot be told apart
// from the best.
//
// The text takes at most 40 lines of 80 columns. What it leaves out (the slowest rows, reasons of schedules that do not
// run, framework support, the ends of long notes) it says, and ViewStyle::details shows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "schedules/needs.hpp"
#include "sim/analysis/beside_fastest.hpp"
#include "sim/analysis/report.hpp"
#include "tools/views/compare_assumptions.hpp"
#include "tools/views/style.hpp"

namespace debubble {

struct ComparedRun {
  Report report;
  std::string note;   // what the schedule costs apart from time: "splits the backward"; may be empty
  std::string terms;  // what was changed to make it equal to the others; may be empty
  ScheduleNeeds needs;
  double work = 1;                        // done per device in one step; speed is work per time
  bool in_words = true;                   // whether the notes tell its needs and parameters
  std::optional<BesideFastest> beside;    // of modelled runs but the fastest
  std::vector<std::string> remarks = {};  // what its numbers leave out or rest on: one note of the row each
  bool pinned = false;                    // shown even among the slowest of many
  bool per_gpu = false;                   // of different configurations: `work` is in samples per GPU
};

struct ComparedSchedules {
  std::string title;              // "compare on 4 devices: 8 microbatches"
  std::vector<ComparedRun> runs;  // in the order of the rows
  std::string within;             // the limit that "best" keeps: "within 4.00 MiB"; or nothing
  std::vector<std::pair<std::string, std::string>> answers = {};  // more lines below "best": label, text
  std::string only = {};     // of one schedule alone: why there is nothing to compare
  std::string nearest = {};  // where none fits: the run that lacks least, and how much
  ComparedAssumptions assumptions = {};
};

// Best is the fastest run without an error finding; of equals, the one that needs less memory, then fewer copies of the
// weights, then the first. A run without a flush is the best only where none has one: it does not train the same.
[[nodiscard]] std::string compare_table(const ComparedSchedules& comparison, const ViewStyle& style);

// The lines above its table, label and text: which is best and why, what each framework can run today, what is close.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> compare_answers(const ComparedSchedules& comparison);

// Copies of a stage's weights that a device holds at most: replicas, versions and buffers.
[[nodiscard]] int weight_copies(const Report& report);

}  // namespace debubble
