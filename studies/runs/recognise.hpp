// Which schedule of the catalog a run followed, by the order of its ops alone; and where two orders part.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/core/schedule.hpp"

namespace debubble {

struct RecognisedSchedule {
  std::string name;
  std::map<std::string, std::string> params;  // those that differ from the row's defaults
};

struct Recognition {
  std::optional<RecognisedSchedule> schedule;  // none: no row has this order
  std::string nearest;                         // then: the row that agrees longest; empty when none could be built
  std::string difference;                      // and where it first differs, as one sentence
};

// Tries every row whose order follows from p, m and v: its defaults, the words of its parameters one by one, and the
// group with which an interleaved schedule begins. Rows that plan by costs or cut microbatches into slices are not
// tried.
[[nodiscard]] Recognition recognise(const Schedule& ran);

// The first thing in which two schedules differ, as one sentence; "" when they have the same ops in the same order.
[[nodiscard]] std::string first_difference(const Schedule& predicted, const Schedule& measured);

}  // namespace debubble
