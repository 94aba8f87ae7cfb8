#include "sim/rows/observed.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/observed_gates.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble {

namespace {

std::string observed_name(const ObservedOp& seen) {
  return seen.paired ? to_string(seen.op) + " with " + to_string(seen.partner) : to_string(seen.op);
}

class Assembling {
 public:
  Assembling(const Schedule& schedule, const Observation& observation)
      : schedule_(schedule),
        observation_(observation),
        ops_(schedule),
        span_of_(to_index(ops_.size()), -1),
        seen_(to_index(ops_.size()), nullptr) {}

  Timeline run() {
    check_kinds();
    if (!problems_.empty()) throw InputError(std::move(problems_));
    check_ops();
    check_transfers();
    if (!problems_.empty()) throw InputError(std::move(problems_));
    start_timeline();
    check_range();
    if (!problems_.empty()) throw InputError(std::move(problems_));
    lay_out_spans();
    check_overlaps();
    if (!problems_.empty()) throw InputError(std::move(problems_));
    add_transfers();
    add_ready_times();
    add_gates(timeline_, ops_, observation_.p2p);
    return std::move(timeline_);
  }

 private:
  static constexpr std::size_t kMostProblems = 20;

  void report(const char* code, const std::string& message, const std::string& help = "") {
    if (problems_.size() > kMostProblems) return;
    if (problems_.size() == kMostProblems) {
      problems_.push_back({"P022", schedule_.name, "there are further problems that are not shown", ""});
      return;
    }
    problems_.push_back({code, schedule_.name, message, help});
  }

  [[nodiscard]] std::int32_t id(const Op& op) const { return ops_.find(op.kind, op.stage, op.microbatch); }
  [[nodiscard]] const Span& span_of(std::int32_t op) const { return at(timeline_.spans, at(span_of_, op)); }

  void check_kinds() {
    if (auto problem = not_observable(schedule_)) problems_.push_back(std::move(*problem));
  }

  void check_ops() {
    std::vector<bool> seen(to_index(ops_.size()), false);
    for (const ObservedOp& each : observation_.ops) {
      check_member(each, each.op, seen);
      if (each.paired) check_member(each, each.partner, seen);
      if (each.end < each.begin) {
        report("V023", observed_name(each) + " ends at " + std::to_string(each.end) + " ns, before its begin at " +
                           std::to_string(each.begin) + " ns");
      } else if (each.begin < 0 && !observation_.measured) {
        report("V023", observed_name(each) + " begins at " + std::to_string(each.begin) + " ns, before the run");
      }
    }
    for (std::int32_t op = 0; op < ops_.size(); ++op) {
      if (at(seen, op)) continue;
      report("V020", "nobody saw " + to_string(ops_.op(op)) + " of device " + std::to_string(ops_.device(op)),
             "the run was cut short, or it ran another schedule");
    }
  }

  void check_member(const ObservedOp& each, const Op& op, std::vector<bool>& seen) {
    const std::int32_t found = id(op);
    if (found < 0) {
      report("V020", to_string(op) + " ran, and the schedule does not have it", "the run was of another schedule");
      return;
    }
    if (at(seen, found)) report("V020", to_string(op) + " was seen twice", "one iteration runs every op once");
    at(seen, found) = true;
    if (each.device != ops_.device(found)) {
      report("V020", to_string(op) + " ran on device " + std::to_string(each.device) + ", and its place is device " +
                         std::to_string(ops_.device(found)));
    }
  }

  void check_transfers() {
    for (const ObservedTransfer& each : observation_.transfers) {
      const std::int32_t maker = id(each.op);
      const std::int32_t user = maker < 0 ? -1 : ops_.user(ops_.op(maker));
      const std::string what = "the output of " + to_string(each.op) + " from device " +
                               std::to_string(each.from_device) + " to device " + std::to_string(each.to_device);
      if (user < 0 || ops_.device(maker) != each.from_device || ops_.device(user) != each.to_device ||
          each.from_device == each.to_device) {
        report("V020", what + " is not a transfer of the schedule", "the run was of another schedule");
        continue;
      }
      if (at(seen_, maker) != nullptr) report("V020", what + " was seen twice", "every output travels once");
      if (each.end < each.begin && !explained_by_clocks(each)) report("V023", what + " arrives before it leaves");
      if (each.bytes < 0 || each.latency < 0) report("V023", what + " has a negative size or latency");
      at(seen_, maker) = &each;
    }
  }

  [[nodiscard]] bool explained_by_clocks(const ObservedTransfer& early) const {
    const std::uint64_t by = static_cast<std::uint64_t>(early.begin) - static_cast<std::uint64_t>(early.end);
    return observation_.measured && by <= static_cast<std::uint64_t>(observation_.clock_error);
  }

  void start_timeline() {
    timeline_.devices = schedule_.devices;
    timeline_.measured = observation_.measured;
    timeline_.transfers_hold_lanes = holds_both_lanes(observation_.p2p);
    if (!observation_.measured || observation_.ops.empty()) return;
    start_ = std::min_element(observation_.ops.begin(), observation_.ops.end(), [](const auto& a, const auto& b) {
               return a.begin < b.begin;
             })->begin;
  }

  // Given times count from 0; measured ones may lie anywhere on their clock, and their difference must be a count.
  void check_range() {
    if (!observation_.measured) return;
    for (const ObservedOp& each : observation_.ops) check_range(each.end, observed_name(each) + " ends");
    for (const ObservedTransfer& each : observation_.transfers) {
      check_range(each.end, "the output of " + to_string(each.op) + " arrives");
    }
  }

  void check_range(Nanoseconds time, const std::string& what) {
    if (time <= start_) return;
    const std::uint64_t after = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(start_);
    constexpr std::uint64_t kLongestRun = std::uint64_t{16} * kLongestDuration;
    if (after <= kLongestRun) return;
    report("V023", what + " " + std::to_string(after) + " ns after the first op begins, which is more than two years",
           "times are in nanoseconds, and of one iteration");
  }

  void lay_out_spans() {
    std::vector<const ObservedOp*> order;
    for (const ObservedOp& each : observation_.ops) order.push_back(&each);
    const auto key = [&](const ObservedOp& each) {
      return std::tuple(each.device, each.begin - start_, each.end - start_, id(each.op));
    };
    std::sort(order.begin(), order.end(), [&](const ObservedOp* a, const ObservedOp* b) { return key(*a) < key(*b); });
    timeline_.spans.resize(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      const ObservedOp& each = *order[k];
      Span& span = timeline_.spans[k];
      span.op = ops_.op(id(each.op));
      if (each.paired) timeline_.set_partner(k, ops_.op(id(each.partner)));
      span.device = each.device;
      span.begin = each.begin - start_;
      span.end = each.end - start_;
      timeline_.makespan = std::max(timeline_.makespan, span.end);
    }
    timeline_.device_begin.assign(to_index(timeline_.devices) + 1, 0);
    for (std::size_t k = 0; k < timeline_.spans.size(); ++k) {
      const Span& span = timeline_.spans[k];
      at(span_of_, id(span.op)) = static_cast<std::int32_t>(k);
      if (const Op* partner = timeline_.partner(span)) at(span_of_, id(*partner)) = static_cast<std::int32_t>(k);
      ++timeline_.device_begin[to_index(span.device) + 1];
    }
    for (std::size_t d = 0; d < to_index(timeline_.devices); ++d)
      timeline_.device_begin[d + 1] += timeline_.device_begin[d];
  }

  void check_overlaps() {
    for (std::size_t k = 1; k < timeline_.spans.size(); ++k) {
      const Span& before = timeline_.spans[k - 1];
      const Span& span = timeline_.spans[k];
      if (before.device != span.device || before.end <= span.begin) continue;
      report("V023",
             to_string(span.op) + " begins on device " + std::to_string(span.device) + " at " +
                 std::to_string(span.begin) + " ns, before " + to_string(before.op) + " ends at " +
                 std::to_string(before.end) + " ns",
             "a device runs one op at a time; an overlapped pair is one span with two ops");
    }
  }

  void add_transfers() {
    for (std::int32_t maker = 0; maker < ops_.size(); ++maker) {
      const std::int32_t user = ops_.user(ops_.op(maker));
      if (user >= 0 && ops_.device(user) != ops_.device(maker)) timeline_.transfers.push_back(transfer(maker, user));
    }
    const auto key = [&](const Transfer& t) { return std::tuple(t.begin, t.from_span, t.to_span, id(t.op)); };
    std::sort(timeline_.transfers.begin(), timeline_.transfers.end(),
              [&](const Transfer& a, const Transfer& b) { return key(a) < key(b); });
  }

  [[nodiscard]] Transfer transfer(std::int32_t maker, std::int32_t user) const {
    Transfer made;
    made.op = ops_.op(maker);
    made.from_span = at(span_of_, maker);
    made.to_span = at(span_of_, user);
    made.from_device = ops_.device(maker);
    made.to_device = ops_.device(user);
    made.begin = made.end = span_of(maker).end;
    made.assumed = at(seen_, maker) == nullptr;
    if (const ObservedTransfer* seen = at(seen_, maker)) {
      // Of a clock that is behind, a measured time may lie before the start.
      made.begin = observation_.measured ? std::max(seen->begin, start_) - start_ : seen->begin;
      made.end = observation_.measured ? std::max(seen->end, start_) - start_ : seen->end;
      made.latency = seen->latency;
      made.bytes = seen->bytes;
    }
    if (timeline_.measured) keep_order(made);
    return made;
  }

  // Clocks of several devices differ a little: the transfer stays between its maker's end and its use.
  void keep_order(Transfer& made) const {
    const Nanoseconds use = at(timeline_.spans, made.to_span).begin;
    made.begin = std::min(std::max(made.begin, at(timeline_.spans, made.from_span).end), use);
    made.end = std::min(std::max(made.end, made.begin), use);
    made.latency = std::min(made.latency, made.end - made.begin);
  }

  void add_ready_times() {
    for (Span& span : timeline_.spans) {
      take_inputs(span, span.op);
      if (const Op* partner = timeline_.partner(span)) take_inputs(span, *partner);
    }
    for (const Transfer& each : timeline_.transfers) {
      Span& user = at(timeline_.spans, each.to_span);
      user.ready = std::max(user.ready, each.end);
    }
  }

  void take_inputs(Span& span, const Op& op) {
    for (const std::int32_t input : ops_.inputs(op)) {
      const bool partner = &span_of(input) == &span;  // a recomputation in the cell of its backward
      if (ops_.device(input) == span.device && !partner) span.ready = std::max(span.ready, span_of(input).end);
    }
  }

  const Schedule& schedule_;
  const Observation& observation_;
  OpIndex ops_;
  std::vector<std::int32_t> span_of_;          // by op
  std::vector<const ObservedTransfer*> seen_;  // by op: of its output
  std::vector<Diagnostic> problems_;
  Nanoseconds start_ = 0;  // of the run, on the observation's clock
  Timeline timeline_;
};

}  // namespace

std::optional<Diagnostic> not_observable(const Schedule& schedule) {
  const bool has_copies = std::any_of(schedule.copies.begin(), schedule.copies.end(),
                                      [](const std::vector<Copy>& row) { return !row.empty(); });
  if (!has_copies && schedule.vocabulary_barriers == 0) return std::nullopt;
  return Diagnostic{"T054", schedule.name,
                    std::string("a run of a schedule with ") + (has_copies ? "copies" : "shards of the vocabulary") +
                        " cannot be put together from what was observed",
                    "only its simulation says when they run"};
}

Timeline assemble_timeline(const Schedule& schedule, const Observation& observation) {
  return Assembling(schedule, observation).run();
}

}  // namespace debubble
