// Compare table: several schedules for one job, one row each, and which is best for a stated reason.
//
//                  step           bubble/  bubble/  peak      weight   p2p
//       schedule     ms    speed     step    ideal   MiB  on  copies  msgs  needs
//       gpipe     33.00   81.8 %   27.3 %   37.5 %  8.00  d0       1    48  -
//       1f1b      33.00   81.8 %   27.3 %   37.5 %  4.00  d0       1    48  -
//     * zb-h1     27.00  100.0 %   11.1 %   12.5 %  4.00  d0       1    48  s
//
//     best   zb-h1 takes 18.2 % less time than 1f1b (bubble 11.1 % of the step against 27.3 %) at the same peak
//            memory; splits the backward
//     needs  s splits the backward
//
// speed: microbatches per second, relative to the best. bubble/step is bubble_ratio, bubble/ideal bubble_over_ideal.
// MFU and spare (of the devices' memory; below 0: it lacks so much) are shown where they are known.
// "~" before a name: a modelled run that cannot be told apart from the fastest; a line below says how large the
// difference would have to be.
// Runs without result (refused, deadlocked) follow with the reason.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "schedules/needs.hpp"
#include "sim/analysis/beside_fastest.hpp"
#include "sim/analysis/report.hpp"
#include "tools/views/style.hpp"

namespace debubble {

struct ComparedRun {
  Report report;
  std::string note;   // what the schedule costs apart from time: "splits the backward"; may be empty
  std::string terms;  // what was changed to make it equal to the others; may be empty
  ScheduleNeeds needs;
  double work = 1;                      // done per device in one step; speed is work per time
  bool in_words = true;                 // whether the notes tell its needs and parameters
  std::optional<BesideFastest> beside;  // of modelled runs but the fastest
  bool per_gpu = false;                 // of different configurations: `work` is in samples per GPU
};

// In the order given. Best is the fastest run without an error finding; of equals, the one that needs less memory,
// then fewer copies of the weights, then the first; a flush wins over none. `within` says the limit that "best" keeps
// ("within 4.00 MiB"), or nothing.
[[nodiscard]] std::string compare_table(std::span<const ComparedRun> runs, const std::string& within,
                                        const ViewStyle& style);

// Copies of a stage's weights that a device holds at most: replicas, versions and buffers.
[[nodiscard]] int weight_copies(const Report& report);

}  // namespace debubble
