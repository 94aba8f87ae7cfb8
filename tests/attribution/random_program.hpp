// A random training program as the profiler would see it: trees of ranges on several threads, autograd nodes with
// sequence numbers, kernels, and records that arrive in any order or not at all.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "profiler/records/record.hpp"

namespace debubble::test {

struct ProgramRange {
  int parent = -1;  // index; -1: none
  std::uint32_t thread = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::string name;
  std::int64_t sequence = -1;
  std::uint32_t forward_thread = 0;
  std::string sizes;
  std::string phase;  // of a matrix product or sum in a backward node: what it was made to compute
  std::string rule;   // and how that can be known
};

struct ProgramKernel {
  KernelRecord record;
  std::string name;
};

struct ProgramCall {
  std::uint32_t correlation = 0;
  int range = -1;  // index; -1: outside of all
  std::uint32_t thread = 0;
  Nanoseconds time = 0;
  bool linked = true;    // its link was not lost
  bool launched = true;  // its launch was not lost
  std::vector<ProgramKernel> kernels;
};

// One record of the stream: a push or pop of a range, or the link, launch or a kernel of a call.
struct ProgramEvent {
  enum class Kind { kPush, kPop, kLink, kLaunch, kKernel };
  Kind kind = Kind::kPush;
  std::size_t index = 0;  // of the range or call
  std::size_t kernel = 0;
};

struct RandomProgram {
  std::vector<ProgramRange> ranges;
  std::vector<ProgramCall> calls;
  std::vector<ProgramEvent> stream;
};

// Ranges are pushed and popped in order of time. Links and launches come anywhere after the call, kernels
// anywhere.
[[nodiscard]] RandomProgram random_program(std::uint64_t seed);

void feed(const RandomProgram& program, RecordSink& sink);

}  // namespace debubble::test
