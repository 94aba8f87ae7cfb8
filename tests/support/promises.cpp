// What Timeline, Report and the memory curves promise about any run at all.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/engine_run.hpp"

namespace debubble::testing {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

Nanoseconds end_of(const Gate& gate, const Timeline& timeline) {
  if (gate.kind == Gate::Kind::kSpan) return timeline.spans.at(at(gate.index)).end;
  if (gate.kind == Gate::Kind::kTransfer) return timeline.transfers.at(at(gate.index)).end;
  if (gate.kind == Gate::Kind::kCopy) return timeline.copies.at(at(gate.index)).end;
  if (gate.kind == Gate::Kind::kCollective) return timeline.collectives.at(at(gate.index)).end;
  return 0;
}

Nanoseconds begin_of(const Gate& gate, const Timeline& timeline) {
  if (gate.kind == Gate::Kind::kSpan) return timeline.spans.at(at(gate.index)).begin;
  if (gate.kind == Gate::Kind::kCopy) return timeline.copies.at(at(gate.index)).begin;
  if (gate.kind == Gate::Kind::kCollective) return timeline.collectives.at(at(gate.index)).begin;
  return gate.kind == Gate::Kind::kTransfer ? timeline.transfers.at(at(gate.index)).begin : 0;
}

std::string broken_gate(const Timeline& timeline) {
  for (const Span& span : timeline.spans) {
    if (span.begin != end_of(span.gate, timeline)) return to_string(span.op) + " does not begin when its gate ends";
    if (span.begin < span.ready) return to_string(span.op) + " begins before it is ready";
  }
  for (const Transfer& transfer : timeline.transfers) {
    const std::string name = "the transfer of " + to_string(transfer.op);
    if (transfer.begin != end_of(transfer.gate, timeline)) return name + " does not begin when its gate ends";
    if (transfer.begin < timeline.spans.at(at(transfer.from_span)).end) return name + " leaves before it is made";
  }
  for (const CopySpan& copy : timeline.copies) {
    if (copy.begin != end_of(copy.gate, timeline)) return "a copy of " + to_string(copy.op) + " waits for nothing";
  }
  for (const Collective& each : timeline.collectives) {
    if (each.begin != end_of(each.gate, timeline)) return "a barrier does not begin when its gate ends";
  }
  return "";
}

// Of all devices.
Nanoseconds idle_for(IdleCause cause, const Report& report) {
  Nanoseconds sum = 0;
  for (const DeviceReport& device : report.devices) sum += device.idle_by_cause[static_cast<std::size_t>(cause)];
  return sum;
}

// Causes that nothing in the run can bring about.
std::string wrong_cause(const EngineRun& run) {
  const Timeline& timeline = run.timeline;
  if (run.report.critical_path.wait != 0) return "a simulated path has launch gaps";
  if (timeline.collectives.empty() &&
      (run.report.critical_path.collective != 0 || idle_for(IdleCause::kCollective, run.report) != 0)) {
    return "a run without barriers waits for one";
  }
  if (timeline.copies.empty() && idle_for(IdleCause::kMemoryLimit, run.report) != 0) {
    return "a run without copies waits for one";
  }
  return "";
}

std::string broken_sum(const EngineRun& run) {
  for (const DeviceReport& device : run.report.devices) {
    const std::string on = " on device " + std::to_string(device.device);
    if (device.busy + device.idle != run.report.makespan) return "idle + busy is not the makespan" + on;
    const auto& causes = device.idle_by_cause;
    if (std::accumulate(causes.begin(), causes.end(), Nanoseconds{0}) != device.idle) {
      return "idle causes do not add up to idle" + on;
    }
    if (*std::min_element(causes.begin(), causes.end()) < 0) return "a negative idle cause" + on;
  }
  const CriticalPath& path = run.report.critical_path;
  if (path.compute + path.transfer + path.collective + path.wait != run.report.makespan) {
    return "the critical path does not add up to the makespan";
  }
  return wrong_cause(run);
}

std::string broken_path(const Timeline& timeline, const CriticalPath& sums) {
  Nanoseconds now = 0;
  Nanoseconds compute = 0;
  Nanoseconds collective = 0;
  int hops = 0;
  for (const Gate& gate : critical_path(timeline)) {
    if (gate.kind == Gate::Kind::kStart) continue;
    if (begin_of(gate, timeline) != now) return "the critical path has a gap at " + std::to_string(now);
    compute += gate.kind == Gate::Kind::kSpan ? end_of(gate, timeline) - now : 0;
    collective += gate.kind == Gate::Kind::kCollective ? end_of(gate, timeline) - now : 0;
    hops += gate.kind == Gate::Kind::kTransfer ? 1 : 0;
    now = end_of(gate, timeline);
  }
  if (now != timeline.makespan) return "the critical path ends at " + std::to_string(now);
  if (collective != sums.collective) return "the report's critical barriers are not its path's";
  if (compute != sums.compute) return "the report's critical compute is not its path's";
  return hops == sums.hops ? "" : "the report's hops are not its path's";
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

std::string broken_ratio(const Report& report) {
  double idle = 0;
  double busy = 0;
  for (const DeviceReport& device : report.devices) {
    idle += static_cast<double>(device.idle);
    busy += static_cast<double>(device.busy);
    if (!near(device.bubble_ratio, ratio(static_cast<double>(device.idle), static_cast<double>(report.makespan)))) {
      return "bubble_ratio of device " + std::to_string(device.device);
    }
  }
  const double devices = static_cast<double>(report.devices.size());
  const double span = static_cast<double>(report.span);
  if (!near(report.bubble_ratio, ratio(idle, devices * static_cast<double>(report.makespan)))) return "bubble_ratio";
  if (!near(report.bubble_over_ideal, ratio(idle, busy))) return "bubble_over_ideal";
  if (std::abs(static_cast<double>(report.ideal) - busy / devices) > 1.0)
    return "ideal is not all compute, spread evenly";
  if (std::abs(report.span_bubble_ratio - ratio(span - busy / devices, span)) > (span > 0 ? 1.0 / span : 0.0)) {
    return "span_bubble_ratio";
  }
  return "";
}

Bytes total(const BytesByCategory& bytes) { return std::accumulate(bytes.begin(), bytes.end(), Bytes{0}); }

// A curve has one point per instant: states that last no time are in the peak, but not on the curve.
std::string broken_peak(const std::vector<MemoryPoint>& curve, const DeviceReport& device, bool work_takes_time) {
  const std::string on = " on device " + std::to_string(device.device);
  if (total(device.peak_by_category) != device.peak_memory) return "the peak's parts do not add up to it" + on;
  Bytes top = 0;
  bool reached = false;
  for (const MemoryPoint& point : curve) {
    top = std::max(top, total(point.bytes));
    reached = reached || (point.at == device.peak_memory_at && point.bytes == device.peak_by_category);
  }
  if (top > device.peak_memory) return "the curve rises above the peak" + on;
  if (work_takes_time && top != device.peak_memory) return "the curve's top is not the peak" + on;
  return reached || !work_takes_time ? "" : "the peak is not on the curve at its time" + on;
}

std::string broken_curve(const std::vector<MemoryPoint>& curve, int device, Bytes fixed) {
  const std::string on = " on device " + std::to_string(device);
  if (curve.empty()) return "no memory curve" + on;
  if (curve.front().at != 0 || total(curve.front().bytes) < fixed) return "the curve does not start at the start" + on;
  if (total(curve.back().bytes) != fixed) return "memory does not return to the static state" + on;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (*std::min_element(curve[i].bytes.begin(), curve[i].bytes.end()) < 0) return "negative memory" + on;
    if (i > 0 && curve[i].at <= curve[i - 1].at) return "the curve runs back in time" + on;
  }
  return "";
}

// Position of `op` in the row, or -1.
std::int64_t position_of(const Op& op, const std::vector<Op>& row) {
  const auto found = std::find_if(row.begin(), row.end(), [&](const Op& other) {
    return other.kind == op.kind && other.stage == op.stage && other.microbatch == op.microbatch;
  });
  return found == row.end() ? -1 : found - row.begin();
}

}  // namespace

std::string broken_promise(const EngineRun& run, const reference::Outcome& expected) {
  if (auto text = broken_gate(run.timeline); !text.empty()) return text;
  if (auto text = broken_sum(run); !text.empty()) return text;
  if (auto text = broken_path(run.timeline, run.report.critical_path); !text.empty()) return text;
  if (auto text = broken_ratio(run.report); !text.empty()) return text + " is wrong";
  if (run.curves.size() != run.report.devices.size()) return "not one memory curve per device";
  for (std::size_t d = 0; d < run.curves.size(); ++d) {
    const auto& cells = expected.cells[d];
    // What a copy releases right behind an op's end makes a state that lasts no time, too.
    const bool work_takes_time =
        run.timeline.copies.empty() &&
        std::all_of(cells.begin(), cells.end(), [](const reference::Cell& cell) { return cell.end > cell.begin; });
    const int device = static_cast<int>(d);
    if (auto text = broken_curve(run.curves[d], device, expected.static_memory[d]); !text.empty()) return text;
    if (auto text = broken_peak(run.curves[d], run.report.devices[d], work_takes_time); !text.empty()) return text;
  }
  return "";
}

std::string broken_cycle(const Deadlock& deadlock, const Schedule& schedule) {
  const auto& cycle = deadlock.cycle;
  if (cycle.empty()) return "the deadlock names nobody";
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const auto& row = schedule.rows.at(at(cycle[i].device));
    if (position_of(cycle[i].op, row) != cycle[i].position) return to_string(cycle[i].op) + " is not where it is said";
    const Deadlock::Wait& next = cycle[(i + 1) % cycle.size()];
    const std::int64_t awaited = position_of(cycle[i].waits_for, schedule.rows.at(at(next.device)));
    if (awaited < 0) return to_string(cycle[i].waits_for) + " is not on the next device of the cycle";
    if (awaited < next.position) return to_string(cycle[i].waits_for) + " has been reached already";
  }
  return "";
}

}  // namespace debubble::testing
