// HeldLowering: what the lowerings share in which transfers are nodes: rows with cursors, and the node that makes or
// carries each tensor. Internal to sim/engine.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/engine/lowering.hpp"

namespace debubble {

// The schedule is whole and free of deadlock where transfers overlap: then what its cells may differ in.
// Throws InputError X012 for copies and shards of the vocabulary.
[[nodiscard]] std::variant<Lowering::Scan, Deadlock> check_overlapped(const Schedule& schedule);

class HeldLowering {
 public:
  HeldLowering(const Schedule& schedule, P2p p2p, Lowering::Scan scan)
      : schedule_(schedule),
        lowering_(schedule, scan),
        program_(lowering_.start(p2p)),
        maker_(lowering_.tensors(), kNotYet),
        carrier_(lowering_.tensors(), kNotYet),
        cursor_(schedule.rows.size(), 0),
        waits_for_(schedule.rows.size(), kNoTensor) {}

 protected:
  static constexpr std::int32_t kNotYet = -1;
  static constexpr std::size_t kNoTensor = static_cast<std::size_t>(-1);

  struct Tensors {  // of one cell or slot: at most one per member that sends or receives
    std::array<Tensor, 2> items;
    std::size_t count = 0;

    void add(const Tensor& tensor) { items[count++] = tensor; }
    [[nodiscard]] const Tensor* begin() const { return items.data(); }
    [[nodiscard]] const Tensor* end() const { return items.data() + count; }
  };

  [[nodiscard]] bool at_end(std::size_t device) const { return cursor_[device] >= schedule_.rows[device].size(); }
  [[nodiscard]] std::size_t cell_size(std::size_t device, std::size_t position) const {
    return schedule_.rows[device][position].paired_with_next ? 2 : 1;
  }

  // Positions in a device's row, of one cell or of one slot.
  struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  [[nodiscard]] Stretch next_cell(std::size_t device) const {
    return {cursor_[device], cursor_[device] + cell_size(device, cursor_[device])};
  }

  // Tensors that it takes from other devices.
  [[nodiscard]] Tensors remote_inputs(std::size_t device, const Stretch& of) const {
    Tensors found;
    Tensor tensor;
    for (std::size_t k = of.begin; k < of.end; ++k) {
      if (!lowering_.input_of(schedule_.rows[device][k], tensor)) continue;
      if (lowering_.maker(tensor) != static_cast<std::int32_t>(device)) found.add(tensor);
    }
    return found;
  }

  // Tensors that it makes for other devices.
  [[nodiscard]] Tensors remote_outputs(std::size_t device, const Stretch& of) const {
    Tensors found;
    Tensor tensor;
    for (std::size_t k = of.begin; k < of.end; ++k) {
      if (!lowering_.output_of(schedule_.rows[device][k], tensor)) continue;
      if (lowering_.user(tensor) != static_cast<std::int32_t>(device)) found.add(tensor);
    }
    return found;
  }

  // Whether all that the device's next cell takes has a node among `nodes` (by tensor); where not, the device waits for
  // the first one that is missing.
  bool is_ready(std::size_t device, const std::vector<std::int32_t>& nodes) {
    for (const Tensor& tensor : remote_inputs(device, next_cell(device))) {
      waits_for_[device] = lowering_.number(tensor);
      if (nodes[waits_for_[device]] == kNotYet) return false;
    }
    waits_for_[device] = kNoTensor;
    return true;
  }

  // Appends the cell at the device's cursor and moves the cursor on.
  void emit_cell(std::size_t device) {
    const std::size_t position = cursor_[device];
    const Op& op = schedule_.rows[device][position];
    const Op* partner = op.paired_with_next ? &schedule_.rows[device][position + 1] : nullptr;
    const auto node = static_cast<std::int32_t>(program_.nodes.size());
    program_.nodes.push_back(
        {-1, partner == nullptr ? lowering_.cell(op) : lowering_.pair_cell(program_, op, *partner)});
    for (const Tensor& tensor : remote_inputs(device, next_cell(device))) {
      // Never kNotYet: each lowering places what a cell takes before the cell.
      const std::int32_t carrier = carrier_[lowering_.number(tensor)];
      program_.reach = std::max(program_.reach, node - carrier);
      auto& target = program_.nodes.back();
      if (target.input < 0) {
        target.input = carrier;
      } else {
        program_.extra_inputs.push_back({node, carrier, -1});
      }
    }
    Tensor made;
    for (std::size_t k = 0; k < cell_size(device, position); ++k) {
      if (lowering_.output_of(schedule_.rows[device][position + k], made)) maker_[lowering_.number(made)] = node;
    }
    cursor_[device] += cell_size(device, position);
  }

  void emit_transfer(const Tensor& tensor) {
    const std::int32_t maker = maker_[lowering_.number(tensor)];
    carrier_[lowering_.number(tensor)] = static_cast<std::int32_t>(program_.nodes.size());
    program_.nodes.push_back({maker, Program::kTransfer + static_cast<std::uint32_t>(lowering_.channel(tensor))});
  }

  // The program of a mode that adds no deadlock.
  Program finished() {
    for (std::size_t device = 0; device < schedule_.rows.size(); ++device) {
      if (!at_end(device)) throw std::logic_error("lowering stopped on a schedule free of deadlock");
    }
    return std::move(program_);
  }

  const Schedule& schedule_;
  Lowering lowering_;
  Program program_;
  std::vector<std::int32_t> maker_;     // by tensor: the node that made it
  std::vector<std::int32_t> carrier_;   // by tensor: the transfer node that brought it
  std::vector<std::size_t> cursor_;     // by device
  std::vector<std::size_t> waits_for_;  // by device: tensor; kNoTensor: for none
};

}  // namespace debubble
