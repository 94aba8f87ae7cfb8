#include "studies/simulate/brief_report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/analysis/analyse.hpp"
#include "sim/analysis/gate_chains.hpp"
#include "sim/analysis/idle.hpp"
#include "sim/analysis/memory.hpp"
#include "sim/core/at.hpp"
#include "sim/engine/node_ends.hpp"

namespace debubble {

namespace {

// Gates of NodeEnds, for GateChains.
class NodeChains {
 public:
  explicit NodeChains(const NodeEnds& times) : times_(times) {}

  Gate pass(const Gate& gate, OpenGap& gap) const {
    const std::size_t node = to_index(gate.index);
    if (gate.kind == Gate::Kind::kSpan) {
      gap.take(ChainPart::kCompute, times_.begin(node));
    } else {
      const Nanoseconds sent = after(gate) + times_.transfer(node).serialisation;
      gap.take(ChainPart::kLatency, sent);
      gap.take(ChainPart::kBandwidth, after(gate));
    }
    return gate_of(gate);
  }
  [[nodiscard]] Gate gate_of(const Gate& gate) const {
    const std::size_t node = to_index(gate.index);
    return gate.kind == Gate::Kind::kSpan ? times_.gate(node) : Gate{Gate::Kind::kSpan, times_.maker(node)};
  }
  [[nodiscard]] Nanoseconds after(const Gate& gate) const {
    const std::size_t node = to_index(gate.index);
    return gate.kind == Gate::Kind::kSpan ? times_.begin(node) : times_.end(to_index(times_.maker(node)));
  }
  [[nodiscard]] std::size_t number(const Gate& gate) const {
    return to_index(gate.index) + (gate.kind == Gate::Kind::kTransfer ? times_.size() : 0);
  }
  [[nodiscard]] std::size_t things() const { return 2 * times_.size(); }

 private:
  const NodeEnds& times_;
};

// One device on the way through the program.
struct DeviceState {
  std::size_t position = 0;        // in its row
  std::size_t first_backward = 0;  // positions of cells; past the row: none
  std::size_t last_forward = 0;
  Nanoseconds first_begin = 0;
  Nanoseconds last_end = 0;
  BytesByCategory bytes{};
};

class BriefAnalysis {
 public:
  BriefAnalysis(const Job& job, const Program& program)
      : job_(job),
        times_(program, job.costs, job.topology),
        run_(times_),
        chains_(run_),
        memory_(empty_, job.schedule, job.costs),
        states_(static_cast<std::size_t>(job.schedule.devices)),
        reports_(states_.size()) {
    for (std::size_t d = 0; d < states_.size(); ++d) start(d);
  }

  Report run() {
    for (std::size_t k = 0; k < times_.size(); ++k) add(k);
    Nanoseconds makespan = 0;
    Nanoseconds longest = 0;
    for (const DeviceState& state : states_) {
      makespan = std::max(makespan, state.last_end);
      longest = std::max(longest, state.last_end - state.first_begin);
    }
    const Gate last = last_of_all(makespan);
    for (std::size_t d = 0; d < states_.size(); ++d) {
      const ChainParts tail = chains_.explain(last, states_[d].last_end, makespan);
      add_parts(tail, IdleCause::kDrain, true, reports_[d].idle_by_cause);
    }
    Report report = report_of_devices(job_.schedule, job_.costs, {makespan, longest}, std::move(reports_));
    report.p2p_messages = messages_;
    report.critical_path = path_from(last, makespan);
    return report;
  }

 private:
  void start(std::size_t device) {
    const std::vector<Op>& row = job_.schedule.rows[device];
    DeviceState& state = states_[device];
    const auto is_forward = [](const Op& op) { return op.kind == OpKind::kForward; };
    const auto first = std::find_if(row.begin(), row.end(), [](const Op& op) { return makes_input_gradient(op.kind); });
    const auto last = std::find_if(row.rbegin(), row.rend(), is_forward);
    state.first_backward = static_cast<std::size_t>(first - row.begin());
    state.last_forward = last == row.rend() ? 0 : static_cast<std::size_t>(row.rend() - last) - 1;
    state.bytes = memory_.resident(static_cast<int>(device));
    reports_[device].device = static_cast<int>(device);
    reports_[device].peak_by_category = state.bytes;
    reports_[device].peak_memory = total(state.bytes);
  }

  void add(std::size_t node) {
    const auto device = static_cast<std::size_t>(times_.device(node));
    DeviceState& state = states_[device];
    DeviceReport& report = reports_[device];
    Span span;
    span.op = job_.schedule.rows[device][state.position];
    span.begin = times_.begin(node);
    span.end = times_.end(node);
    if (span.begin > state.last_end) {
      const IdleCause cause = state.position <= state.first_backward ? IdleCause::kFill
                              : state.position > state.last_forward  ? IdleCause::kDrain
                                                                     : IdleCause::kDependency;
      const ChainParts wait = chains_.explain(times_.gate(node), state.last_end, span.begin);
      add_parts(wait, cause, false, report.idle_by_cause);
    }
    if (state.position == 0) state.first_begin = span.begin;
    state.last_end = span.end;
    ++state.position;
    report.busy += span.end - span.begin;
    if (times_.maker(node) >= 0) ++messages_;
    memory_.begin_span(span, state.bytes);
    take_level(span.op, span.begin, state, report);
    memory_.end_span(span, state.bytes);
    take_level(span.op, span.end, state, report);
  }

  static void take_level(const Op& op, Nanoseconds at, const DeviceState& state, DeviceReport& report) {
    if (add_level(state.bytes, at, report)) report.peak_memory_op = {PeakOp::Kind::kOp, op, {}};
  }

  // The first of the lowest device that ends last, as last_event finds it among spans.
  [[nodiscard]] Gate last_of_all(Nanoseconds makespan) const {
    Gate last;
    for (std::size_t k = 0; k < times_.size(); ++k) {
      if (times_.end(k) != makespan) continue;
      const bool lower = last.index < 0 || times_.device(k) < times_.device(to_index(last.index));
      if (lower) last = {Gate::Kind::kSpan, static_cast<std::int32_t>(k)};
    }
    return last;
  }

  [[nodiscard]] CriticalPath path_from(Gate gate, Nanoseconds makespan) const {
    CriticalPath path;
    for (Nanoseconds at = makespan; gate.kind != Gate::Kind::kStart; gate = run_.gate_of(gate)) {
      const Nanoseconds begin = run_.after(gate);
      (gate.kind == Gate::Kind::kSpan ? path.compute : path.transfer) += at - begin;
      if (gate.kind == Gate::Kind::kTransfer) ++path.hops;
      at = begin;
    }
    return path;
  }

  const Job& job_;
  NodeEnds times_;
  NodeChains run_;
  GateChains<NodeChains> chains_;
  Timeline empty_ = without_spans(job_.schedule);
  MemoryWalk memory_;
  std::vector<DeviceState> states_;
  std::vector<DeviceReport> reports_;
  std::int64_t messages_ = 0;

  static Timeline without_spans(const Schedule& schedule) {
    Timeline timeline;
    timeline.devices = schedule.devices;
    return timeline;
  }
};

bool follows_without_spans(const Job& job, const Program& program) {
  const auto has_collectives = [](const StageCost& stage) {
    return stage.output != 0 || stage.forward_collective != 0 || stage.backward_collective != 0;
  };
  if (!NodeEnds::knows(program) || job.schedule.asynchrony || job.extra_work) return false;
  if (std::any_of(program.cells.begin(), program.cells.end(), [](const auto& cell) { return cell.paired; }))
    return false;
  return std::none_of(job.costs.stages.begin(), job.costs.stages.end(), has_collectives);
}

}  // namespace

std::optional<Report> brief_report(const Job& job, const Program& program) {
  if (!follows_without_spans(job, program)) return std::nullopt;
  return BriefAnalysis(job, program).run();
}

}  // namespace debubble
