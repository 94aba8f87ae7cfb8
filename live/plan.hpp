// Plan: what each device does, one action after another: the Schedule with its transfers placed. The executors walk it;
// nothing of the simulator's engine is used, so that an agreement of the two says something.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/op.hpp"
#include "sim/core/p2p.hpp"
#include "sim/core/schedule.hpp"

namespace debubble::live {

// What travels between neighbouring stages: the activation that F(stage, piece) makes for stage + 1, or the gradient of
// that activation, which B or I(stage + 1, piece) makes for `stage`.
struct Tensor {
  bool gradient = false;
  std::int32_t stage = 0;
  std::int32_t piece = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the compared 0 for a pointer
  friend auto operator<=>(const Tensor&, const Tensor&) = default;
};
[[nodiscard]] std::string to_string(const Tensor& tensor);  // "the activation 1F3", "the gradient 2B3"

// One tensor and the device at its other end.
struct Hop {
  Tensor tensor;
  std::int32_t peer = 0;
};

struct Action {
  enum class Kind : std::uint8_t {
    kCompute,   // a cell of the row. Overlapped: waits for `receives` first and starts `sends` after it
    kSend,      // blocking only: one tensor, together with the receiver
    kReceive,   // blocking only
    kExchange,  // coupled only: all `sends` and `receives` between two slots, posted together
  };
  Kind kind = Kind::kCompute;
  std::int32_t position = 0;  // in the row: of the cell; of a transfer, of the cell before it (-1: before the first)
  std::vector<Hop> sends;
  std::vector<Hop> receives;
};

struct Plan {
  P2p p2p = P2p::kOverlapped;
  std::vector<std::vector<Action>> devices;

  // Every op's inputs that its own device made are in order already: a row speaks for itself.
};

// For a schedule without problems (find_problems); one that deadlocks still gets a plan, and its run gets stuck where
// the schedule does.
[[nodiscard]] Plan make_plan(const Schedule& schedule, P2p p2p);

// The tensor that an op takes from, or makes for, a neighbouring stage; false when there is none.
[[nodiscard]] bool input_of(const Schedule& schedule, const Op& op, Tensor& tensor);
[[nodiscard]] bool output_of(const Schedule& schedule, const Op& op, Tensor& tensor);
[[nodiscard]] std::int32_t maker(const Schedule& schedule, const Tensor& tensor);
[[nodiscard]] std::int32_t user(const Schedule& schedule, const Tensor& tensor);

}  // namespace debubble::live
