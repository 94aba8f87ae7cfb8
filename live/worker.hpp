// Worker: does the work of one device's ops, in buffers of its own. Who times it, and who moves tensors between
// devices, is not its business (live/device_runner.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "live/ledger.hpp"
#include "sim/core/op.hpp"

namespace debubble::live {

using Payload = std::vector<std::byte>;

class Worker {
 public:
  virtual ~Worker() = default;

  // Before the first op of each iteration. `ledger` is notified of all that is allocated and freed until the next
  // start.
  virtual void start(Ledger& ledger) = 0;
  // An op begins: allocates what it holds while it runs, and a forward's activation.
  virtual void begin(const Op& op) = 0;
  // The op's work on the tensor from its neighbour (empty where the op has none). Returns the tensor it makes for the
  // other one. Returns when the work is done.
  [[nodiscard]] virtual Payload work(const Op& op, std::span<const std::byte> input) = 0;
  // The op ends: frees what it no longer needs, keeps what a W needs.
  virtual void end(const Op& op) = 0;
};

}  // namespace debubble::live
