// StageCosts: what one microbatch costs on each stage, in time and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/op.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// Cost of one microbatch on one stage, and what the stage holds whether or not it works.
struct StageCost {
  Nanoseconds forward = 0;
  Nanoseconds backward = 0;  // full backward; a schedule uses this or the two below
  Nanoseconds input_grad = 0;
  Nanoseconds weight_grad = 0;

  Bytes activation = 0;        // held from the start of F to the end of B or I
  Bytes weight_grad_held = 0;  // held from the end of I to the end of W; 0 <= this
  Bytes output = 0;            // sent to the next stage after F; the gradient that returns has the same size
  Bytes weights = 0;           // per replica of the stage, all the time
  Bytes gradients = 0;         // per replica of the stage, all the time
  Bytes optimizer = 0;         // per replica of the stage, all the time
  Bytes workspace = 0;         // held while any op of the stage runs

  Nanoseconds recompute = 0;  // R
  Bytes checkpoint = 0;       // where the microbatch is recomputed: held from the start of F to the end of B or I; the
                              // activation then counts from the start of R
  // Parts of the durations above that are collectives inside the stage (tensor, sequence, context, expert parallel) and
  // not hidden behind its compute.
  Nanoseconds forward_collective = 0;
  Nanoseconds backward_collective = 0;  // of B; of I and W together
  Bytes comm_buffers = 0;  // and other buffers, all the time; the stages of a device share them: the largest counts
  // Into how many tensors an activation falls, as an allocator sees it; 0: unknown.
  std::int32_t activation_tensors = 0;

  Nanoseconds copy = 0;  // of one microbatch's activation to the host or to a peer; as long again for the return

  friend bool operator==(const StageCost&, const StageCost&) = default;
};

// The duration of one microbatch's op of that kind, to be read or set.
[[nodiscard]] Nanoseconds& duration_of(OpKind kind, StageCost& cost);
[[nodiscard]] Nanoseconds duration_of(OpKind kind, const StageCost& cost);

// One device's shard of the output layer, for one microbatch.
struct VocabularyCost {
  Nanoseconds logits = 0;    // S
  Nanoseconds gradient = 0;  // T
  Nanoseconds barrier = 0;   // from the last shard's end to the first reader's start
  Bytes held = 0;            // from the start of S to the end of T

  friend bool operator==(const VocabularyCost&, const VocabularyCost&) = default;
};

// Op times of all stages while so many devices work at once. Of each StageCost only durations count.
struct TimesAtWork {
  std::int32_t devices = 1;
  std::vector<StageCost> stages;

  friend bool operator==(const TimesAtWork&, const TimesAtWork&) = default;
};

struct StageCosts {
  std::vector<StageCost> stages;
  std::optional<VocabularyCost> vocabulary;  // present where the schedule has S and T
  // Duration of an overlapped forward+backward pair; absent: the sum of its members.
  std::optional<Nanoseconds> overlapped_pair;
  // Devices that share a GPU, its power and its memory bandwidth: what ops take while fewer than all devices work at
  // once, by ascending number of devices; `stages` has what they take while all do. In between, times are linear in the
  // number of devices. Empty: devices do not slow each other down. Only simulate_cluster looks at it.
  std::vector<TimesAtWork> at_work{};
};

// One piece's part of a microbatch's duration or size, rounded to the nearest unit (half up).
[[nodiscard]] constexpr std::int64_t piece_of(std::int64_t value, int pieces) {
  return pieces == 1 ? value : (value + pieces / 2) / pieces;
}

}  // namespace debubble
