#include "tools/views/live_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "formats/text/shell.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "studies/runs/predict.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

// The smallest value that at least `percent` of them do not exceed.
template <typename Value>
Value sample_percentile(std::vector<Value> values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  const std::size_t rank = (values.size() * percent + 99) / 100;
  return values[std::max<std::size_t>(rank, 1) - 1];
}

std::string live_clock_text(const LivePlan& plan, const RunRecord& record) {
  std::string text = fmt::format("{}, {} clock", record.origin.backend, record.origin.clock);
  if (plan.clock.clock == live::Clock::kLogicalGiven) text += " with the given costs";
  if (plan.clock.clock == live::Clock::kLogicalCpuTime) text += " with the CPU time that each op took";
  return plan.clock.reason.empty() ? text : text + ": " + plan.clock.reason;
}

std::string machine_text(const RunOrigin& origin) {
  std::string text = origin.device;
  const auto add = [&](const std::string& label, const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + label + part;
  };
  add("driver ", origin.driver);
  add("CUDA ", origin.cuda);
  add("", origin.libraries);
  return text;
}

std::string live_step_text(const RunRecord& record) {
  std::vector<Nanoseconds> steps;
  for (const RunIteration& iteration : record.iterations) steps.push_back(iteration.timeline.makespan);
  if (steps.size() == 1) return format_duration(steps[0]) + ", 1 iteration";
  return fmt::format("{} [{} .. {}], the median of {} [p10 .. p90]", format_duration(sample_percentile(steps, 50)),
                     format_duration(sample_percentile(steps, 10)), format_duration(sample_percentile(steps, 90)),
                     counted(steps.size(), "iteration"));
}

double measured_bubble(const Timeline& timeline) {
  double busy = 0;
  for (const Span& span : timeline.spans) busy += static_cast<double>(span.end - span.begin);
  const double all = static_cast<double>(timeline.makespan) * timeline.devices;
  return all > 0 ? 1 - busy / all : 0;
}

std::string bubble_text(const RunRecord& record) {
  std::vector<double> bubbles;
  for (const RunIteration& iteration : record.iterations) bubbles.push_back(measured_bubble(iteration.timeline));
  if (bubbles.size() == 1) return format_percent(bubbles[0]);
  return fmt::format("{} [{} .. {}]", format_percent(sample_percentile(bubbles, 50)),
                     format_percent(sample_percentile(bubbles, 10)), format_percent(sample_percentile(bubbles, 90)));
}

std::string alignment_text(const ClockAlignment& clocks) {
  return fmt::format("{}; two clocks may differ by {}", clocks.method, format_duration(clocks.residual));
}

}  // namespace

std::string measured_view(const LivePlan& plan, const RunRecord& record, const std::string& run_file,
                          const ViewStyle& style) {
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  const auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) table.add_row({label, text});
  };
  add("live", live_clock_text(plan, record));
  add("machine", machine_text(record.origin));
  add("method", record.origin.method);
  for (const std::string& note : record.origin.notes) add("note", note);
  add("step", live_step_text(record));
  add("bubble", bubble_text(record));
  add("tensors", record.origin.backend == "torch"
                     ? fmt::format("{} crossed processes in the first iteration, each with the bytes that were sent",
                                   record.tensors_checked)
                     : fmt::format("{} crossed devices, each with the right checksum chain", record.tensors_checked));
  if (record.clocks.residual > 0 || !record.clocks.offsets.empty()) add("clocks", alignment_text(record.clocks));
  table.add_row({"", ""});
  add("next", run_file.empty() ? "add --save-run run.json, then: debubble diff run.json"
                               : "debubble diff " + shell_file(run_file));
  return table.text(static_cast<std::size_t>(style.width));
}

std::string stall_view(const Stall& stall, const ViewStyle& style) {
  std::string text = paint(style.color, kRed, "stuck") + ": " + stall.cause + "\n";
  for (const DevicePosition& device : stall.devices) text += paragraph_after("  ", to_string(device), style, 4);
  return text;
}

}  // namespace debubble
