// A second simulator, for tests only: small, slow, and written from the rules alone. It shares no code with the engine.
//
// Everything is found by walking over all devices again and again until nothing more can start. No graph is sorted, no
// dependency is precomputed, nothing is packed; what it says is what the rules say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble::reference {

enum class Mode { kOverlapped, kBlocking, kCoupled, kLate, kRendezvous, kJoined };

// One op, or the two members of an overlapped pair, in the order of the device's row.
struct Cell {
  std::vector<Op> members;
  Nanoseconds ready = 0;  // latest arrival of an input
  Nanoseconds begin = -1;
  Nanoseconds end = -1;
};

// One tensor on its way between two devices.
struct Hop {
  Op op;  // whose output travels
  std::size_t from_device = 0;
  std::size_t from_cell = 0;
  std::size_t to_device = 0;
  std::size_t to_cell = 0;
  Bytes bytes = 0;
  Nanoseconds duration = 0;
  Nanoseconds begin = -1;
  Nanoseconds end = -1;
};

// One activation on its way out of a device's memory, or back.
struct CopyRun {
  Copy copy;
  Bytes bytes = 0;
  Nanoseconds duration = 0;
  Nanoseconds begin = -1;
  Nanoseconds end = -1;
};

struct Outcome {
  bool deadlock = false;  // then nothing below but `cells` and `hops` means anything
  Nanoseconds makespan = 0;
  std::vector<std::vector<Cell>> cells;  // index: device
  std::vector<Hop> hops;
  std::vector<std::vector<CopyRun>> copies;  // index: device; empty lists where nothing is moved away
  std::vector<Bytes> static_memory;
  std::vector<Bytes> peak_memory;
  std::vector<Bytes> peak_activation;
  std::vector<Bytes> peak_host;  // index: the device whose activations the host keeps
};

// `latency` in ns, `bandwidth` in bytes per second (0: unlimited). Throws std::logic_error for an incomplete schedule.
[[nodiscard]] Outcome simulate(const Schedule& schedule, const StageCosts& costs, Nanoseconds latency,
                               std::int64_t bandwidth, Mode mode);

// Nanoseconds that `bytes` occupy a link of `bandwidth` bytes per second, rounded up; 0 when unlimited.
[[nodiscard]] Nanoseconds serialisation(Bytes bytes, std::int64_t bandwidth);

// Peaks of every device of a run whose times are known. Called by `simulate`.
void measure_memory(const Schedule& schedule, const StageCosts& costs, Outcome& outcome);

// value / pieces to the nearest whole number, halves upwards.
[[nodiscard]] std::int64_t piece_of(std::int64_t value, int pieces);

// What a microbatch's piece of that number takes of `value`: as many shares as it has, or as much as every other.
[[nodiscard]] std::int64_t part_of(std::int64_t value, int piece, const Schedule& schedule);

// Whether the schedule runs the forward of that stage and piece a second time.
[[nodiscard]] bool is_recomputed(int stage, int piece, const Schedule& schedule);

// max over devices of (last end - first begin).
[[nodiscard]] Nanoseconds span_of(const Outcome& outcome);

}  // namespace debubble::reference
