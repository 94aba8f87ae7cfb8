// Timeline: what happened, or would happen, when and where, and what each thing waited for.
//
// Simulated and measured runs are the same type, so every analysis, view and exporter serves both.
//
//     device 0  |F0|F1|....|B0|          a Span per cell; its Gate names what released it:
//     device 1     |F0|.B0.|...          the previous span on the device, or a transfer's end
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/op.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/step_work.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// What a span or transfer waited for last. In a simulated run it begins exactly when its gate ends; in a measured one
// the difference is a launch gap.
struct Gate {
  enum class Kind : std::uint8_t { kStart, kSpan, kTransfer, kCopy, kCollective, kStep };
  Kind kind = Kind::kStart;  // kStart: nothing; it begins at time 0
  std::int32_t index = -1;   // into Timeline::spans, transfers, copies, collectives or steps
};

// One cell on a device's compute lane: one op, or two that run as an overlapped pair (Timeline::partner). There is one
// for every op of a run, so what few runs have is kept apart.
struct Span {
  Op op;
  std::int32_t device = 0;
  Nanoseconds ready = 0;  // when its last input had arrived
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Gate gate;
};
static_assert(sizeof(Span) == 48);

// The transfer of one tensor from the span that made it to the span that uses it.
struct Transfer {
  Op op;  // the op whose output travels: F sends an activation to stage + 1, B and I a gradient to stage - 1
  std::int32_t from_span = -1;
  std::int32_t to_span = -1;
  std::int32_t from_device = 0;
  std::int32_t to_device = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Nanoseconds latency = 0;     // the part of end - begin that is latency; it comes last
  Nanoseconds contention = 0;  // the part of end - begin - latency because other flows took their share of its links
  Bytes bytes = 0;
  Gate gate;
  // It was not observed: it is recorded with no length at its maker's end, and its times and size mean nothing.
  bool assumed = false;
};

// One activation leaving a device's memory or coming back, on the device's copy lane.
struct CopySpan {
  Op op;  // the F whose activation moves
  Copy::Way way = Copy::Way::kOut;
  std::int32_t device = 0;
  std::int32_t peer = -1;  // the device that keeps it meanwhile; -1: the host
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Bytes bytes = 0;
  // One that waits for a cell to begin has that cell's gate: both begin when it ends.
  Gate gate;
};

// What the shards of the vocabulary wait for together: from the end of the last one's S (or T) to the first reader.
struct Collective {
  OpKind kind = OpKind::kVocabularyLogits;  // whose ends it gathers
  std::int32_t microbatch = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Gate gate;
};

// A task of the training step (sim/core/step_work.hpp) on one of its devices.
struct StepSpan {
  std::int32_t task = -1;  // its number in the StepWork
  StepTask::Kind kind = StepTask::Kind::kOther;
  StepTask::Lane lane = StepTask::Lane::kCollective;
  std::string what;
  std::int32_t device = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Nanoseconds contention = 0;  // the part of its duration because other flows took their share of its links
  Nanoseconds straggled = 0;   // on a compute lane: what it takes beyond its own duration because it varies
  Bytes bytes = 0;
  // One that waits for its counterpart in another pipeline replica, which this timeline does not show, has a gate that
  // ends before it begins; `waited_for_replica` is that wait.
  Nanoseconds waited_for_replica = 0;
  Gate gate;
};

// Of spans that are no pairs.
inline constexpr Op kNoPartner{OpKind::kForward, false, -1, -1};

struct Timeline {
  int devices = 0;
  Nanoseconds makespan = 0;  // latest end; runs begin at 0
  bool measured = false;
  // True where transfers hold the compute lanes of sender and receiver (blocking, coupled and rendezvous p2p).
  bool transfers_hold_lanes = false;
  std::vector<Span> spans;  // by device, then in running order
  // By span, or empty where no span has any.
  std::vector<Op> partners;  // second members of overlapped pairs; kNoPartner for single ops
  // Parts of durations beyond what stages cost: a slow device, a long sequence, noise. Below 0: it was faster.
  std::vector<Nanoseconds> straggled_times;
  std::vector<Nanoseconds> slowed_times;   // parts of durations because a collective overlapped them
  std::vector<std::int32_t> device_begin;  // devices + 1 entries: spans of device d are [device_begin[d], [d+1])
  std::vector<Transfer> transfers;         // in the order of the lowered program
  std::vector<CopySpan> copies;            // by device, then in running order
  std::vector<Collective> collectives;     // in the order in which they are first waited for
  std::vector<StepSpan> steps;             // by device, then lane, then in running order

  // `span` is one of `spans`, not a copy.
  [[nodiscard]] std::size_t index_of(const Span& span) const { return static_cast<std::size_t>(&span - spans.data()); }
  // The second member of an overlapped pair; null where the span is one op.
  [[nodiscard]] const Op* partner(const Span& span) const {
    const Op* const found = partners.empty() ? nullptr : &partners[index_of(span)];
    return found != nullptr && found->stage >= 0 ? found : nullptr;
  }
  [[nodiscard]] Nanoseconds straggled(const Span& span) const { return of(straggled_times, span); }
  [[nodiscard]] Nanoseconds slowed(const Span& span) const { return of(slowed_times, span); }

  // Once `spans` has its length.
  void set_partner(std::size_t span, const Op& op) {
    if (partners.empty()) partners.assign(spans.size(), kNoPartner);
    partners[span] = op;
  }
  void set_straggled(std::size_t span, Nanoseconds time) { set(straggled_times, span, time); }
  void set_slowed(std::size_t span, Nanoseconds time) { set(slowed_times, span, time); }

 private:
  [[nodiscard]] Nanoseconds of(const std::vector<Nanoseconds>& times, const Span& span) const {
    return times.empty() ? 0 : times[index_of(span)];
  }
  void set(std::vector<Nanoseconds>& times, std::size_t span, Nanoseconds time) const {
    if (times.empty() && time == 0) return;
    if (times.empty()) times.assign(spans.size(), 0);
    times[span] = time;
  }
};

}  // namespace debubble
