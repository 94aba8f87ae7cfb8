// The drawing area of the Gantt view: rows of one-letter pixels with a colour class each. Used by gantt.cpp only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"

namespace debubble::gantt_detail {

// Colour classes, two for each kind of op in the order of OpKind: the second one is the lighter shade, for every second
// stage of a device or for the second replica's.
enum class Ink : std::uint8_t {
  kIdle,
  kF,
  kF2,
  kB,
  kB2,
  kI,
  kI2,
  kW,
  kW2,
  kR,
  kR2,
  kS,
  kS2,
  kT,
  kT2,
  kPair,
  kPair2,
  kTransfer,
  kOut,        // a copy of an activation away from the device
  kBack,       // and back
  kStep,       // a task of the training step that holds the compute lane: the optimizer
  kCollective  // one that overlaps with nothing on the device
};
inline constexpr int kInks = 22;

// ANSI codes of an ink: backgrounds near the Okabe-Ito colours, which people with colour blindness can tell apart.
[[nodiscard]] const char* ansi_codes(Ink ink);

// 'F' for kF, 'f' for kF2, '.', 'X', '~', ...
[[nodiscard]] char letter_of(Ink ink);

struct Pixel {
  char glyph = '.';
  Ink ink = Ink::kIdle;
};
using Row = std::vector<Pixel>;

// What a column represents. Exact: `per_unit` columns are `unit` ns. Otherwise `columns` slices share the makespan.
struct Grid {
  bool exact = false;
  std::size_t columns = 0;
  std::size_t per_unit = 0;
  Nanoseconds unit = 0;
  bool last_digit_only = false;     // microbatch numbers that do not fit are cut to their last digit
  std::vector<Nanoseconds> bounds;  // columns + 1 times: column c shows [bounds[c], bounds[c + 1]); sliced grids only

  // The column in which `at` lies.
  [[nodiscard]] std::size_t column_of(Nanoseconds at) const;
};

// Chooses the grid for a timeline that takes some time, given the columns there are.
[[nodiscard]] Grid choose_grid(const Timeline& timeline, std::size_t available);

// Whether the cell is a recomputation together with the backward that needs it.
[[nodiscard]] bool is_late_recompute(const Span& span, const Timeline& timeline);

// The timeline with late recomputations apart: a cell of R and its own B or I becomes two spans, in proportion to what
// they cost (halves where nobody knows).
[[nodiscard]] Timeline with_members_apart(const Timeline& timeline, const StageCosts* costs);

// Whether lower case tells replicas apart, not stages: they have weights of their own.
[[nodiscard]] bool shades_replicas(const Schedule* schedule);

// One row per device. `schedule` may be null: then shades tell stages apart.
[[nodiscard]] std::vector<Row> draw(const Timeline& timeline, const Grid& grid, const Schedule* schedule);

// One row per device of what its copy lane does, empty where it has none; no rows at all without copies.
[[nodiscard]] std::vector<Row> draw_copies(const Timeline& timeline, const Grid& grid);

// How many stages the fullest device runs: what lower case means depends on it.
[[nodiscard]] std::size_t most_stages_on_a_device(const Timeline& timeline);

// The ink of a span, in the lighter shade or not.
[[nodiscard]] Ink ink_of(const Span& span, const Timeline& timeline, bool lighter);

}  // namespace debubble::gantt_detail
