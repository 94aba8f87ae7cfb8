// Gantt: a timeline as text, one row per device, time to the right.
//
//     d0 F0F1F2F3............B0--F4B1--F5B2--F6B3--F7B4--..B5--..B6--..B7--      debubble simulate
//     d1 ..F0F1F2........B0--F3B1--F4B2--F5B3--F6B4--F7B5--..B6--..B7--....          --schedule 1f1b -p 4 -m 8
//     d2 ....F0F1....B0--F2B1--F3B2--F4B3--F5B4--F6B5--F7B6--..B7--........
//     d3 ......F0B0--F1B1--F2B2--F3B3--F4B4--F5B5--F6B6--F7B7--............
//        |0 ms     |5        |10       |15       |20       |25          33|
//        F forward   B backward   . idle   digits: microbatch   2 columns = 1 ms
//
// An op is its letter (F forward, B backward, I input gradient, W weight gradient, X an overlapped pair), its
// microbatch where there is room, and dashes to its end; lower case marks every second stage of a device, or, where the
// schedule has replicas, the second one's stages. A late recomputation and its backward, one cell of the engine, are
// drawn one after the other. Below a device that moves activations away is its copy lane, "cp". The dots
// are the bubble: a triangle at the left while the pipeline fills, one at the right while it drains, and whatever
// is between is waiting that a better order or cut could avoid. '~' is a transfer that holds the lane, 'O' the
// optimizer, '=' a collective of the training step while the device does nothing else.
//
// Two ways to fit the width. When some whole number of columns shows the common unit of all times, the drawing is
// exact. Otherwise every column is one slice of time and shows the kind of op that fills most of it, or '.' when the
// device is idle for more than half of it; the last line says how long a slice is.
#pragma once

#include <string>

#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// What the timeline does not know: whose stages and pieces these are, and how long the ops of a cell are.
struct GanttFacts {
  const Schedule* schedule = nullptr;
  const StageCosts* costs = nullptr;
};

// Ends in a newline; no line is wider than style.width. Linear in spans and transfers.
[[nodiscard]] std::string gantt(const Timeline& timeline, const ViewStyle& style, const GanttFacts& facts = {});

}  // namespace debubble
