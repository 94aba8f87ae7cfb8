// What the runs of a comparison assume: what all share, for the heading, and what only some do, by schedule.
//
//     given    devices 8; microbatches 16; hop latency 50 us                             shared
//     default  link bandwidth unlimited; transfers overlapped with compute
//     only zb-h1: input gradient 1.1 ms per device share (given)                         of some
//     the others: backward 2 ms per device share (given)
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/analysis/report.hpp"
#include "sim/core/assumption.hpp"
#include "tools/views/style.hpp"

namespace debubble {

struct ComparedAssumptions {
  // Made by some runs and not by others: the same assumptions of the same runs are grouped.
  struct OfSome {
    std::vector<std::size_t> runs;  // indices into the reports, ascending
    std::vector<Assumption> assumptions;
  };

  std::vector<Assumption> shared;
  std::vector<OfSome> of_some;
};

// Of the runs that have a result; the others assume nothing. What a schedule's own number of stages decides is left
// out: the stages per device, which are in its row, and a partition that not all share.
[[nodiscard]] ComparedAssumptions compared_assumptions(std::span<const Report> reports);

// `of_some` as lines for people, indented like a heading; "" where all share all.
[[nodiscard]] std::string assumptions_of_some(const ComparedAssumptions& assumptions, std::span<const Report> reports,
                                              const ViewStyle& style);

}  // namespace debubble
