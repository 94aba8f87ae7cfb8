// Which boxes the ops of a run are in a pipeline figure, before they are painted.
//
// A device whose ops would be narrower than 3/4 pt on average is drawn in columns of 1/2 pt instead: each shows from
// the foot up how its time is shared out, so that a run of any length takes a bounded number of boxes.
#pragma once

#include <array>
#include <compare>
#include <map>
#include <string>
#include <vector>

#include "tools/figures/run_figure.hpp"
#include "tools/figures/sheet.hpp"

namespace debubble::figure {

// What boxes have in common; `step`: a task of the training step, and then nothing else counts.
struct BoxKind {
  OpKind op = OpKind::kForward;
  bool light = false;
  bool step = false;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the compared 0 for a pointer
  friend auto operator<=>(const BoxKind&, const BoxKind&) = default;
};

struct NamedBox {
  Box box;
  std::string name;  // the microbatch; of a step's task a short word
};

struct PipelineBoxes {
  std::map<BoxKind, std::vector<NamedBox>> boxes;
  bool merged = false;  // of some device
  bool pairs = false;   // some cells hold two ops, which are drawn above each other
};

// Row r of `rows` begins at top + r * pitch; boxes are `height` high.
[[nodiscard]] PipelineBoxes pipeline_boxes(const RunToDraw& run, const DeviceRows& rows, const Span1D& span, Length top,
                                           Length height);

}  // namespace debubble::figure
