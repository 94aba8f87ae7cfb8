// Timeline: what happened, or would happen, when and where, and what each thing waited for.
//
// Simulated and measured runs are the same type, so every analysis, view and exporter serves both.
//
//     device 0  |F0|F1|....|B0|          a Span per cell; its Gate names what released it:
//     device 1     |F0|.B0.|...          the previous span on the device, or a transfer's end
#pragma once

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

// One cell on a device's compute lane: one op, or two that run as an overlapped pair.
struct Span {
  Op op;
  Op partner;  // second member of an overlapped pair; valid only when paired
  bool paired = false;
  std::int32_t device = 0;
  Nanoseconds ready = 0;  // when its last input had arrived
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  // Part of its duration beyond what its stage costs: a slow device, a long sequence, noise. Below 0: it was faster.
  Nanoseconds straggled = 0;
  Nanoseconds slowed = 0;  // part of its duration because a collective overlapped it
  Gate gate;
};

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

struct Timeline {
  int devices = 0;
  Nanoseconds makespan = 0;  // latest end; runs begin at 0
  bool measured = false;
  // True where transfers hold the compute lanes of sender and receiver (blocking and coupled p2p).
  bool transfers_hold_lanes = false;
  std::vector<Span> spans;                 // by device, then in running order
  std::vector<std::int32_t> device_begin;  // devices + 1 entries: spans of device d are [device_begin[d], [d+1])
  std::vector<Transfer> transfers;         // in the order of the lowered program
  std::vector<CopySpan> copies;            // by device, then in running order
  std::vector<Collective> collectives;     // in the order in which they are first waited for
  std::vector<StepSpan> steps;             // by device, then lane, then in running order
};

}  // namespace debubble
