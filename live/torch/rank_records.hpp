// What a process of debubble_torch had to say; python/debubble_torch/records.py says how its file looks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/plan.hpp"
#include "sim/core/units.hpp"

namespace debubble::live {

struct TorchCost {  // of one stage and microbatch, nothing else running
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  Nanoseconds forward = 0;
  Nanoseconds backward = 0;
  Nanoseconds input_grad = 0;
  Nanoseconds weight_grad = 0;
  Bytes activation = 0;  // what autograd keeps of a forward
  Bytes held = 0;        // from I to W
  Bytes input = 0;
  Bytes output = 0;  // 0 for the last stage
  Bytes weights = 0;
  bool whole = false;  // W computes input gradients inside the stage once more
};

struct TorchProof {
  std::int64_t parameters = 0;
  std::int64_t numbers = 0;
  std::int64_t same_bits = 0;  // of `parameters`
  double max_absolute = 0;
  double max_relative = 0;  // of a parameter's largest gradient
  double tolerance = 0;     // of max_relative
  std::int64_t losses_same = 0;
  std::int64_t losses = 0;
};

struct TorchIteration {
  struct TimedCell {
    std::int32_t position = 0;
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
  };
  struct Travel {
    Tensor tensor;
    std::int32_t peer = 0;
    Nanoseconds time = 0;
    Bytes bytes = 0;             // of what was received
    std::uint64_t checksum = 0;  // 0 where nobody computed it
  };
  bool as_proven = true;     // its gradients are those of the first iteration, bit for bit
  Nanoseconds sum_time = 0;  // of the sum between replicas, after the row
  std::vector<TimedCell> cells;
  std::vector<Travel> sent;
  std::vector<Travel> got;
};

struct TorchRank {
  std::map<std::string, std::string> facts;
  std::vector<TorchCost> costs;
  Nanoseconds latency = 0;     // process 0 only, like the next
  std::int64_t bandwidth = 0;  // bytes per second; 0: too fast to measure
  std::optional<TorchProof> proof;
  std::vector<std::string> wrong;  // "stage 1, narrow.weight: off by 0.5 of its largest gradient"
  std::vector<TorchIteration> iterations;
};

// Strict: unknown facts, wrong numbers and a missing end are an InputError G002.
[[nodiscard]] TorchRank read_torch_rank(std::string_view text, const std::string& name);

}  // namespace debubble::live
