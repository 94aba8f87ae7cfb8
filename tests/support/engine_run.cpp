#include "tests/support/engine_run.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace debubble::testing {
namespace {

using reference::Cell;
using reference::Hop;
using reference::Outcome;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

bool same_op(const Op& a, const Op& b) {
  return a.kind == b.kind && a.stage == b.stage && a.microbatch == b.microbatch;
}

std::string unequal(const std::string& what, std::int64_t engine, std::int64_t expected) {
  return what + " is " + std::to_string(engine) + " in the engine, " + std::to_string(expected) + " by the rules";
}

// Returns from the calling function with the first difference found.
#define DEBUBBLE_SAME(what, engine, expected) \
  if ((engine) != (expected)) return unequal(what, engine, expected)

std::string span_difference(const Timeline& timeline, const Span& span, const Cell& cell) {
  const std::string name = to_string(cell.members[0]);
  if (!same_op(span.op, cell.members[0])) return "span " + to_string(span.op) + " stands where " + name + " should";
  const Op* const partner = timeline.partner(span);
  DEBUBBLE_SAME(name + " paired", partner != nullptr ? 1 : 0, cell.members.size() == 2 ? 1 : 0);
  if (partner != nullptr && !same_op(*partner, cell.members[1])) return "partner of " + name + " is wrong";
  DEBUBBLE_SAME("begin of " + name, span.begin, cell.begin);
  DEBUBBLE_SAME("end of " + name, span.end, cell.end);
  DEBUBBLE_SAME("ready of " + name, span.ready, cell.ready);
  return "";
}

std::string spans_difference(const Timeline& timeline, const Outcome& expected) {
  DEBUBBLE_SAME("entries of device_begin", static_cast<std::int64_t>(timeline.device_begin.size()),
                static_cast<std::int64_t>(expected.cells.size()) + 1);
  for (std::size_t d = 0; d < expected.cells.size(); ++d) {
    const std::int32_t first = timeline.device_begin[d];
    DEBUBBLE_SAME("spans on device " + std::to_string(d), timeline.device_begin[d + 1] - first,
                  static_cast<std::int64_t>(expected.cells[d].size()));
    for (std::size_t c = 0; c < expected.cells[d].size(); ++c) {
      const Span& span = timeline.spans.at(at(first) + c);
      DEBUBBLE_SAME("device of a span", span.device, static_cast<std::int64_t>(d));
      if (auto text = span_difference(timeline, span, expected.cells[d][c]); !text.empty()) return text;
    }
  }
  return "";
}

std::string transfers_difference(const Timeline& timeline, const Outcome& expected, const HopFigures& link) {
  DEBUBBLE_SAME("transfers", static_cast<std::int64_t>(timeline.transfers.size()),
                static_cast<std::int64_t>(expected.hops.size()));
  std::map<std::tuple<OpKind, int, int, std::int64_t>, const Hop*> hops;
  for (const Hop& hop : expected.hops) {
    hops[{hop.op.kind, hop.op.stage, hop.op.microbatch, static_cast<std::int64_t>(hop.to_device)}] = &hop;
  }
  for (const Transfer& transfer : timeline.transfers) {
    const auto found =
        hops.find({transfer.op.kind, transfer.op.stage, transfer.op.microbatch, std::int64_t{transfer.to_device}});
    const std::string name = "transfer of " + to_string(transfer.op);
    if (found == hops.end() || found->second == nullptr) return name + " should not exist, or exists twice";
    const Hop& hop = *found->second;
    DEBUBBLE_SAME("begin of the " + name, transfer.begin, hop.begin);
    DEBUBBLE_SAME("end of the " + name, transfer.end, hop.end);
    DEBUBBLE_SAME("bytes of the " + name, transfer.bytes, hop.bytes);
    DEBUBBLE_SAME("latency of the " + name, transfer.latency, link.latency);
    DEBUBBLE_SAME("sender of the " + name, transfer.from_device, static_cast<std::int64_t>(hop.from_device));
    DEBUBBLE_SAME("receiver of the " + name, transfer.to_device, static_cast<std::int64_t>(hop.to_device));
    DEBUBBLE_SAME("producer of the " + name, transfer.from_span - timeline.device_begin[hop.from_device],
                  static_cast<std::int64_t>(hop.from_cell));
    DEBUBBLE_SAME("consumer of the " + name, transfer.to_span - timeline.device_begin[hop.to_device],
                  static_cast<std::int64_t>(hop.to_cell));
    found->second = nullptr;
  }
  return "";
}

std::string copies_difference(const Timeline& timeline, const Outcome& expected) {
  std::size_t next = 0;
  for (std::size_t d = 0; d < expected.copies.size(); ++d) {
    for (const reference::CopyRun& run : expected.copies[d]) {
      if (next >= timeline.copies.size()) return "copies are missing in the engine";
      const CopySpan& copy = timeline.copies[next++];
      const std::string name = "the copy of " + to_string(copy.op);
      DEBUBBLE_SAME("device of " + name, copy.device, static_cast<std::int64_t>(d));
      DEBUBBLE_SAME("stage of " + name, copy.op.stage, run.copy.stage);
      DEBUBBLE_SAME("microbatch of " + name, copy.op.microbatch, run.copy.microbatch);
      DEBUBBLE_SAME("way of " + name, static_cast<int>(copy.way), static_cast<int>(run.copy.way));
      DEBUBBLE_SAME("peer of " + name, copy.peer, run.copy.peer);
      DEBUBBLE_SAME("begin of " + name, copy.begin, run.begin);
      DEBUBBLE_SAME("end of " + name, copy.end, run.end);
      DEBUBBLE_SAME("bytes of " + name, copy.bytes, run.bytes);
    }
  }
  DEBUBBLE_SAME("copies", static_cast<std::int64_t>(timeline.copies.size()), static_cast<std::int64_t>(next));
  return "";
}

Nanoseconds busy_on(const std::vector<Cell>& cells) {
  return std::accumulate(cells.begin(), cells.end(), Nanoseconds{0},
                         [](Nanoseconds sum, const Cell& cell) { return sum + cell.end - cell.begin; });
}

std::string totals_difference(const Totals& totals, const Outcome& expected) {
  DEBUBBLE_SAME("makespan of simulate_totals", totals.makespan, expected.makespan);
  DEBUBBLE_SAME("span of simulate_totals", totals.span, reference::span_of(expected));
  DEBUBBLE_SAME("devices of simulate_totals", static_cast<std::int64_t>(totals.devices.size()),
                static_cast<std::int64_t>(expected.cells.size()));
  for (std::size_t d = 0; d < expected.cells.size(); ++d) {
    const std::string on = " of device " + std::to_string(d) + " (simulate_totals)";
    DEBUBBLE_SAME("busy" + on, totals.devices[d].busy, busy_on(expected.cells[d]));
    DEBUBBLE_SAME("peak memory" + on, totals.devices[d].peak_memory, expected.peak_memory[d]);
    DEBUBBLE_SAME("peak activation" + on, totals.devices[d].peak_activation, expected.peak_activation[d]);
    DEBUBBLE_SAME("peak on the host" + on, totals.devices[d].peak_host, expected.peak_host[d]);
    if (expected.cells[d].empty()) continue;
    DEBUBBLE_SAME("first begin" + on, totals.devices[d].first_begin, expected.cells[d].front().begin);
    DEBUBBLE_SAME("last end" + on, totals.devices[d].last_end, expected.cells[d].back().end);
  }
  return "";
}

std::string report_difference(const Report& report, const Outcome& expected) {
  DEBUBBLE_SAME("makespan of the report", report.makespan, expected.makespan);
  DEBUBBLE_SAME("span of the report", report.span, reference::span_of(expected));
  DEBUBBLE_SAME("messages", report.p2p_messages, static_cast<std::int64_t>(expected.hops.size()));
  Bytes sent = 0;
  for (const Hop& hop : expected.hops) sent += hop.bytes;
  DEBUBBLE_SAME("bytes sent", report.p2p_bytes, sent);
  DEBUBBLE_SAME("devices of the report", static_cast<std::int64_t>(report.devices.size()),
                static_cast<std::int64_t>(expected.cells.size()));
  for (std::size_t d = 0; d < expected.cells.size(); ++d) {
    const std::string on = " of device " + std::to_string(d) + " (report)";
    DEBUBBLE_SAME("busy" + on, report.devices[d].busy, busy_on(expected.cells[d]));
    DEBUBBLE_SAME("peak memory" + on, report.devices[d].peak_memory, expected.peak_memory[d]);
    DEBUBBLE_SAME("peak activation" + on, report.devices[d].peak_activation, expected.peak_activation[d]);
    DEBUBBLE_SAME("peak on the host" + on, report.devices[d].peak_host_memory, expected.peak_host[d]);
  }
  return "";
}

}  // namespace

EngineRun run_engine(const Schedule& schedule, const StageCosts& costs, const HopFigures& link, P2p p2p) {
  EngineRun run;
  const auto lowered = lower(schedule, p2p);
  if (const auto* deadlock = std::get_if<Deadlock>(&lowered)) {
    run.deadlock = *deadlock;
    return run;
  }
  const Program& program = std::get<Program>(lowered);
  const Topology topology = Topology::ideal(link.latency, link.bandwidth);
  run.totals = simulate_totals(program, costs, topology);
  run.timeline = simulate(program, schedule, costs, topology);
  run.report = analyse(run.timeline, schedule, costs);
  run.curves = memory_curves(run.timeline, schedule, costs);
  return run;
}

reference::Mode reference_mode(P2p p2p) {
  if (p2p == P2p::kBlocking) return reference::Mode::kBlocking;
  if (p2p == P2p::kLate) return reference::Mode::kLate;
  if (p2p == P2p::kRendezvous) return reference::Mode::kRendezvous;
  if (p2p == P2p::kJoined) return reference::Mode::kJoined;
  return p2p == P2p::kCoupled ? reference::Mode::kCoupled : reference::Mode::kOverlapped;
}

std::string name_of(P2p p2p) {
  if (p2p == P2p::kBlocking) return "blocking";
  if (p2p == P2p::kLate) return "late";
  if (p2p == P2p::kRendezvous) return "rendezvous";
  if (p2p == P2p::kJoined) return "joined";
  return p2p == P2p::kCoupled ? "coupled" : "overlapped";
}

std::string difference(const EngineRun& run, const Outcome& expected, const HopFigures& link) {
  DEBUBBLE_SAME("deadlock", run.deadlock ? 1 : 0, expected.deadlock ? 1 : 0);
  if (expected.deadlock) return "";
  DEBUBBLE_SAME("makespan of the timeline", run.timeline.makespan, expected.makespan);
  if (auto text = spans_difference(run.timeline, expected); !text.empty()) return text;
  if (auto text = transfers_difference(run.timeline, expected, link); !text.empty()) return text;
  if (auto text = copies_difference(run.timeline, expected); !text.empty()) return text;
  if (auto text = totals_difference(run.totals, expected); !text.empty()) return text;
  return report_difference(run.report, expected);
}

std::string disagreement(const Schedule& schedule, const StageCosts& costs, const HopFigures& link, P2p p2p) {
  const Outcome expected = reference::simulate(schedule, costs, link.latency, link.bandwidth, reference_mode(p2p));
  const EngineRun run = run_engine(schedule, costs, link, p2p);
  if (auto text = difference(run, expected, link); !text.empty()) return text;
  return run.deadlock ? broken_cycle(*run.deadlock, schedule) : broken_promise(run, expected);
}

}  // namespace debubble::testing
