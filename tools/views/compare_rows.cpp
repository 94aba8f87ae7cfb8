#include "tools/views/compare_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace debubble {
namespace {

// Sort key of a choice: with a flush, for without one it is another training; then faster, leaner, fewer weight copies.
auto merit(const CompareRow& row) {
  return std::tuple(row.run->needs.asynchronous, -row.rate, row.memory, weight_copies(row.run->report));
}

}  // namespace

const Finding* first_error(const Report& report) {
  const auto found = std::find_if(report.findings.begin(), report.findings.end(), is_error);
  return found == report.findings.end() ? nullptr : &*found;
}

std::string schedule_label(const ScheduleFacts& facts) {
  return facts.chunks > 1 ? fmt::format("{} v={}", facts.name, facts.chunks) : facts.name;
}

CompareRow compared_row(const ComparedRun& run) {
  const Report& report = run.report;
  const DeviceReport& worst =
      *std::max_element(report.devices.begin(), report.devices.end(),
                        [](const DeviceReport& a, const DeviceReport& b) { return a.peak_memory < b.peak_memory; });
  const double rate = run.work / static_cast<double>(std::max<Nanoseconds>(1, report.makespan));
  return {&run, schedule_label(report.schedule), rate, worst.peak_memory, worst.device, ""};
}

bool eligible(const CompareRow& row) { return first_error(row.run->report) == nullptr; }

const CompareRow* best_of(const std::vector<CompareRow>& rows, const CompareRow* except) {
  const CompareRow* best = nullptr;
  for (const CompareRow& row : rows) {
    if (&row != except && eligible(row) && (best == nullptr || merit(row) < merit(*best))) best = &row;
  }
  return best;
}

const CompareRow* rival_of(const std::vector<CompareRow>& rows, const CompareRow* best) {
  for (const CompareRow& row : rows) {
    if (&row != best && eligible(row) && row.run->report.schedule.name == "1f1b") return &row;
  }
  return best_of(rows, best);
}

int devices_in(const CompareRow& row) { return row.run->report.schedule.devices; }

bool too_close(const CompareRow& row) { return row.run->beside && !row.run->beside->told_apart(); }

int weight_copies(const Report& report) {
  int beyond_one = 0;
  if (report.stream) {
    for (const StageVersions& stage : report.stream->stages)
      beyond_one = std::max(beyond_one, stage.copies_beyond_one());
  }
  return report.weight_copies + beyond_one;
}

}  // namespace debubble
