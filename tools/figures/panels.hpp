// The panels of run_figure(). Each begins at sheet.top() and moves down past itself.
#pragma once

#include "tools/figures/run_figure.hpp"
#include "tools/figures/sheet.hpp"

namespace debubble::figure {

// The plot of all panels of a run over time.
[[nodiscard]] Span1D time_span(const RunToDraw& run, const Sheet& sheet);

void draw_pipeline(const RunToDraw& run, bool causes, Sheet& sheet);
void draw_idle(const RunToDraw& run, Sheet& sheet);
void draw_memory(const RunToDraw& run, Sheet& sheet);

// "Device 3" at the left of every row that has room for it.
void write_device_labels(const DeviceRows& rows, Length height, Sheet& sheet);

}  // namespace debubble::figure
