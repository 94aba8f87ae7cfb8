#include "tests/live/agreement.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "live/backends.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/check.hpp"

namespace debubble::testing {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

std::string number(std::int64_t value) { return std::to_string(value); }

std::string text_of(const Gate& gate, const Timeline& timeline) {
  switch (gate.kind) {
    case Gate::Kind::kStart:
      return "start";
    case Gate::Kind::kSpan:
      return "span " + to_string(timeline.spans[at(gate.index)].op);
    case Gate::Kind::kTransfer:
      return "transfer " + to_string(timeline.transfers[at(gate.index)].op);
    case Gate::Kind::kCopy:
      return "copy " + number(gate.index);
    case Gate::Kind::kCollective:
      return "collective " + number(gate.index);
    case Gate::Kind::kStep:
      return "step " + number(gate.index);
  }
  return "";
}

std::string text_of(const Span& span, const Timeline& timeline) {
  const Op* const partner = timeline.partner(span);
  return to_string(span.op) + (span.op.paired_with_next ? "+" : "") + (partner != nullptr ? to_string(*partner) : "") +
         " on " + number(span.device) + " ready " + number(span.ready) + " runs " + number(span.begin) + ".." +
         number(span.end) + " gate " + text_of(span.gate, timeline);
}

std::string text_of(const Transfer& transfer, const Timeline& timeline) {
  return to_string(transfer.op) + " " + number(transfer.from_span) + "->" + number(transfer.to_span) + " " +
         number(transfer.from_device) + "->" + number(transfer.to_device) + " " + number(transfer.begin) + ".." +
         number(transfer.end) + " latency " + number(transfer.latency) + " bytes " + number(transfer.bytes) + " gate " +
         text_of(transfer.gate, timeline);
}

// All of a timeline as lines that compare; transfers sorted.
std::vector<std::string> lines_of(const Timeline& timeline) {
  std::vector<std::string> lines{"makespan " + number(timeline.makespan) + " devices " + number(timeline.devices) +
                                 " held " + number(timeline.transfers_hold_lanes)};
  for (const std::int32_t begin : timeline.device_begin) lines.push_back("device begins at " + number(begin));
  for (const Span& span : timeline.spans) lines.push_back(text_of(span, timeline));
  const auto transfers = static_cast<std::ptrdiff_t>(lines.size());
  for (const Transfer& transfer : timeline.transfers) lines.push_back(text_of(transfer, timeline));
  std::sort(lines.begin() + transfers, lines.end());
  return lines;
}

std::vector<std::string> lines_of(const Report& report) {
  const CriticalPath& path = report.critical_path;
  std::vector<std::string> lines{
      "makespan " + number(report.makespan),   "span " + number(report.span),
      "ideal " + number(report.ideal),         "bubble " + std::to_string(report.bubble_ratio),
      "p2p bytes " + number(report.p2p_bytes), "messages " + number(report.p2p_messages),
      "path compute " + number(path.compute),  "path transfer " + number(path.transfer),
      "path hops " + number(path.hops),        "path wait " + number(path.wait)};
  for (const DeviceReport& device : report.devices) {
    const std::string name = "device " + number(device.device) + " ";
    lines.push_back(name + "busy " + number(device.busy) + " idle " + number(device.idle));
    for (const Nanoseconds idle : device.idle_by_cause) lines.push_back(name + "cause " + number(idle));
    lines.push_back(name + "peak " + number(device.peak_memory) + " at " + number(device.peak_memory_at) + " op " +
                    to_string(device.peak_memory_op));
    for (const Bytes bytes : device.peak_by_category) lines.push_back(name + "category " + number(bytes));
    lines.push_back(name + "peak activation " + number(device.peak_activation));
  }
  return lines;
}

std::string first_difference(const std::vector<std::string>& got, const std::vector<std::string>& expected) {
  for (std::size_t k = 0; k < std::max(got.size(), expected.size()); ++k) {
    const std::string a = k < got.size() ? got[k] : "nothing";
    const std::string b = k < expected.size() ? expected[k] : "nothing";
    if (a != b) return "got " + a + ", expected " + b;
  }
  return "";
}

// The devices of the simulator's cycle must be stuck in the live run, each at the cycle's place.
// `earlier`: one whose rows alone deadlock can couple itself into a standstill before it gets to the cycle.
std::string difference(const Stall& stall, const Deadlock& deadlock, bool earlier) {
  if (stall.cause != "deadlock") return "the cause is " + stall.cause;
  for (const Deadlock::Wait& wait : deadlock.cycle) {
    const DevicePosition& device = stall.devices[at(wait.device)];
    if (device.waits_for.empty()) return "device " + number(wait.device) + " does not wait";
    if (earlier ? device.position > wait.position : device.position != wait.position) {
      return "device " + number(wait.device) + " waits at " + number(device.position) + ", expected " +
             number(wait.position);
    }
  }
  return "";
}

}  // namespace

Observation observation_of(const Timeline& timeline, P2p p2p) {
  Observation observation;
  observation.p2p = p2p;
  observation.measured = timeline.measured;
  for (const Span& span : timeline.spans) {
    const Op* const partner = timeline.partner(span);
    observation.ops.push_back(
        {span.op, partner != nullptr ? *partner : Op{}, partner != nullptr, span.device, span.begin, span.end});
  }
  for (const Transfer& transfer : timeline.transfers) {
    observation.transfers.push_back({transfer.op, transfer.from_device, transfer.to_device, transfer.begin,
                                     transfer.end, transfer.latency, transfer.bytes});
  }
  std::reverse(observation.ops.begin(), observation.ops.end());
  std::reverse(observation.transfers.begin(), observation.transfers.end());
  return observation;
}

std::string difference(const Timeline& got, const Timeline& expected) {
  return first_difference(lines_of(got), lines_of(expected));
}

std::string difference(const Report& got, const Report& expected) {
  return first_difference(lines_of(got), lines_of(expected));
}

live::LiveRequest request_for(const Schedule& schedule, const StageCosts& costs, const HopFigures& link, P2p p2p) {
  live::LiveRequest request;
  request.schedule = schedule;
  request.costs = costs;
  request.hop_latency = link.latency;
  request.hop_bandwidth = link.bandwidth;
  request.p2p = p2p;
  return request;
}

bool only_simulated(const Schedule& schedule) {
  const auto beyond_plain = [](const Op& op) { return op.kind == OpKind::kRecompute || is_vocabulary(op.kind); };
  for (const auto& row : schedule.rows) {
    if (std::any_of(row.begin(), row.end(), beyond_plain)) return true;
  }
  return !schedule.copies.empty() || !schedule.piece_shares.empty() || schedule.pairs_run_side_by_side;
}

std::string live_disagreement(const Schedule& schedule, const StageCosts& costs, const HopFigures& link, P2p p2p) {
  if (only_simulated(schedule)) {
    try {
      (void)live::run_on_cpu(request_for(schedule, costs, link, p2p), {});
    } catch (const InputError& error) {
      return error.diagnostics().front().code == "E040" ? "" : error.what();
    }
    return "a schedule that no executor can run ran";
  }
  const EngineRun run = run_engine(schedule, costs, link, p2p);
  const live::LiveResult live = live::run_on_cpu(request_for(schedule, costs, link, p2p), {});
  if (run.deadlock && !live.stall) return "the live run did not get stuck";
  if (run.deadlock) {
    return difference(*live.stall, *run.deadlock, p2p == P2p::kCoupled && find_deadlock(schedule).has_value());
  }
  if (live.stall) return "the live run got stuck: " + live.stall->cause;
  if (live.iterations.size() != 1) return "not one iteration";
  const live::LiveResult& result = live;
  const RunIteration& iteration = result.iterations[0];
  if (std::string text = difference(iteration.timeline, run.timeline); !text.empty()) return text;
  for (std::size_t d = 0; d < run.report.devices.size(); ++d) {
    const DeviceReport& device = run.report.devices[d];
    if (iteration.peak_activation[d] != device.peak_activation) return "peak activation of device " + std::to_string(d);
    if (iteration.peak_memory[d] != device.peak_memory) {
      return "peak memory of device " + std::to_string(d) + ": got " + number(iteration.peak_memory[d]) +
             ", expected " + number(device.peak_memory);
    }
  }
  return difference(analyse(iteration.timeline, schedule, costs), run.report);
}

}  // namespace debubble::testing
